#![allow(unused)]

use lttng_provider::Event;
use market::shop;

#[derive(Event)]
#[event(shop::sold)]
enum Sold {
    Item,
}

fn main() {}
