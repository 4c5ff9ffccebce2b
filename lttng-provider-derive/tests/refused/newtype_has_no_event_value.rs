#![allow(unused)]

use lttng_provider::Event;
use market::shop;

struct Amount(u32);

#[derive(Event)]
#[event(shop::sold)]
struct Sold {
    item: String,
    count: Amount,
    payment: shop::Payment,
}

fn main() {}
