//! A program or library on this machine: its symbols and its debug information.
//!
//! The path comes from a trace and is untrusted: only regular files of a bounded size are read, and only if they are
//! the recorded build.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use gimli::{Dwarf, EndianArcSlice, RunTimeEndian, SectionId};
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, SymbolKind};

use super::frame::{Call, Frame};
use super::mappings::Build;

/// The longest name that is shown; those of C++ and Rust can be long.
const NAME_LENGTH: usize = 4096;

/// The most calls at one address that were inlined into each other.
const INLINED: usize = 64;

/// Where distributions put debug information that is not in the binary itself.
const DEBUG_FOLDER: &str = "/usr/lib/debug/.build-id";

/// A program or library.
pub(super) struct Binary {
    /// The virtual address of its first segment.
    first: u64,
    names: FunctionNames,
    lines: Option<addr2line::Context<Section>>,
    /// When the file was last modified: nanoseconds since 1970.
    pub changed_at: i128,
}

type Section = EndianArcSlice<RunTimeEndian>;

/// The functions of a file.
struct FunctionNames {
    bytes: Arc<[u8]>,
    /// Sorted by address.
    symbols: Vec<Symbol>,
}

struct Symbol {
    address: u64,
    size: u64,
    /// Where in the bytes the name is.
    name: Range<usize>,
}

impl Binary {
    /// Opens a file if it has the build ID that was recorded. `room` is the number of bytes that may still be read.
    pub fn open(build: &Build, room: &mut u64) -> Option<Binary> {
        let path = Path::new(&*build.path);
        if !path.is_absolute() {
            return None;
        }
        let (bytes, changed_at) = read(path, room)?;
        let file = object::File::parse(&*bytes).ok()?;
        let is_build = |file: &object::File<'_>| match &build.id {
            Some(id) => file.build_id().ok().flatten() == Some(id),
            None => true,
        };
        if !is_build(&file) {
            return None;
        }
        let first = file.segments().next()?.address();
        if let Some(lines) = lines(&file, &bytes) {
            return Some(Binary {
                first,
                names: FunctionNames::new(&file, &bytes),
                lines: Some(lines),
                changed_at,
            });
        }
        // The debug information may be in a separate file.
        let separate = build.id.as_deref().and_then(separate_file);
        if let Some((bytes, _)) = separate.and_then(|path| read(&path, room))
            && let Ok(file) = object::File::parse(&*bytes)
            && is_build(&file)
        {
            let lines = lines(&file, &bytes);
            return Some(Binary { first, names: FunctionNames::new(&file, &bytes), lines, changed_at });
        }
        Some(Binary { first, names: FunctionNames::new(&file, &bytes), lines: None, changed_at })
    }

    /// Adds to a frame the names for its return address, given as an offset from the beginning in memory.
    pub fn describe(&self, offset: u64, frame: Frame) -> Frame {
        let address = self.first.wrapping_add(offset);
        // A return address points after the call, which can be the next line, or the next function.
        let call = address.wrapping_sub(1);
        let symbol = self.names.find(call);
        let mut calls = self.calls(call);
        let outermost = calls.pop().unwrap_or_default();
        Frame {
            function: outermost.function.or_else(|| symbol.and_then(|symbol| self.names.name(symbol))),
            offset: symbol.map(|symbol| address.wrapping_sub(symbol.address)),
            file: outermost.file,
            line: outermost.line,
            inlined: calls,
            ..frame
        }
    }

    /// What the debug information has for an address, the innermost call first.
    fn calls(&self, address: u64) -> Vec<Call> {
        let mut calls = Vec::new();
        // addr2line looks at the range up to the next address.
        let Some(lines) = self.lines.as_ref().filter(|_| address < u64::MAX) else { return calls };
        // Split debug information in other files is not loaded.
        let Ok(mut frames) = lines.find_frames(address).skip_all_loads() else { return calls };
        while let Ok(Some(frame)) = frames.next() {
            if calls.len() == INLINED {
                break;
            }
            let function = frame.function.as_ref().and_then(|function| {
                let name = function.raw_name().ok()?;
                Some(demangled(&name))
            });
            let place = frame.location;
            calls.push(Call {
                function,
                file: place.as_ref().and_then(|place| Some(cut(place.file?))),
                line: place.and_then(|place| place.line),
            });
        }
        calls
    }
}

