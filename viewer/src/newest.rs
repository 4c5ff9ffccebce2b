//! The newest trace, for command lines without a TRACE.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// How deep below a session's folder to look for metadata. LTTng's layouts have at most seven levels.
const DEPTH: usize = 8;

/// The folder that LTTng records into: `lttng-traces` in `$LTTNG_HOME`, or else in the home folder.
pub fn recordings() -> Option<PathBuf> {
    let given = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    Some(PathBuf::from(given("LTTNG_HOME").or_else(|| given("HOME"))?).join("lttng-traces"))
}

/// The folder in it whose metadata was written last.
pub fn newest(recordings: &Path) -> Option<PathBuf> {
    let sessions = fs::read_dir(recordings).ok()?.flatten().map(|entry| entry.path());
    let dated = sessions.filter_map(|session| Some((written(&session, DEPTH)?, session)));
    dated.max().map(|(_, session)| session)
}

/// When the newest metadata in or below a folder was written.
fn written(folder: &Path, depth: usize) -> Option<SystemTime> {
    let metadata = folder.join("metadata");
    if let Ok(file) = fs::symlink_metadata(&metadata)
        && file.is_file()
    {
        return file.modified().ok();
    }
    let below = fs::read_dir(folder).ok().filter(|_| depth > 0)?.flatten();
    let folders = below.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.filter_map(|entry| written(&entry.path(), depth - 1)).max()
}
