#![allow(unused)]

use lttng_provider::traced;
use market::warehouse;

#[traced(warehouse::packed, fields(order = 1, address = "", counts = [], position = [0; 3], hall = err.hall, waited = 0))]
fn pack() -> Result<(), ()> {
    Ok(())
}

fn main() {}
