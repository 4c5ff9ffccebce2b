//! Runs the program, and reads back what it wrote.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use lttng_testing::CommandInTime as _;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

/// The program, with a folder to write.
pub fn ltt_parquet(output: &Path, traces: &[&Path]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ltt-parquet"));
    command.arg("--output").arg(output).args(traces).env_remove("LTT_TOP_CATALOG");
    command
}

/// Runs it to its end: the exit status, and what it said.
pub fn said(command: &mut Command) -> (i32, String) {
    let output = command.output_in_time().expect("it runs");
    let said = String::from_utf8(output.stderr).expect("it writes UTF-8");
    (output.status.code().expect("no signal ended it"), said)
}

/// The files of a table that engines read.
pub fn files(output: &Path, table: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![output.join(table)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() && !path.ends_with("_delta_log") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "parquet") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The number of rows of a table, all of which must be readable.
pub fn rows(output: &Path, table: &str) -> usize {
    let mut count = 0;
    for path in files(output, table) {
        let reader = SerializedFileReader::new(File::open(&path).expect("it is there"));
        let reader = reader.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for row in reader.get_row_iter(None).expect("it has rows") {
            row.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            count += 1;
        }
    }
    count
}

/// What the files of a table say of themselves under a key, each once.
pub fn metadata(output: &Path, table: &str, key: &str) -> Vec<String> {
    let value = |path: PathBuf| {
        let reader =
            SerializedFileReader::new(File::open(path).expect("it is there")).expect("it is complete");
        let entries = reader.metadata().file_metadata().key_value_metadata().expect("there are some").clone();
        entries.into_iter().find(|entry| entry.key == key).and_then(|entry| entry.value).expect("it is there")
    };
    let mut values: Vec<String> = files(output, table).into_iter().map(value).collect();
    values.sort();
    values.dedup();
    values
}

/// The values of some columns of the table of events, a line for each row.
pub fn fields(output: &Path, names: &[&str]) -> Vec<String> {
    let mut lines = Vec::new();
    for path in files(output, "events") {
        let reader =
            SerializedFileReader::new(File::open(path).expect("it is there")).expect("it is complete");
        for row in reader.get_row_iter(None).expect("it has rows") {
            let row = row.expect("a row");
            let value = |name: &&str| {
                let named = |(column, _): &(&String, &Field)| *column == name;
                row.get_column_iter().find(named).map_or_else(String::new, |(_, field)| field.to_string())
            };
            lines.push(names.iter().map(value).collect::<Vec<_>>().join(" "));
        }
    }
    lines
}
