//! Exports hosts, several at a time: for each, one thread reads in the order of time, others encode, and one writes. If there
//! are more threads than hosts, another one reads for the incidents alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use ctf_reader::{Discovery, OrderedEvent, PacketInfo, Reader, Report, Step, Trace, Wanted, Window};
use ltt_analysis::Selection;
use ltt_analysis::catalogs::{self, Catalogs};
use ltt_analysis::finding::TraceFinding;
use ltt_analysis::incidents::IncidentWatch;
use ltt_analysis::meaning::Dictionary;
use ltt_analysis::samples::SampleReader;
use ltt_analysis::source::{self, Recording};
use parquet::errors::{ParquetError, Result as ParquetResult};

use crate::cli::{ExportOptions, tell};
use crate::coverage::Verdict;
use crate::day::date_of;
use crate::delta;
use crate::encode::{EncodedRows, encode};
use crate::escape::key;
use crate::groups;
use crate::host_state::{self, HostPlace, HostState, Pending};
use crate::hosts::{self, Host, trace_id};
use crate::metadata;
use crate::plan::EventPlan;
use crate::prune;
use crate::rows::{RowBuilder, Rows};
use crate::store::Store;
use crate::summary::{self, Done, Summary};
use crate::tables::{MOST_DATES, NewFile, Tables};

/// How long a packet that is not complete may still be written to.
const SETTLED: Duration = Duration::from_secs(600);

/// The most hosts that become one version of the log, and how long the first of them waits for that.
const MOST_TOGETHER: usize = 64;
const MOST_WAIT: Duration = Duration::from_secs(10);

/// What all hosts have in common.
struct Context<'o> {
    options: &'o ExportOptions,
    store: &'o Store,
    selection: Arc<Selection>,
    /// The threads for each host.
    threads: usize,
    /// What ended before is not exported: retention has removed it.
    horizon: i64,
    /// Whether the table of incidents has no file yet.
    is_first: AtomicBool,
    /// Whether the tables have a log.
    is_logged: bool,
    /// Hosts whose files are in their places, but not in the log yet.
    unlogged: Mutex<Vec<(HostPlace<'o>, Pending, Instant)>>,
}

/// Exports what is new of all hosts that are found.
pub fn run(options: &ExportOptions) -> Result<Summary, String> {
    let store = options.output.as_deref().map(Store::open).transpose()?;
    let Catalogs { catalogs, ignored } = catalogs::read(&options.catalog, &options.traces)?;
    ignored.iter().for_each(|reason| {
        tell(&format!("warning: a catalog in the folder of the trace is ignored: {reason}"));
    });
    let duration = options.duration.clone().map(|field| (field, options.unit));
    let selection = Selection { dictionary: Dictionary { catalogs, duration }, ..Selection::default() };
    let traces = hosts::with_archives(&options.traces);
    let (events, samples) = source::discover(&traces).map_err(|error| error.to_string())?;
    let (hosts, damage) = hosts::hosts(events, samples, options.host.as_deref());
    if let (true, Some(first)) = (hosts.is_empty(), damage.first()) {
        return Err(format!("nothing can be read: {first}"));
    }
    let Some(store) = &store else { return summary::list(&hosts, &damage) };
    store.create()?;
    if options.delta {
        delta::create(store)?;
    }
    let mut apart = Vec::new();
    for host in hosts {
        apart.extend(keep_apart(store, host)?);
    }
    let hosts = apart;
    let threads =
        options.threads.map_or_else(|| thread::available_parallelism().map_or(1, usize::from), usize::from);
    let workers = threads.min(hosts.len()).max(1);
    let context = Context {
        options,
        store,
        selection: Arc::new(selection),
        threads: threads / workers,
        horizon: prune::horizon(store)?,
        is_first: AtomicBool::new(store.names("incidents")?.iter().all(|name| !name.starts_with("date="))),
        is_logged: delta::has_logs(store)?,
        unlogged: Mutex::default(),
    };
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while store.trouble().is_none()
                    && let Some(host) = hosts.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let result = export(host, &context);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((host.name.clone(), result));
                }
            });
        }
    });
    context.log(true)?;
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(trouble) = store.trouble() {
        return Err(format!("{trouble}; run it again: it goes on where this one ended"));
    }
    let output = options.output.as_deref().unwrap_or(Path::new(""));
    Ok(summary::sum_up(&output.display().to_string(), &damage, done))
}

impl<'o> Context<'o> {
    /// Makes files that are in their places part of the tables.
    fn take_over(&self, mut place: HostPlace<'o>, pending: Pending) -> Result<(), String> {
        if !self.is_logged {
            return place.complete(pending);
        }
        let mut unlogged = self.unlogged.lock().unwrap_or_else(PoisonError::into_inner);
        unlogged.push((place, pending, Instant::now()));
        drop(unlogged);
        self.log(false)
    }

