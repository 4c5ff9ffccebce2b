#![allow(unused)]

use lttng_provider::traced;
use market::shop;

#[traced(shop::delivered)]
fn deliver(city: &str, parcels: Vec<String>) {}

fn main() {}
