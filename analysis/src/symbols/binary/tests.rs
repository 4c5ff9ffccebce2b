use std::process::Command;

use tempfile::TempDir;

use super::*;

const SOURCE: &str = "static inline int leaf(int x) { return x * 3; }
int twice(int x) { return leaf(x) + leaf(x + 1); }
int main(int argc, char **argv) { (void) argv; return twice(argc); }
";

/// A small program with debug information.
fn program(flags: &[&str]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("small.c"), folder.path().join("small"));
    std::fs::write(&source, SOURCE).unwrap();
    let status =
        Command::new("cc").args(["-g", "-O0"]).args(flags).arg(source).arg("-o").arg(&program).status();
    assert!(status.expect("a C compiler is installed").success());
    (folder, program)
}

fn open(path: &Path, room: &mut u64) -> Option<Binary> {
    Binary::open(&Build { path: path.to_str().unwrap().into(), id: None }, room)
}

fn describe_all(binary: &Binary, length: u64) -> usize {
    let named = (0..length).step_by(7).map(|offset| binary.describe(offset, Frame::default()));
    let named = named.chain([0, u64::MAX].map(|offset| binary.describe(offset, Frame::default())));
    named.filter(|frame| frame.function.is_some()).count()
}

#[test]
fn functions_have_their_names_with_and_without_debug_information() {
    for flags in [&[][..], &["-g0"], &["-no-pie"], &["-gdwarf-4"]] {
        let (_folder, path) = program(flags);
        let binary = open(&path, &mut u64::MAX.clone()).unwrap();
        let main =
            binary.names.symbols.iter().find(|symbol| binary.names.name(symbol).unwrap() == "main").unwrap();
        let offset = main.address + 5 - binary.first;
        let frame = binary.describe(offset, Frame::default());
        assert_eq!((frame.function.as_deref(), frame.offset), (Some("main"), Some(5)), "{flags:?}");
        let line = if flags == ["-g0"] { None } else { Some(3) };
        assert_eq!(frame.line, line, "{flags:?}");
    }
}

#[test]
fn a_file_is_read_only_as_far_as_there_is_room() {
    let (_folder, path) = program(&[]);
    let length = path.metadata().unwrap().len();
    let mut room = 2 * length - 1;
    assert!(open(&path, &mut room).is_some());
    assert!(open(&path, &mut room).is_none());
    for path in ["/dev/zero", "/proc/self/mem", "/", "relative", "", "/\0"] {
        assert!(open(Path::new(path), &mut u64::MAX.clone()).is_none(), "{path}");
    }
}

#[test]
fn damaged_binaries_do_no_harm() {
    let (folder, path) = program(&[]);
    let whole = std::fs::read(&path).unwrap();
    let damaged = folder.path().join("damaged");
    let seed = fastrand::u64(..);
    let mut random = fastrand::Rng::with_seed(seed);
    println!("seed {seed}");
    let mut opened = 0;
    for round in 0..1000 {
        let mut bytes = whole.clone();
        // Headers decide what is read; of the rest the debug information is most of the file.
        let within = if round % 2 == 0 { 1024 } else { bytes.len() };
        for _ in 0..random.usize(1..16) {
            let place = random.usize(..within);
            bytes[place] =
                if random.bool() { random.u8(..) } else { [0, 0x7F, 0x80, 0xFF][random.usize(..4)] };
        }
        if random.u8(..) < 16 {
            bytes.truncate(random.usize(..bytes.len()));
        }
        std::fs::write(&damaged, &bytes).unwrap();
        if let Some(binary) = open(&damaged, &mut u64::MAX.clone()) {
            opened += 1;
            describe_all(&binary, 0x2000);
        }
    }
    assert!(opened > 100, "most of them are still binaries");
    assert!(describe_all(&open(&path, &mut u64::MAX.clone()).unwrap(), 0x2000) > 2);
}
