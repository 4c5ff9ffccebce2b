//! What events say: of which thread, for whom, of which name and how long.

use std::sync::Arc;

use ctf_reader::{Brief, EventClass, Events, Field, OrderedEvent, Value, Wanted};

use super::digester::{EventDigester, Said, Speech};
use super::happening::{Happening, Happenings};
use super::interval::{BriefInterval, Interval, IntervalName};
use super::lexicon::{KindEntry, Lexicon};
use super::nesting::SpanNumbers;
use super::plain::{Loops, PlainClass, PlainRole};
use super::thread_numbers::ThreadNumbers;
use super::translation::Translation;
use crate::datum::Datum;
use crate::durations::histogram::IMPLAUSIBLE;
use crate::meaning::ClassMeaning;
use crate::pair::Side;
use crate::reading::{ClassPlan, EventKind, Passes, Roster, Selection, grown};
use crate::scheduling::KernelFields;

/// Longer intervals, and times further from 1970, come from faulty clocks.
const LONGEST: i64 = 1 << 56;
pub const TIMES: std::ops::Range<i64> = -(1 << 61)..1 << 62;

/// Resolves what events say.
pub struct Resolver {
    pub roster: Roster,
    /// Which events pass; none if all do.
    pub filter: Option<Roster>,
    /// The role of each class.
    roles: Vec<Option<ClassRole>>,
    /// The classes whose events need nothing else than what they were found to say.
    pub plain: Vec<Option<PlainClass>>,
    pub lexicon: Lexicon,
    pub threads: ThreadNumbers,
    pub loops: Loops,
    /// Finds out what events say where they are read, and the numbers here of what it has numbered.
    pub digester: Arc<EventDigester>,
    pub known_threads: Translation,
    /// But for names of commands that hold clients back.
    pub known_texts: Translation,
    /// The number of implausible durations, which are not intervals.
    pub implausible: u64,
    /// Whether durations that are plausible in other findings are implausible as intervals.
    pub is_stricter: bool,
}

/// The role of a class of events.
#[derive(Clone, Copy, Debug)]
pub struct ClassRole {
    act: Act,
    pub kind: u32,
    /// The process, the thread, the name of the process and the client.
    pid: Option<Field<u64>>,
    tid: Option<Field<u64>>,
    procname: Option<Field>,
    client: Option<Field>,
    /// The numbers of the span and of the one around it.
    span: Option<(Field<u64>, Field<u64>)>,
    host: usize,
    unit_ns: u64,
    /// Whether they end turns of an event loop.
    is_turn: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    /// They end intervals, whose lengths they have.
    Ends,
    /// They have sums of pieces, which are not intervals.
    Sums,
    /// They begin an interval or end one.
    Pairs(Side),
    /// They only show that their process was active.
    Marks,
    /// They are the kernel's, and say what the scheduler did.
    Schedules(KernelFields),
}

impl Resolver {
    /// Resolves the events of a selection.
    pub fn new(selection: Arc<Selection>) -> Self {
        Resolver {
            roster: Roster::new(selection),
            filter: None,
            roles: Vec::new(),
            plain: Vec::new(),
            lexicon: Lexicon::default(),
            threads: ThreadNumbers::default(),
            loops: Loops::default(),
            digester: Arc::default(),
            known_threads: Translation::default(),
            known_texts: Translation::default(),
            implausible: 0,
            is_stricter: false,
        }
    }

