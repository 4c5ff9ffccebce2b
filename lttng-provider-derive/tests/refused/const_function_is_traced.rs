#![allow(unused)]

use lttng_provider::traced;
use market::shop;

#[traced(shop::checkout)]
const fn pay() {}

fn main() {}
