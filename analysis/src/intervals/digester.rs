//! What events say, as numbers, found out where they are read and not in the order of time.
//!
//! Several threads may do that at a time. Each remembers what it has met, and asks what they have in common for the number of
//! anything new, so these numbers are in no particular order: the feed [translates](super::translation) them to its own, which follow
//! the order of time. What has no number is read by the feed itself.

use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

use ctf_reader::{Brief, ClassIndex, Digest, Digester, Events, Field};
use hashbrown::HashMap;

use super::interval::IntervalName;
use super::thread_numbers::ThreadId;
use crate::groups::table::Groups;
use crate::reading::{ClassPlan, grown, key};

/// The most names and clients, and threads, that get a number.
pub const MOST: usize = IntervalName::MOST_KEYS;

/// Stands for the client of work without one.
pub const NO_CLIENT: u32 = u32::MAX;

/// The largest number of a client or a name, and of a thread: none is used again.
const LAST_TEXT: u32 = NO_CLIENT - 1;
const LAST_THREAD: u32 = (1 << THREAD_BITS) - 1;

/// The client and the name are in one word. The thread is in these bits of the other one, and above it how long it took, plus
/// one, or 0 if that was not found out or does not fit.
const THREAD_BITS: u32 = 24;
const TICKS: std::ops::Range<u64> = 0..(1 << (u64::BITS - THREAD_BITS)) - 1;

/// What an event says: numbers from 1 on, and 0 for what has none.
#[derive(Clone, Copy, Debug)]
pub struct Said {
    pub thread: u32,
    pub client: u32,
    pub name: u32,
    /// How long it took, if that was found out.
    pub ticks: Option<u64>,
}

impl From<Digest> for Said {
    #[inline(always)]
    fn from([texts, rest]: Digest) -> Said {
        Said {
            thread: rest as u32 & LAST_THREAD,
            client: texts as u32,
            name: (texts >> 32) as u32,
            ticks: (rest >> THREAD_BITS).checked_sub(1),
        }
    }
}

impl Said {
    /// Whether it was for nobody.
    #[inline(always)]
    pub fn is_without_client(self) -> bool {
        self.client == NO_CLIENT
    }
}

/// What the events of a class say, and in which fields.
#[derive(Debug)]
pub struct Speech {
    pub plan: ClassPlan,
    pub kind: u32,
    pub host: usize,
    pub pid: Option<Field<u64>>,
    pub tid: Option<Field<u64>>,
    pub client: Option<Field>,
}

/// Finds out what events say.
#[derive(Debug, Default)]
pub struct EventDigester {
    /// What each class says.
    speeches: RwLock<Vec<Option<Speech>>>,
    /// What those who have been at work remember.
    idle: Mutex<Vec<Worker>>,
    common: Mutex<Common>,
    /// The number of events, since it was last taken, of each class of which nothing else is needed.
    counts: Mutex<Vec<Option<u64>>>,
}

/// The numbers of all that was met.
#[derive(Debug, Default)]
struct Common {
    threads: HashMap<ThreadId, u32>,
    /// Clients, and the names of each kind.
    texts: Groups<u32>,
    /// The last numbers.
    last_thread: u32,
    last_text: u32,
}

/// What one thread remembers, with room to work.
#[derive(Debug, Default)]
struct Worker {
    threads: HashMap<ThreadId, u32>,
    texts: Groups<u32>,
    /// Whether there were more texts than get a number: what is not remembered at once is then left to the feed.
    is_full: bool,
    integers: [Vec<u64>; 2],
    briefs: Vec<Brief>,
    /// The events whose texts are to be looked up.
    others: Vec<usize>,
    bytes: Vec<u8>,
}

impl EventDigester {
    /// Says what a class says.
    pub fn listen(&self, class: usize, speech: Option<Speech>) {
        let mut speeches = self.speeches.write().unwrap_or_else(PoisonError::into_inner);
        *grown(&mut speeches, class) = speech;
    }

    /// Says whether events of a class are only counted from now on.
    pub fn only_count(&self, class: usize, is_counted: bool) {
        let mut counts = locked(&self.counts);
        let count = grown(&mut counts, class);
        *count = is_counted.then(|| count.unwrap_or(0));
    }

    /// Takes the numbers of events that were counted since the last time, with their classes.
    pub fn take_counts(&self, mut take: impl FnMut(usize, u64)) {
        for (class, count) in locked(&self.counts).iter_mut().enumerate() {
            if let Some(count @ 1..) = count {
                take(class, std::mem::take(count));
            }
        }
    }

    /// Whether it has met too much to number anything new.
    pub fn is_full(&self) -> bool {
        let common = locked(&self.common);
        common.threads.len() >= MOST || common.texts.keyed() >= MOST
    }

    /// Forgets all that it has met. What it meets again gets another number.
    pub fn forget(&self) {
        let mut common = locked(&self.common);
        (common.threads, common.texts) = Default::default();
        locked(&self.idle).clear();
    }
}

