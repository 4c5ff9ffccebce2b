//! Speedscope's own format: a profile for each thread, of frames that open and close.
//!
//! A frame is a name alone, without arguments, so that Speedscope's Sandwich view sums up what has the same name. It has no place for
//! counters and for totals without a time. Requests of an async program would be a profile each; they are laid one after the
//! other in one profile of their process.

use std::collections::{BTreeMap, HashMap};
use std::io;

use serde_json::json;

use super::nest::Placed;
use super::sorter::Shape;
use super::tracks::{lane_name, process_name, thread_name};
use super::writer::{Counted, INCIDENTS, Writer, parsed};
use ltt_analysis::timeline::Timeline;

/// A file that is being written. Its profiles are in memory: each is one piece of the file.
pub struct Speedscope<'f> {
    out: Counted<'f>,
    timeline: &'f Timeline,
    origin: i64,
    /// The numbers of frames, by their names.
    frames: HashMap<String, u32>,
    profiles: BTreeMap<(Shape, u32, u32), Profile>,
}

/// What a thread did, or one request.
#[derive(Default)]
struct Profile {
    /// Frames with when they open and close, in order.
    events: Vec<(bool, u32, i64)>,
    /// What is open: its frame and when it closes.
    open: Vec<(u32, i64)>,
}

impl Profile {
    fn close(&mut self, until: i64) {
        while let Some((frame, end)) = self.open.pop_if(|(_, end)| *end <= until) {
            self.events.push((false, frame, end));
        }
    }

    fn begin(&self) -> i64 {
        self.events.first().map_or(0, |(.., at)| *at)
    }

    fn end(&self) -> i64 {
        self.events.last().map_or(0, |(.., at)| *at)
    }
}

impl<'f> Speedscope<'f> {
    pub fn new(out: Counted<'f>, origin: i64, timeline: &'f Timeline) -> Self {
        Speedscope { out, timeline, origin, frames: HashMap::new(), profiles: BTreeMap::new() }
    }

    /// Writes a profile: pieces of the time, each with where it begins in the profile.
    fn profile(&mut self, name: &str, pieces: &[(i64, &Profile)]) -> io::Result<()> {
        let end = pieces.last().map_or(0, |(at, piece)| at + piece.end() - piece.begin());
        let head = json!({
            "type": "evented", "name": name, "unit": "nanoseconds",
            "startValue": pieces.first().map_or(0, |(at, _)| *at), "endValue": end,
        });
        let head = head.to_string();
        self.out.put(head.trim_end_matches('}').as_bytes())?;
        self.out.put(b",\"events\":[")?;
        let mut comma = "\n";
        for (at, piece) in pieces {
            for (opens, frame, time) in &piece.events {
                let kind = if *opens { 'O' } else { 'C' };
                let time = at + (time - piece.begin());
                self.out.put(
                    format!("{comma}{{\"type\":\"{kind}\",\"frame\":{frame},\"at\":{time}}}").as_bytes(),
                )?;
                comma = ",\n";
            }
        }
        self.out.put(b"]}")
    }
}

impl Writer for Speedscope<'_> {
    fn event(&mut self, Placed { record, lane, .. }: Placed) -> io::Result<()> {
        if !record.shape.nests() {
            return Ok(());
        }
        let (name, ..) = parsed(&record.body);
        let next = self.frames.len() as u32;
        let frame = *self.frames.entry(name).or_insert(next);
        let profile = self.profiles.entry((record.shape, record.track, lane)).or_default();
        profile.close(record.begin);
        profile.events.push((true, frame, record.begin));
        profile.open.push((frame, record.end));
        Ok(())
    }

    fn finish(mut self: Box<Self>, _: u64) -> io::Result<u64> {
        let mut names: Vec<(String, u32)> = self.frames.drain().collect();
        names.sort_by_key(|(_, number)| *number);
        let frames: Vec<_> = names.iter().map(|(name, _)| json!({ "name": name })).collect();
        let schema = "https://www.speedscope.app/file-format-schema.json";
        let exporter = concat!("ltt-top ", env!("CARGO_PKG_VERSION"));
        let head = json!({ "$schema": schema, "exporter": exporter, "shared": { "frames": frames } });
        self.out.put(head.to_string().strip_suffix('}').unwrap_or_default().as_bytes())?;
        self.out.put(b",\"profiles\":[")?;
        let timeline = self.timeline;
        let mut profiles = std::mem::take(&mut self.profiles);
        profiles.values_mut().for_each(|profile| profile.close(i64::MAX));
        let mut comma = "\n";
        let mut requests: BTreeMap<usize, Vec<&Profile>> = BTreeMap::new();
        for ((shape, track, lane), profile) in &profiles {
            if *shape == Shape::Async {
                let process = timeline.requests[*track as usize].process;
                requests.entry(process).or_default().push(profile);
                continue;
            }
            let name = match *track {
                INCIDENTS => "Incidents".to_owned(),
                thread => {
                    let thread = &timeline.threads[thread as usize];
                    let process = process_name(&timeline.processes[thread.process]);
                    format!("{process}, {}", thread_name(thread.tid))
                }
            };
            self.out.put(comma.as_bytes())?;
            comma = ",\n";
            let at = profile.begin().saturating_sub(self.origin);
            self.profile(&lane_name(&name, *lane), &[(at, profile)])?;
        }
        for (process, mut pieces) in requests {
            pieces.sort_by_key(|piece| piece.begin());
            let mut at = 0;
            let placed = pieces.into_iter().map(|piece| {
                let begin = at;
                at += piece.end() - piece.begin();
                (begin, piece)
            });
            let placed: Vec<_> = placed.collect();
            let process = process_name(&timeline.processes[process]);
            self.out.put(comma.as_bytes())?;
            comma = ",\n";
            self.profile(&format!("{process}, requests one after the other"), &placed)?;
        }
        self.out.put(b"\n]}\n")?;
        Ok(self.out.bytes)
    }
}
