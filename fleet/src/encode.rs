//! Rows become the bytes of a row group, on any thread.

use hashbrown::HashMap;
use parquet::data_type::ByteArray;
use parquet::errors::Result;

use crate::column::{Layout, NULL, Values};
use crate::groups::{self, Cells, cells};
use crate::interner::NONE;
use crate::plan::{CLIENT, CPU, ClassPlan, EventPlan, GROUP, KeyPlan, PID, PROCESS, TID};
use crate::row_group::{RowGroup, row_group};
use crate::rows::{IMPLAUSIBLE, Rows};

/// The most buckets of histograms that are kept before they are written.
pub const MOST_CELLS: usize = 1 << 15;

/// Rows of events, encoded, and their histograms.
pub struct EncodedRows {
    pub date: i64,
    pub group: RowGroup,
    pub cells: Cells,
    /// Histograms that are too many to be kept and added to others.
    pub groups: Option<RowGroup>,
}

/// Encodes rows of events.
pub fn encode(mut rows: Rows, plan: &EventPlan, groups_layout: &Layout) -> Result<EncodedRows> {
    sort(&mut rows);
    let group = key_column(&rows, plan, GROUP, |class| &class.group);
    let client = key_column(&rows, plan, CLIENT, |class| &class.client);
    let mut cells = cells(&rows, plan, &group);
    let groups =
        (cells.len() > MOST_CELLS).then(|| groups::encode(groups_layout, std::mem::take(&mut cells)));
    let groups = groups.transpose()?;
    let of_class = |text: fn(&ClassPlan) -> Option<&ByteArray>| class_column(&rows, plan, text);
    let (session, provider, event) = (
        of_class(|class| class.session.as_ref()),
        of_class(|class| Some(&class.provider)),
        of_class(|class| Some(&class.event)),
    );
    let micros = Values::Integer(rows.times.iter().map(|time| time.div_euclid(1000)).collect());
    let is_implausible =
        Values::Bool(rows.durations.iter().map(|&duration| Some(duration == IMPLAUSIBLE)).collect());
    let is_repeat = rows
        .classes
        .iter()
        .map(|&class| Some(plan.classes[class as usize].as_ref().is_some_and(|class| class.is_repeat)));
    let is_repeat = Values::Bool(is_repeat.collect());
    let durations =
        rows.durations.iter().map(|&duration| if duration == IMPLAUSIBLE { NULL } else { duration });
    let durations = Values::Integer(durations.collect());
    let times = Values::Integer(std::mem::take(&mut rows.times));
    let Rows { columns, texts, .. } = &rows;
    let filled = |place: usize| (&columns[place], &*texts[place]);
    let fixed = [
        (&micros, &[][..]),
        (&times, &[]),
        (&session.0, &session.1),
        filled(PROCESS),
        filled(PID),
        filled(TID),
        filled(CPU),
        (&provider.0, &provider.1),
        (&event.0, &event.1),
        (&group.0, &group.1),
        (&client.0, &client.1),
        (&durations, &[]),
        (&is_implausible, &[]),
        (&is_repeat, &[]),
    ];
    let fields = (CLIENT + 1..columns.len()).map(filled);
    let columns: Vec<_> = fixed.into_iter().chain(fields).collect();
    let group = row_group(&plan.layout, &columns, rows.classes.len(), &rows.other)?;
    Ok(EncodedRows { date: rows.date, group, cells, groups })
}

/// Puts rows in the order of time, where a clock was set back.
fn sort(rows: &mut Rows) {
    if rows.times.is_sorted() {
        return;
    }
    let mut order: Vec<usize> = (0..rows.times.len()).collect();
    order.sort_by_key(|&row| rows.times[row]);
    let mut places = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, &row)| places[row] = place);
    rows.times.sort();
    rows.classes = order.iter().map(|&row| rows.classes[row]).collect();
    rows.durations = order.iter().map(|&row| rows.durations[row]).collect();
    for column in &mut rows.columns {
        column.pad(order.len());
        column.reorder(&order);
    }
    rows.other.iter_mut().for_each(|(row, ..)| *row = places[*row]);
    rows.other.sort_by_key(|(row, ..)| *row);
}

/// A column of texts that are the same for all events of a class.
fn class_column(
    rows: &Rows,
    plan: &EventPlan,
    text: fn(&ClassPlan) -> Option<&ByteArray>,
) -> (Values, Vec<ByteArray>) {
    let mut texts = Renumbered::default();
    let mut numbers: Vec<Option<u32>> = vec![None; plan.classes.len()];
    let number = |&class: &u32| {
        let class = class as usize;
        *numbers[class].get_or_insert_with(|| {
            plan.classes[class].as_ref().and_then(text).map_or(NONE, |text| texts.number(text))
        })
    };
    (Values::Text(rows.classes.iter().map(number).collect()), texts.list)
}

/// The column of groups or clients: for some classes a field's, for others that of what has no column.
fn key_column(
    rows: &Rows,
    plan: &EventPlan,
    own: usize,
    key: fn(&ClassPlan) -> &KeyPlan,
) -> (Values, Vec<ByteArray>) {
    let mut texts = Renumbered::default();
    // The numbers that the texts of each column have here, once they occur.
    let mut numbers: Vec<Vec<u32>> = vec![Vec::new(); rows.columns.len()];
    let sources: Vec<Option<(&[u32], usize)>> = plan
        .classes
        .iter()
        .map(|class| {
            let column = match key(class.as_ref()?) {
                KeyPlan::None => return None,
                KeyPlan::Column(column) => *column,
                KeyPlan::Fields(_) => own,
            };
            numbers[column].resize(rows.texts[column].len(), NONE);
            match &rows.columns[column] {
                Values::Text(numbers) => Some((&**numbers, column)),
                _ => None,
            }
        })
        .collect();
    let number = |(row, &class): (usize, &u32)| match sources[class as usize] {
        Some((source, column)) => match source.get(row) {
            None | Some(&NONE) => NONE,
            Some(&number) => {
                let known = &mut numbers[column][number as usize];
                if *known == NONE {
                    *known = texts.number(&rows.texts[column][number as usize]);
                }
                *known
            }
        },
        None => NONE,
    };
    (Values::Text(rows.classes.iter().enumerate().map(number).collect()), texts.list)
}

/// Texts of several columns, each once.
#[derive(Default)]
struct Renumbered<'t> {
    list: Vec<ByteArray>,
    numbers: HashMap<&'t [u8], u32>,
}

impl<'t> Renumbered<'t> {
    fn number(&mut self, text: &'t ByteArray) -> u32 {
        *self.numbers.entry(text.data()).or_insert_with(|| {
            self.list.push(text.clone());
            self.list.len() as u32 - 1
        })
    }
}
