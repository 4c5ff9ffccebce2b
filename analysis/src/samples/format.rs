//! How samples are recorded: CTF 1.8, one stream, fields in the order of the structs.

use super::{LimitSample, MachineSample, RunnerSample, Sample, ThreadSample};

/// The provider of the events.
const PROVIDER: &str = "ltt_top_samples";

/// The type of a field.
#[derive(Clone, Copy, Debug)]
pub enum Type {
    I32,
    U8,
    U64,
    Text,
}

impl Type {
    fn tsdl(self) -> &'static str {
        match self {
            Type::I32 => "int32_t",
            Type::U8 => "uint8_t",
            Type::U64 => "uint64_t",
            Type::Text => "string",
        }
    }
}

/// An event: its name, and its fields in order. Its place is its id.
pub type Event = (&'static str, &'static [(&'static str, Type)]);

/// All events.
pub const EVENTS: [Event; 4] = [
    (
        "thread",
        &[
            ("vpid", Type::I32),
            ("vtid", Type::I32),
            ("since_ns", Type::U64),
            ("state", Type::U8),
            ("cpu", Type::I32),
            ("on_cpu_ns", Type::U64),
            ("queued_ns", Type::U64),
            ("voluntary_switches", Type::U64),
            ("involuntary_switches", Type::U64),
            ("minor_faults", Type::U64),
            ("major_faults", Type::U64),
        ],
    ),
    (
        "runner",
        &[
            ("pid", Type::I32),
            ("tid", Type::I32),
            ("cpu", Type::I32),
            ("on_cpu_ns", Type::U64),
            ("comm", Type::Text),
        ],
    ),
    ("limit", &[("vpid", Type::I32), ("throttled_ns", Type::U64)]),
    (
        "machine",
        &[
            ("steal_ns", Type::U64),
            ("pressure_cpu_us", Type::U64),
            ("pressure_memory_us", Type::U64),
            ("pressure_io_us", Type::U64),
            ("sampler_ns", Type::U64),
        ],
    ),
];

/// The full name of an event.
pub fn full_name(event: &str) -> String {
    format!("{PROVIDER}:{event}")
}

/// Writes an event: id, time, fields.
pub fn encode(time: u64, sample: &Sample, bytes: &mut Vec<u8>) {
    let mut header = |id: u8| {
        bytes.push(id);
        bytes.extend(time.to_le_bytes());
    };
    match sample {
        Sample::Thread(thread) => {
            header(0);
            let ThreadSample { vpid, vtid, since_ns, state, cpu, on_cpu_ns, queued_ns, .. } = *thread;
            bytes.extend([vpid, vtid].map(i32::to_le_bytes).as_flattened());
            bytes.extend(since_ns.to_le_bytes());
            bytes.push(state);
            bytes.extend(cpu.to_le_bytes());
            let switches = [thread.voluntary_switches, thread.involuntary_switches];
            let [minor, major] = [thread.minor_faults, thread.major_faults];
            let [voluntary, involuntary] = switches;
            let totals = [on_cpu_ns, queued_ns, voluntary, involuntary, minor, major];
            bytes.extend(totals.map(u64::to_le_bytes).as_flattened());
        }
        Sample::Runner(RunnerSample { pid, tid, cpu, on_cpu_ns, comm }) => {
            header(1);
            bytes.extend([*pid, *tid, *cpu].map(i32::to_le_bytes).as_flattened());
            bytes.extend(on_cpu_ns.to_le_bytes());
            bytes.extend(comm.bytes().filter(|byte| *byte != 0));
            bytes.push(0);
        }
        Sample::Limit(LimitSample { vpid, throttled_ns }) => {
            header(2);
            bytes.extend(vpid.to_le_bytes());
            bytes.extend(throttled_ns.to_le_bytes());
        }
        Sample::Machine(machine) => {
            header(3);
            let MachineSample { steal_ns, pressure_cpu_us, pressure_memory_us, pressure_io_us, sampler_ns } =
                *machine;
            let totals = [steal_ns, pressure_cpu_us, pressure_memory_us, pressure_io_us, sampler_ns];
            bytes.extend(totals.map(u64::to_le_bytes).as_flattened());
        }
    }
}

/// The metadata. `clock` is the declaration of a clock that is called `monotonic`.
pub fn metadata(uuid: &str, hostname: &str, clock: &str) -> String {
    let hostname = hostname.replace(['\\', '"', '\n'], "_");
    let mut text = format!(
        "/* CTF 1.8 */\n\n\
         typealias integer {{ size = 8; align = 8; signed = false; }} := uint8_t;\n\
         typealias integer {{ size = 32; align = 8; signed = false; }} := uint32_t;\n\
         typealias integer {{ size = 32; align = 8; signed = true; }} := int32_t;\n\
         typealias integer {{ size = 64; align = 8; signed = false; }} := uint64_t;\n\n\
         trace {{\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"{uuid}\";\n\tbyte_order = le;\n\
         \tpacket.header := struct {{ uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; }};\n}};\n\n\
         env {{\n\thostname = \"{hostname}\";\n\tdomain = \"samples\";\n\ttracer_name = \"ltt-top\";\n}};\n\n\
         {clock}\n\n\
         typealias integer {{ size = 64; align = 8; signed = false; map = clock.monotonic.value; }} := clock_t;\n\n\
         stream {{\n\tid = 0;\n\tevent.header := struct {{ uint8_t id; clock_t timestamp; }};\n\
         \tpacket.context := struct {{ clock_t timestamp_begin; clock_t timestamp_end; uint64_t content_size; \
         uint64_t packet_size; }};\n}};\n"
    );
    for (id, (name, fields)) in EVENTS.iter().enumerate() {
        let name = full_name(name);
        text += &format!(
            "\nevent {{\n\tname = \"{name}\";\n\tid = {id};\n\tstream_id = 0;\n\tfields := struct {{\n"
        );
        for (field, kind) in *fields {
            text += &format!("\t\t{} _{field};\n", kind.tsdl());
        }
        text += "\t};\n};\n";
    }
    text
}