    /// The fields that the events of a class are needed with. It was recorded on the machine with this number.
    pub fn want(&mut self, class: &Arc<EventClass>, host: usize) -> Option<Wanted> {
        let mut wanted = self.roster.want(class)?;
        if let Some(filter) = &mut self.filter {
            filter.want_besides(class, &mut wanted);
        }
        let plan = self.roster.plan(class.index);
        let meaning = self.roster.selection().dictionary.look_up(class);
        let role = plan.filter(|_| meaning.repeats.is_none()).map(|plan| {
            let kernel = KernelFields::new(class, &mut wanted);
            let act = kernel.map_or_else(|| act(&meaning), Act::Schedules);
            let of_events = &self.roster.kinds()[plan.kind];
            let unit_ns = u64::try_from(of_events.unit_ns()).unwrap_or(1);
            let kind = match (act, &meaning.pair) {
                (Act::Pairs(_), Some((interval, _))) => {
                    Arc::new(EventKind { event: interval.clone(), ..EventKind::clone(of_events) })
                }
                _ => Arc::clone(of_events),
            };
            let kind = self.lexicon.kinds.enter(KindEntry {
                kind,
                known_as: meaning.event.clone(),
                is_outermost: meaning.is_outermost,
                is_request: meaning.client.is_some(),
                explains: meaning.explains.clone(),
            });
            let (pid, tid, procname) = (wanted.field("vpid"), wanted.field("vtid"), wanted.field("procname"));
            let span = wanted.field("tracing_span").zip(wanted.field("tracing_parent"));
            let client = meaning.client.map(|index| wanted.value_at(index));
            let is_turn = meaning.is_outermost;
            ClassRole { act, kind, pid, tid, procname, client, span, host, unit_ns, is_turn }
        });
        // Repeats are not even decoded: they are a third of what a server records.
        if meaning.repeats.is_some() {
            return None;
        }
        let speech = role.as_ref().zip(plan).and_then(|(role, plan)| role.speech(plan));
        self.digester.listen(class.index, speech);
        let is_filtered = self.filter.is_some() || plan.is_some_and(ClassPlan::has_conditions);
        *grown(&mut self.plain, class.index) =
            role.as_ref().filter(|_| !is_filtered).and_then(ClassRole::plain);
        *grown(&mut self.roles, class.index) = role;
        Some(wanted)
    }

    /// The role of a class, if its events have one.
    pub fn role(&self, class: usize) -> Option<&ClassRole> {
        self.roles.get(class)?.as_ref()
    }

    /// Resolves any event.
    #[inline(never)]
    pub fn any(&mut self, event: &OrderedEvent<'_>, happened: &mut Happenings) {
        let (time, class) = (event.timestamp(), event.class().index);
        let Some(plan) = self.roster.count_of(class, 1) else { return };
        if !TIMES.contains(&time) {
            self.implausible += 1;
            self.is_stricter = true;
            return;
        }
        let mut passes = Passes::ALL;
        if plan.has_conditions() || self.filter.is_some() {
            match passing(plan, self.filter.as_mut(), event) {
                Some(of_event) => passes = of_event,
                None => return,
            }
        }
        let Resolver {
            roles,
            lexicon,
            threads,
            loops,
            known_threads,
            known_texts,
            implausible,
            is_stricter,
            ..
        } = self;
        let Some(Some(role)) = roles.get(class) else { return };
        if let Act::Schedules(kernel) = &role.act {
            let event = kernel.read(event);
            return happened.schedule(role.host as u32, time, event);
        }
        let said = Said::from(event.digest());
        let thread = known_threads.get(said.thread).unwrap_or_else(|| {
            let (shared, thread) = (threads.shared, role.thread(event, threads, happened));
            // One that has a number of its own.
            if threads.shared == shared {
                known_threads.enter(said.thread, thread);
            }
            thread
        });
        if role.act == Act::Marks {
            return happened.add(Happening::Active { thread, time });
        }
        let client = role.client.filter(|_| !said.is_without_client()).and_then(|field| {
            known_texts.get(said.client).or_else(|| {
                let client = lexicon.client(event, field);
                client.inspect(|client| known_texts.enter(said.client, *client))
            })
        });
        if let Some((own, parent)) = role.span {
            let (own, parent) = (event.value(own), event.value(parent));
            if (own, parent) != (0, 0) {
                happened.add(Happening::Span(SpanNumbers { own, parent }));
            }
        }
        let mut begin = time;
        if let Act::Ends | Act::Sums = role.act {
            let Some(ticks) = said.ticks.or_else(|| plan.duration(event)) else {
                return happened.add(Happening::Active { thread, time });
            };
            let length = i64::try_from(ticks.saturating_mul(role.unit_ns)).ok();
            let Some(length) = length.filter(|length| ticks < IMPLAUSIBLE && *length < LONGEST) else {
                *implausible += 1;
                *is_stricter |= ticks < IMPLAUSIBLE;
                return happened.add(Happening::Active { thread, time });
            };
            begin -= length;
        }
        let known = known_texts.get(said.name).map(|key| IntervalName { kind: role.kind, key });
        let name = known.unwrap_or_else(|| {
            let brief = plan.only_key().map_or(Brief::OTHER, |field| event.brief(field));
            let name = lexicon.name(role.kind, brief, |bytes| plan.encode_key(&event.events().get(0), bytes));
            // Of those that hold back more is to be said.
            if !lexicon.holds_back(name) && name.place().is_some() {
                known_texts.enter(said.name, name.key);
            }
            name
        });
        let interval = Interval { begin, end: time, name, client, passes };
        match role.act {
            Act::Marks | Act::Schedules(_) => {}
            Act::Ends | Act::Sums => {
                if role.client.is_some() && lexicon.holds_back(name) {
                    happened.add(Happening::HoldsBack);
                }
                match role.act {
                    Act::Sums => happened.sum(thread, &interval),
                    _ => loops.end(thread, &interval, role.ends(), happened),
                }
            }
            Act::Pairs(Side::Begin) => {
                happened.add(Happening::Began { thread, time, name, client, passes });
            }
            Act::Pairs(Side::End) => {
                let is_said =
                    |(_, value): &(String, Datum)| !matches!(value, Datum::Text(text) if text.is_empty());
                let key = lexicon.key(name).0.iter().any(is_said).then_some(name.key);
                let client = client.unwrap_or(BriefInterval::NOBODY);
                happened.add(Happening::Closed { thread, time, kind: role.kind, key, client, passes });
            }
        }
    }
}

