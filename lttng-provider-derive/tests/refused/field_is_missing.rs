#![allow(unused)]

use lttng_provider::Event;
use market::shop;

#[derive(Event)]
#[event(shop::sold)]
struct Sold {
    item: String,
    payment: shop::Payment,
}

fn main() {}
