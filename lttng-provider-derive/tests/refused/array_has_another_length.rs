#![allow(unused)]

use lttng_provider::Event;
use market::warehouse;

#[derive(Event)]
#[event(warehouse::counted)]
struct Counted {
    place: String,
    tag: String,
    counts: Vec<u16>,
    position: [i32; 4],
    weight: f64,
    fragile: bool,
    hall: warehouse::Hall,
    age: u32,
}

fn main() {}
