//! An ELF file as it lies in memory: what is at an address, and where its pointers lead.
//!
//! A file is untrusted. Everything is looked up within bounds, nothing is followed further than a fixed number of
//! steps, and sections that overlap are not read more often than the file is long.

use std::cell::Cell;
use std::collections::HashMap;

use object::elf;
use object::read::elf::{Dyn, FileHeader, NoteIterator, ProgramHeader, Rela, SectionHeader, Sym};
use object::{Endianness, FileKind, SectionIndex};

/// More sections than any linker makes.
const MOST_SECTIONS: usize = 100_000;
/// More than the longest name of a section that is looked for.
const LONGEST_SECTION_NAME: usize = 64;
/// More segments than any linker makes.
const MOST_SEGMENTS: usize = 64;
/// How many lookups a file gets: a thousand for each event of the largest programs.
const MOST_STEPS: u64 = 10_000_000;
/// More than the dynamic linker is ever asked to load for one program.
const MOST_LIBRARIES: usize = 512;

/// A linked ELF file.
pub struct Image<'d> {
    data: &'d [u8],
    endian: Endianness,
    /// The size of an address in bytes: 4 or 8.
    pub address_size: u64,
    machine: elf::Machine,
    pub segments: Vec<Segment>,
    pub sections: Vec<Section<'d>>,
    /// What the dynamic linker writes where, without the address that the file is loaded at.
    relocations: HashMap<u64, u64>,
    /// The lookups that are left.
    steps: Cell<u64>,
    /// The descriptions of the stapsdt notes.
    pub notes: Vec<&'d [u8]>,
    /// The libraries that it needs.
    pub needed: Vec<String>,
    /// The folders that it wants them looked for in.
    pub run_path: Vec<String>,
}

/// A part of the file that is mapped into memory.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    pub address: u64,
    pub offset: u64,
    /// In the file.
    pub size: u64,
}

/// A part of the file with a name.
#[derive(Clone, Copy, Debug)]
pub struct Section<'d> {
    pub name: &'d [u8],
    pub address: u64,
    pub data: &'d [u8],
    pub is_data: bool,
}

impl<'d> Image<'d> {
    /// Reads the headers of a file.
    pub fn parse(data: &'d [u8]) -> Result<Image<'d>, String> {
        match FileKind::parse(data) {
            Ok(FileKind::Elf32) => parse_class::<elf::FileHeader32<Endianness>>(data, 4),
            Ok(FileKind::Elf64) => parse_class::<elf::FileHeader64<Endianness>>(data, 8),
            _ => Err("not an ELF file".to_owned()),
        }
    }

    /// Whether two files can be in one process.
    pub fn fits(&self, other: &Image<'_>) -> bool {
        (self.machine, self.address_size, self.endian) == (other.machine, other.address_size, other.endian)
    }

    /// The section of this name; the first, should there be several.
    pub fn section(&self, name: &str) -> Option<&Section<'d>> {
        self.sections.iter().find(|section| section.name == name.as_bytes())
    }

    /// All that the file has from an address on, in the segment of that address.
    pub fn bytes(&self, address: u64) -> Option<&'d [u8]> {
        let within =
            |segment: &&Segment| address.checked_sub(segment.address).is_some_and(|at| at < segment.size);
        let segment = self.segments.iter().find(within)?;
        let start = segment.offset.checked_add(address - segment.address)?;
        let end = segment.offset.checked_add(segment.size)?.min(self.data.len() as u64);
        self.data.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
    }

    /// The number at an address.
    pub fn u32(&self, address: u64) -> Option<u32> {
        let bytes = self.bytes(address)?.get(..4)?.try_into().ok()?;
        Some(if self.endian == Endianness::Little {
            u32::from_le_bytes(bytes)
        } else {
            u32::from_be_bytes(bytes)
        })
    }

    /// Where the pointer at an address leads: none for a null pointer.
    pub fn pointer(&self, address: u64) -> Option<u64> {
        let target = match self.relocations.get(&address) {
            Some(target) => *target,
            // It needs no relocation, or has its addend in place.
            None => self.address(self.bytes(address)?)?,
        };
        (target != 0).then_some(target)
    }

    /// An address in the file's own byte order and size, at the beginning of these bytes.
    pub fn address(&self, bytes: &[u8]) -> Option<u64> {
        let little = self.endian == Endianness::Little;
        if self.address_size == 4 {
            let bytes = bytes.get(..4)?.try_into().ok()?;
            return Some(if little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) }.into());
        }
        let bytes = bytes.get(..8)?.try_into().ok()?;
        Some(if little { u64::from_le_bytes(bytes) } else { u64::from_be_bytes(bytes) })
    }

    /// The text at an address, up to its NUL; none if that is further than `longest`.
    pub fn text(&self, address: u64, longest: usize) -> Option<String> {
        let text = text(self.bytes(address)?, longest);
        self.spend(text.as_ref().map_or(longest, String::len) as u64 / 16)?;
        text
    }

    /// Counts lookups; with none left, nothing is found any more.
    fn spend(&self, steps: u64) -> Option<()> {
        let left = self.steps.get().checked_sub(steps);
        self.steps.set(left.unwrap_or(0));
        left.map(|_| ())
    }
}

