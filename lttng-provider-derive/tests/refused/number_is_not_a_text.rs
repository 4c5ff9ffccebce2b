#![allow(unused)]

use lttng_provider::Event;
use market::shop;

#[derive(Event)]
#[event(shop::sold)]
struct Sold {
    item: u32,
    count: u32,
    payment: shop::Payment,
}

fn main() {}
