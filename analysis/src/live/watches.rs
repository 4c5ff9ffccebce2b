//! Incidents of several hosts: each has its own watch, because events are in order only among those of one host.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use ctf_reader::{ClassIndex, Digest, DigestedEvent, EventClass, Gap, Wanted};

use super::host_watch::{HostTotals, HostWatch};
use crate::incidents::Incident;
use crate::intervals::EventDigester;
use crate::reading::{ClassPlan, Selection, grown};
use crate::samples::Sample;

/// A watch for each host.
pub(super) struct Watches {
    selection: Arc<Selection>,
    threshold: u64,
    /// Finds out what events say. All watches share it: what it finds out is translated by each.
    digester: Arc<EventDigester>,
    watches: Vec<HostWatch>,
    /// The watches by the names of their hosts.
    of_host: HashMap<Option<String>, usize>,
    of_trace: HashMap<usize, usize>,
    /// The watch of each event class, by its index.
    of_class: Vec<usize>,
}

impl Watches {
    /// Looks for incidents of at least `threshold` nanoseconds.
    pub fn new(selection: &Arc<Selection>, threshold: u64) -> Watches {
        Watches {
            selection: Arc::clone(selection),
            threshold,
            digester: Arc::default(),
            watches: Vec::new(),
            of_host: HashMap::new(),
            of_trace: HashMap::new(),
            of_class: Vec::new(),
        }
    }

    /// What finds out what events say, where they are read.
    pub fn digester(&self) -> &Arc<EventDigester> {
        &self.digester
    }

    /// The fields that the events of a class, recorded on this machine, are needed with.
    pub fn want(&mut self, class: &Arc<EventClass>, host: Option<&str>) -> Option<Wanted> {
        let Watches { selection, threshold, digester, watches, .. } = self;
        let number = *self.of_host.entry(host.map(str::to_owned)).or_insert_with(|| {
            watches.push(HostWatch::new(selection, *threshold, host, digester));
            watches.len() - 1
        });
        self.of_trace.insert(class.trace, number);
        *grown(&mut self.of_class, class.index) = number;
        self.watches[number].want(class)
    }

    /// Adds a gap in the events.
    pub fn gap(&mut self, gap: Gap) {
        if let Some(&number) = self.of_trace.get(&gap.trace) {
            self.watches[number].gap(&gap);
        }
    }

    /// Adds a sample of this machine; who records here has no other host.
    pub fn sample(&mut self, time: i64, sample: &Sample) {
        self.watches.iter_mut().for_each(|watch| watch.sample(time, sample));
    }

    /// How the events of a class are processed; none if they are only counted.
    pub fn plan(&self, class: ClassIndex) -> Option<&ClassPlan> {
        self.watches.get(self.number(class))?.plan(class)
    }

    /// Counts events of a class of which nothing else is needed.
    pub fn count(&mut self, class: ClassIndex, events: u64) {
        let number = self.number(class);
        self.watches.get_mut(number).into_iter().for_each(|watch| watch.count(class, events));
    }

    /// The number of the watch that receives the events of a class.
    #[inline]
    fn number(&self, class: ClassIndex) -> usize {
        self.of_class.get(class).copied().unwrap_or(0)
    }

    /// Processes an event of a class, with what it says.
    #[inline]
    pub fn event(&mut self, event: DigestedEvent<'_>, class: ClassIndex, digest: Digest) {
        let number = self.number(class);
        if let Some(watch) = self.watches.get_mut(number) {
            watch.event(event, class, digest);
        }
    }

    /// The last settled incidents that were not reported, the newest first, and the number of other ones.
    pub fn newest(&self, limit: usize) -> (Vec<Incident>, u64) {
        let has_hosts = self.watches.len() > 1;
        let (mut newest, mut hidden) = (Vec::new(), 0);
        for watch in &self.watches {
            let (incidents, others) = watch.newest(limit, has_hosts);
            newest.extend(incidents);
            hidden += others;
        }
        if has_hosts {
            newest.sort_by_key(|incident| Reverse(incident.end_ns));
        }
        hidden += newest.len().saturating_sub(limit) as u64;
        newest.truncate(limit);
        (newest, hidden)
    }

    /// What was found on each host so far.
    pub fn totals(&self) -> Vec<HostTotals> {
        self.watches.iter().map(HostWatch::totals).collect()
    }

    /// Marks all incidents settled so far as reported.
    pub fn mark_reported(&mut self) {
        self.watches.iter_mut().for_each(HostWatch::mark_reported);
    }

    /// Ends the watches: no more events will arrive.
    pub fn finish(&mut self) {
        self.watches.iter_mut().for_each(HostWatch::finish);
    }
}
