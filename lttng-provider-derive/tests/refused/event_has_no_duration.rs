#![allow(unused)]

use lttng_provider::traced;
use market::shop;

#[traced(shop::sold)]
fn sell(item: &str, count: u32, payment: shop::Payment) {}

fn main() {}
