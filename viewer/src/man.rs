//! Man pages of a command line, one for each command. `catalog-tool/src/man.rs` and `fleet/src/man.rs` are links to this file.

use std::fs;
use std::io;
use std::path::Path;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

/// Writes the pages of a program and of its commands into a folder, which is created if it does not exist.
pub fn write(mut program: Command, folder: &Path) -> io::Result<()> {
    program.build();
    fs::create_dir_all(folder)?;
    let source = format!("{} {}", program.get_name(), program.get_version().unwrap_or_default());
    for command in program.get_subcommands().filter(|command| !command.is_hide_set()) {
        let page = page(command, &source, program.get_name())?;
        fs::write(folder.join(file_name(command)), page)?;
    }
    fs::write(folder.join(file_name(&program)), page(&program, &source, "lttng")?)
}

fn file_name(command: &Command) -> String {
    format!("{}.1", command.get_display_name().unwrap_or(command.get_name()))
}

fn page(command: &Command, source: &str, see_also: &str) -> io::Result<Vec<u8>> {
    let man = Man::new(command.clone());
    // `Man::render_title` would lose an empty date, and pages with a date are not reproducible.
    let title = file_name(command).to_uppercase().replace(".1", "");
    let mut page = format!(".TH {title} 1 \"\" \"{source}\" \"User Commands\"\n").into_bytes();
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    if command.get_arguments().any(|argument| !argument.is_hide_set()) {
        man.render_options_section(&mut page)?;
    }
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let mut rest = Roff::new();
    if let Some(help) = command.get_after_long_help().or(command.get_after_help()) {
        after_help(&help.to_string(), &mut rest);
    }
    rest.control("SH", ["SEE ALSO"]);
    rest.text([bold(see_also), roman("(1), "), bold("babeltrace"), roman("(1)")]);
    rest.to_writer(&mut page)?;
    Ok(page)
}

/// What the help has after the options: paragraphs, and headings with lines below them that are indented and stay lines.
fn after_help(text: &str, page: &mut Roff) {
    let mut paragraphs = text.split("\n\n").peekable();
    if paragraphs.peek().is_some_and(|first| heading(first).is_none()) {
        page.control("SH", ["NOTES"]);
    }
    for paragraph in paragraphs {
        match heading(paragraph) {
            Some((heading, lines)) => {
                page.control("SH", [heading.to_uppercase().as_str()]);
                page.control("nf", []);
                lines
                    .lines()
                    .for_each(|line| _ = page.text([roman(line.strip_prefix("  ").unwrap_or(line))]));
                page.control("fi", []);
            }
            None => {
                page.control("PP", []);
                page.text([roman(paragraph.replace('\n', " "))]);
            }
        }
    }
}

/// The heading of a paragraph whose other lines are indented, and those lines.
fn heading(paragraph: &str) -> Option<(&str, &str)> {
    let (first, lines) = paragraph.split_once('\n')?;
    let heading = first.strip_suffix(':')?;
    lines.lines().all(|line| line.starts_with("  ")).then_some((heading, lines))
}
