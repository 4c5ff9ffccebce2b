//! The file that tracers find USDT probes in: an ELF file in memory, one for the process.
//!
//! Its layout is fixed, and addresses are offsets in the file, so that it need not be linked:
//!
//! ```text
//! 0        headers, `.stapsdt.base`
//! TEXT     a function for each slot: `nop`, where tracers attach, and `ret`
//! PROBES   a slot for each event: LTTng's tracepoint, whose padding is the semaphore, see `ffi::slots`
//! NOTES    `.note.stapsdt`, which grows
//! ```
//!
//! The process maps the first three; a tracer reads the file by way of `/proc/PID/fd` when it attaches. A function's
//! argument points to the values, 64 bits each, and the note says so.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::IntoRawFd;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

use crate::declaration::Kind;

/// The most events of a process at a time.
pub const EVENTS_MAX: u32 = 32_768;

pub(crate) const SLOT_SIZE: usize = 64;
/// Where the semaphore is in a slot: after the 32 bits of the tracepoint's `state`.
pub(crate) const SEMAPHORE: usize = 28;
const FUNCTION_SIZE: usize = 8;

// Multiples of the largest page size.
pub(crate) const TEXT: usize = 0x1_0000;
pub(crate) const PROBES: usize = TEXT + EVENTS_MAX as usize * FUNCTION_SIZE;
pub(crate) const NOTES: usize = PROBES + EVENTS_MAX as usize * SLOT_SIZE;
/// Room for the longest note of every event, while half of it is waste.
const NOTES_MAX: usize = EVENTS_MAX as usize * 1024;
const BASE: usize = 0x1000;

#[cfg(target_arch = "x86_64")]
const FUNCTION: [u8; FUNCTION_SIZE] = [0x90, 0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc];
#[cfg(target_arch = "x86_64")]
const MACHINE: u16 = 62;
#[cfg(target_arch = "aarch64")]
const FUNCTION: [u8; FUNCTION_SIZE] = [0x1f, 0x20, 0x03, 0xd5, 0xc0, 0x03, 0x5f, 0xd6];
#[cfg(target_arch = "aarch64")]
const MACHINE: u16 = 183;

/// Functions are written a page at a time, before a tracer can attach to one of them: its breakpoint detaches the page
/// from the file.
const FUNCTIONS_A_PAGE: u32 = (0x1_0000 / FUNCTION_SIZE) as u32;

/// The function of a slot, as an offset in the file.
pub(crate) fn function(slot: u32) -> usize {
    TEXT + slot as usize * FUNCTION_SIZE
}

/// The slot of an event, as an offset in the file.
pub(crate) fn slot(slot: u32) -> usize {
    PROBES + slot as usize * SLOT_SIZE
}

/// Describes the probe of a slot.
pub(crate) fn note(at: u32, provider: &str, event: &str, fields: impl Iterator<Item = Kind>) -> Vec<u8> {
    let operands: Vec<_> = fields.enumerate().map(|(index, kind)| operand(index, kind)).collect();
    let addresses = [function(at), BASE, slot(at) + SEMAPHORE].map(|address| address as u64);
    let mut description: Vec<u8> = addresses.iter().flat_map(|address| address.to_ne_bytes()).collect();
    for text in [provider, event, &operands.join(" ")] {
        description.extend(text.bytes().chain([0]));
    }
    let mut note: Vec<u8> = Vec::new();
    for number in [8, description.len() as u32, NOTE_TYPE] {
        note.extend(number.to_ne_bytes());
    }
    note.extend(b"stapsdt\0");
    note.extend(description);
    note.resize(note.len().next_multiple_of(4), 0);
    note
}

const NOTE_TYPE: u32 = 3;
/// Where a note has its type and the name of its owner.
const NOTE_OWNER: u64 = 8;
const NOTE_OWNER_SIZE: usize = 4 + 8;

fn operand(index: usize, kind: Kind) -> String {
    let size = match kind {
        Kind::Integer { bytes, signed } => if signed { "-" } else { "" }.to_owned() + &bytes.to_string(),
        Kind::Float { .. } | Kind::Text => "8".to_owned(),
    };
    let offset = 8 * index;
    if cfg!(target_arch = "x86_64") {
        format!("{size}@{offset}(%rdi)")
    } else {
        format!("{size}@[x0, {offset}]")
    }
}

