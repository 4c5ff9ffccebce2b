#![allow(unused)]

use lttng_provider::Event;
use market::shop;

enum Payment {
    Cash,
    Card,
}

#[derive(Event)]
#[event(shop::sold)]
struct Sold {
    item: String,
    count: u32,
    payment: Payment,
}

fn main() {}
