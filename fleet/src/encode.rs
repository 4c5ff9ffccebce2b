//! Rows become the bytes of a row group, on any thread.

use hashbrown::HashMap;
use parquet::column::writer::{ColumnWriterImpl, get_column_writer, get_typed_column_writer};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor};

use crate::chunk::{self, Encoded};
use crate::column::{Layout, NULL, Values};
use crate::groups::{Cells, cells};
use crate::interner::NONE;
use crate::plan::{CLIENT, CPU, ClassPlan, EventPlan, GROUP, KeyPlan, PID, PROCESS, TID};
use crate::rows::{IMPLAUSIBLE, OtherValue, Rows};

/// A row group, encoded.
pub struct RowGroup {
    pub rows: usize,
    pub columns: Vec<Encoded>,
}

/// Rows of events, encoded, and their histograms.
pub struct EncodedRows {
    pub date: i64,
    pub group: RowGroup,
    pub cells: Cells,
}

/// Encodes rows of events.
pub fn encode(mut rows: Rows, plan: &EventPlan) -> Result<EncodedRows> {
    sort(&mut rows);
    let group = key_column(&rows, plan, GROUP, |class| &class.group);
    let client = key_column(&rows, plan, CLIENT, |class| &class.client);
    let cells = cells(&rows, plan, &group);
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
    Ok(EncodedRows { date: rows.date, group, cells })
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
                KeyPlan::Slots(_) => own,
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

/// Encodes the columns of a table.
pub fn row_group(
    layout: &Layout,
    columns: &[(&Values, &[ByteArray])],
    rows: usize,
    other: &[OtherValue],
) -> Result<RowGroup> {
    let schema = SchemaDescriptor::new(layout.schema.clone());
    let mut encoded = Vec::with_capacity(columns.len() + 2);
    for (place, (values, texts)) in columns.iter().enumerate() {
        let target = Target { layout, column: schema.column(place) };
        let is_growing = !layout.properties.dictionary_enabled(target.column.path());
        encoded.push(match values {
            Values::Text(numbers) => chunk::texts(target.column, rows, numbers, texts)?,
            Values::Integer(values) if is_growing => {
                target.fill::<Int64Type>(|writer| writer.write_batch(values, None, None).map(|_| ()))?
            }
            Values::Integer(values) => chunk::integers(target.column, rows, values)?,
            Values::Float(values) => target.floats(rows, values)?,
            Values::Bool(truths) => chunk::truths(target.column, rows, truths)?,
        });
    }
    if layout.has_other {
        let (definitions, repetitions) = map_levels(rows, other);
        let parts: [fn(&OtherValue) -> ByteArray; 2] =
            [|(_, name, _)| name.clone(), |(.., value)| value.clone()];
        for part in parts {
            let target = Target { layout, column: schema.column(encoded.len()) };
            let values: Vec<ByteArray> = other.iter().map(part).collect();
            encoded.push(target.fill::<ByteArrayType>(|writer| {
                writer.write_batch(&values, Some(&definitions), Some(&repetitions)).map(|_| ())
            })?);
        }
    }
    Ok(RowGroup { rows, columns: encoded })
}

/// The levels of a map: 0 for a row without entries, 2 for an entry; the second and further ones of a row repeat.
fn map_levels(rows: usize, other: &[OtherValue]) -> (Vec<i16>, Vec<i16>) {
    let (mut definitions, mut repetitions) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    let mut entries = other.iter().peekable();
    for row in 0..rows {
        let mut count = 0;
        while entries.next_if(|(of, ..)| *of == row).is_some() {
            definitions.push(2);
            repetitions.push(i16::from(count > 0));
            count += 1;
        }
        if count == 0 {
            definitions.push(0);
            repetitions.push(0);
        }
    }
    (definitions, repetitions)
}

/// A column that is being encoded.
struct Target<'l> {
    layout: &'l Layout,
    column: ColumnDescPtr,
}

impl Target<'_> {
    /// Rows at the end that are missing have no value.
    fn floats(self, rows: usize, values: &[Option<f64>]) -> Result<Encoded> {
        let mut levels: Vec<i16> = values.iter().map(|value| value.is_some().into()).collect();
        levels.resize(rows, 0);
        let present: Vec<f64> = values.iter().copied().flatten().collect();
        self.fill::<DoubleType>(|writer| writer.write_batch(&present, Some(&levels), None).map(|_| ()))
    }

    fn fill<T: DataType>(
        self,
        fill: impl FnOnce(&mut ColumnWriterImpl<'_, T>) -> Result<()>,
    ) -> Result<Encoded> {
        let mut sink = TrackedWrite::new(Vec::new());
        let pages = Box::new(SerializedPageWriter::new(&mut sink));
        let mut writer = get_typed_column_writer::<T>(get_column_writer(
            self.column,
            self.layout.properties.clone(),
            pages,
        ));
        fill(&mut writer)?;
        let closed = writer.close()?;
        Ok((sink.into_inner()?.into(), closed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_repeats_for_the_second_entry_of_a_row() {
        let entry = |row| (row, ByteArray::from("a"), ByteArray::from("b"));
        let (definitions, repetitions) = map_levels(4, &[entry(1), entry(1), entry(3)]);
        assert_eq!(definitions, [0, 2, 2, 0, 2]);
        assert_eq!(repetitions, [0, 0, 1, 0, 0]);
    }
}
