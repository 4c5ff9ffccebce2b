#![allow(unused)]

use lttng_provider::traced;
use market::shop;

#[traced(shop::checkout, also(shop::opened))]
fn pay() {}

fn main() {}
