//! Names to roles: TSDL reserves the names of the fields that describe packets and events.

use std::sync::Arc;

use super::super::model::{ArrayType, Clock, Length, Member, Metadata, Role, StreamClass, Type};

/// The names of timestamps, which count the only clock without saying so.
const TIMESTAMPS: [&str; 3] = ["timestamp", "timestamp_begin", "timestamp_end"];

/// Gives the fields of packets and event headers their roles, and the streams their clocks.
pub fn assign(metadata: &mut Metadata, clocks: &[Arc<Clock>]) {
    if let Some(Type::Struct(header)) = &mut metadata.packet_header {
        header.members.iter_mut().for_each(in_packet_header);
    }
    for stream in &mut metadata.streams {
        set_clock(stream, clocks);
        if let Some(Type::Struct(context)) = &mut stream.packet_context {
            context.members.iter_mut().for_each(in_packet_context);
        }
        if let Some(header) = &mut stream.event_header {
            in_event_header(header, "");
        }
    }
}

fn in_packet_header(member: &mut Member) {
    let role = match &*member.name {
        "magic" => Role::Magic,
        "stream_id" => Role::StreamClassId,
        "stream_instance_id" => Role::StreamId,
        "uuid" => {
            if let Type::Array(ArrayType { is_uuid, length: Length::Fixed(16), element, .. }) =
                &mut member.kind
            {
                *is_uuid = matches!(&**element, Type::Integer(byte) if byte.size == Some(8) && !byte.signed);
            }
            return;
        }
        _ => return,
    };
    give(&mut member.kind, role);
}

fn in_packet_context(member: &mut Member) {
    let role = match &*member.name {
        "timestamp_begin" => Role::Timestamp,
        "timestamp_end" => Role::PacketEnd,
        "content_size" => Role::ContentSize,
        "packet_size" => Role::PacketSize,
        "packet_seq_num" => Role::Sequence,
        "events_discarded" => Role::Discarded,
        _ => return,
    };
    give(&mut member.kind, role);
}

fn give(kind: &mut Type, role: Role) {
    match kind {
        Type::Integer(integer) if !integer.signed && integer.labels.is_none() => integer.roles.push(role),
        _ => {}
    }
}

/// The integers called `id` are the id, and each that counts a clock moves it on.
fn in_event_header(kind: &mut Type, name: &str) {
    match kind {
        Type::Integer(integer) => {
            integer.roles.extend((name == "id").then_some(Role::EventClassId));
            integer.roles.extend(integer.clock.as_ref().map(|_| Role::Timestamp));
        }
        other => {
            for member in members(other) {
                in_event_header(&mut member.kind, &member.name);
            }
        }
    }
}

/// Finds the stream's clock. Where there is one clock only, timestamps count it also without saying so.
fn set_clock(stream: &mut StreamClass, clocks: &[Arc<Clock>]) {
    let layouts = [stream.event_header.as_mut(), stream.packet_context.as_mut()];
    let mut clock = None;
    for layout in layouts.into_iter().flatten() {
        map_timestamps(layout, clocks, &mut clock);
    }
    stream.clock = clock;
}

fn map_timestamps(layout: &mut Type, clocks: &[Arc<Clock>], clock: &mut Option<Arc<Clock>>) {
    for member in members(layout) {
        match &mut member.kind {
            Type::Integer(integer) if integer.labels.is_none() => {
                match clocks {
                    [only] if integer.clock.is_none() && TIMESTAMPS.contains(&&*member.name) => {
                        integer.clock = Some(only.clone());
                    }
                    _ => {}
                }
                if clock.is_none() {
                    clock.clone_from(&integer.clock);
                }
            }
            other => map_timestamps(other, clocks, clock),
        }
    }
}

fn members(kind: &mut Type) -> &mut [Member] {
    match kind {
        Type::Struct(structure) => &mut structure.members,
        Type::Variant(variant) => &mut variant.members,
        _ => &mut [],
    }
}
