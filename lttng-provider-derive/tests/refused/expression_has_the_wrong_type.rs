#![allow(unused)]

use lttng_provider::traced;
use market::shop;

#[traced(shop::delivered, fields(parcels = parcels.len()))]
fn deliver(city: &str, parcels: Vec<String>) {}

fn main() {}