    /// Writes a version of the log if there is enough for one, or if this is the end.
    fn log(&self, is_end: bool) -> Result<(), String> {
        let mut unlogged = self.unlogged.lock().unwrap_or_else(PoisonError::into_inner);
        let waits = unlogged.first().is_some_and(|(.., since)| since.elapsed() > MOST_WAIT);
        if unlogged.is_empty() || !(is_end || waits || unlogged.len() >= MOST_TOGETHER) {
            return Ok(());
        }
        unlogged.iter().try_for_each(|(place, ..)| place.check())?;
        let files: Vec<NewFile> = unlogged.iter().flat_map(|(_, pending, _)| pending.files.clone()).collect();
        delta::add(self.store, &files)?;
        unlogged.drain(..).try_for_each(|(mut place, pending, _)| place.complete(pending))
    }
}

/// Gives machines of one name different ones, and says so.
fn keep_apart(store: &Store, host: Host) -> Result<Vec<Host>, String> {
    let boots = host.boots();
    let plain = host_state::peek(store, &host.name)?;
    let is_known = |boot: &String| plain.as_ref().is_none_or(|state| state.boots.contains_key(boot));
    if boots.len() <= 1 && boots.keys().all(is_known) {
        return Ok(vec![host]);
    }
    let namesakes = host_state::namesakes(store, &host.name)?;
    let name = host.name.clone();
    let hosts = host.apart(&namesakes);
    for host in hosts.iter().filter(|host| host.name != name) {
        tell(&format!(
            "warning: several machines are called {name}, by their boot IDs: one of them is {}; name it with --host",
            host.name
        ));
    }
    Ok(hosts)
}

/// Which packets are exported now.
struct New {
    packets: u64,
    /// Packets that are still being written.
    waiting: u64,
    /// Traces that are not what was exported from them, and why.
    refused: Vec<String>,
}

/// Chooses the packets to export: those that are complete and not in the tables.
fn choose(reader: &mut Reader, traces: &[Trace], state: &HostState, horizon: i64) -> New {
    let mut new = New { packets: 0, waiting: 0, refused: Vec::new() };
    let coverages: Vec<_> = traces.iter().map(|trace| state.traces.get(&trace_id(trace))).collect();
    let known = |packet: &PacketInfo<'_>| match coverages[packet.trace]?.look_up(packet) {
        Verdict::Known(run) => Some(run),
        Verdict::New => None,
    };
    let mut found: Vec<Vec<(usize, PacketInfo<'_>)>> = vec![Vec::new(); traces.len()];
    for packet in reader.packets() {
        found[packet.trace].extend(known(&packet).map(|run| (run, packet)));
    }
    let mut refused = BTreeSet::new();
    for (number, found) in found.into_iter().enumerate() {
        let reason = coverages[number].and_then(|coverage| coverage.misfit(found.into_iter()));
        if let Some(reason) = reason {
            new.refused.push(reason);
            refused.insert(number);
        }
    }
    let mut settled: BTreeMap<std::path::PathBuf, bool> = BTreeMap::new();
    let mut is_settled = |file: &Path| {
        *settled.entry(file.to_owned()).or_insert_with(|| {
            let changed = file.metadata().and_then(|file| file.modified());
            changed.is_ok_and(|time| SystemTime::now().duration_since(time).is_ok_and(|ago| ago > SETTLED))
                || changed_never(file)
        })
    };
    reader.skip_packets(|packet| {
        let is_old = packet.end.or(packet.begin).is_some_and(|end| end < horizon);
        let is_skipped = is_old || refused.contains(&packet.trace) || known(packet).is_some();
        let waits = !is_skipped && !packet.is_complete && !is_settled(packet.file);
        new.waiting += u64::from(waits);
        new.packets += u64::from(!is_skipped && !waits);
        is_skipped || waits
    });
    new
}

/// Whether a file is a part of an archive, which nobody writes to.
fn changed_never(file: &Path) -> bool {
    !file.exists()
}

