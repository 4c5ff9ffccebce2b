#![allow(unused)]

use lttng_provider::traced;
use market::shop;

#[traced(shop::checkout, also(shop::delivered, city = "x"))]
fn pay() {}

fn main() {}
