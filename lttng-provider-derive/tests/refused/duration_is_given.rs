#![allow(unused)]

use lttng_provider::traced;
use market::shop;

#[traced(shop::delivered, fields(duration = 5))]
fn deliver(city: &str, parcels: u32) {}

fn main() {}
