//! Emits events by a macro, by an attribute and by a struct.

use lttng_provider::{Event, emit, traced};

lttng_provider::include_events!();

#[derive(Event)]
#[event(shop::sold)]
struct Sold {
    item: &'static str,
    count: u32,
}

#[traced(shop::checkout)]
fn pay() {
    emit!(shop::sold("apples", 3));
    Sold { item: "pears", count: 2 }.emit();
}

fn main() {
    pay();
}