impl Digester for EventDigester {
    fn digest(&self, events: &Events<'_>, into: &mut [Digest]) {
        let speeches = self.speeches.read().unwrap_or_else(PoisonError::into_inner);
        let Some(Some(speech)) = speeches.get(events.class) else { return };
        let idle = locked(&self.idle).pop();
        let mut worker = idle.unwrap_or_default();
        if let Some(client) = speech.client {
            worker.clients(client, events, into, &self.common);
        }
        // Mostly these are the same in all events.
        let thread = worker.threads(speech, events, into, &self.common).unwrap_or(0);
        let name = worker.names(speech, events, into, &self.common).unwrap_or(0);
        let [ticks, _] = &mut worker.integers;
        speech.plan.durations(events, ticks);
        if ticks.is_empty() {
            // They say none.
            ticks.resize(into.len(), TICKS.end);
        }
        for (digest, &ticks) in into.iter_mut().zip(&*ticks) {
            let ticks = if TICKS.contains(&ticks) { ticks + 1 } else { 0 };
            digest[0] |= u64::from(name) << 32;
            digest[1] |= u64::from(thread) | ticks << THREAD_BITS;
        }
        locked(&self.idle).push(worker);
    }

    fn mark_counted(&self, classes: &mut dyn Iterator<Item = (ClassIndex, &mut bool)>) {
        let counts = locked(&self.counts);
        if counts.iter().any(Option::is_some) {
            classes.for_each(|(class, is_counted)| *is_counted |= matches!(counts.get(class), Some(Some(_))));
        }
    }

    fn count(&self, class: ClassIndex, events: u64) {
        if let Some(Some(count)) = locked(&self.counts).get_mut(class) {
            *count += events;
        }
    }
}

impl Worker {
    /// Finds the threads: the one that all events are from, or one for each.
    fn threads(
        &mut self,
        speech: &Speech,
        events: &Events<'_>,
        into: &mut [Digest],
        numbers: &Mutex<Common>,
    ) -> Option<u32> {
        let Worker { threads, integers, .. } = self;
        let id = |ids: [u64; 2]| {
            let [pid, tid] = [(speech.pid, ids[0]), (speech.tid, ids[1])];
            let known = |(field, id): (Option<Field<u64>>, u64)| field.map(|_| id as i64);
            (speech.host, known(pid), known(tid))
        };
        // Most are all from one thread.
        let fields = [speech.pid, speech.tid];
        let are_common = match fields {
            [Some(pid), Some(tid)] => events.are_common([pid, tid]),
            _ => fields.into_iter().flatten().all(|field| events.are_common([field])),
        };
        if events.count > 0 && are_common {
            let first = events.get(0);
            let ids = fields.map(|field| field.map_or(0, |field| first.value(field)));
            return Some(thread_number(threads, id(ids), numbers));
        }
        for (ids, field) in integers.iter_mut().zip([speech.pid, speech.tid]) {
            ids.clear();
            match field {
                Some(field) => events.integers(field, ids),
                None => ids.resize(into.len(), 0),
            }
        }
        let [pids, tids] = integers;
        let (mut last, mut number) = (None, 0);
        for ((digest, pid), tid) in into.iter_mut().zip(pids).zip(tids) {
            // Most events are from the thread that the last one is from.
            if last != Some((*pid, *tid)) {
                last = Some((*pid, *tid));
                number = thread_number(threads, id([*pid, *tid]), numbers);
            }
            digest[1] = number.into();
        }
        None
    }

    fn clients(&mut self, field: Field, events: &Events<'_>, into: &mut [Digest], common: &Mutex<Common>) {
        self.briefs.clear();
        events.briefs(field, &mut self.briefs);
        let nobody = Brief::text(b"", 0);
        let known = |brief: Brief| (brief == nobody).then_some(NO_CLIENT);
        let encode = |event: usize, bytes: &mut Vec<u8>| key::encode(&events.get(event).value(field), bytes);
        self.texts(0, common, known, encode, |event, number| into[event][0] |= u64::from(number));
    }

    /// Finds the names: the one of all events, or one for each.
    fn names(
        &mut self,
        Speech { plan, kind, .. }: &Speech,
        events: &Events<'_>,
        into: &mut [Digest],
        common: &Mutex<Common>,
    ) -> Option<u32> {
        let space = *kind as usize + 1;
        self.briefs.clear();
        match plan.only_key() {
            Some(field) => events.briefs(field, &mut self.briefs),
            None if plan.keys().is_empty() => {
                return Some(self.text(space, Brief::OTHER, common, |_| {}));
            }
            None => self.briefs.resize(into.len(), Brief::OTHER),
        }
        let encode = |event: usize, bytes: &mut Vec<u8>| plan.encode_key(&events.get(event), bytes);
        self.texts(
            space,
            common,
            |_| None,
            encode,
            |event, number| into[event][0] |= u64::from(number) << 32,
        );
        None
    }

