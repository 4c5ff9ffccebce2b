//! USDT probes in the ELF notes of SystemTap's `sys/sdt.h`.
//!
//! ```text
//! note "stapsdt", type 3: address of the nop · address of .stapsdt.base when linked · address of the semaphore or 0
//!                         "provider\0" "name\0" "-4@%edi 8@-16(%rbp)\0"
//! ```
//!
//! If the file was prelinked, all addresses moved by the same amount as `.stapsdt.base`.

use std::collections::HashMap;

use super::image::{Image, text};
use super::model::{Argument, Probe};

const LONGEST_NAME: usize = 256;
const LONGEST_ARGUMENTS: usize = 4096;

/// A probe and where its semaphore is.
pub struct Found {
    pub probe: Probe,
    pub semaphore: Option<u64>,
}

/// The probes of a file, each once, however many sites it has.
pub fn probes(image: &Image<'_>) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    let mut by_name: HashMap<(String, String), usize> = HashMap::new();
    let base = image.section(".stapsdt.base").map(|section| section.address);
    for note in &image.notes {
        let Some(Note { linked_base, semaphore, provider, name, arguments }) = read(image, note) else {
            continue;
        };
        let moved = base.map_or(0, |base| base.wrapping_sub(linked_base));
        let semaphore = (semaphore != 0).then(|| semaphore.wrapping_add(moved));
        match by_name.get(&(provider.clone(), name.clone())) {
            Some(index) => {
                let known = &mut found[*index];
                known.probe.sites += 1;
                known.semaphore = known.semaphore.or(semaphore);
            }
            None => {
                by_name.insert((provider.clone(), name.clone()), found.len());
                let probe = Probe {
                    provider,
                    name,
                    arguments: read_arguments(&arguments),
                    sites: 1,
                    has_semaphore: false,
                    attached: None,
                    said: None,
                };
                found.push(Found { probe, semaphore });
            }
        }
    }
    for known in &mut found {
        known.probe.has_semaphore = known.semaphore.is_some();
    }
    found
}

struct Note {
    linked_base: u64,
    semaphore: u64,
    provider: String,
    name: String,
    arguments: String,
}

fn read(image: &Image<'_>, note: &[u8]) -> Option<Note> {
    let size = usize::try_from(image.address_size).ok()?;
    let linked_base = image.address(note.get(size..)?)?;
    let semaphore = image.address(note.get(2 * size..)?)?;
    let mut rest = note.get(3 * size..)?;
    let mut next = |longest| {
        let end = rest.iter().take(longest + 1).position(|byte| *byte == 0)?;
        let found = text(rest, longest)?;
        rest = &rest[end + 1..];
        Some(found)
    };
    let (provider, name) = (next(LONGEST_NAME)?, next(LONGEST_NAME)?);
    let arguments = next(LONGEST_ARGUMENTS)?;
    Some(Note { linked_base, semaphore, provider, name, arguments })
}

/// Reads `-4@%edi 8@-16(%rbp) 4@[sp, 12]`: operands may have spaces in their brackets.
fn read_arguments(text: &str) -> Vec<Argument> {
    let mut parts = vec![String::new()];
    let mut depth = 0usize;
    for letter in text.chars() {
        match letter {
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match parts.last_mut() {
            Some(part) if !(letter == ' ' && depth == 0) => part.push(letter),
            _ => parts.push(String::new()),
        }
    }
    parts.iter().filter(|part| !part.is_empty()).map(|part| read_argument(part)).collect()
}

fn read_argument(text: &str) -> Argument {
    let (size, operand) = text.split_once('@').unwrap_or(("", text));
    Argument { kind: kind(size).unwrap_or("unknown").to_owned(), operand: operand.to_owned() }
}

/// The type that a size stands for: negative if signed, with an `f` if it is a float.
fn kind(size: &str) -> Option<&'static str> {
    Some(match size {
        "1" => "u8",
        "2" => "u16",
        "4" => "u32",
        "8" => "u64",
        "-1" => "i8",
        "-2" => "i16",
        "-4" => "i32",
        "-8" => "i64",
        "4f" | "-4f" => "f32",
        "8f" | "-8f" => "f64",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_as_every_assembler_writes_them() {
        let read = |text| {
            read_arguments(text)
                .iter()
                .map(|said| format!("{} {}", said.kind, said.operand))
                .collect::<Vec<_>>()
        };
        assert_eq!(read("-4@%edi 8@-16(%rbp) 8@$5"), ["i32 %edi", "u64 -16(%rbp)", "u64 $5"]);
        assert_eq!(read("-4@[sp, 12] 8@x0"), ["i32 [sp, 12]", "u64 x0"]);
        assert_eq!(read("8f@%xmm0 -1@sym+4(%rip)"), ["f64 %xmm0", "i8 sym+4(%rip)"]);
        assert_eq!(read("%eax 16@%rbx"), ["unknown %eax", "unknown %rbx"]);
        assert!(read("").is_empty());
    }
}
