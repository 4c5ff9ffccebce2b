#![allow(unused)]

use lttng_provider::Event;
use market::shop;

#[derive(Event)]
#[event(shop::sold)]
struct Sold {
    item: String,
    count: u32,
    paid_by: shop::Payment,
}

fn main() {}
