//! What does not agree with the catalog does not compile, and the message says why. A table for each topic, in which a case
//! is `//// its claim`, the code, `//// says` and the messages.
//!
//! `OVERWRITE=1 cargo test -p lttng-provider-derive refused` rewrites the messages; read the difference before you keep it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use lttng_testing::{assert_golden, overwrites};

/// What every case begins and ends with.
const BEFORE: &str = "#![allow(unused)]\n\n";
const AFTER: &str = "\nfn main() {}\n";

/// The variable with the folder of the cases, for the process that has trybuild compile them.
const FOLDER: &str = "REFUSED_CASES";

/// What a message has that says what to do: the words of an instruction, or a choice.
const FIXES: [&str; 20] = [
    "remove ",
    "write ",
    "add ",
    "use ",
    "name it",
    "name the",
    "name what",
    "put ",
    "make this",
    "make the",
    "rename ",
    "compute ",
    "convert ",
    "did you mean",
    "expected one of",
    "the options",
    "these have one",
    "its path is relative to",
    // Of rustc.
    "whose range is",
    "help: the trait `std::fmt::Display` is not implemented for",
];

#[test]
fn every_message_names_the_fix() {
    for table in ["events", "enums", "functions"].map(|topic| Table::read(topic, Path::new(""))) {
        for case in table.cases {
            for message in format!("\n{}", case.says).split("\nerror").skip(1) {
                assert!(FIXES.iter().any(|fix| message.contains(fix)), "{}: error{message}", case.claim);
            }
        }
    }
}

#[test]
#[ignore = "make check: compiles 63 cases, with tracing off and on"]
fn what_does_not_agree_with_the_catalog_is_refused_with_a_reason() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("refused");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let tables = ["events", "enums", "functions"].map(|topic| Table::read(topic, &folder));
    for case in tables.iter().flat_map(|table| &table.cases) {
        case.write();
    }
    let catalogs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/market/catalog");
    let catalogs = env::join_paths(["shop.toml", "warehouse.toml"].map(|file| catalogs.join(file))).unwrap();
    // With tracing on, the compiler says the same.
    for is_on in ["no", "yes"] {
        // In another process, because the cases have no build script that would name the catalogs: the environment does.
        let mut compile = Command::new(env::current_exe().unwrap());
        compile.args(["--exact", "refused::compile_in_another_process", "--ignored", "--nocapture"]);
        compile.env(FOLDER, &folder).env("LTTNG_PROVIDER_CATALOGS", &catalogs).env("USE_LTTNG", is_on);
        if overwrites() && is_on == "no" {
            compile.env("TRYBUILD", "overwrite");
        }
        let output = compile.output().unwrap();
        let said =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "tracing on: {is_on}\n{said}");
    }
    for table in tables.iter().filter(|_| overwrites()) {
        assert_golden(&table.file, &table.cases.iter().map(Case::as_it_is).collect::<String>());
    }
}

#[test]
#[ignore = "the test above runs it, in a process with another environment"]
fn compile_in_another_process() {
    let folder = PathBuf::from(env::var_os(FOLDER).expect("the other test sets it"));
    trybuild::TestCases::new().compile_fail(folder.join("*.rs"));
}

struct Table {
    file: PathBuf,
    cases: Vec<Case>,
}

struct Case {
    claim: String,
    code: String,
    says: String,
    /// Where it is compiled.
    file: PathBuf,
}

impl Table {
    fn read(topic: &str, folder: &Path) -> Table {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/refused/{topic}.txt"));
        let text = fs::read_to_string(&file).unwrap();
        let mut cases = Vec::new();
        let mut parts = text.split("//// ").skip(1);
        while let (Some(code), Some(says)) = (parts.next(), parts.next()) {
            let (claim, code) = code.split_once('\n').unwrap();
            let says = says.strip_prefix("says\n").unwrap_or_else(|| panic!("{claim} has no `//// says`"));
            let path = folder.join(format!("{claim}.rs"));
            cases.push(Case {
                claim: claim.into(),
                code: code.into(),
                says: says.trim_end().into(),
                file: path,
            });
        }
        assert!(!cases.is_empty(), "{}", file.display());
        Table { file, cases }
    }
}

impl Case {
    fn write(&self) {
        fs::write(&self.file, format!("{BEFORE}{}{AFTER}", self.code)).unwrap();
        if !self.says.is_empty() {
            let says = self.says.replace("case.rs", &self.shown());
            fs::write(self.file.with_extension("stderr"), says + "\n").unwrap();
        }
    }

    /// With what the compiler says now.
    fn as_it_is(&self) -> String {
        let says = fs::read_to_string(self.file.with_extension("stderr")).unwrap_or_default();
        let says = says.replace(&self.shown(), "case.rs");
        format!("//// {}\n{}//// says\n{}\n\n", self.claim, self.code, says.trim_end())
    }

    /// The file as trybuild shows it.
    fn shown(&self) -> String {
        self.file.display().to_string()
    }
}
