#![allow(unused)]

use lttng_provider::Event;

#[derive(Event)]
struct Sold {
    item: String,
}

fn main() {}
