#![allow(unused)]

use lttng_provider::EventEnum;
use market::shop;

#[derive(EventEnum)]
#[event(shop::Paymant)]
enum Payment {
    Cash,
}

fn main() {}
