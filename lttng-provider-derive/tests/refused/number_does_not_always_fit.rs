#![allow(unused)]

use lttng_provider::Event;
use market::shop;

#[derive(Event)]
#[event(shop::sold)]
struct Sold {
    item: String,
    count: u64,
    payment: shop::Payment,
}

fn main() {}
