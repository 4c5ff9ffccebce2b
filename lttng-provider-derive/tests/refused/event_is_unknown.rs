#![allow(unused)]

use lttng_provider::Event;
use market::shop;

#[derive(Event)]
#[event(shop::solt)]
struct Sold {
    item: String,
}

fn main() {}
