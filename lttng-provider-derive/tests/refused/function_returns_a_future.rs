#![allow(unused)]

use lttng_provider::traced;
use market::shop;

#[traced(shop::checkout)]
fn pay() -> impl Future<Output = u32> {
    async { 1 }
}

fn main() {}
