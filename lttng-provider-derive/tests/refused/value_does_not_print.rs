#![allow(unused)]

use lttng_provider::traced;
use market::shop;

struct Address;

#[traced(shop::delivered, fields(city = %address, parcels = 1))]
fn deliver(address: Address) {}

fn main() {}
