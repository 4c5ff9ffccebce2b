//! `incidents` as a table: what held the program up, then totals by cause, and what helps.

use super::cause::{cause_name, held_by, is_narrow};
use super::grid::{Column, Grid};
use super::label::{Names, link, value};
use super::page::{Page, Style};
use crate::view::Screen;
use ltt_analysis::finding::{LinkFinding, Ns};
use ltt_analysis::incidents::{
    CauseFinding, Episode, Evidence, Incident, IncidentKind, Incidents, MeanwhileFinding, ProcessFinding,
    Side, TimeRange, WaitedFinding,
};
use ltt_analysis::outliers::{Period, PeriodKind};
use ltt_analysis::text::amount::{counted, grouped, share, times};
use ltt_analysis::text::{escape, short_name};

/// The number of causes that are listed.
const CAUSES: usize = 10;

/// The number of events that are not the cause to list.
const NAMED: usize = 6;

/// Adds the incidents.
pub fn add(found: &Incidents, screen: &Screen, page: &mut Page) {
    page.text(Style::Headline, headline(found));
    if !found.incidents.is_empty() {
        page.grid(list(found, screen));
        page.blank();
        page.grid(causes(&found.causes, CAUSES));
    }
    page.texts(Style::Plain, found.periods.iter().map(|period| slow_period(period, screen)));
    page.texts(Style::Plain, interruptions(found, screen));
    page.texts(Style::Note, footnotes(found));
}

pub fn headline(found: &Incidents) -> String {
    let threshold = found.threshold.in_words();
    if found.intervals == 0 {
        return "no incidents can be told: no event has a duration".into();
    }
    if found.found == 0 {
        return format!("no incidents: nothing was held up for {threshold} or longer");
    }
    let of = found.trace.length_ns.map_or(String::new(), |length| {
        let part = found.blocked_share.map_or(String::new(), |part| format!(" ({})", share(part)));
        format!(" of {}{part}", Ns::from(length).in_words())
    });
    let others = found.found - found.turns;
    let turns =
        (found.turns > 0).then(|| format!("{} of {threshold} or longer", counted(found.turns, "turn")));
    let other = if found.turns > 0 { "other incident" } else { "incident" };
    let others = (others > 0).then(|| counted(others, other));
    let count: Vec<String> = turns.into_iter().chain(others).collect();
    // What lies in no event, as the rows say it, and what is left of that by what the scheduler did.
    let (in_no_event, rest) = (found.unexplained, found.unaccounted);
    let unexplained = match (in_no_event, rest) {
        (Ns(0), _) => String::new(),
        _ if rest.0 * 20 >= in_no_event.0 * 19 => format!("; {} unexplained", rest.in_words()),
        (_, Ns(0)) => format!("; {} in no event", in_no_event.in_words()),
        _ => format!("; {} in no event, {} of it unexplained", in_no_event.in_words(), rest.in_words()),
    };
    format!("blocked {}{of}, {}{unexplained}", found.blocked.in_words(), count.join(", "))
}

/// A row: an incident, or an episode, of which the longest incident stands for all.
struct Row<'f> {
    incident: &'f Incident,
    episode: Option<&'f Episode>,
}

impl Row<'_> {
    fn begin_ns(&self) -> i64 {
        self.episode.map_or(self.incident.begin_ns, |episode| episode.begin_ns)
    }

    fn held(&self) -> Ns {
        self.episode.map_or(self.incident.held, |episode| episode.held)
    }

    fn unexplained(&self) -> Ns {
        self.episode.map_or(self.incident.unexplained, |episode| episode.unexplained)
    }

    fn not_served(&self) -> u64 {
        self.episode.map_or(self.incident.not_served, |episode| episode.not_served)
    }
}

fn rows(found: &Incidents) -> Vec<Row<'_>> {
    if found.shows_each {
        return found.incidents.iter().map(|incident| Row { incident, episode: None }).collect();
    }
    let episodes = found.episodes.iter();
    episodes.map(|episode| Row { incident: &episode.longest, episode: Some(episode) }).collect()
}

/// The number of rows that incidents are shown in, all together.
pub fn row_count(found: &Incidents) -> u64 {
    let hidden = if found.shows_each { found.hidden_incidents } else { found.hidden_episodes };
    rows(found).len() as u64 + hidden
}

