#![allow(unused)]

use lttng_provider::traced;
use market::shop;

#[traced(shop::delivered, fields(parcels = %parcels))]
fn deliver(city: &str, parcels: u32) {}

fn main() {}
