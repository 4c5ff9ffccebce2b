//! The `toml` crate reads the same from any text, or refuses it as well.

use ::toml::de::{DeTable, DeValue};
use fastrand::Rng;

use super::{Table, Value, parse};

/// Everything that can be in a TOML text.
const EVERYTHING: &str = r####"# TOML
top = 1 # after a value
"quoted key" = "a\tb \"c\" \\ \u00e9 \U0001F600 \x41"
'literal' = 'C:\temp'
a.b . "c" = true
a.d = false
long = """
one
two \
   three ""four"""""
longest = '''
'one' ''two'''''
numbers = [ 0, -1, +2, 1_000, 0xdead_beef, 0o755, 0b1010, 1.5, -2e10, inf, nan, 3.0E-2 ]
dates = [1979-05-27, 1979-05-27T07:32:00Z, 1979-05-27 07:32:00.999, 07:32:00]
empty = []
nested = [[1, 2], [], ["x", {}, { y.z = 1, y.w = [
  2, # within
] }],]
lines = {
  one = 1,
  two = 2, # TOML 1.1
}

[table]
key = "value"
[table.below.it]
x = 1
[table.below]
y = 2
[[many]]
name = "first"
[many.below]
x = 1
[[many]]
name = "second"
[[many.others]]
[a.e]
[ spaced . "out" ]
"####;

/// What must be refused, each for its own reason.
const WRONG: &[&str] = &[
    "a",
    "a =",
    "= 1",
    "a = 1 b = 2",
    "a = 1\na = 2",
    "a.b = 1\na = 2",
    "a = 1\na.b = 2",
    "[a]\n[a]",
    "[a",
    "[a]]",
    "[[a]",
    "[a] b = 1",
    "a = [1 2]",
    "a = [1,, 2]",
    "a = [,]",
    "a = [1",
    "a = {b = 1",
    "a = {b = 1, b = 2}",
    "a = {,}",
    "a = {}\na.b = 1",
    "a = {}\n[a.b]",
    "a = []\n[[a]]",
    "a = [{}]\n[[a.b]]",
    "[[a]]\n[a]",
    "[a]\n[[a]]",
    "[a]\nb.c = 1\n[a.b]",
    "[a.b.c]\n[a]\nb.c.d = 1",
    "[a.b]\n[a]\nb.c = 1",
    "[[a]]\n[b]\n[[a.c]]\n[a.c]",
    "a = \"",
    "a = \"x\n\"",
    "a = 'x\n'",
    "a = \"\\q\"",
    "a = \"\\ud800\"",
    "a = \"\\u12\"",
    "a = \"\0\"",
    "a = \"\"\"x",
    "a = 01",
    "a = 1__0",
    "a = _1",
    "a = 1_",
    "a = 0x",
    "a = +0x1",
    "a = 1.",
    "a = .5",
    "a = 1.e2",
    "a = tru",
    "a = TRUE",
    "a = x",
    "\"\"\"a\"\"\" = 1",
    "a. = 1",
    "[]",
    "[a.]",
    "a = 1 # \u{1}",
    "a = 1\rb = 2",
    "é = 1",
    "a = 1\n\u{b}",
    "a = \"x\\ y\"",
    "[a]\nb = {}\nb.c = 1",
    "a = 00.5",
    "a = 1e",
];

/// Signs of TOML that damage puts in.
const PIECES: &[&str] = &[
    "[",
    "]",
    "{",
    "}",
    "=",
    ".",
    "\"",
    "\"\"\"",
    "'",
    "'''",
    "\n",
    "\r\n",
    "#",
    ",",
    "-",
    "_",
    "0",
    "1e9",
    "true",
    "\\",
    "µ",
    "\0",
    " ",
    "\t",
    "[[",
    "]]",
    "a = 1\n",
    "\n[table]\n",
    "x.y",
    "\\u0041",
    "\r",
];