/// The longest incidents, in time order, with no notes on them.
pub fn longest(found: &Incidents, most: usize, screen: &Screen) -> Grid {
    let mut rows = rows(found);
    rows.sort_by_key(|row| std::cmp::Reverse(row.held()));
    rows.truncate(most);
    rows.sort_by_key(Row::begin_ns);
    let mut grid = Grid::new(vec![
        Column::text("START"),
        Column::number("HELD"),
        Column::number("COUNT").droppable(1),
        Column::text("WAITED").droppable(2),
        Column::text("CLIENT").droppable(3),
        Column::text("CAUSE"),
    ]);
    for row in rows {
        grid.row(vec![
            screen.time_of_day(row.begin_ns()),
            row.held().short(),
            grouped(row.episode.map_or(1, |episode| episode.count).into()),
            waited(row.incident),
            client(row.incident),
            cause(row.incident),
        ]);
    }
    grid
}

fn list(found: &Incidents, screen: &Screen) -> Grid {
    let rows = rows(found);
    let has_hosts = found.trace.has_several_hosts();
    let has_processes = rows.windows(2).any(|pair| pair[0].incident.process != pair[1].incident.process);
    let columns = [
        Some(Column::text("START")),
        Some(Column::number("HELD")),
        has_hosts.then(|| Column::text("HOST").shrinkable()),
        has_processes.then(|| Column::text("PROCESS").shrinkable()),
        Some(Column::text("CAUSE").shrinkable()),
        Some(Column::text("CLIENT").notable(3)),
        Some(Column::number("NO EVENT").droppable(1)),
        Some(Column::text("WAITED").notable(4)),
        Some(Column::number("NOT SERVED").notable(2)),
    ];
    let mut grid = Grid::new(columns.into_iter().flatten().collect());
    for row in rows {
        let incident = row.incident;
        let cells = [
            Some(screen.time_of_day(row.begin_ns())),
            Some(row.held().short()),
            has_hosts.then(|| incident.process.host.as_deref().map_or("-".into(), escape::text)),
            has_processes.then(|| process(&incident.process)),
            Some(cause(incident)),
            Some(match row.episode.map_or(0, |episode| episode.clients) {
                0 | 1 => client(incident),
                clients => counted(clients, "client"),
            }),
            Some(row.unexplained().short()),
            Some(waited(incident)),
            Some(match row.not_served() {
                0 => String::new(),
                not_served => format!("~{}", grouped(not_served.into())),
            }),
        ];
        grid.row(cells.into_iter().flatten().collect());
        let together =
            row.episode.filter(|episode| episode.count > 1).map(|episode| together(episode, screen));
        let notes: Vec<String> = together.into_iter().chain(notes(incident)).collect();
        if !notes.is_empty() {
            grid.note(notes.join("; "));
        }
    }
    grid
}

/// What the incidents of an episode come to together; its row shows the longest.
fn together(episode: &Episode, screen: &Screen) -> String {
    let every = episode.period.map_or(String::new(), |period| {
        let regularity = episode.regularity.unwrap_or(0.0);
        let how = if regularity >= 0.9 { "regularly every" } else { "about every" };
        format!(", {how} {}", period.in_words())
    });
    format!(
        "{} until {}, {} of that time, the longest {} at {}{every}",
        counted(episode.count, "incident"),
        screen.time_of_day(episode.end_ns),
        share(episode.held_share),
        episode.longest.held.in_words(),
        screen.time_of_day(episode.longest.begin_ns)
    )
}

/// The client that the cause was for; of several, the one that took the most time. What lies before a request may be a part of
/// another's that is still being read.
fn client(incident: &Incident) -> String {
    let Some(cause) = &incident.cause else { return "-".into() };
    let is_likely = incident.beside.as_ref().is_some_and(|beside| beside.side == Side::Before);
    match (&cause.client, cause.clients) {
        (Some(_), 0 | 1) if is_likely => format!("{}?", value(&cause.client)),
        (Some(_), 2..) => format!("{} and {} more", value(&cause.client), cause.clients - 1),
        (None, 2..) => counted(cause.clients, "client"),
        _ => value(&cause.client),
    }
}

