#![allow(unused)]

use lttng_provider::traced;
use market::shop;

#[traced(shop::delivered, fields(parcels = 1))]
fn deliver() {}

fn main() {}
