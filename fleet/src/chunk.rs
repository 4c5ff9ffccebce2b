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
use parquet::file::metadata::{ColumnChunkMetaData, PageEncodingStats};
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use crate::column::NULL;
use crate::hybrid;
use crate::interner::NONE;

/// Longer texts are cut in statistics.
const LONGEST_LIMIT: usize = 64;

/// A column, encoded, and what is known of it.
pub type Encoded = (Bytes, ColumnCloseResult);

/// Texts by their numbers, of which each occurs; [`NONE`] is none, and so are rows at the end that are missing.
pub fn texts(column: ColumnDescPtr, rows: usize, numbers: &[u32], texts: &[ByteArray]) -> Result<Encoded> {
    let chunk = Chunk::new(column, rows, numbers, |&number| number != NONE);
    let plain = |numbers: &mut dyn Iterator<Item = usize>| {
        let mut bytes = Vec::new();
        for number in numbers {
            let text = texts[number].data();
            bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
            bytes.extend_from_slice(text);
        }
        bytes
    };
    let least = texts.iter().map(ByteArray::data).min();
    let most = texts.iter().map(ByteArray::data).max();
    let limits = ValueStatistics::new(least.map(lower), most.map(upper), None, Some(chunk.nulls()), false);
    let is_cut = |text: Option<&[u8]>| text.is_some_and(|text| text.len() > LONGEST_LIMIT);
    let limits = limits.with_min_is_exact(!is_cut(least)).with_max_is_exact(!is_cut(most));
    chunk.dictionary(numbers, texts.len(), plain, Statistics::ByteArray(limits))
}

/// Integers; [`NULL`] is none, and so are rows at the end that are missing.
pub fn integers(column: ColumnDescPtr, rows: usize, values: &[i64]) -> Result<Encoded> {
    let chunk = Chunk::new(column, rows, values, |&value| value != NULL);
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
    let statistics = Statistics::int64(least, most, None, Some(chunk.nulls()), false);
    chunk.dictionary(&numbers, distinct.len(), plain, statistics)
}

/// Truths; rows at the end that are missing have none.
pub fn truths(column: ColumnDescPtr, rows: usize, values: &[Option<bool>]) -> Result<Encoded> {
    let chunk = Chunk::new(column, rows, values, Option::is_some);
    let present: Vec<bool> = values.iter().copied().flatten().collect();
    let has = |truth: bool| present.contains(&truth);
    let limits = (has(true) || has(false)).then(|| (!has(false), has(true))).unzip();
    let statistics = Statistics::boolean(limits.0, limits.1, None, Some(chunk.nulls()), false);
    let mut body = chunk.levels.clone();
    let bits = |eight: &[bool]| eight.iter().rev().fold(0, |bits, &truth| bits << 1 | u8::from(truth));
    body.extend(present.chunks(8).map(bits));
    chunk.finish(None, (body, Encoding::PLAIN), statistics)
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

/// A column's part of a row group.
struct Chunk {
    column: ColumnDescPtr,
    rows: usize,
    /// The rows that have a value.
    present: usize,
    /// Which those are, encoded.
    levels: Vec<u8>,
}

impl Chunk {
    fn new<V>(column: ColumnDescPtr, rows: usize, values: &[V], is_present: impl Fn(&V) -> bool) -> Chunk {
        let mut levels = Vec::new();
        let present = values.iter().filter(|value| is_present(value)).count();
        if column.max_def_level() > 0 {
            levels.extend([0; 4]);
            if present == rows || present == 0 {
                hybrid::run(u32::from(present > 0), rows, 1, &mut levels);
            } else {
                let mut numbers: Vec<u32> = values.iter().map(|value| is_present(value).into()).collect();
                numbers.resize(rows, 0);
                hybrid::encode(&numbers, 1, &mut levels);
            }
            let size = levels.len() as u32 - 4;
            levels[..4].copy_from_slice(&size.to_le_bytes());
        }
        Chunk { column, rows, present, levels }
    }

    fn nulls(&self) -> u64 {
        (self.rows - self.present) as u64
    }

    /// Writes a dictionary and the numbers of its entries, or plain values if most of them differ.
    fn dictionary(
        self,
        numbers: &[u32],
        entries: usize,
        plain: impl Fn(&mut dyn Iterator<Item = usize>) -> Vec<u8>,
        statistics: Statistics,
    ) -> Result<Encoded> {
        let mut body = self.levels.clone();
        if entries == 0 || 2 * entries > self.present.max(16) {
            let mut present = numbers.iter().filter(|&&number| number != NONE).map(|&number| number as usize);
            body.extend(plain(&mut present));
            return self.finish(None, (body, Encoding::PLAIN), statistics);
        }
        let width = hybrid::width(entries);
        body.push(width as u8);
        if numbers.len() == self.present {
            hybrid::encode(numbers, width, &mut body);
        } else {
            let present: Vec<u32> = numbers.iter().copied().filter(|&number| number != NONE).collect();
            hybrid::encode(&present, width, &mut body);
        }
        let dictionary = Some((plain(&mut (0..entries)), entries));
        self.finish(dictionary, (body, Encoding::RLE_DICTIONARY), statistics)
    }

    /// Compresses the pages, and puts them together.
    fn finish(
        self,
        dictionary: Option<(Vec<u8>, usize)>,
        (body, encoding): (Vec<u8>, Encoding),
        statistics: Statistics,
    ) -> Result<Encoded> {
        let mut sink = TrackedWrite::new(Vec::new());
        let mut writer = SerializedPageWriter::new(&mut sink);
        let mut compressor = snap::raw::Encoder::new();
        let mut compress = |bytes: &[u8]| {
            let compressed = compressor.compress_vec(bytes);
            compressed.map(Bytes::from).map_err(|error| ParquetError::External(Box::new(error)))
        };
        let (mut uncompressed, mut encodings, mut counts) = (0, vec![Encoding::RLE, encoding], Vec::new());
        if let Some((plain, entries)) = &dictionary {
            let page = Page::DictionaryPage {
                buf: compress(plain)?,
                num_values: *entries as u32,
                encoding: Encoding::PLAIN,
                is_sorted: false,
            };
            uncompressed += writer.write_page(CompressedPage::new(page, plain.len()))?.uncompressed_size;
            encodings.push(Encoding::PLAIN);
            counts.push((PageType::DICTIONARY_PAGE, Encoding::PLAIN));
        }
        let page = Page::DataPage {
            buf: compress(&body)?,
            num_values: self.rows as u32,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let written = writer.write_page(CompressedPage::new(page, body.len()))?;
        uncompressed += written.uncompressed_size;
        counts.push((PageType::DATA_PAGE, encoding));
        let bytes = Bytes::from(sink.into_inner()?);
        let count = |(page_type, encoding)| PageEncodingStats { page_type, encoding, count: 1 };
        let metadata = ColumnChunkMetaData::builder(self.column)
            .set_compression(Compression::SNAPPY)
            .set_encodings(encodings)
            .set_page_encoding_stats(counts.into_iter().map(count).collect())
            .set_total_compressed_size(bytes.len() as i64)
            .set_total_uncompressed_size(uncompressed as i64)
            .set_num_values(self.rows as i64)
            .set_dictionary_page_offset(dictionary.map(|_| 0))
            .set_data_page_offset(written.offset as i64)
            .set_statistics(statistics)
            .build()?;
        let closed = ColumnCloseResult {
            bytes_written: bytes.len() as u64,
            rows_written: self.rows as u64,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        Ok((bytes, closed))
    }
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