/// What held it up: `BGSAVE 2.55ms (fork 2.43ms)`.
pub fn cause(incident: &Incident) -> String {
    let Some(cause) = &incident.cause else {
        if let Some(held_by) = &incident.held_by {
            // An event went on meanwhile, if it took more than was left.
            let left = incident.held.0.saturating_sub(held_by.time.least.0);
            let during = incident.explained_by.first().filter(|part| part.spent.0 > left);
            let during = during.map_or(String::new(), |part| format!(" during {}", link(part)));
            return format!("{} {}{during}", held_by.cause.in_words(), short_range(held_by.time));
        }
        let sum = incident.sum.as_ref().filter(|sum| sum.duration.0 * 2 > incident.unexplained.0);
        let sum =
            sum.map(|sum| format!(" ({} {})", escape::text(short_name(&sum.event)), sum.duration.short()));
        return match incident.kind {
            IncidentKind::Silence => silence(incident.evidence).into(),
            IncidentKind::Starved => "not served, likely held back".into(),
            IncidentKind::Turn | IncidentKind::Interval => format!("in no event{}", sum.unwrap_or_default()),
        };
    };
    if let Some(beside) = incident.beside {
        let side = match beside.side {
            Side::Before => "before",
            Side::After => "after",
            Side::Around => return format!("loading data {}", beside.time.short()),
        };
        return format!("{} in no event {side} {}", beside.time.short(), link(cause));
    }
    let inner = incident.chain.last().filter(|last| *last != cause);
    let inner = inner.map_or(String::new(), |inner| format!(" ({})", link(inner)));
    let is_beside = |part: &&LinkFinding| {
        let is_chain = incident.chain.contains(part);
        !is_chain && part.spent.0 * 10 >= incident.held.0
    };
    let beside = incident.explained_by.iter().filter(is_beside).map(|part| format!(" + {}", link(part)));
    format!("{}{inner}{}", link(cause), beside.collect::<String>())
}

/// What shows that nothing was served between two turns.
fn silence(evidence: Option<Evidence>) -> &'static str {
    match evidence {
        Some(Evidence::Clients) => "silent, likely stopped",
        Some(Evidence::Timer) => "silent, timer overdue",
        _ => "silent",
    }
}

/// A time, or its bounds if they differ by much.
pub fn short_range(range: TimeRange) -> String {
    match is_narrow(range) {
        true => range.most.short(),
        false => format!("{} to {}", range.least.short(), range.most.short()),
    }
}

fn waited(incident: &Incident) -> String {
    match incident.waited {
        None => "-".into(),
        Some(WaitedFinding { clients: 0, .. }) => "nobody".into(),
        Some(waited) => format!("{}/{}, {}", waited.clients, waited.of, short_range(waited.bounds())),
    }
}

/// That a thread was kept from its CPU for most of an incident that an event explains.
fn kept_from_cpu(incident: &Incident) -> Option<String> {
    let scheduler = incident.scheduler.as_ref().filter(|_| incident.cause.is_some())?;
    let reasons = [
        (scheduler.queued, "without a CPU"),
        (scheduler.stopped, "stopped by a signal or a debugger"),
        (scheduler.device, "blocked by a device"),
    ];
    let (time, reason) = reasons.into_iter().max_by_key(|(time, _)| time.least.0)?;
    let time_in_words = match is_narrow(time) {
        true => time.most.in_words(),
        false => format!("{} to {}", time.least.in_words(), time.most.in_words()),
    };
    (time.least.0 * 2 >= incident.held.0 && time.least.0 > 0)
        .then(|| format!("{reason} for {time_in_words} of {}", incident.held.in_words()))
}

pub fn notes(incident: &Incident) -> Vec<String> {
    let mut notes: Vec<String> =
        incident.held_by.as_ref().filter(|_| incident.cause.is_none()).map(held_by).into_iter().collect();
    notes.extend(kept_from_cpu(incident));
    if incident.is_sampled_too_seldom && incident.unexplained.0 * 4 >= incident.held.0 {
        let pace = incident.scheduler.as_ref().and_then(|scheduler| scheduler.sampled_every);
        let pace = pace.map_or(String::new(), |pace| format!(" (up to {} apart)", pace.in_words()));
        notes.push(format!("sampled too seldom to tell what its thread did in no event{pace}"));
    }
    if !incident.meanwhile.is_empty() {
        let others: Vec<String> = incident.meanwhile.iter().map(meanwhile).collect();
        notes.push(format!("meanwhile: {}", others.join(", ")));
    }
    if incident.is_cut {
        notes.push("only a part of it is in the window".into());
    }
    if incident.is_incomplete {
        notes.push("events of this time are missing from the trace".into());
    }
    notes
}

pub fn meanwhile(other: &MeanwhileFinding) -> String {
    let process = process(&other.process);
    match (&other.event, other.events) {
        (Some(event), _) => format!("{} in {process}", link(event)),
        (None, events) => format!("about {} of {process}", counted(events.unwrap_or(0), "event")),
    }
}

pub fn process(process: &ProcessFinding) -> String {
    // The id first: it tells two servers apart where the column is narrow.
    let name = process.name.as_deref().map_or(String::new(), |name| format!(" {}", escape::text(name)));
    format!("{}{name}", value(&process.pid))
}