/// The file, and what it says.
#[derive(Debug)]
pub(crate) struct ProbeFile {
    file: Option<File>,
    identity: (u64, u64),
    process: u32,
    /// The notes by slot, with their offsets.
    notes: BTreeMap<u32, (u64, Vec<u8>)>,
    used: usize,
    functions: u32,
}

impl ProbeFile {
    /// Writes the headers to an empty file.
    pub fn new(file: File) -> io::Result<ProbeFile> {
        file.set_len((NOTES + NOTES_MAX) as u64)?;
        let metadata = file.metadata()?;
        let identity = (metadata.dev(), metadata.ino());
        let process = std::process::id();
        let file = Some(file);
        let probes = ProbeFile { file, identity, process, notes: BTreeMap::new(), used: 0, functions: 0 };
        probes.write_headers()?;
        Ok(probes)
    }

    pub fn file(&self) -> Option<&File> {
        self.file.as_ref()
    }

    /// Adds notes.
    pub fn add(&mut self, notes: Vec<(u32, Vec<u8>)>) -> io::Result<()> {
        let last = notes.iter().map(|(slot, _)| slot + 1).max().unwrap_or(0);
        while self.functions < last {
            let page = FUNCTION.repeat(FUNCTIONS_A_PAGE as usize);
            self.check_owner()?.write_all_at(&page, function(self.functions) as u64)?;
            self.functions += FUNCTIONS_A_PAGE;
        }
        let size: usize = notes.iter().map(|(_, note)| note.len()).sum();
        if self.used + size > NOTES_MAX {
            self.used = 0;
            let kept: Vec<_> = self.notes.iter().map(|(&slot, (_, note))| (slot, note.clone())).collect();
            self.append(kept)?;
        }
        self.append(notes)?;
        self.write_headers()
    }

    fn append(&mut self, notes: Vec<(u32, Vec<u8>)>) -> io::Result<()> {
        let bytes: Vec<u8> = notes.iter().flat_map(|(_, note)| note.iter().copied()).collect();
        self.check_owner()?.write_all_at(&bytes, (NOTES + self.used) as u64)?;
        for (slot, note) in notes {
            let offset = (NOTES + self.used) as u64;
            self.used += note.len();
            self.notes.insert(slot, (offset, note));
        }
        Ok(())
    }

    /// Removes the notes of these slots: tracers skip notes of another owner and type.
    pub fn remove(&mut self, slots: &[u32]) {
        for slot in slots {
            if let Some((offset, _)) = self.notes.remove(slot)
                && let Ok(file) = self.check_owner()
            {
                let _ = file.write_all_at(&[0; NOTE_OWNER_SIZE], offset + NOTE_OWNER);
            }
        }
    }

    /// A process that was forked must not write, because the file is its parent's.
    fn check_owner(&self) -> io::Result<&File> {
        if self.process != std::process::id() {
            return Err(io::Error::other("the file of USDT probes is the parent's"));
        }
        self.check_identity()
    }

    /// A daemon may close all descriptors that it does not know, and the number then belongs to another file.
    fn check_identity(&self) -> io::Result<&File> {
        let file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let metadata = file.metadata()?;
        let is_own = (metadata.dev(), metadata.ino()) == self.identity;
        if is_own { Ok(file) } else { Err(io::Error::other("the file of USDT probes was closed")) }
    }

    fn write_headers(&self) -> io::Result<()> {
        self.check_owner()?.write_all_at(&headers(self.used), 0)
    }
}

impl Drop for ProbeFile {
    fn drop(&mut self) {
        if self.check_identity().is_err() {
            // The number belongs to another file now, which must stay open.
            let _ = self.file.take().map(IntoRawFd::into_raw_fd);
        }
    }
}

