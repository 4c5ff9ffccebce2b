//! `info` as text.

use std::io::{self, Write};

use super::grid::{Column, Grid};
use super::label::value;
use crate::analysis::info::{Info, ProcessInfo, TraceInfo};
use crate::text::amount::{counted, grouped};
use crate::text::escape;
use crate::view::Screen;

/// Writes what the traces contain, and returns the footnotes.
pub fn write(info: &Info, screen: &Screen, out: &mut dyn Write) -> io::Result<Vec<String>> {
    if let Some(end) = info.trace.end_ns {
        writeln!(out, "until {}", screen.date_and_time(end))?;
    }
    let damage = counted(info.trace.damage.len() as u64, "damaged place");
    let discarded = counted(info.trace.discarded_events, "discarded event");
    let lost = counted(info.trace.lost_packets, "lost packet");
    let losses = screen.wrapped(&format!("{discarded}, {lost}, {damage}"));
    losses.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    info.traces.iter().try_for_each(|trace| write_trace(trace, screen, out))?;
    let mut footnotes = Vec::new();
    match &info.processes {
        Some(processes) => write_processes(processes, info.trace.has_several_hosts(), screen, out)?,
        None => footnotes.push("too many processes to list".into()),
    }
    if info.hidden_processes > 0 {
        footnotes.push(format!("{} processes not shown (-n 0 shows all)", info.hidden_processes));
    }
    let mut grid = Grid::new(vec![Column::number("COUNT"), Column::text("EVENT")]);
    for (name, count) in &info.events_by_name {
        grid.row(vec![grouped((*count).into()), escape::text(name)]);
    }
    if !info.events_by_name.is_empty() {
        writeln!(out)?;
        grid.write(screen, out)?;
    }
    Ok(footnotes)
}

fn write_trace(trace: &TraceInfo, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    for folder in &trace.folders {
        writeln!(out, "{}", screen.bold(&escape::text(folder)))?;
    }
    let host = trace.host.as_ref().map_or(String::new(), |host| format!("host {}, ", escape::text(host)));
    let tracer = trace.tracer.as_ref().map_or(String::new(), |tracer| format!(", {}", escape::text(tracer)));
    let (streams, packets) = (counted(trace.streams as u64, "stream"), counted(trace.packets, "packet"));
    let about = screen.wrapped(&format!("  {host}{streams}, {packets}{tracer}"));
    about.iter().try_for_each(|line| writeln!(out, "{line}"))
}

fn write_processes(
    processes: &[ProcessInfo],
    has_hosts: bool,
    screen: &Screen,
    out: &mut dyn Write,
) -> io::Result<()> {
    let is_known = |process: &&ProcessInfo| process.pid.is_some() || process.name.is_some();
    let known: Vec<&ProcessInfo> = processes.iter().filter(is_known).collect();
    if known.is_empty() {
        return Ok(());
    }
    let host = has_hosts.then_some(Column::text("HOST"));
    let count = [Column::number("COUNT")].into_iter();
    let process = [Column::number("PID"), Column::text("PROCESS")];
    let mut grid = Grid::new(count.chain(host).chain(process).collect());
    for process in known {
        let host = has_hosts.then(|| process.host.as_deref().map_or("-".into(), escape::text));
        let count = [grouped(process.events.into())].into_iter();
        grid.row(count.chain(host).chain([value(&process.pid), value(&process.name)]).collect());
    }
    writeln!(out)?;
    grid.write(screen, out)
}
