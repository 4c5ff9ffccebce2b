//! A column's part of a row group, written from numbers that stand for its values.
//!
//! Parquet's own writer would hash each value to find its number, and copy texts to compare them. Here texts have been numbered as
//! they were read, and only those that differ are compared for the statistics.

use bytes::Bytes;
use hashbrown::HashMap;
use parquet::basic::{Compression, Encoding, PageType};
use parquet::column::page::{CompressedPage, Page, PageWriter as _};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{
    ColumnChunkMetaData, ColumnIndexBuilder, OffsetIndexBuilder, PageEncodingStats,
};
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use crate::column::{NULL, PAGE_ROWS};
use crate::hybrid;
use crate::interner::NONE;

/// Longer texts are cut in statistics.
const LONGEST_LIMIT: usize = 64;

/// A column, encoded, and what is known of it.
pub type Encoded = (Bytes, ColumnCloseResult);

/// Texts by their numbers, of which each occurs; [`NONE`] is none, and so are rows at the end that are missing.
pub fn texts(column: ColumnDescPtr, rows: usize, numbers: &[u32], texts: &[ByteArray]) -> Result<Encoded> {
    let mut order: Vec<u32> = (0..texts.len() as u32).collect();
    order.sort_unstable_by(|&one, &other| texts[one as usize].data().cmp(texts[other as usize].data()));
    let mut ranks = vec![0; texts.len()];
    order.iter().enumerate().for_each(|(rank, &number)| ranks[number as usize] = rank);
    let text = |rank: usize| texts[order[rank] as usize].data();
    let plain = |numbers: &mut dyn Iterator<Item = usize>| {
        let mut bytes = Vec::new();
        for number in numbers {
            let text = texts[number].data();
            bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
            bytes.extend_from_slice(text);
        }
        bytes
    };
    let (least, most) = (order.first().map(|_| text(0)), order.last().map(|_| text(order.len() - 1)));
    let present = present(numbers);
    let nulls = Some((rows - present) as u64);
    let limits = ValueStatistics::new(least.map(lower), most.map(upper), None, nulls, false);
    let is_cut = |text: Option<&[u8]>| text.is_some_and(|text| text.len() > LONGEST_LIMIT);
    let limits = limits.with_min_is_exact(!is_cut(least)).with_max_is_exact(!is_cut(most));
    let limits_of = |numbers: &[u32]| {
        let (low, high) = limits_by(numbers, &ranks)?;
        Some((lower(text(low)).data().to_vec(), upper(text(high)).data().to_vec()))
    };
    let numbers = Numbers { rows, numbers, present, entries: texts.len() };
    numbers.write(column, plain, limits_of, Statistics::ByteArray(limits))
}

/// Integers; [`NULL`] is none, and so are rows at the end that are missing.
pub fn integers(column: ColumnDescPtr, rows: usize, values: &[i64]) -> Result<Encoded> {
    let mut known: HashMap<i64, u32> = HashMap::from([(NULL, NONE)]);
    let mut distinct: Vec<i64> = Vec::new();
    let mut last = (NULL, NONE);
    let number = |&value: &i64| {
        if value != last.0 {
            let number = *known.entry(value).or_insert_with(|| {
                distinct.push(value);
                distinct.len() as u32 - 1
            });
            last = (value, number);
        }
        last.1
    };
    let numbers: Vec<u32> = values.iter().map(number).collect();
    let plain = |numbers: &mut dyn Iterator<Item = usize>| {
        numbers.flat_map(|number| distinct[number].to_le_bytes()).collect()
    };
    let (least, most) = (distinct.iter().min().copied(), distinct.iter().max().copied());
    let present = present(&numbers);
    let statistics = Statistics::int64(least, most, None, Some((rows - present) as u64), false);
    let limits_of = |numbers: &[u32]| {
        let (low, high) = limits_by(numbers, &distinct)?;
        Some((low.to_le_bytes().to_vec(), high.to_le_bytes().to_vec()))
    };
    let numbers = Numbers { rows, numbers: &numbers, present, entries: distinct.len() };
    numbers.write(column, plain, limits_of, statistics)
}

/// Truths; rows at the end that are missing have none.
pub fn truths(column: ColumnDescPtr, rows: usize, values: &[Option<bool>]) -> Result<Encoded> {
    let has = |values: &[Option<bool>], truth: bool| values.contains(&Some(truth));
    let limits = |values: &[Option<bool>]| {
        (has(values, true) || has(values, false)).then(|| (!has(values, false), has(values, true)))
    };
    let nulls = rows - values.iter().flatten().count();
    let (least, most) = limits(values).unzip();
    let statistics = Statistics::boolean(least, most, None, Some(nulls as u64), false);
    let encode = |values: &[Option<bool>], _, body: &mut Vec<u8>| {
        let present: Vec<bool> = values.iter().copied().flatten().collect();
        let bits = |eight: &[bool]| eight.iter().rev().fold(0, |bits, &truth| bits << 1 | u8::from(truth));
        body.extend(present.chunks(8).map(bits));
    };
    let limits_of =
        |values: &[Option<bool>]| limits(values).map(|(low, high)| (vec![low.into()], vec![high.into()]));
    let pages = Pages { rows, values, encoding: Encoding::PLAIN, statistics };
    pages.write(column, None, Option::is_some, encode, limits_of)
}

