#![allow(unused)]

use lttng_provider::traced;

#[traced]
fn pay() {}

fn main() {}
