#![allow(unused)]

use lttng_provider::EventEnum;
use market::shop;

#[derive(EventEnum)]
#[event(shop::Payment)]
#[repr(i32)]
enum Payment {
    Cash = 0,
    Card = 2,
    Voucher(i32) = 10,
}

fn main() {}
