#![allow(unused)]

use lttng_provider::traced;
use market::shop;

#[traced(shop::checkout, slower_than = "1 minute")]
fn pay() {}

fn main() {}
