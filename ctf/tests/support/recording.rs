//! A trace of many small packets, to be damaged.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use ctf_reader::{Report, discover, stream_files};
use lttng_testing::Daemon;
use tempfile::TempDir;

use super::{Seen, Tracee, read, recording};

/// The size of its packets.
pub const PACKET: u64 = 4096;

/// A trace with several packets in one stream file, recorded once and copied for each test.
pub struct Recording {
    copy: TempDir,
}

impl Recording {
    /// A copy that a test may damage.
    pub fn copy() -> Self {
        static ORIGINAL: OnceLock<TempDir> = OnceLock::new();
        let original = ORIGINAL.get_or_init(|| {
            let daemon = Daemon::start();
            let channel = ["--subbuf-size=4096", "--num-subbuf=64"];
            let session = recording(daemon.session(), &channel, &["tracee:*"], &[]);
            let mut tracee = Tracee::start(&daemon);
            for _ in 0..20 {
                tracee.emit("work", 80);
                tracee.emit("every_type", 10);
            }
            // It stays until the process ends, and nobody deletes it then.
            let copy = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary folder");
            copy_folder(session.stop().folder(), copy.path());
            copy
        });
        let copy = tempfile::tempdir().expect("a temporary folder");
        copy_folder(original.path(), copy.path());
        Self { copy }
    }

    /// The folder above the trace.
    pub fn folder(&self) -> &Path {
        self.copy.path()
    }

    /// The folder that holds the metadata.
    pub fn trace(&self) -> PathBuf {
        discover(&[self.folder()]).unwrap().traces[0].folders[0].clone()
    }

    /// The largest stream file: of the CPU that the program ran on most.
    pub fn stream(&self) -> PathBuf {
        let files = stream_files(&self.trace()).unwrap();
        files.into_iter().max_by_key(|file| fs::metadata(file).unwrap().len()).unwrap()
    }

    /// Reads the trace.
    pub fn read(&self) -> (Vec<Seen>, Report) {
        read(self.folder())
    }

    /// Overwrites bytes of the largest stream file.
    pub fn overwrite(&self, offset: u64, bytes: &[u8]) {
        let mut file = fs::OpenOptions::new().write(true).open(self.stream()).unwrap();
        file.seek(SeekFrom::Start(offset)).unwrap();
        file.write_all(bytes).unwrap();
    }
}

/// Copies what is in a folder.
pub fn copy_folder(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-r").arg(from.join(".")).arg(to).status();
    assert!(status.expect("cp is installed").success());
}