/// The text at the beginning of these bytes, up to its NUL.
pub fn text(bytes: &[u8], longest: usize) -> Option<String> {
    let bytes = &bytes[..bytes.len().min(longest + 1)];
    let end = bytes.iter().position(|byte| *byte == 0)?;
    Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
}

fn parse_class<'d, Elf>(data: &'d [u8], address_size: u64) -> Result<Image<'d>, String>
where
    Elf: FileHeader<Endian = Endianness>,
{
    let damaged = |error: object::read::Error| format!("damaged ELF file: {error}");
    let header = Elf::parse(data).map_err(damaged)?;
    let endian = header.endian().map_err(damaged)?;
    if header.e_type(endian) == elf::ET_REL {
        return Err("an object file, which has no addresses yet; link it first".to_owned());
    }
    let programs = header.program_headers(endian, data).map_err(damaged)?;
    let headers = header.section_headers(endian, data).map_err(damaged)?;
    if headers.len() > MOST_SECTIONS || programs.len() > MOST_SECTIONS {
        return Err(format!("damaged ELF file: {} sections", headers.len().max(programs.len())));
    }
    let segments = programs.iter().filter(|program| program.p_type(endian) == elf::PT_LOAD);
    let file = ElfFile { header, headers, endian, data };
    let mut image = Image {
        data,
        endian,
        address_size,
        machine: header.e_machine(endian),
        segments: segments
            .map(|program| Segment {
                address: program.p_vaddr(endian).into(),
                offset: program.p_offset(endian).into(),
                size: program.p_filesz(endian).into(),
            })
            .take(MOST_SEGMENTS)
            .collect(),
        steps: Cell::new(MOST_STEPS),
        sections: file.sections(),
        relocations: HashMap::new(),
        notes: file.notes(),
        needed: Vec::new(),
        run_path: Vec::new(),
    };
    if let Some(dynamic) = programs.iter().find_map(|program| program.dynamic(endian, data).ok().flatten()) {
        read_dynamic::<Elf>(&mut image, dynamic);
    }
    image.relocations = file.relocations();
    Ok(image)
}

/// The headers of a file of either class.
struct ElfFile<'d, Elf: FileHeader> {
    header: &'d Elf,
    headers: &'d [Elf::SectionHeader],
    endian: Endianness,
    data: &'d [u8],
}

