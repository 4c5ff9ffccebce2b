#![allow(unused)]

use lttng_provider::Event;
use market::shop;
use shop::sold;

#[derive(Event)]
#[event(sold)]
struct Sold {
    item: String,
}

fn main() {}
