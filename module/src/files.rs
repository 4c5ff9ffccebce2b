//! Which of a server's files a path is, by its name alone: the folder is the operator's choice.

/// A file whose calls are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum File {
    /// Not one of those below.
    Other = 0,
    /// The append-only file that commands are written to.
    AppendOnly,
    /// What a rewrite leaves, under its temporary or its final name.
    RewrittenAppendOnly,
    /// A snapshot before it gets its final name.
    TemporarySnapshot,
    /// A cluster's configuration, under its final or its temporary name.
    ClusterConfig,
    /// What the kernel says about the server itself.
    ProcessStatus,
}

impl File {
    /// The file of a path.
    pub fn of(path: &[u8]) -> File {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
        let temporary = name.strip_prefix(b"temp-");
        if name.ends_with(b".incr.aof") || temporary.is_some_and(|name| name.ends_with(b".incr")) {
            File::AppendOnly
        } else if contains(name, b".base.") || temporary.is_some_and(|name| name.starts_with(b"rewriteaof-"))
        {
            File::RewrittenAppendOnly
        } else if temporary.and_then(|name| name.strip_suffix(b".rdb")).is_some_and(is_number) {
            File::TemporarySnapshot
        } else if name.starts_with(b"nodes") && contains(name, b".conf") {
            File::ClusterConfig
        } else if path == b"/proc/self/stat" {
            File::ProcessStatus
        } else {
            File::Other
        }
    }

    /// The file of a number that [`File`] was kept as.
    pub fn from_number(number: u8) -> File {
        [
            File::Other,
            File::AppendOnly,
            File::RewrittenAppendOnly,
            File::TemporarySnapshot,
            File::ClusterConfig,
            File::ProcessStatus,
        ]
        .get(usize::from(number))
        .copied()
        .unwrap_or(File::Other)
    }
}

fn is_number(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

fn contains(name: &[u8], part: &[u8]) -> bool {
    name.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_apart_by_name() {
        let cases = [
            ("appendonlydir/appendonly.aof.1.incr.aof", File::AppendOnly),
            ("appendonly.aof.1.base.rdb", File::RewrittenAppendOnly),
            ("appendonlydir/appendonly.aof.manifest", File::Other),
            ("temp-rewriteaof-bg-4711.aof", File::RewrittenAppendOnly),
            ("temp-rewriteaof-4711.aof", File::RewrittenAppendOnly),
            ("/data/temp-4711.rdb", File::TemporarySnapshot),
            ("/proc/self/stat", File::ProcessStatus),
            ("/proc/self/smaps", File::Other),
            ("temp-1700000000.4711.rdb", File::Other),
            ("appendonlydir/temp-appendonly.aof.incr", File::AppendOnly),
            ("dump.rdb", File::Other),
            ("nodes.conf", File::ClusterConfig),
            ("/srv/nodes-7000.conf.tmp-4711-1", File::ClusterConfig),
            ("", File::Other),
        ];
        for (path, file) in cases {
            assert_eq!(File::of(path.as_bytes()), file, "{path}");
            assert_eq!(File::from_number(file as u8), file);
        }
        assert_eq!(File::from_number(200), File::Other);
    }
}
