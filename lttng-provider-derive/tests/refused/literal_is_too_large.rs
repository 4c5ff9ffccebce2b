#![allow(unused)]

use lttng_provider::traced;
use market::shop;

#[traced(shop::delivered, fields(parcels = 5_000_000_000))]
fn deliver(city: &str) {}

fn main() {}
