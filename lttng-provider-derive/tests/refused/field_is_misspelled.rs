#![allow(unused)]

use lttng_provider::Event;
use market::shop;

#[derive(Event)]
#[event(shop::sold)]
struct Sold {
    item: String,
    cuont: u32,
    payment: shop::Payment,
}

fn main() {}
