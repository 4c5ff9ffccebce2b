#![allow(unused)]

use lttng_provider::traced;
use market::shop;

#[traced(shop::checkout)]
struct Till;

fn main() {}
