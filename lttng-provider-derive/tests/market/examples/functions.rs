//! Calls traced functions, each of which is told from the others by its number of parcels.

use std::fmt::Display;
use std::num::ParseIntError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::sleep;
use std::time::Duration;

use lttng_provider::traced;
use market::{shop, warehouse};

#[traced(shop::delivered, fields(parcels = 1))]
fn consumes_its_parameters(city: String) -> Vec<u8> {
    city.into_bytes()
}

#[traced(shop::delivered, fields(city = "early", parcels = 2))]
fn returns_early(early: bool) -> u32 {
    if early {
        return 1;
    }
    2
}

#[traced(shop::delivered, fields(parcels = 3))]
fn fails(city: &str) -> Result<u32, ParseIntError> {
    let number: u32 = city.parse()?;
    Ok(number + 1)
}

#[traced(shop::delivered, fields(city = %what, parcels = 4))]
fn is_generic<T: Display>(what: T) -> impl Iterator<Item = T> {
    std::iter::once(what)
}

#[traced(shop::delivered, fields(city = ?city, parcels = 5))]
fn panics(city: &mut String) {
    city.push_str(" changed");
    panic!("as it should");
}

#[traced(shop::delivered, fields(city = "slow", parcels = 6), slower_than = "3600s")]
fn is_too_fast() {}

#[traced(shop::delivered, fields(city = "slow", parcels = 7), slower_than = "1 ms")]
fn is_slow_enough() {
    sleep(Duration::from_millis(5));
}

trait Carrier {
    fn name(&self) -> &str;

    #[traced(shop::delivered, fields(city = self.name(), parcels = 8))]
    fn by_default(&mut self) {
        self.rename("changed");
    }

    fn rename(&mut self, name: &str);

    fn parcels(&mut self, parcels: u32);
}

struct Van {
    name: String,
}

impl Carrier for Van {
    fn name(&self) -> &str {
        &self.name
    }

    fn rename(&mut self, name: &str) {
        name.clone_into(&mut self.name);
    }

    #[traced(shop::delivered, fields(city = self.name))]
    fn parcels(&mut self, parcels: u32) {
        self.name.push_str(&parcels.to_string());
    }
}

struct Order {
    number: usize,
    halls: Vec<warehouse::Hall>,
}

/// A detail of each kind of type, and parameters that are patterns.
#[traced(warehouse::packed, fields(order = number, hall = halls[0]))]
fn pack(
    Order { number, halls }: Order,
    (address, counts): (&str, Vec<u16>),
    position: [i32; 3],
    waited: Duration,
) -> usize {
    number + halls.len() + address.len() + counts.len() + position.len() + waited.as_secs() as usize
}

#[traced(shop::checkout)]
fn pay() {}

/// Numbers without a suffix get the type that the catalog has.
#[traced(shop::delivered, fields(city = "sum", parcels = 8 + (3)))]
fn sum() {}

#[traced(shop::delivered, fields(city = "choice", parcels = if many { 12 } else { 1 << 2 }))]
fn choice(many: bool) {}

macro_rules! traced_with {
    ($name:ident, $parcels:expr) => {
        #[traced(shop::delivered, fields(city = "macro", parcels = $parcels))]
        fn $name() {}
    };
}

traced_with!(
    by_macro,
    match 1 {
        0 => 0,
        _ => {
            13
        }
    }
);

fn main() {
    assert_eq!(consumes_its_parameters("x".repeat(1_000)), "x".repeat(1_000).into_bytes());
    assert_eq!(returns_early(true), 1);
    assert!(fails("no number").is_err());
    assert_eq!(is_generic(1.5).next(), Some(1.5));
    let mut city = "Bremen".to_owned();
    let payload = catch_unwind(AssertUnwindSafe(|| panics(&mut city))).unwrap_err();
    assert_eq!(payload.downcast_ref(), Some(&"as it should"));
    assert_eq!(city, "Bremen changed");
    is_too_fast();
    is_slow_enough();
    let mut van = Van { name: "van".to_owned() };
    van.by_default();
    van.parcels(9);
    assert_eq!(van.name, "changed9");
    let order = Order { number: 10, halls: vec![warehouse::Hall::South] };
    let packed = pack(order, ("Bremen", vec![3, 4]), [7, 8, 9], Duration::from_millis(1_500));
    assert_eq!(packed, 10 + 1 + 6 + 2 + 3 + 1);
    pay();
    sum();
    choice(true);
    by_macro();
}
