//! Golden files: what a program wrote, read by somebody and found good.

use std::io::Write as _;
use std::path::Path;
use std::{env, fs, io};

use similar::TextDiff;

/// Whether this run rewrites golden files: `OVERWRITE=1` in the environment.
pub fn overwrites() -> bool {
    env::var_os("OVERWRITE").is_some_and(|value| value == "1")
}

/// Asserts that a file holds this text. `OVERWRITE=1` rewrites the file instead and names it on standard error.
#[track_caller]
pub fn assert_golden(path: impl AsRef<Path>, actual: &str) {
    if let Err(difference) = check_golden(path, actual) {
        panic!("{difference}");
    }
}

/// As [`assert_golden`], for a test that goes on to the next file: returns the difference.
pub fn check_golden(path: impl AsRef<Path>, actual: &str) -> Result<(), String> {
    compare(path.as_ref(), actual, overwrites())
}

fn compare(path: &Path, actual: &str, overwrite: bool) -> Result<(), String> {
    let shown = path.display();
    // Nothing at all is what a broken program writes, and not worth a golden file.
    if actual.trim().is_empty() {
        return Err(format!("{shown}: there is no text to compare with it"));
    }
    let golden = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        other => other.map_err(|error| format!("{shown}: {error}"))?,
    };
    if actual == golden {
        return Ok(());
    }
    let difference = difference(&golden, actual);
    if overwrite {
        let folder = path.parent().unwrap_or(path);
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, actual));
        written.map_err(|error| format!("{shown}: {error}"))?;
        // Not by `eprintln!`, which libtest hides while a test passes.
        let _ = writeln!(io::stderr(), "rewrote {shown}:\n{difference}");
        return Ok(());
    }
    Err(format!("{shown} differs; if the new text is right, rerun with OVERWRITE=1\n{difference}"))
}

/// How a text differs from another, as `diff -u` shows it.
pub fn difference(golden: &str, actual: &str) -> String {
    TextDiff::from_lines(golden, actual).unified_diff().header("golden", "actual").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn difference_is_shown_and_the_file_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("golden.txt");
        fs::write(&path, "a\nb\nc\n").unwrap();
        assert_eq!(compare(&path, "a\nb\nc\n", false), Ok(()));
        let difference = compare(&path, "a\nB\nc\n", false).unwrap_err();
        assert!(difference.contains("OVERWRITE=1") && difference.contains("\n-b\n+B\n"), "{difference}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "a\nb\nc\n");
    }

    #[test]
    fn missing_file_is_a_difference_and_is_made_on_request() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/golden.txt");
        assert!(compare(&path, "a\n", false).unwrap_err().contains("\n+a\n"));
        assert!(!path.exists());
        assert_eq!(compare(&path, "a\n", true), Ok(()));
        assert_eq!(fs::read_to_string(&path).unwrap(), "a\n");
    }

    #[test]
    fn no_text_is_never_golden() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("golden.txt");
        fs::write(&path, "a\n").unwrap();
        for overwrite in [false, true] {
            assert!(compare(&path, " \n", overwrite).is_err());
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "a\n");
    }
}
