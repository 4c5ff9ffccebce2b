//! Random sales: the same for the program that records them and the test that expects them.

use fastrand::Rng;

/// The fields of a sale in tracing, as the catalog orders them.
pub const FIELDS: [&str; 7] = ["item", "count", "delta", "price", "paid", "payment", "http.note"];

/// A value of any type that tracing has.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// Never recorded.
    Empty,
    /// `u64`
    Unsigned(u64),
    /// `i64`
    Signed(i64),
    /// `u128`
    Wide(u128),
    /// `f64`
    Float(f64),
    /// `bool`
    Bool(bool),
    /// `&str`
    Text(String),
    /// `?value`, of a `String`.
    Debug(String),
    /// `%value`
    Display(String),
}

/// Sales, each with a value for each field, some recorded twice.
pub fn sales(seed: u64, count: usize) -> Vec<Vec<(usize, Given)>> {
    let mut random = Rng::with_seed(seed);
    (0..count)
        .map(|_| {
            let values = random.usize(..10);
            (0..values).map(|_| (random.usize(..FIELDS.len()), given(&mut random))).collect()
        })
        .collect()
}

fn given(random: &mut Rng) -> Given {
    match random.u8(..9) {
        0 => Given::Empty,
        1 => Given::Unsigned(random.u64(..) >> random.u32(..64)),
        2 => Given::Signed(random.i64(..) >> random.u32(..64)),
        3 => Given::Wide(random.u128(..) >> random.u32(..128)),
        4 => Given::Float(f64::from(random.i16(..)) / 4.0),
        5 => Given::Bool(random.bool()),
        6 => Given::Text(text(random)),
        7 => Given::Debug(text(random)),
        _ => Given::Display(text(random)),
    }
}

/// Text that Babeltrace prints as it is; what it does not is in the tests of hostile values.
fn text(random: &mut Rng) -> String {
    let known =
        ["", "0", "12", "300", "-7", "2.5", "true", "false", "CASH", "BankCard", "bank_card(3)", "x y"];
    match random.usize(..2) {
        0 => known[random.usize(..known.len())].to_owned(),
        _ => {
            let length = random.usize(..100);
            (0..length).map(|_| random.alphanumeric()).collect()
        }
    }
}
