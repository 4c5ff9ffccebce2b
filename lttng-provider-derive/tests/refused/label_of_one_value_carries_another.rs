#![allow(unused)]

use lttng_provider::EventEnum;
use market::shop;

#[derive(EventEnum)]
#[event(shop::Payment)]
enum Payment {
    Cash,
    Card(i32),
    Voucher(i32),
}

fn main() {}
