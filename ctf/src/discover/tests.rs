use std::os::unix::fs::symlink;

use super::*;

const A: &str = "aaaaaaaa-0000-0000-0000-000000000000";
const B: &str = "bbbbbbbb-0000-0000-0000-000000000000";

/// Makes a trace's folder below the root.
fn trace(root: &Path, folder: &str, uuid: &str) -> PathBuf {
    let folder = root.join(folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("metadata"), format!("/* CTF 1.8 */ trace {{ uuid = \"{uuid}\"; }};")).unwrap();
    folder
}

#[test]
fn chunks_and_snapshots_of_one_trace_are_grouped_by_uuid() {
    let root = tempfile::tempdir().unwrap();
    let second = trace(root.path(), "archives/2/ust/uid/0/64-bit", A);
    let other = trace(root.path(), "archives/2/ust/pid/app-7-20261115-001500", B);
    let first = trace(root.path(), "archives/1/ust/uid/0/64-bit", A);
    let found = discover(&[root.path()]).unwrap();
    assert_eq!(found.damage, []);
    let traces: Vec<_> = found.traces.into_iter().map(|trace| (trace.uuid, trace.folders)).collect();
    assert_eq!(traces, [(Uuid::parse(A), vec![first, second]), (Uuid::parse(B), vec![other])]);
}

#[test]
fn folders_without_uuid_stay_apart() {
    let root = tempfile::tempdir().unwrap();
    trace(root.path(), "a", "");
    trace(root.path(), "b", "");
    assert_eq!(discover(&[root.path()]).unwrap().traces.len(), 2);
}

#[test]
fn a_folder_is_found_once_however_it_is_reached() {
    let root = tempfile::tempdir().unwrap();
    let folder = trace(root.path(), "session/ust", A);
    symlink(root.path(), folder.join("loop")).unwrap();
    symlink(&folder, root.path().join("session/again")).unwrap();
    let found = discover(&[root.path(), root.path(), &folder]).unwrap();
    assert_eq!(found.traces.len(), 1);
    assert_eq!(found.traces[0].folders.len(), 1);
    assert_eq!(found.damage, []);
}

#[test]
fn bad_folders_next_to_a_good_one_are_damage() {
    let root = tempfile::tempdir().unwrap();
    let good = trace(root.path(), "good", A);
    let empty = trace(root.path(), "empty", B);
    fs::write(empty.join("metadata"), "").unwrap();
    let odd = root.path().join("odd");
    fs::create_dir_all(odd.join("metadata")).unwrap();
    let missing = root.path().join("missing");
    let found = discover(&[root.path(), &missing]).unwrap();
    assert_eq!(found.traces.len(), 1);
    assert_eq!((found.traces[0].uuid, &found.traces[0].folders), (Uuid::parse(A), &vec![good]));
    let damage: Vec<_> = found.damage.iter().map(ToString::to_string).collect();
    assert_eq!(damage.len(), 3, "{damage:?}");
    assert!(
        damage[0].contains("empty/metadata: is empty, so the trace cannot be read: LTTng writes it when")
    );
    assert!(damage[1].contains("missing: cannot be opened: No such file"));
    assert!(damage[2].contains("odd/metadata: cannot be read: not a regular file"));
}

#[test]
fn nothing_to_read_is_an_error_of_one_line() {
    let root = tempfile::tempdir().unwrap();
    let message = discover(&[root.path()]).unwrap_err().to_string();
    assert!(message.ends_with("no trace here or below: no folder holds a `metadata` file"), "{message}");
    let file = root.path().join("file");
    fs::write(&file, "").unwrap();
    let message = discover(&[&file]).unwrap_err().to_string();
    assert!(message.contains("is not a folder") || message.contains("is neither a folder"), "{message}");
}

#[test]
fn stream_files_are_those_that_hold_data() {
    let root = tempfile::tempdir().unwrap();
    let folder = trace(root.path(), "t", A);
    fs::create_dir(folder.join("index")).unwrap();
    for (name, content) in [
        ("index/ch_0.idx", "x"),
        (".hidden", "x"),
        ("catalog.toml", "x"),
        ("ch_1", "x"),
        ("ch_0", "x"),
        ("ch_2", ""),
    ] {
        fs::write(folder.join(name), content).unwrap();
    }
    assert_eq!(stream_files(&folder).unwrap(), [folder.join("ch_0"), folder.join("ch_1")]);
    assert!(stream_files(&folder.join("none")).unwrap_err().reason.starts_with("cannot be read"));
}