/// The causes that are worth a row: the first, but none that explains less than a hundredth of what the largest does.
fn telling(causes: &[CauseFinding], most: usize) -> &[CauseFinding] {
    let largest = causes.first().map_or(0, |cause| cause.total.0);
    let telling = causes.iter().take(most).take_while(|cause| cause.total.0.saturating_mul(100) >= largest);
    &causes[..telling.count()]
}

/// The first causes, each with what helps.
pub fn causes(causes: &[CauseFinding], most: usize) -> Grid {
    let columns = [
        Column::number("TOTAL"),
        Column::number("COUNT"),
        Column::number("LONGEST"),
        Column::number("EVERY").droppable(1),
        Column::text("CAUSE"),
    ];
    let mut grid = Grid::new(columns.into());
    grid.sorted_by = Some("TOTAL".into());
    let mut advised = Vec::new();
    for cause in telling(causes, most) {
        grid.row(vec![
            cause.total.short(),
            grouped(cause.count.into()),
            cause.longest.short(),
            cause.period.map_or(String::new(), |period| format!("~{}", period.short())),
            cause_name(cause),
        ]);
        // Advice that applies to several causes is given once.
        if let Some(advice) = &cause.advice
            && !advised.contains(&advice)
        {
            grid.note(escape::text(advice));
            advised.push(advice);
        }
    }
    grid
}

/// When something was slower than in the rest of the trace, and how much.
pub fn slow_period(period: &Period, screen: &Screen) -> String {
    let what = match period.kind {
        PeriodKind::Period => "slow period",
        PeriodKind::Shift => "slower from then on",
    };
    let [begin, end] = [period.begin_ns, period.end_ns].map(|time| screen.time_of_day(time));
    format!("{what} {begin} to {end}: {}, {} lost", period.reason, period.lost.in_words())
}

/// When tracing was stopped, and when a server ended and another took its place.
fn interruptions(found: &Incidents, screen: &Screen) -> Vec<String> {
    let between = |begin_ns: i64, end_ns: i64| {
        let [begin, end] = [begin_ns, end_ns].map(|time| screen.time_of_day(time));
        format!("{begin} to {end}, {}", Ns::from(end_ns.abs_diff(begin_ns)).in_words())
    };
    let untraced = found.untraced.iter().map(|time| {
        format!("tracing stopped {}: nothing is known of this time", between(time.begin_ns, time.end_ns))
    });
    let restarts = found.restarts.iter().map(|restart| {
        let [ended, began] = [&restart.ended, &restart.began].map(process);
        let between = between(restart.begin_ns, restart.end_ns);
        format!("{ended} ended, and {began} began to serve: {between} between their turns")
    });
    let (untraced, restarts): (Vec<String>, Vec<String>) = (untraced.collect(), restarts.collect());
    [(untraced, "times without tracing"), (restarts, "restarts")]
        .into_iter()
        .flat_map(|(mut lines, what)| {
            let more = lines.len().saturating_sub(NAMED);
            lines.truncate(NAMED);
            lines.extend((more > 0).then(|| format!("{more} more {what} (JSON has all)")));
            lines
        })
        .collect()
}

pub fn footnotes(found: &Incidents) -> Vec<String> {
    let mut footnotes = Vec::new();
    let (hidden, what) = match found.shows_each {
        true => (found.hidden_incidents, "shorter incident"),
        false => (found.hidden_episodes, "shorter episode"),
    };
    if hidden > 0 {
        footnotes.push(format!("{} not shown (-n shows more)", counted(hidden, what)));
    }
    let others = (found.causes.len() - telling(&found.causes, CAUSES).len()) as u64;
    if others > 0 {
        footnotes.push(format!("{} that took less time not shown (JSON has all)", counted(others, "cause")));
    }
    if found.set_aside > 0 {
        footnotes.push(format!(
            "{} set aside: they began within an earlier turn, as work beside the event loop does (a child, a thread), \
             or a clock stepped",
            counted(found.set_aside, "interval")
        ));
    }
    let named = |names: Vec<String>| {
        let more = match names.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{}{more}", names.into_iter().take(NAMED).collect::<Vec<_>>().join(", "))
    };
    let events = found.not_causes.iter().map(|other| &other.event).chain(&found.unrecorded);
    let names = Names::new(events.map(String::as_str), true);
    let not = found.not_causes.iter().map(|other| {
        format!("{} at most {} ({})", names.of(&other.event), other.longest.in_words(), times(other.count))
    });
    let unrecorded = found.unrecorded.iter().map(|event| names.of(event));
    let lists = [("not the cause", not.collect::<Vec<_>>()), ("no events recorded", unrecorded.collect())];
    for (what, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        footnotes.push(format!("{what}: {}", named(list)));
    }
    footnotes
}
