#![allow(unused)]

use lttng_provider::EventEnum;
use market::shop;

const CARD: i32 = 2;

#[derive(EventEnum)]
#[event(shop::Payment)]
#[repr(i32)]
enum Payment {
    Cash = 0,
    Card = CARD,
    Voucher(i32) = 10,
}

fn main() {}
