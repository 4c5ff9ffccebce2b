//! Exports hosts, several at a time: for each, one thread reads in the order of time, others encode, and one writes. If there
//! are more threads than hosts, another one reads for the incidents alone.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use ctf_reader::{Discovery, OrderedEvent, Reader, Report, Step, Window};
use ltt_top::analysis::Selection;
use ltt_top::analysis::finding::TraceFinding;
use ltt_top::analysis::incidents::{Incident, Watch};
use ltt_top::catalogs::{self, Catalogs};
use ltt_top::meaning::Dictionary;
use ltt_top::samples::SampleReader;
use ltt_top::source::{self, Recording};
use ltt_top::text::amount::counted;
use parquet::errors::{ParquetError, Result as ParquetResult};

use crate::cli::{Options, tell};
use crate::column::Layout;
use crate::encode::{EncodedRows, encode};
use crate::folder::{self, HostFolder, State, date_of};
use crate::groups::{self, Cells};
use crate::hosts::{Host, hosts};
use crate::incidents;
use crate::metadata;
use crate::plan::EventPlan;
use crate::row_group::RowGroup;
use crate::rows::{RowBuilder, Rows};
use crate::table::TableFile;

/// The dates of one host whose files are open at a time; there are more only if a clock is set back and forth.
const MOST_DATES: usize = 4;

/// The most files of one host: more dates than that come from a broken clock.
const MOST_FILES: usize = 10_000;

/// The most buckets of histograms that are kept before they are written.
const MOST_CELLS: usize = 1 << 17;

/// The most messages about single hosts.
const MOST_MESSAGES: usize = 20;

/// How an export ended.
pub enum Outcome {
    Complete,
    /// Part of a trace is damaged and left out.
    Damaged,
    /// A host could not be exported.
    Incomplete,
}

/// What all hosts have in common.
struct Context<'o> {
    options: &'o Options,
    output: &'o Path,
    selection: Arc<Selection>,
    /// The threads for each host.
    threads: usize,
}

/// What was done for a host.
enum Done {
    Skipped,
    Exported { events: u64, incidents: u64, bytes: u64, damage: Vec<String>, lost: u64 },
}

/// Exports all hosts that are found.
pub fn run(options: &Options) -> Result<Outcome, String> {
    let Catalogs { catalogs, ignored } = catalogs::read(&options.catalog, &options.traces)?;
    ignored.iter().for_each(|reason| {
        tell(&format!("warning: a catalog in the folder of the trace is ignored: {reason}"));
    });
    let duration = options.duration.clone().map(|field| (field, options.unit));
    let selection = Selection { dictionary: Dictionary { catalogs, duration }, ..Selection::default() };
    let (events, samples) = source::discover(&options.traces).map_err(|error| error.to_string())?;
    let (hosts, damage) = hosts(events, samples);
    if let (true, Some(first)) = (hosts.is_empty(), damage.first()) {
        return Err(format!("nothing can be read: {first}"));
    }
    let Some(output) = &options.output else { return list(&hosts, &damage) };
    folder::create(output)?;
    let threads =
        options.threads.map_or_else(|| thread::available_parallelism().map_or(1, usize::from), usize::from);
    let workers = threads.min(hosts.len()).max(1);
    let context = Context { options, output, selection: Arc::new(selection), threads: threads / workers };
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(host) = hosts.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = export(host, &context);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((host.name.clone(), result));
                }
            });
        }
    });
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(sum_up(&output.display().to_string(), &damage, done))
}

/// Prints which traces are whose, for those who export hosts on several machines.
fn list(hosts: &[Host], damage: &[String]) -> Result<Outcome, String> {
    damage.iter().for_each(|damage| tell(&format!("warning: {damage}; left out")));
    let mut out = std::io::stdout().lock();
    for host in hosts {
        let folders: Vec<_> =
            host.traces.iter().chain(&host.samples).flat_map(|trace| &trace.folders).collect();
        let line = serde_json::json!({ "host": host.name, "traces": folders });
        match writeln!(out, "{line}") {
            // As with `head`: nobody wants the rest.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => break,
            written => written.map_err(|error| format!("cannot write the list: {error}"))?,
        }
    }
    Ok(if damage.is_empty() { Outcome::Complete } else { Outcome::Damaged })
}