    /// Finds the numbers of texts by their briefs. Nearly all are known or were met lately; the others are looked up after those.
    #[inline(always)]
    fn texts(
        &mut self,
        space: usize,
        common: &Mutex<Common>,
        known: impl Fn(Brief) -> Option<u32>,
        encode: impl Fn(usize, &mut Vec<u8>),
        mut found: impl FnMut(usize, u32),
    ) {
        let Worker { texts, briefs, others, .. } = self;
        let of_space = texts.of_kind(space);
        others.clear();
        for (event, &brief) in briefs.iter().enumerate() {
            match known(brief).or_else(|| of_space.recall(brief).copied()) {
                Some(number) => found(event, number),
                None => others.push(event),
            }
        }
        for other in 0..self.others.len() {
            let event = self.others[other];
            found(event, self.text(space, self.briefs[event], common, |bytes| encode(event, bytes)));
        }
    }

    /// The number of a text, found by its brief form where it has one. `encode` writes it in full.
    fn text(
        &mut self,
        space: usize,
        brief: Brief,
        common: &Mutex<Common>,
        encode: impl FnOnce(&mut Vec<u8>),
    ) -> u32 {
        let of_space = self.texts.of_kind(space);
        match of_space.recall(brief).copied().or(of_space.keyless()) {
            Some(known) => known,
            None if self.is_full => 0,
            None => {
                self.bytes.clear();
                encode(&mut self.bytes);
                self.look_up(space, brief, common)
            }
        }
    }

    #[inline(never)]
    fn look_up(&mut self, space: usize, brief: Brief, common: &Mutex<Common>) -> u32 {
        let Worker { texts, bytes, is_full, .. } = self;
        let known = texts.meet(space, bytes).copied();
        let number = known.unwrap_or_else(|| locked(common).text(space, bytes));
        *is_full = number == 0;
        if number != 0 {
            match brief == Brief::OTHER {
                true if known.is_some() => {}
                true => _ = texts.entry(space, bytes, || number),
                false => _ = texts.recallable(space, brief, bytes, || number),
            }
        }
        number
    }
}

/// The number of a thread.
fn thread_number(known: &mut HashMap<ThreadId, u32>, id: ThreadId, common: &Mutex<Common>) -> u32 {
    known.get(&id).copied().unwrap_or_else(|| {
        let number = locked(common).thread(id);
        if number != 0 {
            known.insert(id, number);
        }
        number
    })
}

impl Common {
    fn thread(&mut self, id: ThreadId) -> u32 {
        match self.threads.get(&id) {
            Some(&known) => known,
            None if self.threads.len() >= MOST || self.last_thread == LAST_THREAD => 0,
            None => {
                self.last_thread += 1;
                *self.threads.entry(id).or_insert(self.last_thread)
            }
        }
    }

    fn text(&mut self, space: usize, bytes: &[u8]) -> u32 {
        if let Some(&known) = self.texts.get(space, bytes) {
            return known;
        }
        if self.texts.keyed() >= MOST || self.last_text == LAST_TEXT {
            return 0;
        }
        self.last_text += 1;
        *self.texts.entry(space, bytes, || self.last_text)
    }
}

/// Locks what no panic leaves half done.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_counted_until_they_are_needed() {
        let digester = EventDigester::default();
        let marked = || {
            let mut marks = [true, false, false];
            digester.mark_counted(&mut (0..).zip(&mut marks));
            marks
        };
        let taken = || {
            let mut taken = Vec::new();
            digester.take_counts(|class, count| taken.push((class, count)));
            taken
        };
        assert_eq!(marked(), [true, false, false], "as others have marked them");
        digester.only_count(2, true);
        assert_eq!(marked(), [true, false, true]);
        (0..3).for_each(|class| digester.count(class, 5));
        digester.only_count(2, true);
        digester.count(2, 1);
        assert_eq!((taken(), taken()), (vec![(2, 6)], vec![]));
        digester.only_count(2, false);
        digester.count(2, 1);
        assert_eq!((marked(), taken()), ([true, false, false], vec![]));
    }

    #[test]
    fn a_digester_that_has_forgotten_uses_no_number_again() {
        let digester = EventDigester::default();
        let number = |client: usize| locked(&digester.common).text(0, &client.to_le_bytes());
        assert_eq!((number(1), number(2), number(1)), (1, 2, 1));
        (3..MOST).for_each(|client| _ = number(client));
        assert!(!digester.is_full());
        assert_eq!((number(MOST) as usize, number(MOST + 1), number(2)), (MOST, 0, 2));
        assert!(digester.is_full());
        digester.forget();
        assert!(!digester.is_full());
        assert_eq!((number(2) as usize, number(MOST + 1) as usize), (MOST + 1, MOST + 2));
    }
}
