#![allow(unused)]

use lttng_provider::EventEnum;
use market::shop;

#[derive(EventEnum)]
#[event(shop::Payment)]
enum Payment {
    Cash,
    Card,
    Voucher(i32),
    Barter,
}

fn main() {}
