//! No text makes the parser panic: neither `valkey.toml` with random damage nor any case of the
//! golden tests cut off anywhere.

use fastrand::Rng;
use lttng_catalog::{Catalog, VALKEY, markdown};

/// What is put in: TOML's own signs, and values of the wrong kind.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "[", "]", "{", "}", "=", ".", "\"", "\"\"\"", "'", "\n", "#", ",", "-1", "1e9", "true", "µ", "\0",
    "[[x]]", "\n[provider]\n", "\n[catalog]\n", "99999999999999999999999999999999999999999", "0x",
    "..=", "enum ", "[u8; 0]",
];

/// Replaces one to four short stretches of a text by other pieces, or by stretches of itself.
fn mutate(text: &str, noise: &mut Rng) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for _ in 0..=noise.usize(..4) {
        let start = noise.usize(..letters.len().max(1));
        let end = (start + noise.usize(..12)).min(letters.len());
        let piece: Vec<char> = if noise.usize(..2) == 0 {
            PIECES[noise.usize(..PIECES.len())].chars().collect()
        } else {
            let from = noise.usize(..letters.len().max(1));
            letters[from..(from + noise.usize(..60)).min(letters.len())].to_vec()
        };
        letters.splice(start..end, piece);
    }
    letters.into_iter().collect()
}

#[test]
fn a_damaged_catalog_never_makes_the_parser_panic() {
    let mut noise = Rng::with_seed(1);
    let (mut refused, mut accepted) = (0, 0);
    for _ in 0..300 {
        let text = mutate(VALKEY, &mut noise);
        match Catalog::parse("mutated.toml", &text) {
            Ok(catalog) => {
                accepted += 1;
                assert!(!markdown(&catalog).is_empty());
            }
            Err(errors) => {
                refused += 1;
                check_positions(&errors, &text);
            }
        }
    }
    assert!(refused > 100 && accepted > 5, "{refused} refused, {accepted} accepted: no test of both");
}

#[test]
fn a_catalog_that_is_cut_off_never_makes_the_parser_panic() {
    for end in (0..VALKEY.len()).step_by(101).filter(|end| VALKEY.is_char_boundary(*end)) {
        let text = &VALKEY[..end];
        if let Err(errors) = Catalog::parse("cut.toml", text) {
            check_positions(&errors, text);
        }
    }
}

#[test]
fn deep_nesting_never_makes_the_parser_overflow_its_stack() {
    let depth = 100_000;
    let dotted = vec!["a"; depth].join(".");
    let texts = [
        format!("{dotted} = 1"),
        format!("[{dotted}]"),
        format!("x = {}", "[".repeat(depth)),
        format!("x = {}", "{a=".repeat(depth)),
    ];
    for text in &texts {
        assert!(Catalog::parse("deep.toml", text).is_err());
    }
}

#[test]
fn tens_of_thousands_of_errors_are_all_reported() {
    let lines = 30_000;
    for line in ["x\n", "a = 1\n", "[provider.a]\n"] {
        let errors = Catalog::parse("long.toml", &line.repeat(lines)).unwrap_err();
        assert!(errors.errors.len() >= lines - 1, "{line}");
    }
    let unknown: String = (0..lines).map(|line| format!("k{line} = 1\n")).collect();
    let errors = Catalog::parse("long.toml", &unknown).unwrap_err();
    assert!(errors.errors.len() >= lines);
}

#[test]
fn control_characters_in_a_name_stay_on_one_line() {
    let text = "[provider.\"a\\nb\"]\n[provider.\"a\\nb\".event.\"\\u001b[31m\"]\nrepeats = \"\\n\"\n";
    let errors = Catalog::parse("control\n.toml", text).unwrap_err();
    check_positions(&errors, text);
}

/// Every error is one line and points into the text.
fn check_positions(errors: &lttng_catalog::Errors, text: &str) {
    assert!(!errors.errors.is_empty());
    assert_eq!(errors.to_string().lines().count(), errors.errors.len(), "{errors}");
    let lines = text.split('\n').count();
    for error in &errors.errors {
        let (line, column) = error.position.expect("a text has positions");
        assert!((1..=lines).contains(&line) && column >= 1, "{errors}");
    }
}
