//! The libraries that a program would be started with, found as the dynamic linker finds them.
//!
//! Running `ldd` would run the program's loader, and the file is untrusted.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The folders of the system's configuration, in order.
pub fn system_folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    if let Some(path) = std::env::var_os("LD_LIBRARY_PATH") {
        folders.extend(std::env::split_paths(&path).filter(|folder| folder.is_absolute()));
    }
    read_configuration(Path::new("/etc/ld.so.conf"), &mut folders, 0);
    folders.extend(["/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"].map(PathBuf::from));
    let mut seen = HashSet::new();
    folders.retain(|folder| seen.insert(folder.clone()));
    folders
}

/// Reads a file with one folder per line, which may include other files.
fn read_configuration(path: &Path, folders: &mut Vec<PathBuf>, depth: usize) {
    let Some(text) = fs::read_to_string(path).ok().filter(|_| depth < 4) else { return };
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.strip_prefix("include ") {
            // In practice, `ld.so.conf.d/*.conf` is included.
            Some(pattern) => {
                let pattern = path.with_file_name(pattern.trim());
                let Some(folder) = pattern.parent() else { continue };
                let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
                let mut files: Vec<_> =
                    entries.filter(|file| file.extension() == pattern.extension()).collect();
                files.sort();
                files.iter().for_each(|file| read_configuration(file, folders, depth + 1));
            }
            None => folders.push(PathBuf::from(line)),
        }
    }
}

/// The files that a library may be, the first choice first.
pub fn candidates(name: &str, program: &Path, run_path: &[String], system: &[PathBuf]) -> Vec<PathBuf> {
    if name.contains('/') {
        return vec![PathBuf::from(name)];
    }
    let origin = fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
    let origin = origin.parent().map(|folder| folder.display().to_string()).unwrap_or_default();
    let own = run_path.iter().map(|folder| folder.replace("${ORIGIN}", &origin).replace("$ORIGIN", &origin));
    own.map(PathBuf::from).chain(system.iter().cloned()).map(|folder| folder.join(name)).collect()
}