#[test]
fn everything_is_read_as_another_reader_does() {
    assert!(compare(EVERYTHING), "{:?}", parse(EVERYTHING).1);
    assert!(compare(&format!("\u{feff}{}", EVERYTHING.replace('\n', "\r\n"))));
    for catalog in [crate::VALKEY, crate::REDIS, crate::VALKEY_MODULE, crate::MEMCACHED] {
        assert!(compare(catalog));
    }
}

#[test]
fn what_the_specification_refuses_is_refused() {
    for text in WRONG {
        assert!(!compare(text), "{text:?} is accepted");
    }
}

#[test]
fn damaged_texts_are_judged_as_by_another_reader() {
    let mut noise = Rng::with_seed(7);
    let (mut accepted, mut stricter) = (0, Vec::new());
    // Dates are not looked into.
    let without_dates =
        EVERYTHING.lines().filter(|line| !line.starts_with("dates")).collect::<Vec<_>>().join("\n");
    for _ in 0..1000 {
        let mut letters: Vec<char> = without_dates.chars().collect();
        for _ in 0..=noise.usize(..3) {
            let start = noise.usize(..letters.len());
            let end = (start + noise.usize(..4)).min(letters.len());
            letters.splice(start..end, PIECES[noise.usize(..PIECES.len())].chars());
        }
        let text: String = letters.iter().collect();
        match compare(&text) {
            true => accepted += 1,
            false if DeTable::parse(&text).is_ok() => stricter.push(text),
            false => {}
        }
    }
    // The other reader takes a key and its `=` on two lines of an inline table, which the specification does not.
    assert!(accepted > 100 && stricter.len() < 10, "{accepted} of 1000 accepted, {stricter:#?}");
}

#[test]
fn one_mistake_is_one_error() {
    let broken = ["x", "a = [1,\n2 3,\n4]", "a = \"x", "[c", "a = {b = 1, b = 2}", "a = [{ b =\n}]"];
    for text in broken {
        let text = format!("x = 1\n{text}\n\n[table]\nx = 1\n[table.x]\n[d]\n");
        let (_, errors) = parse(&text);
        let lines: Vec<usize> = errors.iter().map(|error| text[..error.offset].lines().count()).collect();
        // The second is there in every text.
        assert_eq!(errors.len(), 2, "{text}\n{lines:?} {errors:?}");
    }
}

/// Whether a text is accepted; fails if the other reader refuses it or reads something else from it.
fn compare(text: &str) -> bool {
    let (ours, errors) = parse(text);
    let (theirs, their_errors) = DeTable::parse_recoverable(text);
    let theirs = theirs.get_ref();
    assert!(!errors.is_empty() || their_errors.is_empty(), "{text}\n{their_errors:?}");
    if errors.is_empty() {
        same_table(&ours, theirs);
    }
    errors.is_empty()
}

fn same_table(ours: &Table, theirs: &DeTable<'_>) {
    assert_eq!(ours.entries.len(), theirs.len());
    for (key, value) in theirs {
        let entry = &ours.entries[key.get_ref().as_ref()];
        same_value(&entry.item.value, value.get_ref());
    }
}

fn same_value(ours: &Value, theirs: &DeValue<'_>) {
    match (ours, theirs) {
        (Value::String(ours), DeValue::String(theirs)) => {
            assert_eq!(ours.replace("\r\n", "\n"), theirs.replace("\r\n", "\n"));
        }
        (Value::Integer(ours), DeValue::Integer(theirs)) => {
            assert_eq!(*ours, i128::from_str_radix(theirs.as_str(), theirs.radix()).unwrap());
        }
        (Value::Boolean(ours), DeValue::Boolean(theirs)) => assert_eq!(ours, theirs),
        (Value::Number(_), DeValue::Float(_)) | (Value::Date, DeValue::Datetime(_)) => {}
        (Value::Array { elements, .. }, DeValue::Array(theirs)) => {
            assert_eq!(elements.len(), theirs.len());
            for (ours, theirs) in elements.iter().zip(theirs) {
                same_value(&ours.value, theirs.get_ref());
            }
        }
        (Value::Table(ours), DeValue::Table(theirs)) => same_table(ours, theirs),
        (_, theirs) => panic!("read otherwise: {theirs:?}"),
    }
}
