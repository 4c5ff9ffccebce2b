//! Records random sales on several threads: `random SEED COUNT THREADS`.

use std::thread;

use bridged_service::sales::{FIELDS, Given, sales};
use tracing::field::{Empty, debug, display};
use tracing_subscriber::prelude::*;

fn main() {
    let numbers: Vec<u64> =
        std::env::args().skip(1).map(|number| number.parse().expect("a number")).collect();
    let [seed, count, threads] = numbers[..] else { panic!("usage: random SEED COUNT THREADS") };
    bridged_service::subscriber().init();
    thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || sales(seed + thread, count as usize).iter().for_each(|sale| sell(sale)));
        }
    });
}

fn sell(sale: &[(usize, Given)]) {
    let span = tracing::info_span!(
        "sale",
        item = Empty,
        count = Empty,
        delta = Empty,
        price = Empty,
        paid = Empty,
        payment = Empty,
        http.note = Empty,
        unknown = 3,
    );
    for (field, value) in sale {
        let field = FIELDS[*field];
        match value {
            Given::Empty => span.record(field, Empty),
            Given::Unsigned(value) => span.record(field, value),
            Given::Signed(value) => span.record(field, value),
            Given::Wide(value) => span.record(field, value),
            Given::Float(value) => span.record(field, value),
            Given::Bool(value) => span.record(field, value),
            Given::Text(value) => span.record(field, value.as_str()),
            Given::Debug(value) => span.record(field, debug(value)),
            Given::Display(value) => span.record(field, display(value)),
        };
    }
}
