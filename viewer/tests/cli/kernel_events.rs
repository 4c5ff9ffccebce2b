//! What no event explains, explained by the kernel's own events.

use std::fs;
use std::path::Path;

use lttng_testing::Trace;

use super::run::{json, ltt_top};
use super::scheduling::{TURNS, incident, sampled};
use super::timeline::BEGIN;

/// Writes a trace as LTTng's kernel tracer does, with the events and fields that are used; a real one has more of both.
fn kernel_trace(folder: &Path, events: &[(u64, u32, KernelEvent)]) {
    let metadata = r#"/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = true; encoding = UTF8; } := char8;
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 32; align = 8; signed = true; } := i32;
typealias integer { size = 64; align = 8; signed = false; } := u64;
typealias integer { size = 64; align = 8; signed = true; } := i64;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };
env { hostname = "here"; domain = "kernel"; tracer_name = "lttng-modules"; };
clock { name = c; freq = 1000000000; };
typealias integer { size = 64; align = 8; map = clock.c.value; } := time;
stream {
  id = 0;
  packet.context := struct { time timestamp_begin; time timestamp_end; u64 content_size; u64 packet_size; u32 cpu_id; };
  event.header := struct { u32 id; time timestamp; };
};
event { name = "sched_switch"; id = 0; stream_id = 0; fields := struct {
  char8 _prev_comm[16]; i32 _prev_tid; i32 _prev_prio; i64 _prev_state; char8 _next_comm[16]; i32 _next_tid; i32 _next_prio;
}; };
event { name = "sched_wakeup"; id = 1; stream_id = 0; fields := struct { char8 _comm[16]; i32 _tid; i32 _prio; i32 _target_cpu; }; };
event { name = "x86_exceptions_page_fault_user"; id = 2; stream_id = 0; fields := struct { u64 _address; }; };
event { name = "block_rq_issue"; id = 3; stream_id = 0; fields := struct { u32 _dev; i32 _tid; }; };
"#;
    fs::create_dir_all(folder).expect("a folder");
    fs::write(folder.join("metadata"), metadata).expect("it is written");
    let comm = |name: &str| {
        let mut bytes = name.as_bytes().to_vec();
        bytes.resize(16, 0);
        bytes
    };
    for cpu in 0..2 {
        let mut bytes = Vec::new();
        let here: Vec<_> = events.iter().filter(|(_, on, _)| *on == cpu).collect();
        let (Some(first), Some(last)) = (here.first(), here.last()) else { continue };
        for (at, _, event) in &here {
            let mut header = |id: u32| {
                bytes.extend(id.to_le_bytes());
                bytes.extend((BEGIN + at * 1000).to_le_bytes());
            };
            match *event {
                KernelEvent::Switch(from, state, to, name) => {
                    header(0);
                    bytes.extend(comm("x"));
                    [from, 20].iter().for_each(|number: &i32| bytes.extend(number.to_le_bytes()));
                    bytes.extend(i64::to_le_bytes(state));
                    bytes.extend(comm(name));
                    [to, 20].iter().for_each(|number: &i32| bytes.extend(number.to_le_bytes()));
                }
                KernelEvent::Wakeup(tid, cpu) => {
                    header(1);
                    bytes.extend(comm("x"));
                    [tid, 20, cpu].iter().for_each(|number: &i32| bytes.extend(number.to_le_bytes()));
                }
                KernelEvent::PageFault => {
                    header(2);
                    bytes.extend(0_u64.to_le_bytes());
                }
                KernelEvent::Request(tid) => {
                    header(3);
                    [0, tid].iter().for_each(|number: &i32| bytes.extend(number.to_le_bytes()));
                }
            }
        }
        let bits = (44 + bytes.len() as u64) * 8;
        let mut packet = [0xC1FC_1FC1_u32, 0].map(u32::to_le_bytes).as_flattened().to_vec();
        let times = [first.0, last.0].map(|at| BEGIN + at * 1000);
        [times[0], times[1], bits, bits].iter().for_each(|number| packet.extend(number.to_le_bytes()));
        packet.extend(cpu.to_le_bytes());
        packet.extend(bytes);
        fs::write(folder.join(format!("channel0_{cpu}")), packet).expect("it is written");
    }
}

/// An event of the kernel.
#[derive(Clone, Copy)]
enum KernelEvent {
    /// From a thread, left in a state, to another one with a name.
    Switch(i32, i64, i32, &'static str),
    /// A thread, and the CPU that it is to run on.
    Wakeup(i32, i32),
    PageFault,
    Request(i32),
}

#[test]
fn events_of_the_kernel_are_used_instead_of_samples_and_exactly() {
    use KernelEvent::{PageFault, Request, Switch, Wakeup};
    // What samples say is wrong, and is not asked.
    let trace = sampled(TURNS, &[(0, b'S', 0, 0, 0), (30, b'T', 3, 0, 0), (41, b'S', 4, 0, 0)], &[]);
    // The thread runs from 0, is preempted at 30.1 ms by make, goes on at 36 ms, misses a page at 37 ms, sleeps for it until
    // 38.2 ms, gets a CPU at 38.5 ms and runs to the end.
    let events = [
        (0, 0, Switch(0, 0, 1, "server")),
        (30_100, 0, Switch(1, 0, 77, "make")),
        (32_000, 1, Switch(0, 0, 88, "elsewhere")),
        (35_000, 0, Switch(77, 1, 78, "cc")),
        (36_000, 0, Switch(78, 1, 1, "server")),
        (36_900, 0, PageFault),
        (36_950, 0, Request(1)),
        (37_000, 0, Switch(1, 2, 79, "other")),
        (38_200, 1, Wakeup(1, 0)),
        (38_500, 0, Switch(79, 1, 1, "server")),
        (45_000, 0, Switch(1, 1, 0, "swapper")),
    ];
    kernel_trace(&trace.path().join("kernel"), &events);
    let incident = incident(trace.path());
    let scheduler = &incident["scheduler"];
    let us = |part: &str| {
        assert_eq!(scheduler[part]["least_us"], scheduler[part]["most_us"], "the kernel's events are exact");
        scheduler[part]["least_us"].as_f64().unwrap()
    };
    assert_eq!(scheduler["source"], "kernel", "{incident:#}");
    // 5.9 ms preempted and 0.3 ms ready after the page came; 1.2 ms for the page.
    assert_eq!((us("queued"), us("device"), us("on_cpu"), us("stopped")), (6200.0, 1200.0, 2600.0, 0.0));
    assert_eq!((&scheduler["major_faults"], &scheduler["involuntary_switches"]), (&1.into(), &1.into()));
    assert_eq!(
        (&incident["held_by"]["cause"], &incident["held_by"]["had_cpu"]),
        (&"queued".into(), &"make".into())
    );
    let causes = json(ltt_top(["incidents"]).arg(trace.path()))["causes"].clone();
    let charged: Vec<(&str, f64)> = causes
        .as_array()
        .unwrap()
        .iter()
        .map(|cause| (cause["system"].as_str().unwrap(), cause["total_us"].as_f64().unwrap()))
        .collect();
    assert_eq!(charged, [("queued", 6200.0), ("on_cpu", 2600.0), ("faults", 1200.0)]);
    assert_eq!(Trace::open(&trace.path().join("kernel")).events().len(), events.len());
}