/// Exports what is new of a host.
fn export(host: &Host, context: &Context<'_>) -> Result<Done, String> {
    // Another run may hold this host until it gets one whose files wait for a version here.
    let place = HostPlace::open(context.store, &host.name, &mut || context.log(true))?;
    let [events, samples] =
        [&host.traces, &host.samples].map(|traces| Discovery { traces: traces.clone(), damage: Vec::new() });
    let recording = Recording::open(events, samples).map_err(|error| error.to_string())?;
    let mut recording = recording.threads(context.threads);
    let traces = recording.events.traces();
    let new = choose(&mut recording.events, &traces, &place.state, context.horizon);
    let ids: BTreeSet<String> = traces.iter().map(trace_id).collect();
    let mut done = Done { refused: new.refused, waiting: new.waiting, ..Done::default() };
    if new.packets == 0 {
        let known = ids.iter().filter_map(|id| place.state.traces.get(id));
        done.damaged_before = known.map(|known| known.damaged).sum();
        return Ok(done);
    }
    let mut state = place.state.clone();
    host.boots().iter().for_each(|(boot, span)| hosts::extend(&mut state.boots, boot, *span));
    let mut packets: Vec<Vec<PacketInfo<'_>>> = vec![Vec::new(); traces.len()];
    recording.events.packets().for_each(|packet| packets[packet.trace].push(packet));
    for (trace, packets) in traces.iter().zip(packets) {
        state.traces.entry(trace_id(trace)).or_default().add(packets.into_iter());
    }
    let key = key(&[&host.name, &format!("{:?} {}", state.traces, place.state.exports)]);
    let staging = context.store.staging(&key)?;
    let result = write(host, &recording, context, &key, &mut done).map(|(files, report)| {
        for (number, trace) in report.traces.iter().enumerate() {
            let is_of = |path: &Path| trace.folders.iter().any(|folder| path.starts_with(folder));
            let damaged = report.damage.iter().filter(|damage| is_of(&damage.path)).count() as u64;
            if let Some(trace) = traces.get(number).and_then(|trace| state.traces.get_mut(&trace_id(trace))) {
                trace.damaged += damaged;
            }
        }
        (state, files)
    });
    let (state, files) = result.inspect_err(|_| _ = std::fs::remove_dir_all(&staging))?;
    let pending = place.add(&key, state, files)?;
    context.take_over(place, pending)?;
    Ok(done)
}

/// Reads a host's traces, and writes its files.
fn write(
    host: &Host,
    recording: &Recording,
    context: &Context<'_>,
    key: &str,
    done: &mut Done,
) -> Result<(Vec<NewFile>, Report), String> {
    let reader = &recording.events;
    let dictionary = &context.selection.dictionary;
    let mut watch = IncidentWatch::new(
        &context.selection,
        context.options.longer_than_ns,
        reader.gaps(Window::default()),
    );
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
    let groups_layout = groups::layout().map_err(|error| error.to_string())?;
    // Losses are known before the first event is read; damage is not.
    let before = reader.in_order(Window::default(), |_| None).report();
    let before = metadata::of_export(host, reader, dictionary, &before);
    let staging = context.store.staging(key)?;
    let tables = Tables::new((&host.name, key), staging, &plan, before);
    let mut tables = tables.map_err(|error| unwritable(&error))?;
    let is_given_up = &AtomicBool::new(false);
    let report = thread::scope(|scope| {
        let encoders = context.threads.saturating_sub(2).max(1);
        let (tasks, waiting) = sync_channel::<Task>(encoders);
        let (encoded, in_order) = sync_channel::<Receiver<ParquetResult<EncodedRows>>>(2 * encoders);
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..encoders {
            let (waiting, plan, groups_layout) = (Arc::clone(&waiting), &plan, &groups_layout);
            scope.spawn(move || {
                loop {
                    let task = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok(Task { rows, reply }) = task else { break };
                    // Nobody waits for it if writing has failed.
                    _ = reply.send(encode(rows, plan, groups_layout));
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
    let metadata = metadata::of_export(host, reader, dictionary, &report);
    let is_first = context.is_first.swap(false, Ordering::Relaxed);
    let written = tables.incidents(&found.incidents, is_first, &metadata);
    let files = written.and_then(|()| tables.finish(&metadata)).map_err(|error| unwritable(&error))?;
    done.events = report.events;
    done.incidents = found.incidents.len() as u64;
    done.bytes = files.iter().map(|file| file.bytes).sum();
    done.damage = report.damage.iter().map(ToString::to_string).collect();
    done.lost = report.discarded_events;
    done.is_exported = true;
    Ok((files, report))
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
    if let Some(watcher) = &watcher {
        events = events.with_digester(watcher.watch.digester());
    }
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
    watch: &'w mut IncidentWatch,
    samples: Option<SampleReader<'w>>,
}

impl<'w> Watcher<'w> {
    fn new(watch: &'w mut IncidentWatch, samples: Option<&'w Reader>) -> Watcher<'w> {
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
    fn follow(mut self, reader: &Reader, mut wanted: Vec<Option<Wanted>>, is_given_up: &AtomicBool) {
        let events = reader.in_order(Window::default(), |class| wanted[class.index].take());
        let mut events = events.with_digester(self.watch.digester());
        while !is_given_up.load(Ordering::Relaxed)
            && let Step::Event(event) = events.next_event()
        {
            self.event(&event);
        }
        self.watch.finish();
    }
}
