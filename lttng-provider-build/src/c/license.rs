//! The licence of generated files, which are as much their authors' as the user's.

use std::str::FromStr;

use crate::GeneratedFile;

/// The licence of generated files for C, at the user's choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum License {
    /// Zero-Clause BSD: no condition, not even to keep the notice, so that a project can put its own in its place.
    #[default]
    ZeroClauseBsd,
    /// MIT.
    Mit,
}

impl License {
    /// As SPDX names it.
    pub fn name(self) -> &'static str {
        match self {
            License::ZeroClauseBsd => "0BSD",
            License::Mit => "MIT",
        }
    }

    /// The file with its licence in the first lines.
    pub(super) fn put_on(self, file: GeneratedFile) -> GeneratedFile {
        let name = self.name();
        let lines = [
            format!("SPDX-License-Identifier: {name}"),
            "Copyright (c) 2026 the valkey-trace authors".to_owned(),
            format!("The authors license this generated file to everyone under the terms of {name}."),
        ];
        let is_c = file.name.ends_with(".c") || file.name.ends_with(".h");
        let text = match is_c {
            true => format!("/* {} */\n/* clang-format off */\n", lines.join("\n * ")),
            false => lines.map(|line| format!("# {line}\n")).concat(),
        };
        GeneratedFile { text: text + &file.text, ..file }
    }
}

impl FromStr for License {
    type Err = String;

    fn from_str(name: &str) -> Result<License, String> {
        let all = [License::ZeroClauseBsd, License::Mit];
        let found = all.into_iter().find(|license| license.name() == name);
        found.ok_or_else(|| "generated files are licensed under 0BSD or MIT".to_owned())
    }
}
