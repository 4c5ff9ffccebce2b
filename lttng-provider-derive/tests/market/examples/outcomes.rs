//! Functions whose events have values from what they return, and measurements that are recorded as several events.
//! Each is told from the others by its number of parcels.

use std::num::ParseIntError;
use std::panic::catch_unwind;
use std::task::{Context, Waker};

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

impl Van {
    #[traced(shop::delivered, fields(city = ret, parcels = 12))]
    fn repaint(&mut self, city: &str) -> &mut String {
        if city.is_empty() {
            return &mut self.city;
        }
        self.city.clear();
        self.city.push_str(city);
        &mut self.city
    }
}

#[traced(shop::delivered, fields(city = ret.as_deref().map_or("none", |last| last), parcels = 13))]
fn last<'v, 'n>(names: &'v mut Vec<&'n str>) -> Option<&'v mut &'n str> {
    let last = names.last_mut()?;
    Some(last)
}

/// Its future is dropped before its end.
#[traced(shop::delivered, fields(city = ?ret, parcels = if cancelled { 14_u32 } else { 0 }))]
async fn endless() -> Result<u32, ParseIntError> {
    std::future::pending::<()>().await;
    "42".parse()
}

#[traced(
    warehouse::packed,
    fields(order = 15, address = %err, counts = ret.as_ref().map_or(vec![], |n| vec![*n as u16]), position = [*ret.as_ref().unwrap() as _; 3],
        hall = ret.as_ref().map_or(warehouse::Hall::North, |_| warehouse::Hall::South), waited = 0),
    also(shop::delivered, fields(city = "not recorded", parcels = 0), when = ret.is_ok()),
    also(shop::delivered, fields(city = "cancelled", parcels = 15), when = cancelled),
    polling
)]
async fn endless_polls() -> Result<u32, ParseIntError> {
    std::future::pending::<()>().await;
    "42".parse()
}

#[async_trait::async_trait]
trait Carrier {
    async fn carry(&mut self, city: &str) -> Result<u32, ParseIntError>;
}

#[async_trait::async_trait]
impl Carrier for Van {
    #[traced(shop::delivered, fields(parcels = 16 + ret.is_ok() as u32))]
    async fn carry(&mut self, city: &str) -> Result<u32, ParseIntError> {
        tokio::task::yield_now().await;
        let number: u32 = city.parse()?;
        self.parcels += number;
        Ok(self.parcels)
    }
}

#[traced(shop::delivered, fields(city = "impl Future", parcels = 18))]
fn future(number: u32) -> impl Future<Output = u32> {
    async move {
        tokio::task::yield_now().await;
        number + 1
    }
}

/// Polls a future once, and drops it.
fn cancel(future: impl Future) {
    let mut future = std::pin::pin!(future);
    assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
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
    assert_eq!(van.repaint("Ulm"), "Ulm");
    assert_eq!(last(&mut vec!["Kiel"]), Some(&mut "Kiel"));
    cancel(endless());
    cancel(endless_polls());
    let mut carrier: Box<dyn Carrier> = Box::new(van);
    assert!(carrier.carry("x").await.is_err());
    assert_eq!(carrier.carry("1").await, Ok(5));
    assert_eq!(future(18).await, 19);
}
