//! `info` as text.

use std::io::{self, Write};

use crate::analysis::info::{Info, Process};
use crate::view::amount::{counted, grouped};
use crate::view::table::{Column, Table};
use crate::view::{Screen, escape, notes};
use ctf_reader::{Report, Trace};

/// Writes what the traces hold.
pub fn info(info: &Info, limit: usize, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    notes::heading(&info.report, screen, out)?;
    if let Some(span) = &info.report.span {
        writeln!(out, "until {}", screen.date_and_time(*span.end()))?;
    }
    let Report { discarded_events, lost_packets, damage, .. } = &info.report;
    let damage = counted(damage.len() as u64, "damaged place");
    let (discarded, lost) =
        (counted(*discarded_events, "discarded event"), counted(*lost_packets, "lost packet"));
    let losses = screen.wrapped(&format!("{discarded}, {lost}, {damage}"));
    losses.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    info.report.traces.iter().try_for_each(|trace| write_trace(trace, screen, out))?;
    let mut hidden = Vec::new();
    match &info.processes {
        Some(processes) => hidden.extend(write_processes(processes, limit, screen, out)?),
        None => hidden.push("the processes are too many to tell apart".into()),
    }
    if !info.events_by_name.is_empty() {
        writeln!(out)?;
    }
    let mut table = Table::new(&[Column::number("COUNT"), Column::text("EVENT")]);
    for (name, count) in &info.events_by_name {
        table.row(vec![grouped((*count).into()), escape::text(name)]);
    }
    if !info.events_by_name.is_empty() {
        table.write(screen, out)?;
    }
    notes::footing(&hidden, screen, out)
}

fn write_trace(trace: &Trace, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    let known = |name: &str| {
        let found = trace.environment.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| escape::text(value))
    };
    writeln!(out)?;
    for folder in &trace.folders {
        writeln!(out, "{}", screen.bold(&escape::text(&folder.display().to_string())))?;
    }
    let host = known("hostname").map_or(String::new(), |host| format!("host {host}, "));
    let tracer = match (known("tracer_name"), known("tracer_major"), known("tracer_minor")) {
        (Some(name), Some(major), Some(minor)) => format!(", {name} {major}.{minor}"),
        _ => String::new(),
    };
    let (streams, packets) = (counted(trace.streams as u64, "stream"), counted(trace.packets, "packet"));
    let about = screen.wrapped(&format!("  {host}{streams}, {packets}{tracer}"));
    about.iter().try_for_each(|line| writeln!(out, "{line}"))
}

fn write_processes(
    processes: &[Process],
    limit: usize,
    screen: &Screen,
    out: &mut dyn Write,
) -> io::Result<Option<String>> {
    let is_known = |process: &&Process| process.pid.is_some() || process.name.is_some();
    let known: Vec<&Process> = processes.iter().filter(is_known).collect();
    if known.is_empty() {
        return Ok(None);
    }
    let mut table = Table::new(&[Column::number("COUNT"), Column::number("PID"), Column::text("PROCESS")]);
    for process in known.iter().take(limit) {
        let shown = |value: &Option<_>| value.as_ref().map_or("-".into(), escape::datum);
        table.row(vec![grouped(process.events.into()), shown(&process.pid), shown(&process.name)]);
    }
    writeln!(out)?;
    table.write(screen, out)?;
    let hidden = known.len().saturating_sub(limit) as u64;
    Ok((hidden > 0).then(|| format!("{hidden} processes not shown (-n 0 shows all)")))
}
