#![allow(unused)]

use lttng_provider::Event;
use market::shop;

#[derive(Event)]
#[event(shoop::sold)]
struct Sold {
    item: String,
}

fn main() {}
