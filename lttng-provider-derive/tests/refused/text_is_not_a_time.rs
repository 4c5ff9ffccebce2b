#![allow(unused)]

use lttng_provider::Event;
use market::warehouse;

#[derive(Event)]
#[event(warehouse::counted)]
struct Counted<'a> {
    place: &'a str,
    tag: &'a str,
    counts: &'a [u16],
    position: &'a [i32; 3],
    weight: f64,
    fragile: bool,
    hall: warehouse::Hall,
    age: &'a str,
}

fn main() {}
