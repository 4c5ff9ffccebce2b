//! What a trace's folders hold, looked at before Babeltrace 2 reads them.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

use ctf_reader::{Damage, Discovery, Nothing, Progress, Reader, TraceFiles, Window, stream_files};

use crate::packet_layout::PacketLayout;
use crate::packets::{ScannedPacket, StreamFile};
use crate::staging::{FolderIndex, Staging};

/// A trace's stream files and their packets.
pub struct Survey<'a> {
    trace: &'a TraceFiles,
    /// The stream files of each folder.
    folders: Vec<Vec<StreamFile>>,
    /// LTTng's packet layout; without it the files' packets are not known.
    pub layout: Option<PacketLayout>,
    /// The packets of each stream, each once, in the order of time.
    pub streams: HashMap<(u64, u64), Vec<ScannedPacket>>,
    pub damage: Vec<Damage>,
}

impl<'a> Survey<'a> {
    /// Looks at all stream files.
    pub fn new(trace: &'a TraceFiles) -> Self {
        let layout = trace.folders.first().and_then(|folder| PacketLayout::of_folder(folder));
        let mut survey =
            Self { trace, folders: Vec::new(), layout, streams: HashMap::new(), damage: Vec::new() };
        let corrupt = if layout.is_some() { corrupt_events(trace) } else { Vec::new() };
        for folder in &trace.folders {
            let files = stream_files(folder).unwrap_or_else(|unreadable| {
                survey.damage.push(unreadable);
                Vec::new()
            });
            let files = files.iter().filter_map(|file| survey.file(file, &corrupt)).collect();
            survey.folders.push(files);
        }
        survey.collect_streams();
        survey
    }

    /// The first of the trace's folders.
    pub fn folder(&self) -> &Path {
        &self.trace.folders[0]
    }

    /// Whether no stream file has data that can be read.
    pub fn is_empty(&self) -> bool {
        self.folders.iter().all(Vec::is_empty)
    }

    /// The size of all stream files, in bytes.
    pub fn size(&self) -> u64 {
        self.folders.iter().flatten().map(|file| file.size).sum()
    }

    /// Whether a file has another size by now, because the trace is still being recorded.
    pub fn is_outdated(&self) -> bool {
        let mut files = self.folders.iter().flatten();
        files.any(|file| fs::metadata(&file.path).map(|found| found.len()).ok() != Some(file.size))
    }

    /// Stages all that is undamaged.
    pub fn stage(&self) -> io::Result<Staging> {
        let mut staging = Staging::new()?;
        for (index, files) in self.folders.iter().enumerate() {
            // A folder without data only adds metadata that may be damaged; but one must be there.
            if files.is_empty() && !(self.is_empty() && index == 0) {
                continue;
            }
            let folder = staging.folder(&self.trace.folders[index])?;
            for file in files {
                self.stage_file(&mut staging, folder, file)?;
            }
        }
        Ok(staging)
    }

    fn stage_file(&self, staging: &mut Staging, folder: FolderIndex, file: &StreamFile) -> io::Result<()> {
        if file.damage.is_empty() {
            return staging.link(folder, &file.path);
        }
        // Another file may have the same packet whole; Babeltrace would read both.
        let kept = self.streams.values().flatten().filter(|packet| packet.file == file.path);
        let (incomplete, whole): (Vec<_>, Vec<_>) = kept.partition(|packet| packet.is_incomplete);
        let name = file.path.file_name().unwrap_or_default().to_string_lossy();
        if !whole.is_empty() {
            staging.write(folder, &name, whole, None)?;
        }
        // Babeltrace 2.0.4 reads the last event of a packet beyond its end, if the file continues there.
        for packet in incomplete {
            staging.write(folder, &format!("{name}_at_{}", packet.offset), [packet], None)?;
        }
        Ok(())
    }

    /// Leaves out the files that are refused even on their own.
    pub fn drop_refused(&mut self, refuse: impl Fn(&Staging) -> Option<String>) -> io::Result<()> {
        for index in 0..self.folders.len() {
            let mut accepted = Vec::new();
            for file in std::mem::take(&mut self.folders[index]) {
                let mut staging = Staging::new()?;
                let folder = staging.folder(&self.trace.folders[index])?;
                self.stage_file(&mut staging, folder, &file)?;
                match refuse(&staging) {
                    Some(reason) => self.damage.push(Damage::new(&file.path, staging.name(&reason))),
                    None => accepted.push(file),
                }
            }
            self.folders[index] = accepted;
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, corrupt: &[Damage]) -> Option<StreamFile> {
        let scanned = match (self.layout, self.trace.uuid) {
            (Some(layout), Some(uuid)) => StreamFile::scan(path, uuid, layout),
            _ => StreamFile::unknown(path),
        };
        match scanned {
            Ok(mut file) => {
                corrupt.iter().filter(|damage| damage.path == path).for_each(|damage| file.cut(damage));
                self.damage.extend(file.damage.iter().cloned());
                Some(file)
            }
            Err(error) => {
                self.damage.push(Damage::new(path, format!("cannot be read: {error}")));
                None
            }
        }
    }

    /// Sorts packets by stream and time. Of those that several files have, one from an undamaged file is kept, and
    /// else one that is whole.
    fn collect_streams(&mut self) {
        let mut streams: HashMap<_, Vec<_>> = HashMap::new();
        for file in self.folders.iter().flatten() {
            for packet in &file.packets {
                streams.entry(packet.stream).or_default().push((!file.damage.is_empty(), packet.clone()));
            }
        }
        for (stream, mut packets) in streams {
            packets.sort_by_key(|(damaged, packet)| {
                (packet.begin, packet.sequence, *damaged, packet.is_incomplete)
            });
            packets.dedup_by_key(|(_, packet)| (packet.begin, packet.sequence));
            self.streams.insert(stream, packets.into_iter().map(|(_, packet)| packet).collect());
        }
    }
}

/// Where events cannot be right, as [`ctf_reader`] sees it.
///
/// Babeltrace 2.0.4 allocates all the elements that a sequence claims to have, and crashes if that fails. Reading the
/// trace once before takes a small part of the time that Babeltrace takes.
fn corrupt_events(trace: &TraceFiles) -> Vec<Damage> {
    let discovery = Discovery { traces: vec![trace.clone()], damage: Vec::new() };
    let read = Reader::open_found(discovery)
        .map(|reader| reader.read(Window::default(), Nothing, &Progress::default()));
    read.map(|read| read.report.damage).unwrap_or_default()
}
