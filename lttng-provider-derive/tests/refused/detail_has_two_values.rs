#![allow(unused)]

use lttng_provider::traced;
use market::shop;

#[traced(shop::delivered, fields(parcels = 1, parcels = 2))]
fn deliver(city: &str) {}

fn main() {}