impl FunctionNames {
    fn new(file: &object::File<'_>, bytes: &Arc<[u8]>) -> FunctionNames {
        let symbols = file.symbols().chain(file.dynamic_symbols());
        let functions = symbols.filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition());
        let mut symbols: Vec<Symbol> = functions
            .filter_map(|symbol| {
                let name = range_within(bytes, symbol.name_bytes().ok()?)?;
                Some(Symbol { address: symbol.address(), size: symbol.size(), name })
            })
            .collect();
        // Of several names for one address, the first in the file is kept.
        symbols.sort_by_key(|symbol| symbol.address);
        symbols.dedup_by_key(|symbol| symbol.address);
        FunctionNames { bytes: Arc::clone(bytes), symbols }
    }

    /// The function that contains an address; one without a size goes up to the next.
    fn find(&self, address: u64) -> Option<&Symbol> {
        let after = self.symbols.partition_point(|symbol| symbol.address <= address);
        let symbol = &self.symbols[after.checked_sub(1)?];
        (symbol.size == 0 || address - symbol.address < symbol.size).then_some(symbol)
    }

    fn name(&self, symbol: &Symbol) -> Option<String> {
        let name = self.bytes.get(symbol.name.clone()).filter(|name| !name.is_empty())?;
        Some(demangled(&String::from_utf8_lossy(&name[..name.len().min(NAME_LENGTH)])))
    }
}

/// The debug information of a file, if it has any.
fn lines(file: &object::File<'_>, bytes: &Arc<[u8]>) -> Option<addr2line::Context<Section>> {
    file.section_by_name(".debug_info")?;
    let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let all = Section::new(Arc::clone(bytes), endian);
    let section = |id: SectionId| -> Result<Section, gimli::Error> {
        let section = file.section_by_name(id.name());
        let is_plain = |section: &object::Section<'_, '_>| {
            let format = section.compressed_file_range().ok().map(|range| range.format);
            format == Some(object::CompressionFormat::None)
        };
        let data = section.filter(is_plain).and_then(|section| section.data().ok());
        Ok(all.range(data.and_then(|data| range_within(bytes, data)).unwrap_or(0..0)))
    };
    addr2line::Context::from_dwarf(Dwarf::load(section).ok()?).ok()
}

/// Reads a regular file and its modification time.
fn read(path: &Path, room: &mut u64) -> Option<(Arc<[u8]>, i128)> {
    // Without O_NONBLOCK, opening a FIFO waits for a writer.
    let file: File = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path).ok()?;
    let metadata = file.metadata().ok()?;
    let changed_at = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos();
    if !metadata.is_file() || metadata.len() > *room {
        return None;
    }
    let mut bytes = Vec::new();
    // It may have grown since.
    file.take(metadata.len()).read_to_end(&mut bytes).ok()?;
    *room -= bytes.len() as u64;
    Some((bytes.into(), i128::try_from(changed_at).ok()?))
}

/// Where the debug information of a build is, if it is installed.
fn separate_file(id: &[u8]) -> Option<PathBuf> {
    let (first, rest) = id.split_first()?;
    let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(Path::new(DEBUG_FOLDER).join(format!("{first:02x}/{rest}.debug")))
}

/// Where in the bytes a part of them is.
fn range_within(bytes: &[u8], part: &[u8]) -> Option<Range<usize>> {
    let begin = (part.as_ptr() as usize).checked_sub(bytes.as_ptr() as usize)?;
    let range = begin..begin.checked_add(part.len())?;
    (range.end <= bytes.len()).then_some(range)
}

/// A name, demangled if it is one of Rust's.
fn demangled(name: &str) -> String {
    cut(&format!("{:#}", rustc_demangle::demangle(cut_at(name))))
}

fn cut(text: &str) -> String {
    cut_at(text).to_owned()
}

fn cut_at(text: &str) -> &str {
    let end = (0..=NAME_LENGTH.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests;