/// The number of rows that have a value.
fn present(numbers: &[u32]) -> usize {
    numbers.iter().filter(|&&number| number != NONE).count()
}

/// The least and the greatest value that the numbers of a page stand for.
fn limits_by<V: Ord + Copy>(numbers: &[u32], values: &[V]) -> Option<(V, V)> {
    // Most columns have few values: a bit for each, and the last one for none, takes half the time.
    if values.len() < 64 {
        const { assert!(NONE % 64 == 63) };
        let seen = numbers.iter().fold(0_u64, |seen, number| seen | 1 << (number % 64));
        let mut seen = values.iter().enumerate().filter(|(number, _)| seen >> number & 1 > 0);
        let (_, &first) = seen.next()?;
        return Some(seen.fold((first, first), |(low, high), (_, &value)| (low.min(value), high.max(value))));
    }
    let mut seen = numbers.iter().filter(|&&number| number != NONE).map(|&number| values[number as usize]);
    let first = seen.next()?;
    Some(seen.fold((first, first), |(low, high), value| (low.min(value), high.max(value))))
}

/// Rows that are numbers of entries.
struct Numbers<'n> {
    rows: usize,
    numbers: &'n [u32],
    present: usize,
    entries: usize,
}

impl Numbers<'_> {
    /// Writes a dictionary and the numbers of its entries, or plain values if most of them differ.
    fn write(
        self,
        column: ColumnDescPtr,
        plain: impl Fn(&mut dyn Iterator<Item = usize>) -> Vec<u8>,
        limits_of: impl Fn(&[u32]) -> Option<(Vec<u8>, Vec<u8>)>,
        statistics: Statistics,
    ) -> Result<Encoded> {
        let Numbers { rows, numbers: values, present, entries } = self;
        let is_present = |&number: &u32| number != NONE;
        if entries == 0 || 2 * entries > present.max(16) {
            let encode = |numbers: &[u32], _, body: &mut Vec<u8>| {
                let mut present =
                    numbers.iter().filter(|number| is_present(number)).map(|&number| number as usize);
                body.extend(plain(&mut present));
            };
            let pages = Pages { rows, values, encoding: Encoding::PLAIN, statistics };
            return pages.write(column, None, is_present, encode, limits_of);
        }
        let width = hybrid::width(entries);
        let encode = |numbers: &[u32], present: usize, body: &mut Vec<u8>| {
            body.push(width as u8);
            if present == numbers.len() {
                hybrid::encode(numbers, width, body);
            } else {
                let present: Vec<u32> = numbers.iter().copied().filter(|number| is_present(number)).collect();
                hybrid::encode(&present, width, body);
            }
        };
        let pages = Pages { rows, values, encoding: Encoding::RLE_DICTIONARY, statistics };
        pages.write(column, Some((plain(&mut (0..entries)), entries)), is_present, encode, limits_of)
    }
}

/// The least text that a limit may be, and the greatest: of long ones the beginning.
fn lower(text: &[u8]) -> ByteArray {
    beginning(text).as_bytes().to_vec().into()
}

fn upper(text: &[u8]) -> ByteArray {
    if text.len() <= LONGEST_LIMIT {
        return text.to_vec().into();
    }
    let mut beginning = beginning(text).to_owned();
    // The next that is greater than all that begin with it.
    while let Some(last) = beginning.pop() {
        if let Some(next) = char::from_u32(u32::from(last) + 1) {
            beginning.push(next);
            return beginning.into_bytes().into();
        }
    }
    text.to_vec().into()
}

fn beginning(text: &[u8]) -> &str {
    let text = str::from_utf8(text).unwrap_or_default();
    let cut = (0..=LONGEST_LIMIT.min(text.len())).rev().find(|&at| text.is_char_boundary(at));
    &text[..cut.unwrap_or_default()]
}

/// A column's part of a row group: at least one row.
struct Pages<'v, V> {
    rows: usize,
    values: &'v [V],
    encoding: Encoding,
    statistics: Statistics,
}