/// Which filters an event passes; none if it does not count.
#[inline(never)]
fn passing(plan: &ClassPlan, filter: Option<&mut Roster>, event: &OrderedEvent<'_>) -> Option<Passes> {
    let events: Events<'_> = event.events();
    let one = events.get(0);
    if plan.has_conditions() && !plan.admits(&one) {
        return None;
    }
    let Some(filter) = filter else { return Some(Passes::ALL) };
    Some(filter.count(&events).map_or(Passes::default(), |plan| plan.passes(&one)))
}

impl ClassRole {
    /// What its events end.
    fn ends(&self) -> PlainRole {
        if self.is_turn { PlainRole::Turn } else { PlainRole::Interval }
    }

    /// What is needed of its events if they are not filtered, if nothing else is.
    fn plain(&self) -> Option<PlainClass> {
        let &ClassRole { act, kind, unit_ns, span: None, .. } = self else { return None };
        let role = match act {
            Act::Sums => PlainRole::Sum,
            Act::Ends => self.ends(),
            _ => return None,
        };
        // Any less can be multiplied.
        let most = (u64::from(u32::MAX) / unit_ns.max(1)).min(IMPLAUSIBLE);
        Some(PlainClass { unit_ns, most, kind, has_client: self.client.is_some(), role })
    }

    /// What its events say, as far as that can be found out where they are read.
    fn speech(&self, plan: &ClassPlan) -> Option<Speech> {
        let &ClassRole { kind, host, pid, tid, client, .. } = self;
        let is_ours = !matches!(self.act, Act::Schedules(_));
        is_ours.then(|| Speech { plan: plan.clone(), kind, host, pid, tid, client })
    }

    /// The number of the thread that an event is from.
    #[inline(always)]
    fn thread(
        &self,
        event: &OrderedEvent<'_>,
        threads: &mut ThreadNumbers,
        happened: &mut Happenings,
    ) -> u32 {
        let procname = || self.procname.map(|field| text(&event.value(field)));
        let id = (self.host, id(event, self.pid), id(event, self.tid));
        threads.number(id, procname, happened)
    }
}

/// The id in a field, if there is one.
#[inline(always)]
fn id(event: &OrderedEvent<'_>, field: Option<Field<u64>>) -> Option<i64> {
    field.map(|field| event.value(field) as i64)
}

/// What the events of a class do.
fn act(meaning: &ClassMeaning) -> Act {
    match (&meaning.duration, &meaning.pair) {
        (Some(_), _) if meaning.is_sum => Act::Sums,
        (Some(_), _) => Act::Ends,
        (None, Some((_, side))) => Act::Pairs(*side),
        (None, None) => Act::Marks,
    }
}

fn text(value: &Value<'_>) -> String {
    match value {
        Value::Text(text) => String::from_utf8_lossy(text).into_owned(),
        _ => String::new(),
    }
}
