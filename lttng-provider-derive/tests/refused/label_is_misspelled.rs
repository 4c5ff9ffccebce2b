#![allow(unused)]

use lttng_provider::EventEnum;
use market::shop;

#[derive(EventEnum)]
#[event(shop::Payment)]
enum Payment {
    Cash,
    #[event(label = "CRAD")]
    Plastic,
    Voucher(i32),
}

fn main() {}