impl<V> Pages<'_, V> {
    /// Compresses the pages, and puts them together with an index: where each of them is, and its limits.
    fn write(
        self,
        column: ColumnDescPtr,
        dictionary: Option<(Vec<u8>, usize)>,
        is_present: impl Fn(&V) -> bool,
        encode: impl Fn(&[V], usize, &mut Vec<u8>),
        limits_of: impl Fn(&[V]) -> Option<(Vec<u8>, Vec<u8>)>,
    ) -> Result<Encoded> {
        let mut sink = TrackedWrite::new(Vec::new());
        let mut writer = SerializedPageWriter::new(&mut sink);
        let mut compressor = snap::raw::Encoder::new();
        let mut compress = |bytes: &[u8]| {
            let compressed = compressor.compress_vec(bytes);
            compressed.map(Bytes::from).map_err(|error| ParquetError::External(Box::new(error)))
        };
        let (mut uncompressed, mut encodings, mut counts) =
            (0, vec![Encoding::RLE, self.encoding], Vec::new());
        let count = |page_type, encoding, count| PageEncodingStats { page_type, encoding, count };
        if let Some((plain, entries)) = &dictionary {
            let page = Page::DictionaryPage {
                buf: compress(plain)?,
                num_values: *entries as u32,
                encoding: Encoding::PLAIN,
                is_sorted: false,
            };
            uncompressed += writer.write_page(CompressedPage::new(page, plain.len()))?.uncompressed_size;
            encodings.push(Encoding::PLAIN);
            counts.push(count(PageType::DICTIONARY_PAGE, Encoding::PLAIN, 1));
        }
        let mut offsets = OffsetIndexBuilder::new();
        let mut limits = ColumnIndexBuilder::new(column.physical_type());
        let mut first_page = None;
        for first in (0..self.rows).step_by(PAGE_ROWS) {
            let rows = PAGE_ROWS.min(self.rows - first);
            let end = (first + rows).min(self.values.len());
            let values = &self.values[first.min(end)..end];
            let present = values.iter().filter(|value| is_present(value)).count();
            let mut body = Vec::new();
            if column.max_def_level() > 0 {
                levels(rows, values.iter().map(&is_present), present, &mut body);
            }
            encode(values, present, &mut body);
            let page = Page::DataPage {
                buf: compress(&body)?,
                num_values: rows as u32,
                encoding: self.encoding,
                def_level_encoding: Encoding::RLE,
                rep_level_encoding: Encoding::RLE,
                statistics: None,
            };
            let written = writer.write_page(CompressedPage::new(page, body.len()))?;
            uncompressed += written.uncompressed_size;
            first_page.get_or_insert(written.offset);
            offsets.append_row_count(rows as i64);
            offsets.append_offset_and_size(written.offset as i64, written.compressed_size as i32);
            let (low, high) = limits_of(values).unwrap_or_default();
            limits.append(present == 0, low, high, (rows - present) as i64, None);
        }
        counts.push(count(PageType::DATA_PAGE, self.encoding, self.rows.div_ceil(PAGE_ROWS) as i32));
        let bytes = Bytes::from(sink.into_inner()?);
        let metadata = ColumnChunkMetaData::builder(column)
            .set_compression(Compression::SNAPPY)
            .set_encodings(encodings)
            .set_page_encoding_stats(counts)
            .set_total_compressed_size(bytes.len() as i64)
            .set_total_uncompressed_size(uncompressed as i64)
            .set_num_values(self.rows as i64)
            .set_dictionary_page_offset(dictionary.map(|_| 0))
            .set_data_page_offset(first_page.unwrap_or_default() as i64)
            .set_statistics(self.statistics)
            .build()?;
        let closed = ColumnCloseResult {
            bytes_written: bytes.len() as u64,
            rows_written: self.rows as u64,
            metadata,
            bloom_filter: None,
            column_index: Some(limits.build()?),
            offset_index: Some(offsets.build()),
        };
        Ok((bytes, closed))
    }
}

/// Appends which rows have a value; those at the end that are missing have none.
fn levels(rows: usize, are_present: impl Iterator<Item = bool>, present: usize, body: &mut Vec<u8>) {
    body.extend([0; 4]);
    if present == rows || present == 0 {
        hybrid::run(u32::from(present > 0), rows, 1, body);
    } else {
        let mut numbers: Vec<u32> = are_present.map(u32::from).collect();
        numbers.resize(rows, 0);
        hybrid::encode(&numbers, 1, body);
    }
    let size = body.len() as u32 - 4;
    body[..4].copy_from_slice(&size.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_long_texts_are_cut_and_still_limits() {
        let cases =
            ["", "short", &"a".repeat(65), &"ü".repeat(40), &format!("{}\u{10FFFF}b", "a".repeat(60))];
        for text in cases {
            let (low, high) = (lower(text.as_bytes()), upper(text.as_bytes()));
            assert!(
                low.data() <= text.as_bytes() && text.as_bytes() <= high.data(),
                "{text}: {low} to {high}"
            );
            assert!(low.len().max(high.len()) <= LONGEST_LIMIT + 3, "{text}: {low} to {high}");
            assert!(str::from_utf8(high.data()).is_ok(), "{text}: {high}");
        }
        let greatest = "\u{10FFFF}".repeat(30);
        assert_eq!(upper(greatest.as_bytes()).data(), greatest.as_bytes(), "no text is greater");
    }
}
