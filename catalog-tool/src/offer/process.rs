//! A running process: the files that it has mapped, where, and what is in its memory now.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::image::Image;
use super::untrusted_file;

/// The smallest page size; segments are mapped in whole pages.
const PAGE: u64 = 4096;

/// A process.
pub struct Process {
    pid: u32,
    memory: Option<File>,
}

/// A process that cannot be opened.
pub struct Closed {
    /// The file that its command line names, for a process of another user.
    pub program: Option<PathBuf>,
    pub why: String,
}

/// A file that a process has mapped to run code from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// As the process knows it.
    pub path: PathBuf,
    inode: u64,
    /// Every part of the file that is mapped: its offset and the address.
    mappings: Vec<Mapping>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mapping {
    start: u64,
    end: u64,
    offset: u64,
}

impl Process {
    /// Opens a process; its memory may not be readable.
    pub fn open(pid: u32) -> Result<(Process, Vec<Module>, Option<String>), Closed> {
        let maps = fs::read(format!("/proc/{pid}/maps")).map_err(|error| match error.kind() {
            ErrorKind::NotFound => Closed { program: None, why: format!("no process {pid}") },
            ErrorKind::PermissionDenied => {
                Closed { program: program(pid), why: format!("cannot inspect process {pid}: {error}") }
            }
            _ => Closed { program: None, why: format!("cannot inspect process {pid}: {error}") },
        })?;
        let memory = File::open(format!("/proc/{pid}/mem"));
        let problem = memory.as_ref().err().map(|error| {
            format!(
                "cannot read the memory of process {pid}, so whether a tracer is attached is unknown: {error}"
            )
        });
        Ok((Process { pid, memory: memory.ok() }, modules(&maps), problem))
    }

    /// Reads the file that the process has mapped, also in another mount namespace, and not a newer one of the same name.
    pub fn read_file(&self, module: &Module) -> Result<Vec<u8>, String> {
        // Needs privileges, but also works for deleted files.
        for part in &module.mappings {
            let path = PathBuf::from(format!("/proc/{}/map_files/{:x}-{:x}", self.pid, part.start, part.end));
            if let Ok(file) = untrusted_file::open(&path) {
                return untrusted_file::read_all(file, &module.path);
            }
        }
        let mut path = PathBuf::from(format!("/proc/{}/root", self.pid)).into_os_string();
        path.push(&module.path);
        let file = untrusted_file::open(Path::new(&path)).or_else(|_| untrusted_file::open(&module.path))?;
        match file.metadata() {
            Ok(metadata) if metadata.ino() == module.inode => untrusted_file::read_all(file, &module.path),
            _ => Err("the file was replaced after the process loaded it".to_owned()),
        }
    }

    /// Reads the number of 16 bits that the file has at an address.
    pub fn u16(&self, module: &Module, image: &Image<'_>, address: u64) -> Option<u16> {
        let mut bytes = [0; 2];
        self.read(module, image, address, &mut bytes)?;
        Some(u16::from_ne_bytes(bytes))
    }

    /// Reads the number of 32 bits that the file has at an address.
    pub fn u32(&self, module: &Module, image: &Image<'_>, address: u64) -> Option<u32> {
        let mut bytes = [0; 4];
        self.read(module, image, address, &mut bytes)?;
        Some(u32::from_ne_bytes(bytes))
    }

    fn read(&self, module: &Module, image: &Image<'_>, address: u64, bytes: &mut [u8]) -> Option<()> {
        let place = address.wrapping_add(module.bias(image)?);
        self.memory.as_ref()?.read_exact_at(bytes, place).ok()
    }
}

impl Module {
    /// What is added to the file's addresses in this process.
    fn bias(&self, image: &Image<'_>) -> Option<u64> {
        image.segments.iter().find_map(|segment| {
            let offset = segment.offset / PAGE * PAGE;
            let mapping = self.mappings.iter().find(|mapping| mapping.offset == offset)?;
            Some(mapping.start.wrapping_sub(segment.address.wrapping_sub(segment.offset - offset)))
        })
    }
}

/// The program by the command line, which everybody may read; a relative path could be any file.
fn program(pid: u32) -> Option<PathBuf> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let name = Path::new(OsStr::from_bytes(line.split(|byte| *byte == 0).next()?));
    if name.is_absolute() {
        return Some(name.to_owned());
    }
    let is_bare = name.components().count() == 1 && name.file_name().is_some();
    let folders = std::env::var_os("PATH").filter(|_| is_bare)?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// The files with code, in the order of their addresses.
fn modules(maps: &[u8]) -> Vec<Module> {
    let mut modules: Vec<Module> = Vec::new();
    let mut with_code: HashSet<PathBuf> = HashSet::new();
    for line in maps.split(|byte| *byte == b'\n') {
        let Some(Line { mapping, is_code, inode, path }) = read_line(line) else { continue };
        if is_code {
            with_code.insert(path.clone());
        }
        // The parts of a file follow one another.
        match modules.last_mut().filter(|last| last.path == path) {
            Some(last) => last.mappings.push(mapping),
            None => modules.push(Module { path, inode, mappings: vec![mapping] }),
        }
    }
    let mut seen = HashSet::new();
    modules.retain(|module| with_code.contains(&module.path) && seen.insert(module.path.clone()));
    modules
}

struct Line {
    mapping: Mapping,
    is_code: bool,
    inode: u64,
    path: PathBuf,
}

/// Reads `7f00-7f01 r-xp 00001000 08:01 1234   /usr/lib/libc.so.6`.
fn read_line(line: &[u8]) -> Option<Line> {
    let start = line.iter().position(|byte| *byte == b'/')?;
    let (head, path) = line.split_at(start);
    let path = Path::new(OsStr::from_bytes(path.strip_suffix(b" (deleted)").unwrap_or(path)));
    if path.starts_with("/dev") {
        return None;
    }
    let mut words = std::str::from_utf8(head).ok()?.split_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let is_code = words.next()?.contains('x');
    let number = |text| u64::from_str_radix(text, 16).ok();
    let mapping = Mapping { start: number(start)?, end: number(end)?, offset: number(words.next()?)? };
    let inode = words.nth(1)?.parse().ok()?;
    Some(Line { mapping, is_code, inode, path: path.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_code_are_found_with_all_their_parts() {
        let maps = b"55d0-55d1 r--p 00000000 08:01 7 /usr/bin/a b\n\
                     55d1-55d2 r-xp 00001000 08:01 7 /usr/bin/a b\n\
                     7f00-7f01 r--p 00000000 08:01 8 /usr/share/locale\n\
                     7f02-7f03 r-xp 00000000 08:01 9 /tmp/lib.so (deleted)\n\
                     7f04-7f05 rw-p 00000000 00:00 0 [heap]\nnonsense\n\n";
        let found = modules(maps);
        let paths: Vec<_> = found.iter().map(|module| module.path.to_str().unwrap_or_default()).collect();
        assert_eq!(paths, ["/usr/bin/a b", "/tmp/lib.so"]);
        assert_eq!(found[0].mappings.len(), 2);
        assert_eq!(found[0].mappings[1], Mapping { start: 0x55d1, end: 0x55d2, offset: 0x1000 });
    }
}