/// Says what was done.
fn sum_up(output: &str, damage: &[String], done: Vec<(String, Result<Done, String>)>) -> Outcome {
    let mut messages: Vec<String> =
        damage.iter().map(|damage| format!("warning: {damage}; left out")).collect();
    let (mut exported, mut skipped, mut failed) = (0, 0, 0);
    let (mut events, mut incidents, mut bytes, mut lost) = (0, 0, 0, 0);
    let mut is_damaged = !damage.is_empty();
    for (host, result) in done {
        match result {
            Ok(Done::Skipped) => skipped += 1,
            Ok(Done::Exported {
                events: of_host,
                incidents: found,
                bytes: size,
                damage,
                lost: discarded,
            }) => {
                exported += 1;
                events += of_host;
                incidents += found;
                bytes += size;
                lost += discarded;
                is_damaged |= !damage.is_empty();
                let first = damage.first().map(|first| {
                    format!(
                        "warning: host {host}: {} left out, first {first}",
                        counted(damage.len() as u64, "damaged part")
                    )
                });
                messages.extend(first);
            }
            Err(error) => {
                failed += 1;
                messages.push(format!("error: host {host}: {error}"));
            }
        }
    }
    // Errors first: they must not be among those that are left out.
    messages.sort_by_key(|message| !message.starts_with("error"));
    messages.iter().take(MOST_MESSAGES).for_each(|message| tell(message));
    if messages.len() > MOST_MESSAGES {
        tell(&format!("and {} more messages", messages.len() - MOST_MESSAGES));
    }
    let mut said = format!(
        "wrote {output}: {} of {}, {}, {} MB",
        counted(events, "event"),
        counted(exported, "host"),
        counted(incidents, "incident"),
        bytes.div_ceil(1_000_000)
    );
    if lost > 0 {
        said += &format!("; {} while recording", counted(lost, "event") + " lost");
    }
    if skipped > 0 {
        said += &format!("; {} exported before (--force exports again)", counted(skipped, "host"));
    }
    if failed > 0 {
        said += &format!("; {} not exported", counted(failed, "host"));
    }
    tell(&said);
    match (failed, is_damaged) {
        (0, false) => Outcome::Complete,
        (0, true) => Outcome::Damaged,
        _ => Outcome::Incomplete,
    }
}

/// Exports a host, unless that was done before.
fn export(host: &Host, context: &Context<'_>) -> Result<Done, String> {
    let folder = HostFolder::open(context.output, host)?;
    folder.clean()?;
    let replaced = match folder.state(host, context.options.force)? {
        State::Exported => return Ok(Done::Skipped),
        State::Replaces(keys) => keys,
        State::Mixed(trace) => {
            return Err(format!(
                "trace {trace} was exported before, together with others that are not given now; name all of them, \
                 or replace them with --force"
            ));
        }
    };
    folder.begin()?;
    let result = write(host, context, &folder, &replaced);
    if result.is_err() {
        folder.abandon();
    }
    result
}

