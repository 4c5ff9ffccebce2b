#![allow(unused)]

use lttng_provider::traced;
use market::shop;

#[traced(shop::checkout, polling)]
fn pay() {}

fn main() {}
