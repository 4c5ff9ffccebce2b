//! Which trace and which format metadata belongs to, as the beginning of its file shows.

use super::json;
use super::packets::{self, MAGIC};
use crate::Uuid;

/// Whether a metadata file that begins with these bytes is CTF 2's.
pub fn is_json(bytes: &[u8]) -> bool {
    json::is_sequence(&packets::text(bytes).0)
}

impl Uuid {
    /// The UUID in a metadata file that begins with these bytes.
    ///
    /// Metadata comes in packets, whose header has the UUID, or as plain text: TSDL or JSON.
    pub fn of_metadata(bytes: &[u8]) -> Option<Uuid> {
        let magic = bytes.first_chunk::<4>()?;
        if [MAGIC.to_le_bytes(), MAGIC.to_be_bytes()].contains(magic) {
            return bytes[4..].first_chunk::<16>().copied().map(Uuid);
        }
        let text = String::from_utf8_lossy(bytes);
        if is_json(bytes) { json::uuid_of_json(&text) } else { of_text(&text) }
    }
}

/// Finds the trace block's `uuid = "…"`. A clock has one too, in its block.
fn of_text(text: &str) -> Option<Uuid> {
    let block = text.match_indices("trace").find_map(|(at, word)| {
        let before = text[..at].chars().next_back();
        let separate = before.is_none_or(|c| !c.is_alphanumeric() && c != '_');
        text[at + word.len()..].trim_start().strip_prefix('{').filter(|_| separate)
    })?;
    let mut depth = 0_usize;
    for line in block.split_inclusive([';', '{', '}']) {
        let assigned = line.split_once('=').filter(|(key, _)| depth == 0 && key.trim_end().ends_with("uuid"));
        if let Some((_, value)) = assigned {
            return Uuid::parse(value.trim_matches([' ', '\t', '\n', '"', ';']));
        }
        match line.chars().next_back() {
            Some('{') => depth += 1,
            Some('}') => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "6ce7ab66-7763-491f-9c28-0eccaf4265ec";

    #[test]
    fn packets_state_the_uuid_in_either_byte_order() {
        let uuid = Uuid::parse(TEXT).unwrap();
        for magic in [MAGIC.to_le_bytes(), MAGIC.to_be_bytes()] {
            let header = [magic.as_slice(), &uuid.0].concat();
            assert_eq!(Uuid::of_metadata(&header), Some(uuid));
            assert_eq!(Uuid::of_metadata(&header[..19]), None);
        }
    }

    #[test]
    fn plain_text_states_the_uuid_in_its_trace_block() {
        let clock = "clock { uuid = \"aac338d9-85d9-4292-be84-4a61498dc1d0\"; };";
        let nested = "packet.header := struct { uint32_t magic; uint8_t uuid[16]; };";
        let text = format!("/* CTF 1.8 */ {clock} trace {{ {nested} uuid = \"{TEXT}\"; }};");
        assert_eq!(Uuid::of_metadata(text.as_bytes()), Uuid::parse(TEXT));
        let without = format!("/* CTF 1.8 */ trace {{ {nested} }}; {clock}");
        assert_eq!(Uuid::of_metadata(without.as_bytes()), None);
    }

    #[test]
    fn json_states_the_uuid_in_its_preamble_or_as_the_traces_own() {
        let uuid = Uuid::parse(TEXT);
        let numbers = format!("{:?}", uuid.unwrap().0);
        let preamble = format!("\x1e{{\"type\":\"preamble\",\"version\":2,\"uuid\":{numbers}}}\n");
        assert_eq!(Uuid::of_metadata(preamble.as_bytes()), uuid);
        assert_eq!(Uuid::of_metadata(preamble.trim_matches(['\u{1e}', '\n']).as_bytes()), uuid);
        assert_eq!(Uuid::of_metadata(preamble.replace('[', "[1,").as_bytes()), None);
        let trace = format!("{{\"type\":\"preamble\"}}{{\"type\":\"trace-class\",\"uid\":\"{TEXT}\"}}");
        assert_eq!(Uuid::of_metadata(trace.as_bytes()), uuid);
        assert_eq!(Uuid::of_metadata(trace.replace("6ce", "no ").as_bytes()), None);
    }
}
