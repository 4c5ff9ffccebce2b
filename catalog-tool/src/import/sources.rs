//! Several files, and those that they include, as one text; a line of it can be found in its file again.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

/// More text than the headers of any program have.
const LARGEST: usize = 16 << 20;
/// A deeper nesting of `#include` than any header has.
const DEEPEST: usize = 32;

/// Files as one text.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// All of it.
    pub text: String,
    lines: usize,
    /// Where a part of a file begins: its line in the text, the file, and its line there.
    parts: Vec<(usize, PathBuf, usize)>,
    included: HashSet<PathBuf>,
}

impl Sources {
    /// Adds a file, with what it includes from these folders in the place of its `#include`, each file once. Other
    /// includes are skipped, and so is what `read` cannot read.
    pub fn add(
        &mut self,
        path: &Path,
        text: &str,
        folders: &[PathBuf],
        read: &impl Fn(&Path) -> io::Result<String>,
    ) {
        self.included.insert(path.to_owned());
        self.append(path, text, folders, read, 0);
    }

    fn append(
        &mut self,
        path: &Path,
        text: &str,
        folders: &[PathBuf],
        read: &impl Fn(&Path) -> io::Result<String>,
        depth: usize,
    ) {
        self.parts.push((self.lines, path.to_owned(), 0));
        for (index, line) in text.lines().enumerate() {
            self.text.push_str(line);
            self.text.push('\n');
            self.lines += 1;
            let Some(name) = included(line).filter(|_| depth < DEEPEST && self.text.len() < LARGEST) else {
                continue;
            };
            let candidates =
                folders.iter().map(|folder| folder.join(name)).filter(|path| !self.included.contains(path));
            if let Some((path_of_include, text)) =
                candidates.into_iter().find_map(|path| Some((path.clone(), read(&path).ok()?)))
            {
                self.included.insert(path_of_include.clone());
                self.append(&path_of_include, &text, folders, read, depth + 1);
                self.parts.push((self.lines, path.to_owned(), index + 1));
            }
        }
    }

    /// The file that a line of the text is from, and its line there, both from 1.
    pub fn locate(&self, line: usize) -> (&Path, usize) {
        let at = line.saturating_sub(1);
        let part = self.parts.partition_point(|(start, ..)| *start <= at).checked_sub(1);
        match part.and_then(|index| self.parts.get(index)) {
            Some((start, path, first)) => (path, at - start + first + 1),
            None => (Path::new(""), line),
        }
    }
}

/// The name in `#include "name"` or `#include <name>`.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim();
    let (end, rest) = match rest.split_at_checked(1)? {
        ("\"", rest) => ('"', rest),
        ("<", rest) => ('>', rest),
        _ => return None,
    };
    rest.split(end).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_in_the_files_that_they_are_from() {
        let read = |path: &Path| match path.to_str() {
            Some("dir/b.h") => Ok("b1\n#include <a.h>\nb3".to_owned()),
            Some("dir/a.h") => Ok("not again: it includes itself\n#include \"a.h\"".to_owned()),
            _ => Err(io::ErrorKind::NotFound.into()),
        };
        let mut sources = Sources::default();
        let folders = [PathBuf::from("other"), PathBuf::from("dir")];
        sources.add(Path::new("first.h"), "f1\n# include \"b.h\"\n#include <stdio.h>\nf4", &folders, &read);
        sources.add(Path::new("second.h"), "#include \"b.h\"\ns2", &folders, &read);
        let located: Vec<String> = (sources.text.lines().zip(1..))
            .map(|(text, line)| {
                let (path, line) = sources.locate(line);
                format!("{}:{line}: {text}", path.display())
            })
            .collect();
        let expected = [
            "first.h:1: f1",
            "first.h:2: # include \"b.h\"",
            "dir/b.h:1: b1",
            "dir/b.h:2: #include <a.h>",
            "dir/a.h:1: not again: it includes itself",
            "dir/a.h:2: #include \"a.h\"",
            "dir/b.h:3: b3",
            "first.h:3: #include <stdio.h>",
            "first.h:4: f4",
            "second.h:1: #include \"b.h\"",
            "second.h:2: s2",
        ];
        assert_eq!(located, expected);
    }
}
