//! Tables of golden cases: many small inputs, each with what a program says to it, in one file.
//!
//! ```text
//! --- name_of_the_claim.toml
//! the input
//! +++
//! what is expected
//! --- the_next_claim.toml
//! ```

use std::fs;
use std::path::Path;

use crate::golden::check_golden;

/// A case of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The claim, with an extension where the input is a file of a kind.
    pub name: String,
    /// What the program gets.
    pub input: String,
    /// What it says.
    pub expected: String,
}

/// All cases of a table. It panics if there are none or two have the same name.
pub fn cases(table: impl AsRef<Path>) -> Vec<Case> {
    let path = table.as_ref();
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let cases = parse(&text);
    assert!(!cases.is_empty(), "{} has no cases", path.display());
    let mut names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), cases.len(), "{} has two cases of one name", path.display());
    cases
}

/// Asserts that `run` says what is expected for each case of a table; its errors are failures, too. `OVERWRITE=1` rewrites
/// the table instead.
#[track_caller]
pub fn assert_cases(table: impl AsRef<Path>, run: impl Fn(&Case) -> Result<String, String>) {
    let mut failures = Vec::new();
    let mut actual = String::new();
    for mut case in cases(&table) {
        match run(&case) {
            Ok(said) => case.expected = said,
            Err(failure) => failures.push(format!("{}: {failure}", case.name)),
        }
        actual.push_str(&format!("--- {}\n{}+++\n{}", case.name, case.input, case.expected));
    }
    failures.extend(check_golden(table, &actual).err());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn parse(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut is_input = true;
    for line in text.split_inclusive('\n') {
        if let Some(name) = line.strip_prefix("--- ") {
            cases.push(Case {
                name: name.trim_end().to_owned(),
                input: String::new(),
                expected: String::new(),
            });
            is_input = true;
        } else if line == "+++\n" {
            is_input = false;
        } else {
            let case = cases.last_mut().expect("a table begins with the name of a case");
            (if is_input { &mut case.input } else { &mut case.expected }).push_str(line);
        }
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_parsed_into_its_cases() {
        let case = |name: &str, input: &str, expected: &str| Case {
            name: name.to_owned(),
            input: input.to_owned(),
            expected: expected.to_owned(),
        };
        let table = "--- one.toml\na\n\nb\n+++\nwrong\n--- empty.d\n+++\nwrong, too\n";
        assert_eq!(
            parse(table),
            [case("one.toml", "a\n\nb\n", "wrong\n"), case("empty.d", "", "wrong, too\n")]
        );
    }

    #[test]
    fn difference_and_failure_of_a_case_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.txt");
        fs::write(&path, "--- one\na\n+++\nA\n--- two\nb\n+++\nB\n").unwrap();
        assert_cases(&path, |case| Ok(case.input.to_uppercase()));
        let differs = std::panic::catch_unwind(|| assert_cases(&path, |case| Ok(case.input.clone())));
        assert!(differs.is_err() || crate::overwrites());
        let fails = std::panic::catch_unwind(|| assert_cases(&path, |_| Err("refused".to_owned())));
        assert!(fails.is_err());
    }
}
