//! Damaged files: whatever is in them, the lister ends, and does not panic.

use std::fs;
use std::panic::catch_unwind;

use fastrand::Rng;
use lttng_catalog_cli::offer::of_bytes;

use super::built::{Built, list, plain};

#[test]
#[ignore = "make check: sys/sdt.h"]
fn a_thousand_damaged_files_do_no_harm() {
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        u64::try_from(now.expect("after 1970").as_nanos()).unwrap_or(0)
    });
    println!("SEED={seed}");
    let mut random = Rng::with_seed(seed);
    let programs: Vec<Vec<u8>> = [plain().path(), Built::new(&["-no-pie"]).strip().path()]
        .iter()
        .map(|path| fs::read(path).unwrap_or_else(|_| fs::read(plain().path()).expect("it is built")))
        .collect();
    let mut accepted = 0;
    for round in 0..1000 {
        let mut bytes = programs[round % programs.len()].clone();
        mutate(&mut bytes, &mut random);
        let result = catch_unwind(|| of_bytes(&bytes));
        accepted += usize::from(result.unwrap_or_else(|_| panic!("SEED={seed}, round {round}")).is_ok());
    }
    assert!(
        (100..1000).contains(&accepted),
        "{accepted} of 1000 were accepted: the damage is too much or too little"
    );
}

#[test]
#[ignore = "make check: sys/sdt.h"]
fn the_program_itself_survives_damaged_files() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("damaged");
    let whole = fs::read(plain().path()).expect("it is built");
    let mut random = Rng::with_seed(1);
    for _ in 0..20 {
        let mut bytes = whole.clone();
        mutate(&mut bytes, &mut random);
        fs::write(&path, bytes).expect("a writable folder");
        let (status, _, said) = list(&[path.to_str().expect("UTF-8")]);
        assert!([0, 1, 3].contains(&status), "{status}: {said}");
    }
}

/// Every word looks like the beginning of a description whose pointers lead to another such word, in thousands of
/// overlapping segments and sections.
#[test]
#[ignore = "make check: sys/sdt.h"]
fn a_file_that_looks_promising_everywhere_is_given_up() {
    const SIZE: u64 = 32 << 20;
    const PARTS: u64 = 60_000;
    let mut bytes = Vec::with_capacity(SIZE as usize);
    bytes.extend(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    bytes.extend([3_u16, 62].iter().flat_map(|number| number.to_le_bytes()));
    bytes.extend(1_u32.to_le_bytes());
    let (segments, sections) = (64, 64 + 56 * PARTS);
    bytes.extend([0, segments, sections].iter().flat_map(|number| number.to_le_bytes()));
    bytes.extend(
        [0_u16, 0, 64, 56, PARTS as u16, 64, PARTS as u16, 0].iter().flat_map(|number| number.to_le_bytes()),
    );
    for _ in 0..PARTS {
        bytes.extend([1_u32, 6].iter().flat_map(|number| number.to_le_bytes()));
        bytes.extend([0, 0, 0, SIZE, SIZE, 8].iter().flat_map(|number: &u64| number.to_le_bytes()));
    }
    let names = sections + 64 * PARTS;
    for index in 0..PARTS {
        // The first is the table of names, which is one name.
        let (kind, offset, size) =
            if index == 0 { (3_u32, names, 32) } else { (1, names + 32, SIZE - names - 32) };
        bytes.extend([0_u32, kind].iter().flat_map(|number| number.to_le_bytes()));
        bytes.extend([3_u64, offset, offset, size].iter().flat_map(|number| number.to_le_bytes()));
        bytes.extend([0_u32, 0].iter().flat_map(|number| number.to_le_bytes()));
        bytes.extend([8_u64, 0].iter().flat_map(|number| number.to_le_bytes()));
    }
    bytes.extend(b"lttng_ust_tracepoints_ptrs\0\0\0\0\0\0");
    // The number 48 is the size of a description, and an address of another 48 when it is taken for a pointer.
    while (bytes.len() as u64) < SIZE {
        bytes.extend(48_u64.to_le_bytes());
    }
    assert!(of_bytes(&bytes).is_ok());
}

/// Damages what matters: headers and tables, names and notes, pointers, the length.
fn mutate(bytes: &mut Vec<u8>, random: &mut Rng) {
    let headers = u64::from_le_bytes(bytes[0x28..0x30].try_into().expect("eight bytes"));
    let headers = usize::try_from(headers).expect("it is a file").min(bytes.len() - 1);
    for _ in 0..=random.usize(..8) {
        let length = bytes.len();
        match random.usize(..7) {
            0 => bytes[random.usize(..64)] = random.u8(..),
            1 => bytes[headers + random.usize(..length - headers)] = random.u8(..),
            2 => bytes[random.usize(..length)] = random.u8(..),
            // A number of eight bytes that is 0, huge, or nearly something.
            3 | 4 => {
                let at = if random.usize(..2) == 0 { headers } else { 64 };
                let at = at + random.usize(..length - at - 8) / 8 * 8;
                let value = [0, u64::MAX, 1 << 63, length as u64, length as u64 + 1, random.u64(..)]
                    [random.usize(..6)];
                bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
            }
            // One part over another, so that tables contain garbage.
            5 => {
                let size = random.usize(..4096).min(length / 2);
                let (from, to) = (random.usize(..length - size), random.usize(..length - size));
                bytes.copy_within(from..from + size, to);
            }
            _ => {
                let keep = length / 2 + random.usize(..length / 2);
                if random.usize(..4) == 0 && keep > headers + 64 {
                    bytes.truncate(keep);
                }
            }
        }
    }
}
