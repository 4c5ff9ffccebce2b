//! Writes samples while something is recorded.

use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::format::{encode, metadata};
use super::{FOLDER, Sample};

/// A packet is written when it has this number of bytes.
const PACKET: usize = 32 << 10;

/// What packets begin with.
const MAGIC: u32 = 0xC1FC_1FC1;

/// Writes samples into the folder of a recording. The files appear with the first sample.
#[derive(Debug)]
pub struct SampleWriter {
    folder: PathBuf,
    hostname: String,
    uuid: [u8; 16],
    /// Nanoseconds from 1970 to the origin of the monotonic clock.
    offset_ns: i64,
    file: Option<File>,
    events: Vec<u8>,
    begin: u64,
    end: u64,
}

impl SampleWriter {
    /// A writer into the folder of a recording; the monotonic clock began this number of nanoseconds after 1970.
    pub fn new(recording: &Path, hostname: &str, offset_ns: i64) -> Self {
        let random = RandomState::new();
        let halves = [random.hash_one(0), random.hash_one(1)].map(u64::to_le_bytes);
        let mut uuid: [u8; 16] = halves.as_flattened().try_into().unwrap_or_default();
        // A random one, as RFC 9562 marks it.
        uuid[6] = uuid[6] & 0x0F | 0x40;
        uuid[8] = uuid[8] & 0x3F | 0x80;
        SampleWriter {
            folder: recording.join(FOLDER),
            hostname: hostname.to_owned(),
            uuid,
            offset_ns,
            file: None,
            events: Vec::new(),
            begin: 0,
            end: 0,
        }
    }

    /// Adds a sample of this time of the monotonic clock.
    pub fn add(&mut self, time: u64, sample: &Sample) -> io::Result<()> {
        let time = time.max(self.end);
        if self.events.is_empty() {
            self.begin = time;
        }
        self.end = time;
        encode(time, sample, &mut self.events);
        if self.events.len() >= PACKET { self.flush() } else { Ok(()) }
    }

    /// Writes the samples so far as a packet.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.events.is_empty() {
            return Ok(());
        }
        if self.file.is_none() {
            fs::create_dir_all(&self.folder)?;
            let clock = format!(
                "clock {{\n\tname = \"monotonic\";\n\tdescription = \"Monotonic Clock\";\n\tfreq = 1000000000;\n\
                 \toffset = {};\n}};",
                self.offset_ns
            );
            self.describe(&clock)?;
            self.file = Some(File::create(self.folder.join("samples_0"))?);
        }
        let mut packet = Vec::with_capacity(self.events.len() + 64);
        packet.extend(MAGIC.to_le_bytes());
        packet.extend(self.uuid);
        packet.extend(0_u32.to_le_bytes());
        let bits = (packet.len() + 4 * 8 + self.events.len()) as u64 * 8;
        packet.extend([self.begin, self.end, bits, bits].map(u64::to_le_bytes).as_flattened());
        packet.append(&mut self.events);
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(&packet))
    }

    /// Writes what is left, and describes the clock as the recorded trace does, so that readers put both in one order.
    pub fn finish(&mut self, recording: &Path) -> io::Result<()> {
        self.flush()?;
        match clock_of(recording).filter(|_| self.file.is_some()) {
            Some(clock) => self.describe(&clock),
            None => Ok(()),
        }
    }

    fn describe(&self, clock: &str) -> io::Result<()> {
        let hex: String = self.uuid.iter().map(|byte| format!("{byte:02x}")).collect();
        let uuid = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-");
        // Never half a file, whatever happens to this process.
        let (path, new) = (self.folder.join("metadata"), self.folder.join(".metadata"));
        fs::write(&new, metadata(&uuid, &self.hostname, clock))?;
        fs::rename(new, path)
    }
}

/// The declaration of LTTng's monotonic clock in the first metadata below a folder, samples aside.
fn clock_of(folder: &Path) -> Option<String> {
    let file = folder.join("metadata");
    if file.is_file() {
        let bytes = fs::read(file).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let (_, rest) = text.split_once("\nclock {")?;
        let (body, _) = rest.split_once("};")?;
        // Another clock, or one that a packet's header cuts, is not the one that samples have.
        let is_plain = body.is_ascii() && body.contains("freq = 1000000000;") && !body.contains('\0');
        return (is_plain && body.contains("name = \"monotonic\";")).then(|| format!("clock {{{body}}};"));
    }
    let entries = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir() && !path.ends_with(FOLDER)).collect();
    folders.sort();
    folders.iter().find_map(|folder| clock_of(folder))
}
