//! The functions that the addresses of a recorded stack lie in.
//!
//! LTTng-UST records where each process has its program and its libraries, if asked to:
//!
//! ```text
//! lttng_ust_statedump:bin_info   baddr, memsz, path   at the start of a session or of a process
//! lttng_ust_statedump:build_id   baddr, build_id      which build of the file that was
//! lttng_ust_lib:load, unload     baddr, …             what the process loads later
//! ```
//!
//! With these an address of a process at a time is an address in a file (`mappings`), and the file has its name
//! (`binary`), if it is still there and still the same build.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use ctf_reader::{Error, Progress, Window};

use crate::source::{Readers, Source};

mod binary;
mod frame;
mod load_events;
mod mappings;

use binary::Binary;
use load_events::MappingCollector;
use mappings::{Build, Mapping, Mappings};

pub use frame::{Call, Frame};
pub(crate) use load_events::is_about_mappings;
pub use load_events::vpid;
pub use mappings::ProcessKey;

/// The most addresses whose names are remembered.
const REMEMBERED: usize = 1 << 16;

/// The most bytes of binaries that are held in memory.
const BINARIES_LENGTH: u64 = 4 << 30;

/// Finds the names of addresses in stacks.
#[derive(Default)]
pub struct Symbols {
    mappings: Mappings,
    known: RefCell<SymbolCache>,
}

/// Binaries and frames that were looked up before.
struct SymbolCache {
    /// The files, by path and build; none for those that cannot be used.
    binaries: HashMap<Build, Option<Rc<Binary>>>,
    /// The bytes of binaries that may still be read.
    room: u64,
    frames: HashMap<(Build, u64, u64), Rc<Frame>>,
}

impl Default for SymbolCache {
    fn default() -> Self {
        SymbolCache { binaries: HashMap::new(), room: BINARIES_LENGTH, frames: HashMap::new() }
    }
}

impl Symbols {
    /// Reads from a whole trace which binaries its processes had where.
    pub fn read(source: &mut impl Source, progress: &Progress) -> Result<Symbols, Error> {
        let is_about =
            |readers: Readers<'_>| readers.events.classes().any(|class| is_about_mappings(&class.name));
        if source.in_order().is_some_and(|readers| !is_about(readers)) {
            return Ok(Symbols::default());
        }
        let (recorder, report) = source.read(Window::default(), MappingCollector::default(), progress)?;
        Ok(Symbols { mappings: recorder.into_mappings(&report.traces), known: RefCell::default() })
    }

    /// What is at the return addresses of a stack that a process recorded at a time.
    pub fn frames(&self, process: &ProcessKey<'_>, timestamp: i64, addresses: &[u64]) -> Vec<Rc<Frame>> {
        let memory = self.mappings.of(process);
        let known = &mut *self.known.borrow_mut();
        let frame = |&address: &u64| match memory.and_then(|memory| memory.find(timestamp, address)) {
            Some(mapping) => known.frame(mapping, address),
            None => Rc::new(Frame { address, ..Frame::default() }),
        };
        addresses.iter().map(frame).collect()
    }
}

impl SymbolCache {
    fn frame(&mut self, mapping: &Mapping, address: u64) -> Rc<Frame> {
        let build = mapping.build();
        let binary = self.binary(&build);
        // Without a build ID, a file that was changed since may be another build.
        let is_it =
            |binary: &Rc<Binary>| build.id.is_some() || binary.changed_at <= i128::from(mapping.since);
        let binary = binary.filter(is_it);
        let key = (build, mapping.begin, address);
        if binary.is_some()
            && let Some(frame) = self.frames.get(&key)
        {
            return Rc::clone(frame);
        }
        let offset = address - mapping.begin;
        let path = Some(mapping.path.to_string());
        let frame = Frame { address, binary: path, binary_offset: Some(offset), ..Frame::default() };
        let Some(binary) = binary else { return Rc::new(frame) };
        if self.frames.len() >= REMEMBERED {
            self.frames.clear();
        }
        let frame = Rc::new(binary.describe(offset, frame));
        self.frames.insert(key, Rc::clone(&frame));
        frame
    }

    fn binary(&mut self, build: &Build) -> Option<Rc<Binary>> {
        if let Some(known) = self.binaries.get(build) {
            return known.clone();
        }
        let binary = Binary::open(build, &mut self.room).map(Rc::new);
        self.binaries.insert(build.clone(), binary.clone());
        binary
    }
}
