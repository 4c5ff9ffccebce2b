//! Links in Markdown files lead to files and headings that exist. Addresses elsewhere are not asked for: a test needs no network.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use lttng_testing::workspace;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

#[test]
fn links_lead_to_files_and_headings_that_exist() {
    let files = markdown_files(workspace());
    assert!(files.len() > 10, "only {files:?}");
    let dead: Vec<_> = files.iter().flat_map(|file| dead_links(file)).collect();
    assert!(dead.is_empty(), "dead links:\n{}", dead.join("\n"));
}

#[test]
fn dead_links_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.md");
    fs::write(folder.path().join("other page.md"), "# Here and *there*\n\n## Twice\n\n## Twice\n").unwrap();
    let page = "# The page\n\n[self](#the-page) [other](<other page.md>) [heading](other%20page.md#here-and-there) \
                [second](other%20page.md#twice-1) <https://example.org> [code](`gone.md`)\n\n\
                [gone](gone.md) [no heading](#nowhere) [third](other%20page.md#twice-2) ![picture](gone.svg) [ref][1]\n\n\
                `[not](a-link.md)`\n\n[1]: gone-too.md\n";
    fs::write(&file, page).unwrap();
    let dead: Vec<_> =
        dead_links(&file).iter().map(|dead| dead.rsplit(' ').next().unwrap().to_owned()).collect();
    assert_eq!(
        dead,
        ["`gone.md`", "gone.md", "#nowhere", "other%20page.md#twice-2", "gone.svg", "gone-too.md"]
    );
}

/// All Markdown files of the project. Those in folders of tests are data, and what is built or recorded is not ours.
fn markdown_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name());
        let skipped = ["target", "out", ".git", "tests"].iter().any(|skipped| name == *skipped);
        if entry.file_type().unwrap().is_dir() && !skipped {
            files.extend(markdown_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            files.push(path);
        }
    }
    files
}

/// The links of a file that lead nowhere, each with the file and line.
fn dead_links(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let mut dead = Vec::new();
    for (event, range) in Parser::new_ext(&text, Options::ENABLE_TABLES).into_offset_iter() {
        let (Event::Start(Tag::Link { dest_url, .. }) | Event::Start(Tag::Image { dest_url, .. })) = event
        else {
            continue;
        };
        if !leads_somewhere(file, &text, &dest_url) {
            let line = text[..range.start].lines().count().max(1);
            dead.push(format!("{}:{line}: {dest_url}", file.display()));
        }
    }
    dead
}

fn leads_somewhere(file: &Path, text: &str, link: &str) -> bool {
    // Rust items in texts that are part of a crate's documentation are rustdoc's to check.
    let is_item = link.contains("::");
    if is_item || link.contains("://") || link.starts_with("mailto:") {
        return true;
    }
    let (path, heading) = link.split_once('#').unwrap_or((link, ""));
    if path.is_empty() {
        return anchors(text).contains(heading);
    }
    let target = file.parent().unwrap().join(path.replace("%20", " "));
    match fs::read_to_string(&target) {
        Ok(text) => heading.is_empty() || anchors(&text).contains(heading),
        Err(_) => heading.is_empty() && target.exists(),
    }
}

/// The anchors of headings, as the usual hosts of repositories make them: in lower case, spaces as hyphens, without
/// punctuation, and numbered if a heading repeats another.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut heading: Option<String> = None;
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(part) | Event::Code(part) => {
                heading.iter_mut().for_each(|heading| heading.push_str(&part))
            }
            Event::End(TagEnd::Heading(_)) => {
                let Some(anchor) = heading.take().map(|heading| anchor(&heading)) else { continue };
                let repeats = seen.entry(anchor.clone()).or_default();
                anchors.insert(if *repeats == 0 { anchor } else { format!("{anchor}-{repeats}") });
                *repeats += 1;
            }
            _ => {}
        }
    }
    anchors
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|character| character.is_alphanumeric() || " -_".contains(*character));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}