/// Reads a host's traces, and writes its files.
fn write(
    host: &Host,
    context: &Context<'_>,
    folder: &HostFolder,
    replaced: &[String],
) -> Result<Done, String> {
    let found =
        [&host.traces, &host.samples].map(|traces| Discovery { traces: traces.clone(), damage: Vec::new() });
    let [events, samples] = found;
    let recording = Recording::open(events, samples).map_err(|error| error.to_string())?.threads(1);
    let reader = &recording.events;
    let dictionary = &context.selection.dictionary;
    let mut watch =
        Watch::new(&context.selection, context.options.longer_than_ns, reader.gaps(Window::default()));
    let traces = reader.traces();
    // Finding incidents takes as long as making rows; reading once more costs less than a core that waits.
    let has_follower = context.threads > 1;
    let wanted: Vec<_> = reader
        .classes()
        .map(|class| watch.want(class, traces[class.trace].environment("hostname")))
        .collect();
    let plan = EventPlan::new(reader.classes(), &traces, dictionary, |class| {
        if has_follower { None } else { wanted[class.index].clone() }
    });
    let plan = plan.map_err(|error| error.to_string())?;
    // Losses are known before the first event is read; damage is not.
    let before = reader.in_order(Window::default(), |_| None).report();
    let before = metadata::of_host(host, reader, dictionary, &before);
    let mut tables = Tables::new(folder, &plan, before).map_err(|error| unwritable(&error))?;
    let is_given_up = &AtomicBool::new(false);
    let report = thread::scope(|scope| {
        let encoders = context.threads.saturating_sub(2).max(1);
        let (tasks, waiting) = sync_channel::<Task>(encoders);
        let (encoded, in_order) = sync_channel::<Receiver<ParquetResult<EncodedRows>>>(2 * encoders);
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..encoders {
            let (waiting, plan) = (Arc::clone(&waiting), &plan);
            scope.spawn(move || {
                loop {
                    let task = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok(Task { rows, reply }) = task else { break };
                    // Nobody waits for it if writing has failed.
                    _ = reply.send(encode(rows, plan));
                }
            });
        }
        drop(waiting);
        let tables = &mut tables;
        let writer = scope.spawn(move || -> ParquetResult<()> {
            while let Ok(reply) = in_order.recv() {
                let Ok(rows) = reply.recv() else { break };
                tables.append(rows?)?;
            }
            Ok(())
        });
        let hand_over = |rows| {
            let (reply, received) = sync_channel(1);
            let is_taken = encoded.send(received).is_ok() && tasks.send(Task { rows, reply }).is_ok();
            is_given_up.store(!is_taken, Ordering::Relaxed);
            is_taken
        };
        let (watch, samples) = (&mut watch, recording.readers().samples);
        let report = if has_follower {
            scope.spawn(move || Watcher::new(watch, samples).follow(reader, wanted, is_given_up));
            read(reader, &plan, None, hand_over)
        } else {
            read(reader, &plan, Some(Watcher::new(watch, samples)), hand_over)
        };
        drop((encoded, tasks));
        let written = writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        written.map(|()| report)
    });
    let report = report.map_err(|error| unwritable(&error))?;
    let found = watch.finding(TraceFinding::new(&report), usize::MAX).map_err(|misfit| misfit.to_string())?;
    let metadata = metadata::of_host(host, reader, dictionary, &report);
    let written = tables.incidents(&found.incidents, &metadata).and_then(|()| tables.finish(&metadata));
    let files = written.map_err(|error| unwritable(&error))?;
    let bytes = files.iter().filter_map(|(path, ..)| path.metadata().ok()).map(|file| file.len()).sum();
    folder.finish(host, &files, replaced, &metadata)?;
    Ok(Done::Exported {
        events: report.events,
        incidents: found.incidents.len() as u64,
        bytes,
        damage: report.damage.iter().map(ToString::to_string).collect(),
        lost: report.discarded_events,
    })
}

fn unwritable(error: &ParquetError) -> String {
    format!("cannot write its files: {error}")
}

/// Rows to encode, and who waits for them.
struct Task {
    rows: Rows,
    reply: SyncSender<ParquetResult<EncodedRows>>,
}

/// Reads all events in the order of time, lets somebody watch, and hands rows over until that fails.
fn read(
    reader: &Reader,
    plan: &EventPlan,
    mut watcher: Option<Watcher<'_>>,
    mut hand_over: impl FnMut(Rows) -> bool,
) -> Report {
    let mut events = reader.in_order(Window::default(), |class| {
        plan.classes.get(class.index)?.as_ref().map(|class| class.wanted.clone())
    });
    // The date of the last event is the last.
    let mut open: Vec<RowBuilder> = Vec::new();
    while let Step::Event(event) = events.next_event() {
        if let Some(watcher) = &mut watcher {
            watcher.event(&event);
        }
        let class = event.class().index;
        let Some(class_plan) = plan.classes.get(class).and_then(Option::as_ref) else { continue };
        let date = date_of(event.timestamp());
        if open.last().is_none_or(|last| last.date() != date) {
            let place = open.iter().position(|builder| builder.date() == date);
            let builder = place.map_or_else(|| RowBuilder::new(plan, date), |place| open.remove(place));
            open.push(builder);
            if open.len() > MOST_DATES && !hand_over(open.remove(0).finish()) {
                break;
            }
        }
        let last = open.len() - 1;
        if open[last].add(&event, class, class_plan) {
            let full = std::mem::replace(&mut open[last], RowBuilder::new(plan, date));
            if !hand_over(full.finish()) {
                break;
            }
        }
    }
    open.sort_by_key(RowBuilder::date);
    for rows in open.into_iter().filter(|builder| !builder.is_empty()) {
        if !hand_over(rows.finish()) {
            break;
        }
    }
    let report = events.report();
    if let Some(watcher) = watcher {
        watcher.watch.finish();
    }
    report
}

/// Finds incidents, with the samples that were taken meanwhile.
struct Watcher<'w> {
    watch: &'w mut Watch,
    samples: Option<SampleReader<'w>>,
}

