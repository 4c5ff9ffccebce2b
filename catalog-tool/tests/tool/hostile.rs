//! Whatever is in a file, the import ends with a catalog or with errors.

use std::panic::catch_unwind;

use fastrand::Rng;
use lttng_catalog::Catalog;
use lttng_catalog_cli::import::{Imported, Options, Problems, header, provider_file};
use lttng_testing::cases;

use crate::import::file;

type Import = fn(&str, &str, &Options) -> Result<Imported, Problems>;

/// Words that mean something to the parsers, in any order.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "provider", "probe", "shop", "sale__start", "sale__end", "{", "}", ";", "(", ")", ",", "int",
    "char", "*", "const", "unsigned", "struct", "key", "keylen", "void", "/*", "*/", "//", "\n",
    "#define A int\n", "A", "#define F(x) x F(x) x\n", "#define", "F(", "F (key)", "##", "...",
    "#if 0\n", "#endif\n", "\"", "'", "\\", ":", "-", "[", "]", "16", "0x", "typedef",
    "TRACEPOINT_EVENT(", "TRACEPOINT_EVENT_CLASS(shop,", "TRACEPOINT_EVENT_INSTANCE(shop,",
    "TRACEPOINT_ENUM(shop, e,", "TP_ARGS(", "TP_FIELDS(", "TP_ENUM_VALUES(", "ctf_integer(int, a, a)",
    "ctf_enum(shop, e, int, a, a)", "ctf_enum_value(\"A\", 1)", "ctf_array(int, a, a, 4)",
    "TRACEPOINT_LOGLEVEL(shop, sale,", "TRACE_INFO)", "\u{e9}", "\u{0}", "@param key what", "errno",
    "EOF", "lttng_",
];

#[test]
fn random_and_damaged_files_do_no_harm() {
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        u64::try_from(now.expect("after 1970").as_nanos()).unwrap_or(0)
    });
    println!("SEED={seed}");
    let mut random = Rng::with_seed(seed);
    let files: Vec<String> = cases(file("accepted.txt")).into_iter().map(|case| case.input).collect();
    let mut accepted = 0;
    for round in 0..4000 {
        let text = match round % 2 {
            0 => {
                (0..random.usize(..60)).map(|_| WORDS[random.usize(..WORDS.len())].to_owned() + " ").collect()
            }
            _ => damaged(&files[random.usize(..files.len())], &mut random),
        };
        for (name, import) in [("a.d", provider_file as Import), ("a.h", header)] {
            let result = catch_unwind(|| import(name, &text, &Options::default()));
            let result = result.unwrap_or_else(|_| panic!("SEED={seed}, round {round}: {text:?}"));
            match result {
                Ok(imported) => {
                    accepted += 1;
                    assert!(Catalog::parse("imported", &imported.text).is_ok(), "SEED={seed}: {text:?}");
                }
                Err(problems) => {
                    let lines = text.split('\n').count();
                    assert!(!problems.problems.is_empty());
                    for problem in &problems.problems {
                        assert!((1..=lines).contains(&problem.line), "SEED={seed}: {problem:?} in {text:?}");
                    }
                }
            }
        }
    }
    assert!(accepted > 50, "only {accepted} files were accepted: the damage is too much");
}

fn damaged(text: &str, random: &mut Rng) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for _ in 0..=random.u64(..3) {
        let at = random.usize(..letters.len().max(1));
        match random.u64(..3) {
            0 => drop(letters.remove(at)),
            1 => letters.splice(at..at, WORDS[random.usize(..WORDS.len())].chars()).for_each(drop),
            _ => letters.truncate(at + letters.len() / 2),
        }
    }
    letters.into_iter().collect()
}

/// Each is the worst for some loop, at a quarter of what the command line reads; with the square of that as
/// the number of steps, this test would take an hour.
#[test]
fn the_worst_files_come_to_an_end() {
    const SIZE: usize = 1 << 18;
    let fill = |text: &str| text.repeat(SIZE / text.len());
    let half = |text: &str| text.repeat(SIZE / text.len() / 2);
    let distinct = |make: fn(usize) -> String| (0..SIZE / make(SIZE).len()).map(make).collect::<String>();
    let worst = [
        fill("/*"),
        fill("TRACEPOINT_EVENT("),
        format!("TRACEPOINT_EVENT(a, b, TP_ARGS(), TP_FIELDS({}", fill("ctf_integer(")),
        format!("provider a {{ probe b({}{}); }};", half("("), half(")")),
        format!("{}provider a {{{}}};", half("//\n"), half("probe b();")),
        format!("provider a {{{}", fill("probe b(")),
        fill("#define A A\n"),
        format!("#define F(x) x x\n{}", fill("F(")),
        format!("#define B\n#define A {}\n{}", half("B "), half("A ")),
        format!(
            "{}provider a {{ probe b(A19); }};",
            (0..19).map(|n| format!("#define A{} A{n} A{n}\n", n + 1)).collect::<String>()
        ),
        format!("provider a {{{}}};", fill("probe b(t x);\n")),
        fill("#if 0\n"),
        fill("'"),
        fill("provider a{};"),
        distinct(|n| format!("provider a{n:07} {{}};")),
        distinct(|n| format!("TRACEPOINT_LOGLEVEL(a, b{n:07}, TRACE_INFO)\n")),
    ];
    for text in worst {
        let _ = provider_file("a.d", &text, &Options::default());
        let _ = header("a.h", &text, &Options::default());
    }
}
