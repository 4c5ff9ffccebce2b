//! The files of one export of a host, while they are written.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ltt_analysis::incidents::Incident;
use parquet::errors::{ParquetError, Result};
use serde::{Deserialize, Serialize};

use crate::column::Layout;
use crate::day::written_date;
use crate::encode::{EncodedRows, MOST_CELLS};
use crate::escape::escaped;
use crate::groups::{self, Cells};
use crate::incidents;
use crate::plan::EventPlan;
use crate::row_group::RowGroup;
use crate::table::TableFile;

/// The tables.
pub const TABLES: [&str; 3] = ["events", "groups", "incidents"];

/// The dates of one host whose files are open at a time; there are more only if a clock is set back and forth.
pub const MOST_DATES: usize = 4;

/// The most files of one export: more dates than that come from a broken clock.
const MOST_FILES: usize = 10_000;

/// A file that is complete, and the place where it belongs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewFile {
    pub table: String,
    pub date: String,
    pub host: String,
    number: usize,
    pub path: String,
    pub rows: u64,
    pub bytes: u64,
    /// The columns of fields, whose names say their types.
    pub fields: Vec<String>,
}

impl NewFile {
    /// One that holds the rows of others.
    pub fn compacted(
        table: &str,
        date: &str,
        host: &str,
        path: String,
        (rows, bytes): (u64, u64),
    ) -> NewFile {
        let [table, date, host] = [table, date, host].map(str::to_owned);
        NewFile { table, date, host, number: 0, path, rows, bytes, fields: Vec::new() }
    }

    /// What it is called until it is in its place.
    pub fn staged(&self) -> String {
        staged(&self.table, &self.date, self.number)
    }
}

fn staged(table: &str, date: &str, number: usize) -> String {
    format!("{table}-{date}-{number}")
}

/// The files of a host in the making.
pub struct Tables<'f> {
    host: &'f str,
    key: &'f str,
    staging: PathBuf,
    plan: &'f EventPlan,
    groups_layout: Layout,
    incidents_layout: Layout,
    /// The files that are open, and buckets that are not written yet, by date.
    open: BTreeMap<i64, Open>,
    /// Those that are complete.
    files: Vec<NewFile>,
    numbers: BTreeMap<i64, usize>,
    /// What is known of the export before its events are read.
    before: Vec<(String, String)>,
}

struct Open {
    events: TableFile,
    groups: TableFile,
    cells: Cells,
    number: usize,
}

impl<'f> Tables<'f> {
    pub fn new(
        (host, key): (&'f str, &'f str),
        staging: PathBuf,
        plan: &'f EventPlan,
        before: Vec<(String, String)>,
    ) -> Result<Tables<'f>> {
        Ok(Tables {
            host,
            key,
            staging,
            plan,
            groups_layout: groups::layout()?,
            incidents_layout: incidents::layout()?,
            open: BTreeMap::new(),
            files: Vec::new(),
            numbers: BTreeMap::new(),
            before,
        })
    }

    /// Adds rows of events.
    pub fn append(&mut self, rows: EncodedRows) -> Result<()> {
        let EncodedRows { date, group, cells, groups } = rows;
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
            let create = |table, layout| {
                TableFile::create(&self.staging.join(staged(table, &written_date(date), *number)), layout)
            };
            let opened = Open {
                events: create("events", &self.plan.layout)?,
                groups: create("groups", &self.groups_layout)?,
                cells: Cells::default(),
                number: *number,
            };
            *number += 1;
            self.open.insert(date, opened);
        }
        if let Some(open) = self.open.get_mut(&date) {
            open.events.append(group)?;
            groups.map_or(Ok(()), |groups| open.groups.append(groups))?;
            groups::merge(&mut open.cells, cells);
            if open.cells.len() > MOST_CELLS {
                open.groups.append(groups::encode(&self.groups_layout, std::mem::take(&mut open.cells))?)?;
            }
        }
        Ok(())
    }

    /// Adds incidents. Engines refuse a table without files: the first one may be empty.
    pub fn incidents(
        &mut self,
        found: &[Incident],
        is_first: bool,
        metadata: &[(String, String)],
    ) -> Result<()> {
        let mut dates: BTreeMap<i64, Option<RowGroup>> = incidents::encode(&self.incidents_layout, found)?
            .into_iter()
            .map(|(date, group)| (date, Some(group)))
            .collect();
        if dates.is_empty() && is_first {
            dates.extend(self.numbers.keys().next().map(|&date| (date, None)));
        }
        for (date, group) in dates {
            let path = self.staging.join(staged("incidents", &written_date(date), 0));
            let mut file = TableFile::create(&path, &self.incidents_layout)?;
            group.map_or(Ok(()), |group| file.append(group))?;
            self.complete("incidents", date, 0, file, metadata)?;
        }
        Ok(())
    }

    /// Writes the ends of all files.
    pub fn finish(mut self, metadata: &[(String, String)]) -> Result<Vec<NewFile>> {
        for (date, open) in std::mem::take(&mut self.open) {
            self.close(date, open, metadata)?;
        }
        Ok(self.files)
    }

    fn close(&mut self, date: i64, open: Open, metadata: &[(String, String)]) -> Result<()> {
        let Open { events, mut groups, cells, number } = open;
        if !cells.is_empty() {
            groups.append(groups::encode(&self.groups_layout, cells)?)?;
        }
        self.complete("events", date, number, events, metadata)?;
        self.complete("groups", date, number, groups, metadata)
    }

    fn complete(
        &mut self,
        table: &str,
        date: i64,
        number: usize,
        file: TableFile,
        metadata: &[(String, String)],
    ) -> Result<()> {
        let (date, host) = (written_date(date), self.host);
        let path = format!("{table}/date={date}/host={}/{}-{number}.parquet", escaped(host), self.key);
        let (rows, bytes) = file.finish(metadata)?;
        let fields = if table == "events" { self.plan.field_names.clone() } else { Vec::new() };
        let host = host.to_owned();
        self.files.push(NewFile { table: table.to_owned(), date, host, number, path, rows, bytes, fields });
        Ok(())
    }
}
