#![allow(unused)]

use lttng_provider::Event;
use market::shop;
use std::time::Duration;

#[derive(Event)]
#[event(shop::sold)]
struct Sold {
    item: String,
    count: Duration,
    payment: shop::Payment,
}

fn main() {}
