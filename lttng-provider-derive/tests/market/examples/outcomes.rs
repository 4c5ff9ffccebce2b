//! Functions whose events have values from what they return, and measurements that are recorded as several events.
//! Each is told from the others by its number of parcels.

use std::num::ParseIntError;
use std::panic::catch_unwind;

use lttng_provider::traced;
use market::{shop, warehouse};

#[traced(shop::delivered, fields(city = "length", parcels = ret.len() as u32))]
fn returns_a_list(count: usize) -> Vec<u8> {
    vec![7; count]
}

#[traced(shop::delivered, fields(city = ret.unwrap_or("nowhere"), parcels = 2))]
fn returns_a_borrow<'a>(cities: &[&'a str]) -> Option<&'a str> {
    if cities.is_empty() {
        return None;
    }
    Some(cities[0])
}

#[traced(shop::delivered, fields(city = %err, parcels = 3))]
fn fails(number: &str) -> Result<u32, ParseIntError> {
    let number: u32 = number.parse()?;
    Ok(number + 1)
}

struct Van {
    city: String,
    parcels: u32,
}

impl Van {
    #[traced(shop::delivered, fields(city = self.city, parcels = *ret))]
    fn drive(&mut self) -> u32 {
        self.city.clear();
        self.parcels += 3;
        self.parcels
    }
}

#[traced(shop::delivered, fields(city = "panics", parcels = ret + 5))]
fn panics(number: u32) -> u32 {
    assert_eq!(number, 0, "as it should");
    number
}

#[traced(
    shop::checkout,
    also(shop::delivered, fields(city = "both", parcels = 6)),
    also(shop::delivered, fields(city = "even", parcels = 7), when = number % 2 == 0),
    also(shop::delivered, fields(city = "large", parcels = 8), when = *ret > 100)
)]
fn feeds_several(number: u32) -> u32 {
    number * 10
}

#[traced(shop::checkout, also(warehouse::packed, fields(order = 9, address = "a", counts = [1, 2], position = [1, 2, 3],
    hall = warehouse::Hall::South, waited = 0)))]
fn feeds_two(number: u32) -> Option<u32> {
    let half = number.checked_sub(1)?;
    Some(half)
}

#[traced(shop::delivered, fields(city = ?ret, parcels = 10))]
async fn waits() -> Result<u32, ParseIntError> {
    std::future::ready(()).await;
    let number: u32 = "42".parse()?;
    Ok(number)
}

#[traced(shop::delivered, fields(city = ?err, parcels = 11), polling)]
async fn is_polled(number: &str) -> Result<u32, ParseIntError> {
    std::future::ready(()).await;
    let number: u32 = number.parse()?;
    Ok(number)
}

#[tokio::main]
async fn main() {
    assert_eq!(returns_a_list(1).len(), 1);
    assert_eq!(returns_a_borrow(&["Bremen", "Ulm"]), Some("Bremen"));
    assert_eq!(returns_a_borrow(&[]), None);
    assert!(fails("no number").is_err());
    assert_eq!(fails("41"), Ok(42));
    let mut van = Van { city: "Bremen".to_owned(), parcels: 1 };
    assert_eq!(van.drive(), 4);
    assert!(catch_unwind(|| panics(1)).is_err());
    assert_eq!(panics(0), 0);
    assert_eq!(feeds_several(1), 10);
    assert_eq!(feeds_several(20), 200);
    assert_eq!(feeds_two(0), None);
    assert_eq!(waits().await, Ok(42));
    assert!(is_polled("x").await.is_err());
}
