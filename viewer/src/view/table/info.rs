//! `info` as text.

use super::grid::{Column, Grid};
use super::label::value;
use super::page::{Page, Style};
use crate::view::Screen;
use ltt_analysis::info::{Info, ProcessInfo, TraceInfo};
use ltt_analysis::text::amount::{counted, grouped};
use ltt_analysis::text::escape;

/// Adds what the traces contain.
pub fn add(info: &Info, screen: &Screen, page: &mut Page) {
    if let Some(end) = info.trace.end_ns {
        page.text(Style::Plain, format!("until {}", screen.date_and_time(end)));
    }
    let damage = counted(info.trace.damage.len() as u64, "damaged place");
    let discarded = counted(info.trace.discarded_events, "discarded event");
    let lost = counted(info.trace.lost_packets, "lost packet");
    page.text(Style::Plain, format!("{discarded}, {lost}, {damage}"));
    info.traces.iter().for_each(|trace| add_trace(trace, screen, page));
    if let Some(processes) = &info.processes {
        add_processes(processes, info.trace.has_several_hosts(), page);
    }
    let mut grid = Grid::new(vec![Column::number("COUNT"), Column::text("EVENT")]);
    for (name, count) in &info.events_by_name {
        grid.row(vec![grouped((*count).into()), escape::text(name)]);
    }
    if !info.events_by_name.is_empty() {
        page.blank();
        page.grid(grid);
    }
    if info.processes.is_none() {
        page.text(Style::Note, "too many processes to list");
    }
    if info.hidden_processes > 0 {
        page.text(Style::Note, format!("{} processes not shown (-n 0 shows all)", info.hidden_processes));
    }
}

fn add_trace(trace: &TraceInfo, screen: &Screen, page: &mut Page) {
    page.blank();
    trace.folders.iter().for_each(|folder| page.line(screen.bold(&escape::text(folder))));
    let host = trace.host.as_ref().map_or(String::new(), |host| format!("host {}, ", escape::text(host)));
    let tracer = trace.tracer.as_ref().map_or(String::new(), |tracer| format!(", {}", escape::text(tracer)));
    let (streams, packets) = (counted(trace.streams as u64, "stream"), counted(trace.packets, "packet"));
    page.text(Style::Plain, format!("  {host}{streams}, {packets}{tracer}"));
}

fn add_processes(processes: &[ProcessInfo], has_hosts: bool, page: &mut Page) {
    let is_known = |process: &&ProcessInfo| process.pid.is_some() || process.name.is_some();
    let known: Vec<&ProcessInfo> = processes.iter().filter(is_known).collect();
    if known.is_empty() {
        return;
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
    page.blank();
    page.grid(grid);
}
