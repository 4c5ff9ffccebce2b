#![allow(unused)]

use lttng_provider::Event;
use market::shop;

#[derive(Event)]
#[event(shop::sold, catalog = "catalog/nowhere.toml")]
struct Sold {
    item: String,
}

fn main() {}