impl<'w> Watcher<'w> {
    fn new(watch: &'w mut Watch, samples: Option<&'w Reader>) -> Watcher<'w> {
        Watcher { watch, samples: samples.map(|samples| SampleReader::new(samples, Window::default())) }
    }

    #[inline]
    fn event(&mut self, event: &OrderedEvent<'_>) {
        let Watcher { watch, samples } = self;
        if let Some(samples) = samples {
            samples.around(event.timestamp(), |host, time, sample| watch.sample(host, time, sample));
        }
        watch.event(event);
    }

    /// Reads all events by itself, with the fields that are wanted of each class, unless that is of no use any more.
    fn follow(mut self, reader: &Reader, mut wanted: Vec<Option<Vec<usize>>>, is_given_up: &AtomicBool) {
        let mut events = reader.in_order(Window::default(), |class| wanted[class.index].take());
        while !is_given_up.load(Ordering::Relaxed)
            && let Step::Event(event) = events.next_event()
        {
            self.event(&event);
        }
        self.watch.finish();
    }
}

/// The files of a host in the making.
struct Tables<'f> {
    folder: &'f HostFolder,
    plan: &'f EventPlan,
    groups_layout: Layout,
    incidents_layout: Layout,
    /// The files that are open, and buckets that are not written yet, by date.
    open: BTreeMap<i64, Open>,
    /// Those that are complete.
    files: Vec<File>,
    numbers: BTreeMap<i64, usize>,
    /// What is known of the host before its events are read.
    before: Vec<(String, String)>,
}

/// A file, with its table, date and number.
type File = (PathBuf, &'static str, i64, usize);

struct Open {
    events: TableFile,
    groups: TableFile,
    cells: Cells,
    number: usize,
}

impl<'f> Tables<'f> {
    fn new(
        folder: &'f HostFolder,
        plan: &'f EventPlan,
        before: Vec<(String, String)>,
    ) -> ParquetResult<Tables<'f>> {
        Ok(Tables {
            folder,
            plan,
            groups_layout: groups::layout()?,
            incidents_layout: incidents::layout()?,
            open: BTreeMap::new(),
            files: Vec::new(),
            numbers: BTreeMap::new(),
            before,
        })
    }

    fn append(&mut self, rows: EncodedRows) -> ParquetResult<()> {
        let EncodedRows { date, group, cells } = rows;
        if !self.open.contains_key(&date) {
            if self.files.len() > MOST_FILES {
                return Err(ParquetError::General(format!(
                    "events of more than {MOST_FILES} dates: a clock is wrong"
                )));
            }
            while self.open.len() >= MOST_DATES
                && let Some((date, open)) = self.open.pop_first()
            {
                let before = self.before.clone();
                self.close(date, open, &before)?;
            }
            let number = self.numbers.entry(date).or_default();
            let opened = Open {
                events: TableFile::create(
                    &self.folder.temporary("events", date, *number),
                    &self.plan.layout,
                )?,
                groups: TableFile::create(
                    &self.folder.temporary("groups", date, *number),
                    &self.groups_layout,
                )?,
                cells: Cells::default(),
                number: *number,
            };
            *number += 1;
            self.open.insert(date, opened);
        }
        if let Some(open) = self.open.get_mut(&date) {
            open.events.append(group)?;
            groups::merge(&mut open.cells, cells);
            if open.cells.len() > MOST_CELLS {
                open.groups.append(groups::encode(&self.groups_layout, std::mem::take(&mut open.cells))?)?;
            }
        }
        Ok(())
    }

    fn incidents(&mut self, found: &[Incident], metadata: &[(String, String)]) -> ParquetResult<()> {
        let mut dates: BTreeMap<i64, Option<RowGroup>> = incidents::encode(&self.incidents_layout, found)?
            .into_iter()
            .map(|(date, group)| (date, Some(group)))
            .collect();
        // Engines refuse a table without files, and a fleet may have no incident at all.
        if dates.is_empty() {
            dates.extend(self.numbers.keys().next().map(|&date| (date, None)));
        }
        for (date, group) in dates {
            let mut file =
                TableFile::create(&self.folder.temporary("incidents", date, 0), &self.incidents_layout)?;
            group.map_or(Ok(()), |group| file.append(group))?;
            self.files.push((file.finish(metadata)?, "incidents", date, 0));
        }
        Ok(())
    }

    /// Writes the ends of all files.
    fn finish(mut self, metadata: &[(String, String)]) -> ParquetResult<Vec<File>> {
        for (date, open) in std::mem::take(&mut self.open) {
            self.close(date, open, metadata)?;
        }
        Ok(self.files)
    }

    fn close(&mut self, date: i64, open: Open, metadata: &[(String, String)]) -> ParquetResult<()> {
        let Open { events, mut groups, cells, number } = open;
        groups.append(groups::encode(&self.groups_layout, cells)?)?;
        self.files.push((events.finish(metadata)?, "events", date, number));
        self.files.push((groups.finish(metadata)?, "groups", date, number));
        Ok(())
    }
}
