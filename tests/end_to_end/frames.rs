//! What an event costs a function while no session records it: bytes of its frame, and code.

use std::process::Command;

use lttng_testing::{CommandInTime as _, Program, need};

/// The most bytes that a frame is larger by.
const FRAME: u64 = 64;

/// The most bytes of code for an event, on average: in generated C, in the functions that pack it, and where it is emitted.
const CODE: u64 = 3_000;

#[test]
#[ignore = "make check: a release build"]
fn idle_events_make_frames_a_little_larger_and_have_little_code() {
    if !need("objdump") || cfg!(not(target_arch = "x86_64")) {
        return;
    }
    let program = Program::binary("lttng-fixtures", "frames").release().traced().build();
    let code = Command::new("objdump").args(["--disassemble", "--no-show-raw-insn"]).arg(&program).succeed();
    let without = frame(&code, "without").expect("the function is there");
    let symbols = Command::new("nm").args(["--print-size", "--demangle"]).arg(&program).succeed();
    let emitting: Vec<&str> = symbols
        .lines()
        .filter_map(|line| line.rsplit(' ').next())
        .filter(|name| name.starts_with("with_"))
        .collect();
    assert!(emitting.len() >= 12, "{symbols}");
    for function in emitting {
        let grown = frame(&code, function).expect("the function is there").saturating_sub(without);
        println!("{function}: {grown} bytes");
        assert!(grown <= FRAME, "the frame of {function} is {grown} bytes larger than without an event");
    }

    // Of the provider `twin`, those that are emitted.
    let events = symbols
        .lines()
        .filter(|line| line.contains(" lttng_provider_record_twin___") && !line.contains(".cold"))
        .count() as u64;
    let sizes = symbols.lines().filter_map(|line| {
        let [_, size, kind, name] = line.splitn(4, ' ').collect::<Vec<_>>()[..] else { return None };
        let is_ours = name.contains("twin___")
            || name.contains("lttng_provider::ffi::record")
            || name.contains("lttng_provider::ffi::copy")
            || name.starts_with("with_");
        (is_ours && kind.eq_ignore_ascii_case("t")).then(|| u64::from_str_radix(size, 16).ok()).flatten()
    });
    let each = sizes.sum::<u64>() / events;
    println!("{each} bytes of code for each of {events} events");
    assert!(events >= 8 && each <= CODE, "{each} bytes for each of {events} events");
}

/// The bytes that a function takes of the stack when it is entered.
fn frame(code: &str, function: &str) -> Option<u64> {
    let start = format!("<{function}>:");
    let body =
        code.lines().skip_while(|line| !line.ends_with(&start)).skip(1).take_while(|line| !line.is_empty());
    let mut found = None;
    // Arguments that are pushed later are those of a call that only an enabled event makes.
    for instruction in body.filter_map(|line| line.split_once('\t')) {
        let words: Vec<&str> = instruction.1.split_whitespace().collect();
        let bytes = found.get_or_insert(0);
        match words[..] {
            ["push", _] => *bytes += 8,
            ["sub", operands] => {
                let taken = operands.strip_prefix("$0x").and_then(|rest| rest.strip_suffix(",%rsp"));
                *bytes += taken.and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or_default();
            }
            [first, ..] if first.starts_with("call") || first.starts_with('j') => break,
            _ => {}
        }
    }
    found
}
