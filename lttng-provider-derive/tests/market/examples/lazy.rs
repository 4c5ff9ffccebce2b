//! Prints a line for each field that is evaluated.

use std::fmt;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use lttng_provider::traced;
use market::shop;

/// Prints its line when it is formatted.
struct City;

impl fmt::Display for City {
    #[allow(clippy::print_in_format_impl)]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        println!("evaluated");
        f.write_str("Bremen")
    }
}

fn parcels() -> u32 {
    println!("evaluated");
    1
}

#[traced(shop::delivered, fields(city = %City, parcels = parcels()))]
fn deliver() {}

#[traced(shop::delivered, fields(city = "Bremen", parcels = parcels()), polling)]
async fn deliver_later() {}

fn main() {
    deliver();
    let later = pin!(deliver_later());
    assert_eq!(later.poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(()));
}
