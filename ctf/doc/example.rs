// What the documentation's examples read: two streams of the event `hello:greeted`, from hosts `ada` and `grace`.

pub const EXAMPLE_METADATA: &str = r#"/* CTF 1.8 */
typealias integer { size = 8; } := u8;
typealias integer { size = 32; align = 8; } := u32;
typealias integer { size = 64; align = 8; } := u64;
trace {
    major = 1; minor = 8; byte_order = le;
    packet.header := struct { u32 magic; u8 stream_instance_id; };
};
env { hostname = "ada"; };
clock { name = c; freq = 1000000000; };
typealias integer { size = 64; align = 8; map = clock.c.value; } := time;
stream {
    packet.context := struct { time timestamp_begin; time timestamp_end; u8 cpu_id; };
    event.header := struct { time timestamp; };
};
event { name = "hello:greeted"; fields := struct { string _name; u64 _duration; }; };
"#;

/// A packet of a stream, with the times, names and durations of its events.
pub fn example_packet(stream: u8, events: &[(u64, &str, u64)]) -> Vec<u8> {
    let mut bytes = 0xC1FC_1FC1_u32.to_le_bytes().to_vec();
    bytes.push(stream);
    bytes.extend(events[0].0.to_le_bytes());
    bytes.extend(events[events.len() - 1].0.to_le_bytes());
    bytes.push(stream);
    for (time, name, duration) in events {
        bytes.extend(time.to_le_bytes());
        bytes.extend(name.bytes().chain([0]));
        bytes.extend(duration.to_le_bytes());
    }
    bytes
}

pub fn example() -> ctf_reader::Reader {
    let streams = [
        example_packet(0, &[(10, "Ada", 12), (30, "Edsger", 0)]),
        example_packet(1, &[(20, "Grace", 1)]),
    ];
    let streams = streams.into_iter().zip(["ch_0", "ch_1"]).map(|(bytes, name)| (name.into(), bytes.into()));
    ctf_reader::Reader::from_bytes(EXAMPLE_METADATA.as_bytes(), streams.collect()).unwrap()
}
