#![allow(unused)]

use lttng_provider::EventValue;

#[derive(EventValue)]
struct Price(u32, String);

fn main() {}