/// The headers of the file while its notes have this size.
fn headers(notes: usize) -> Vec<u8> {
    const NAMES: &[u8] = b"\0.text\0.probes\0.stapsdt.base\0.note.stapsdt\0.shstrtab\0";
    const PROGRAM_HEADERS: usize = 64;
    const SECTION_HEADERS: usize = PROGRAM_HEADERS + 3 * 56;
    const NAMES_AT: usize = SECTION_HEADERS + 6 * 64;
    let mut bytes = vec![0x7f, b'E', b'L', b'F', 2, if cfg!(target_endian = "little") { 1 } else { 2 }, 1, 0];
    bytes.resize(16, 0);
    let mut put = |number: usize, size: usize| match size {
        2 => bytes.extend((number as u16).to_ne_bytes()),
        4 => bytes.extend((number as u32).to_ne_bytes()),
        _ => bytes.extend((number as u64).to_ne_bytes()),
    };
    // A shared object.
    let header = [(3, 2), (MACHINE.into(), 2), (1, 4), (0, 8), (PROGRAM_HEADERS, 8), (SECTION_HEADERS, 8)];
    let sizes = [(0, 4), (64, 2), (56, 2), (3, 2), (64, 2), (6, 2), (5, 2)];
    header.into_iter().chain(sizes).for_each(|(number, size)| put(number, size));
    for (flags, start, end) in [(4, 0, TEXT), (5, TEXT, PROBES), (6, PROBES, NOTES)] {
        let size = end - start;
        let segment =
            [(1, 4), (flags, 4), (start, 8), (start, 8), (start, 8), (size, 8), (size, 8), (0x1_0000, 8)];
        segment.into_iter().for_each(|(number, size)| put(number, size));
    }
    let name = |name: &[u8]| NAMES.windows(name.len()).position(|window| window == name).unwrap_or(0);
    for (name, kind, flags, address, offset, size) in [
        (0, 0, 0, 0, 0, 0),
        (name(b".text\0"), 1, 6, TEXT, TEXT, PROBES - TEXT),
        (name(b".probes\0"), 1, 3, PROBES, PROBES, NOTES - PROBES),
        (name(b".stapsdt.base\0"), 1, 2, BASE, BASE, 1),
        (name(b".note.stapsdt\0"), 7, 0, 0, NOTES, notes),
        (name(b".shstrtab\0"), 3, 0, 0, NAMES_AT, NAMES.len()),
    ] {
        let section =
            [(name, 4), (kind, 4), (flags, 8), (address, 8), (offset, 8), (size, 8), (0, 4), (0, 4)];
        section.into_iter().chain([(4, 8), (0, 8)]).for_each(|(number, size)| put(number, size));
    }
    bytes.extend(NAMES);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What readelf finds: provider, name and arguments of each probe.
    fn listed(file: &std::path::Path) -> Vec<String> {
        let output = std::process::Command::new("readelf").args(["--notes", "--wide"]).arg(file).output();
        let text = String::from_utf8(output.expect("binutils is installed").stdout).unwrap();
        let parts = |line: &str| Some(line.trim().split_once(": ")?.1.to_owned());
        let is_part = |line: &&str| ["Provider", "Name", "Arguments"].iter().any(|part| line.contains(part));
        let parts: Vec<_> = text.lines().filter(is_part).filter_map(parts).collect();
        parts.chunks(3).map(|probe| probe.join(" ")).collect()
    }

    #[test]
    fn readelf_lists_what_was_added_and_not_removed() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut probes = ProbeFile::new(file.reopen().unwrap()).unwrap();
        let kinds = [Kind::Text, Kind::Integer { bytes: 4, signed: true }, Kind::Float { bytes: 4 }];
        let all = |slots: std::ops::Range<u32>| {
            slots.map(|slot| (slot, note(slot, "shop", &format!("e{slot}"), kinds.into_iter()))).collect()
        };
        probes.add(all(0..2)).unwrap();
        probes.add(all(2..4)).unwrap();
        probes.remove(&[1]);
        let expected = |slot| {
            let of = |index, kind| operand(index, kind);
            let operands: Vec<_> = kinds.iter().enumerate().map(|(index, &kind)| of(index, kind)).collect();
            format!("shop e{slot} {}", operands.join(" "))
        };
        let listed = listed(file.path());
        for slot in [0, 2, 3] {
            assert!(listed.contains(&expected(slot)), "{listed:?} without {slot}");
        }
        assert!(!listed.contains(&expected(1)), "{listed:?}");
    }

    #[test]
    fn notes_are_compacted_when_their_room_is_used_up() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut probes = ProbeFile::new(file.reopen().unwrap()).unwrap();
        let notes = |slot, name| vec![(slot, note(slot, "shop", name, [Kind::Text].into_iter()))];
        probes.add(notes(0, "kept")).unwrap();
        probes.used = NOTES_MAX - 8;
        probes.add(notes(1, "added")).unwrap();
        assert!(probes.used < 1000, "{}", probes.used);
        let expected = ["kept", "added"].map(|name| format!("shop {name} {}", operand(0, Kind::Text)));
        assert_eq!(listed(file.path()), expected);
    }
}
