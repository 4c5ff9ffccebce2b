//! Rows become the bytes of a row group, on any thread.

use bytes::Bytes;
use hashbrown::HashMap;
use parquet::column::writer::{
    ColumnCloseResult, ColumnWriterImpl, get_column_writer, get_typed_column_writer,
};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor};

use crate::column::{Layout, NULL, Values};
use crate::groups::{Cells, cells};
use crate::interner::NONE;
use crate::plan::{CLIENT, CPU, ClassPlan, EventPlan, GROUP, KeyPlan, PID, PROCESS, TID};
use crate::rows::{IMPLAUSIBLE, OtherValue, Rows};

/// Values that are handed to Parquet at a time.
const CHUNK: usize = 8192;

/// A row group, encoded.
pub struct RowGroup {
    pub rows: usize,
    pub columns: Vec<(Bytes, ColumnCloseResult)>,
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
    rows.columns.iter_mut().for_each(|column| column.reorder(&order));
    rows.other.iter_mut().for_each(|(row, ..)| *row = places[*row]);
    rows.other.sort_by_key(|(row, ..)| *row);
}

/// A column of texts that are the same for all events of a class.
fn class_column(
    rows: &Rows,
    plan: &EventPlan,
    text: fn(&ClassPlan) -> Option<&ByteArray>,
) -> (Values, Vec<ByteArray>) {
    let mut texts: Vec<ByteArray> = Vec::new();
    let number = |class: &Option<ClassPlan>| match class.as_ref().and_then(text) {
        None => NONE,
        Some(text) => {
            texts.push(text.clone());
            texts.len() as u32 - 1
        }
    };
    let numbers: Vec<u32> = plan.classes.iter().map(number).collect();
    (Values::Text(rows.classes.iter().map(|&class| numbers[class as usize]).collect()), texts)
}

/// The column of groups or clients: for some classes a field's, for others that of what has no column.
fn key_column(
    rows: &Rows,
    plan: &EventPlan,
    own: usize,
    key: fn(&ClassPlan) -> &KeyPlan,
) -> (Values, Vec<ByteArray>) {
    let mut texts: Vec<ByteArray> = Vec::new();
    // Where the texts of a column begin.
    let mut offsets: HashMap<usize, u32> = HashMap::new();
    let sources: Vec<Option<(&Vec<u32>, u32)>> = plan
        .classes
        .iter()
        .map(|class| {
            let column = match key(class.as_ref()?) {
                KeyPlan::None => return None,
                KeyPlan::Column(column) => *column,
                KeyPlan::Slots(_) => own,
            };
            let offset = *offsets.entry(column).or_insert_with(|| {
                let offset = texts.len() as u32;
                texts.extend_from_slice(&rows.texts[column]);
                offset
            });
            match &rows.columns[column] {
                Values::Text(numbers) => Some((numbers, offset)),
                _ => None,
            }
        })
        .collect();
    let number = |(row, &class): (usize, &u32)| match sources[class as usize] {
        Some((numbers, offset)) if numbers[row] != NONE => numbers[row] + offset,
        _ => NONE,
    };
    (Values::Text(rows.classes.iter().enumerate().map(number).collect()), texts)
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
        encoded.push(match values {
            Values::Text(numbers) => target.write::<ByteArrayType, _>(numbers, |&number| {
                (number != NONE).then(|| texts[number as usize].clone())
            })?,
            Values::Integer(numbers) => {
                target.write::<Int64Type, _>(numbers, |&number| (number != NULL).then_some(number))?
            }
            Values::Float(numbers) => target.write::<DoubleType, _>(numbers, |&number| number)?,
            Values::Bool(truths) => target.write::<BoolType, _>(truths, |&truth| truth)?,
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
    /// Writes values in chunks, so that what Parquet needs of them is not in memory twice.
    fn write<T: DataType, V>(
        self,
        values: &[V],
        value: impl Fn(&V) -> Option<T::T>,
    ) -> Result<(Bytes, ColumnCloseResult)> {
        let is_required = self.column.max_def_level() == 0;
        self.fill::<T>(|writer| {
            let (mut levels, mut present) = (Vec::with_capacity(CHUNK), Vec::with_capacity(CHUNK));
            for chunk in values.chunks(CHUNK) {
                levels.clear();
                present.clear();
                for one in chunk {
                    let value = value(one);
                    levels.push(i16::from(value.is_some()));
                    present.extend(value);
                }
                let levels = (!is_required).then_some(&*levels);
                writer.write_batch(&present, levels, None)?;
            }
            Ok(())
        })
    }

    fn fill<T: DataType>(
        self,
        fill: impl FnOnce(&mut ColumnWriterImpl<'_, T>) -> Result<()>,
    ) -> Result<(Bytes, ColumnCloseResult)> {
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
