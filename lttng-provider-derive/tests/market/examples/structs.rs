//! Emits events that are structs.

use std::borrow::Cow;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lttng_provider::{Event, EventEnum, EventValue, Text, Value, emit};
use market::{shop, warehouse};

/// Borrows, and has its fields in another order than the catalog.
#[derive(Event)]
#[event(shop::sold)]
struct Sold<'a> {
    payment: &'a Payment,
    count: Amount,
    item: &'a str,
}

#[derive(EventValue)]
struct Amount(u16);

#[derive(EventEnum)]
#[event(shop::Payment)]
enum Payment {
    Cash,
    #[event(label = "CARD")]
    Plastic,
    Voucher(i32),
    #[event(other)]
    Unknown(i16),
}

#[derive(Event)]
#[event(shop::opened)]
struct Opened;

/// Owns, is generic, and uses every option of a field.
#[derive(Event)]
#[event(warehouse::counted)]
struct Counted<P, T: Display> {
    place: P,
    #[event(display)]
    tag: T,
    counts: Arc<[u16]>,
    position: [i32; 3],
    weight: f32,
    fragile: bool,
    #[event(none = warehouse::Hall::Unlabelled(9))]
    hall: Option<Hall>,
    #[event(rename = "age")]
    since: Duration,
    #[event(skip)]
    _note: &'static str,
}

/// Its numbers are the catalog's.
#[derive(EventEnum)]
#[event(warehouse::Hall)]
#[repr(u8)]
enum Hall {
    North = 1,
    South = Hall::LAST,
}

impl Hall {
    const LAST: u8 = 2;
}

#[derive(Event)]
#[event(warehouse::scanned)]
struct Scanned<'a> {
    label: Option<Cow<'a, [u8]>>,
    #[event(none = -1)]
    r#type: Option<i8>,
}

/// Is recorded as the program likes.
struct Shelf {
    row: Vec<u8>,
}

impl<'a> Value<'a, Text<'a>> for Shelf {
    fn value(&'a self) -> Text<'a> {
        self.row.value()
    }
}

fn main() {
    Opened.emit();
    for payment in [Payment::Cash, Payment::Plastic, Payment::Voucher(12), Payment::Unknown(-1)] {
        Sold { item: "apples", count: Amount(3), payment: &payment }.emit();
    }
    Counted {
        place: Shelf { row: b"row 7".to_vec() },
        tag: 1234,
        counts: [1, 2].into(),
        position: [-1, 0, 1],
        weight: 1.5,
        fragile: true,
        hall: Some(Hall::North),
        since: Duration::from_millis(2_999),
        _note: "not recorded",
    }
    .emit();
    Counted {
        place: Some(PathBuf::from("/row/8")),
        tag: "x".repeat(8),
        counts: [].into(),
        position: [0; 3],
        weight: 0.0,
        fragile: false,
        hall: None,
        since: Duration::MAX,
        _note: "not recorded",
    }
    .emit();
    Counted {
        place: None::<&str>,
        tag: "",
        counts: [].into(),
        position: [0; 3],
        weight: 0.0,
        fragile: false,
        hall: Some(Hall::South),
        since: Duration::ZERO,
        _note: "not recorded",
    }
    .emit();
    Scanned { label: None, r#type: None }.emit();
    Scanned { label: Some(Cow::Borrowed(b"\0\xff")), r#type: Some(5) }.emit();
    assert_eq!(Sold::enabled(), shop::sold::enabled());
    // Text of any kind, owned or not.
    emit!(shop::sold(String::from("pears"), 1, shop::Payment::Cash));
    emit!(shop::sold(Path::new("/plums"), 2, shop::Payment::Cash));
    emit!(shop::sold(Some(PathBuf::from("/figs")), 3, shop::Payment::Cash));
    emit!(shop::sold(b"nuts", 4, shop::Payment::Cash));
}
