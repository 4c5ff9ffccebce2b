#![allow(unused)]

use lttng_provider::traced;
use market::shop;

#[traced(shop::checkout, name = "pay")]
fn pay() {}

fn main() {}