impl<'d, Elf: FileHeader<Endian = Endianness>> ElfFile<'d, Elf> {
    fn sections(&self) -> Vec<Section<'d>> {
        let (endian, names) = (self.endian, self.names());
        let section = |section: &'d Elf::SectionHeader| {
            let flags = section.sh_flags(endian);
            Section {
                name: name_at(names, section.sh_name(endian)),
                address: section.sh_addr(endian).into(),
                data: section.data(endian, self.data).unwrap_or_default(),
                is_data: flags.contains(elf::SHF_ALLOC)
                    && !flags.contains(elf::SHF_EXECINSTR)
                    && section.sh_type(endian) == elf::SHT_PROGBITS,
            }
        };
        self.headers.iter().map(section).collect()
    }

    /// The table of the names of sections.
    fn names(&self) -> &'d [u8] {
        let index = self.header.shstrndx(self.endian, self.data).unwrap_or_default();
        let section = self.headers.get(index as usize);
        section.and_then(|section| section.data(self.endian, self.data).ok()).unwrap_or_default()
    }

    /// The descriptions of the notes in `.note.stapsdt`.
    fn notes(&self) -> Vec<&'d [u8]> {
        let (endian, names) = (self.endian, self.names());
        let mut budget = self.data.len();
        let mut notes = Vec::new();
        for section in self.headers.iter().filter(|section| section.sh_type(endian) == elf::SHT_NOTE) {
            if name_at(names, section.sh_name(endian)) != b".note.stapsdt" {
                continue;
            }
            let Some(bytes) = section.data(endian, self.data).ok().filter(|bytes| bytes.len() <= budget)
            else {
                continue;
            };
            budget -= bytes.len();
            let Ok(mut iterator) = NoteIterator::<Elf>::new(endian, section.sh_addralign(endian), bytes)
            else {
                continue;
            };
            while let Ok(Some(note)) = iterator.next() {
                if note.name() == b"stapsdt" && note.n_type(endian) == elf::NoteType(3) {
                    notes.push(note.desc());
                }
            }
        }
        notes
    }

    /// What relocations with an addend write; those without one have it in place.
    ///
    /// With a symbol of another file the value is unknown, and nothing that is read here has one.
    fn relocations(&self) -> HashMap<u64, u64> {
        let endian = self.endian;
        let is_mips64el = self.header.is_mips64el(endian);
        let mut found = HashMap::new();
        let mut budget = self.data.len() as u64;
        for section in self.headers.iter().filter(|section| section.sh_flags(endian).contains(elf::SHF_ALLOC))
        {
            let size: u64 = section.sh_size(endian).into();
            let Ok(Some((entries, symbols))) = section.rela(endian, self.data) else { continue };
            if size > budget {
                continue;
            }
            budget -= size;
            let symbols = self.symbol_table(symbols);
            for entry in entries {
                let value = match entry.r_sym(endian, is_mips64el) as usize {
                    0 => 0,
                    index => symbols.get(index).map_or(0, |symbol| symbol.st_value(endian).into()),
                };
                let addend: i64 = entry.r_addend(endian).into();
                found.insert(entry.r_offset(endian).into(), value.wrapping_add_signed(addend));
            }
        }
        found
    }

    fn symbol_table(&self, index: SectionIndex) -> &'d [Elf::Sym] {
        let section = self.headers.get(index.0);
        let section = section.filter(|section| section.sh_type(self.endian) == elf::SHT_DYNSYM);
        section.and_then(|section| section.data_as_array(self.endian, self.data).ok()).unwrap_or_default()
    }
}

/// A name in a table; that of a section that is looked for is short.
fn name_at(names: &[u8], offset: u32) -> &[u8] {
    let rest = names.get(offset as usize..).unwrap_or_default();
    let rest = &rest[..rest.len().min(LONGEST_SECTION_NAME)];
    &rest[..rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len())]
}

fn read_dynamic<Elf: FileHeader<Endian = Endianness>>(image: &mut Image<'_>, entries: &[Elf::Dyn]) {
    let endian = image.endian;
    let value = |tag| entries.iter().find(|entry| entry.tag(endian) == tag).map(|entry| entry.val(endian));
    let Some(strings) = value(elf::DT_STRTAB) else { return };
    let string = |image: &Image<'_>, offset: u64| image.text(strings.checked_add(offset)?, 4096);
    let needed = entries.iter().filter(|entry| entry.tag(endian) == elf::DT_NEEDED).take(MOST_LIBRARIES);
    let needed = needed.filter_map(|entry| string(image, entry.val(endian))).collect();
    let path = value(elf::DT_RUNPATH).or(value(elf::DT_RPATH)).and_then(|offset| string(image, offset));
    image.needed = needed;
    image.run_path = path.map(|path| path.split(':').map(str::to_owned).collect()).unwrap_or_default();
}
