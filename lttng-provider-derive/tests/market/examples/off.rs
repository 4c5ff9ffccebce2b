//! Pairs of functions, plain and traced, that differ in a number: with tracing off, the code does, too.

use std::hint::black_box;
use std::num::ParseIntError;

use lttng_provider::{Event, traced};
use market::shop;

#[inline(never)]
fn plain_sum(numbers: Vec<u64>) -> u64 {
    numbers.iter().fold(0x1111_1111, |sum, number| sum.rotate_left(1) ^ number)
}

#[inline(never)]
#[traced(shop::delivered, fields(city = ?numbers, parcels = numbers.len() as u32), slower_than = "1ms")]
fn traced_sum(numbers: Vec<u64>) -> u64 {
    numbers.iter().fold(0x2222_2222, |sum, number| sum.rotate_left(1) ^ number)
}

#[inline(never)]
fn plain_parse(city: &str) -> Result<u64, ParseIntError> {
    let number: u64 = city.parse()?;
    Ok(number ^ 0x1111_1111)
}

#[inline(never)]
#[traced(shop::delivered, fields(parcels = 1))]
fn traced_parse(city: &str) -> Result<u64, ParseIntError> {
    let number: u64 = city.parse()?;
    Ok(number ^ 0x2222_2222)
}

#[derive(Event)]
#[event(shop::sold)]
struct Sold<'a> {
    item: &'a str,
    count: u32,
    payment: shop::Payment,
}

#[inline(never)]
fn plain_sale(item: &str) -> usize {
    item.len() ^ 0x1111_1111
}

#[inline(never)]
fn traced_sale(item: &str) -> usize {
    Sold { item, count: 1, payment: shop::Payment::Cash }.emit();
    item.len() ^ 0x2222_2222
}

#[inline(never)]
fn plain_outcome(city: &str) -> Result<u64, ParseIntError> {
    let number: u64 = city.parse()?;
    Ok(number ^ 0x3333_3333)
}

#[inline(never)]
#[traced(shop::delivered, fields(city = %err, parcels = ret.is_ok() as u32))]
fn traced_outcome(city: &str) -> Result<u64, ParseIntError> {
    let number: u64 = city.parse()?;
    Ok(number ^ 0x4444_4444)
}

#[inline(never)]
fn plain_several(numbers: Vec<u64>) -> u64 {
    numbers.iter().fold(0x1111_1111, |sum, number| sum.rotate_left(3) ^ number)
}

#[inline(never)]
#[traced(shop::checkout, also(shop::delivered, fields(city = "x", parcels = 1), when = numbers.is_empty()))]
fn traced_several(numbers: Vec<u64>) -> u64 {
    numbers.iter().fold(0x2222_2222, |sum, number| sum.rotate_left(3) ^ number)
}

async fn plain_future(city: &str) -> usize {
    std::future::ready(()).await;
    city.len()
}

#[traced(shop::delivered, fields(parcels = 1))]
async fn traced_future(city: &str) -> usize {
    std::future::ready(()).await;
    city.len()
}

#[traced(shop::delivered, fields(parcels = 1), polling)]
async fn polled_future(city: &str) -> usize {
    std::future::ready(()).await;
    city.len()
}

fn main() {
    let numbers = black_box(vec![1, 2]);
    black_box(plain_sum(numbers.clone()) ^ traced_sum(numbers));
    black_box((plain_parse(black_box("1")), traced_parse(black_box("1"))).0.is_ok());
    black_box(plain_sale(black_box("apples")) ^ traced_sale(black_box("apples")));
    black_box((plain_outcome(black_box("1")), traced_outcome(black_box("1"))).0.is_ok());
    let numbers = black_box(vec![1, 2]);
    black_box(plain_several(numbers.clone()) ^ traced_several(numbers));
    let plain = size_of_val(&plain_future("Bremen"));
    println!(
        "{} {}",
        size_of_val(&traced_future("Bremen")) - plain,
        size_of_val(&polled_future("Bremen")) - plain
    );
}
