//! Random values of every type for every field, against a model of what is documented.

use bridged_service::sales::{FIELDS, Given, sales};
use lttng_testing::{Daemon, Program};

const COUNT: usize = 3_000;
const THREADS: u64 = 2;

#[test]
fn any_value_is_recorded_as_documented() {
    let seed = fastrand::u64(..1 << 40);
    println!("seed {seed}");
    let program = Program::example("bridged-service", "random").traced().build();
    let daemon = Daemon::start();
    let arguments = [seed.to_string(), COUNT.to_string(), THREADS.to_string()];
    let recorded = daemon.record(&["service:sale"], program, arguments).events();
    // The threads' sales are mixed, so they are compared in order of their values.
    let mut recorded: Vec<Vec<String>> = recorded
        .iter()
        .map(|event| event.fields.iter().filter(|(name, _)| name != "took" && name != "_http_note_length"))
        .map(|fields| fields.map(|(_, value)| value.clone()).collect())
        .collect();
    let mut expected: Vec<Vec<String>> =
        (0..THREADS).flat_map(|thread| sales(seed + thread, COUNT)).map(|sale| model(&sale)).collect();
    recorded.sort();
    expected.sort();
    assert_eq!(recorded.len(), expected.len());
    for (recorded, expected) in recorded.iter().zip(&expected) {
        assert_eq!(recorded, expected);
    }
}

/// What Babeltrace prints of each field.
fn model(sale: &[(usize, Given)]) -> Vec<String> {
    (0..FIELDS.len())
        .map(|field| {
            let mut given = sale.iter().filter(|(of, given)| *of == field && *given != Given::Empty);
            let given = given.next_back().map_or(&Given::Empty, |(_, given)| given);
            match FIELDS[field] {
                "count" => clamped(given, 0, 255).to_string(),
                "delta" => clamped(given, -32_768, 32_767).to_string(),
                "price" => shown(fraction(given)),
                "paid" => u8::from(truth(given)).to_string(),
                "payment" => payment(given),
                _ => format!("\"{}\"", text(given)),
            }
        })
        .collect()
}

fn clamped(given: &Given, min: i128, max: i128) -> i128 {
    let integer = match given {
        Given::Empty => 0,
        Given::Unsigned(value) => i128::from(*value),
        Given::Signed(value) => i128::from(*value),
        Given::Wide(value) => i128::try_from(*value).unwrap_or(i128::MAX),
        Given::Float(value) if value.fract() == 0.0 => *value as i128,
        Given::Float(_) => 0,
        Given::Bool(value) => i128::from(*value),
        Given::Text(text) | Given::Debug(text) | Given::Display(text) => text.parse().unwrap_or(0),
    };
    if integer < min {
        min
    } else if integer > max {
        max
    } else {
        integer
    }
}

fn fraction(given: &Given) -> f64 {
    match given {
        Given::Empty => 0.0,
        Given::Unsigned(value) => *value as f64,
        Given::Signed(value) => *value as f64,
        Given::Wide(value) => i128::try_from(*value).unwrap_or(i128::MAX) as f64,
        Given::Float(value) => *value,
        Given::Bool(value) => f64::from(u8::from(*value)),
        Given::Text(text) | Given::Debug(text) | Given::Display(text) => text.parse().unwrap_or(0.0),
    }
}

fn truth(given: &Given) -> bool {
    match given {
        Given::Bool(value) => *value,
        Given::Unsigned(1) | Given::Signed(1) | Given::Wide(1) => true,
        Given::Text(text) | Given::Debug(text) | Given::Display(text) => text == "true",
        _ => false,
    }
}

fn payment(given: &Given) -> String {
    let value = match given {
        Given::Text(text) | Given::Debug(text) | Given::Display(text) => match text.as_str() {
            "CASH" => 1,
            "BankCard" | "bank_card(3)" => 2,
            _ => clamped(given, 0, 255),
        },
        _ => clamped(given, 0, 255),
    };
    let label = match value {
        1 => "\"CASH\"",
        2..=5 => "\"BANK_CARD\"",
        _ => "<unknown>",
    };
    format!("( {label} : container = {value} )")
}

fn text(given: &Given) -> String {
    match given {
        Given::Empty => String::new(),
        Given::Unsigned(value) => value.to_string(),
        Given::Signed(value) => value.to_string(),
        Given::Wide(value) => i128::try_from(*value).unwrap_or(i128::MAX).to_string(),
        Given::Float(value) => value.to_string(),
        Given::Bool(value) => value.to_string(),
        Given::Text(text) | Given::Debug(text) | Given::Display(text) => text.clone(),
    }
}

/// As C's `%g` writes it.
fn shown(value: f64) -> String {
    let Some(exponent) = (value != 0.0).then(|| format!("{value:.5e}")) else {
        return if value.is_sign_negative() { "-0".to_owned() } else { "0".to_owned() };
    };
    let (mantissa, exponent) = exponent.split_once('e').expect("an exponent");
    let exponent: i32 = exponent.parse().expect("an exponent");
    let trimmed = |number: &str| match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => number.to_owned(),
    };
    if (-4..6).contains(&exponent) {
        trimmed(&format!("{value:.*}", (5 - exponent) as usize))
    } else {
        format!("{}e{}{:02}", trimmed(mantissa), if exponent < 0 { '-' } else { '+' }, exponent.abs())
    }
}
