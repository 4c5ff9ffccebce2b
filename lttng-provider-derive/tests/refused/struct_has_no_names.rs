#![allow(unused)]

use lttng_provider::Event;
use market::shop;

#[derive(Event)]
#[event(shop::sold)]
struct Sold(String, u32, shop::Payment);

fn main() {}
