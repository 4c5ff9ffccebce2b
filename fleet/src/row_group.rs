//! Columns to a row group, encoded.

use parquet::column::writer::{ColumnWriterImpl, get_column_writer, get_typed_column_writer};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor};

use crate::chunk::{self, Encoded};
use crate::column::{Layout, Values};
use crate::rows::OtherValue;

/// A row group, encoded.
pub struct RowGroup {
    pub rows: usize,
    pub columns: Vec<Encoded>,
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
    use std::time::{SystemTime, UNIX_EPOCH};

    use lttng_testing::Random;
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use parquet::file::serialized_reader::ReadOptionsBuilder;
    use parquet::file::statistics::Statistics;
    use parquet::record::Field;

    use super::*;
    use crate::column::PAGE_ROWS;
    use crate::column::{Column, Kind};
    use crate::interner::Interner;
    use crate::table::TableFile;

    /// A column of random values, and what a reader must find: `nulls` of 8 have no value, and there are up to this many others.
    fn column(
        random: &mut Random,
        kind: Kind,
        rows: usize,
        nulls: u64,
        others: u64,
    ) -> ((Values, Vec<ByteArray>), Vec<Field>) {
        let mut interner = Interner::default();
        let (mut values, mut expected) = (Values::new(kind), Vec::new());
        let extremes = [i64::MIN + 1, i64::MAX, -1, 0];
        // The last rows have no value, and are not even there.
        let present = if nulls == 0 { rows } else { random.below(rows as u64 + 1) as usize };
        for row in 0..present {
            let is_null = random.below(8) < nulls;
            let number = random.below(others);
            expected.push(match &mut values {
                _ if is_null => {
                    values.pad(row + 1);
                    Field::Null
                }
                Values::Text(numbers) => {
                    let text = "ü".repeat((number % 50) as usize) + &number.to_string();
                    numbers.push(interner.text(text.as_bytes()));
                    Field::Str(text)
                }
                Values::Integer(numbers) => {
                    let number = extremes.get(number as usize).copied().unwrap_or(number as i64 * 1000);
                    numbers.push(number);
                    Field::Long(number)
                }
                Values::Float(numbers) => {
                    numbers.push(Some(number as f64 / 8.0));
                    Field::Double(number as f64 / 8.0)
                }
                Values::Bool(truths) => {
                    truths.push(Some(number % 2 == 1));
                    Field::Bool(number % 2 == 1)
                }
            });
        }
        expected.resize(rows, Field::Null);
        ((values, interner.take()), expected)
    }

    #[test]
    fn what_is_encoded_is_read_back_with_its_limits() {
        let seed = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_nanos() as u64;
        println!("seed {seed}");
        let mut random = Random::new(seed);
        let folder = tempfile::tempdir().expect("a temporary folder");
        for rows in [1, 7, 8, 100, 3000, 20_000] {
            let mut columns = Vec::new();
            let (mut values, mut expected) = (Vec::new(), Vec::new());
            for kind in [Kind::Text, Kind::Integer, Kind::Float, Kind::Bool] {
                for (nulls, others) in [(0, 1), (0, 300), (0, 1 << 40), (1, 5), (4, 1 << 40), (8, 1)] {
                    let name = format!("{kind:?}_{nulls}_{others}");
                    let is_required = nulls == 0 && kind != Kind::Float;
                    columns.push(Column { is_required, ..Column::new(name, kind) });
                    let (filled, read) = column(&mut random, kind, rows, nulls, others);
                    values.push(filled);
                    expected.push(read);
                }
            }
            let layout = Layout::new(columns, false).expect("a layout");
            let borrowed: Vec<_> = values.iter().map(|(values, texts)| (values, &**texts)).collect();
            let group = row_group(&layout, &borrowed, rows, &[]).expect("it is encoded");
            let path = folder.path().join("table");
            let mut table = TableFile::create(&path, &layout).expect("a file");
            table.append(group).expect("it is written");
            assert_eq!(table.finish(&[]).expect("it is written").0, rows as u64);
            let file = std::fs::File::open(path).expect("a file");
            let options = ReadOptionsBuilder::new().with_page_index().build();
            let reader =
                SerializedFileReader::new_with_options(file, options).expect("Parquet with a page index");
            let index = reader.metadata().page_index_for_row_group(0);
            for place in 0..values.len() {
                assert_eq!(index.num_data_pages(place), Some(rows.div_ceil(PAGE_ROWS)), "{rows} rows");
                assert!(index.column_index(place).is_some(), "column {place} of {rows} rows");
            }
            assert!(reader.metadata().row_group(0).sorting_columns().is_some());
            for (row, read) in reader.get_row_iter(None).expect("rows").enumerate() {
                for (place, (name, field)) in read.expect("a row").get_column_iter().enumerate() {
                    assert_eq!(*field, expected[place][row], "{name}, row {row} of {rows}");
                }
            }
            for (chunk, expected) in reader.metadata().row_group(0).columns().iter().zip(&expected) {
                let statistics = chunk.statistics().expect("it has statistics");
                let nulls = expected.iter().filter(|field| **field == Field::Null).count() as u64;
                assert_eq!(statistics.null_count_opt(), Some(nulls), "{}", chunk.column_path());
                if let Statistics::Int64(limits) = statistics {
                    let numbers = || {
                        expected.iter().filter_map(|field| {
                            if let Field::Long(number) = field { Some(number) } else { None }
                        })
                    };
                    assert_eq!((limits.min_opt(), limits.max_opt()), (numbers().min(), numbers().max()));
                }
            }
        }
    }

    #[test]
    fn a_map_repeats_for_the_second_entry_of_a_row() {
        let entry = |row| (row, ByteArray::from("a"), ByteArray::from("b"));
        let (definitions, repetitions) = map_levels(4, &[entry(1), entry(1), entry(3)]);
        assert_eq!(definitions, [0, 2, 2, 0, 2]);
        assert_eq!(repetitions, [0, 0, 1, 0, 0]);
    }
}
