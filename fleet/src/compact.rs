//! Compaction: the files of a day and host become one, which readers of the log see at once, with those of other hosts.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ltt_analysis::text::amount::counted;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use parquet::data_type::DataType;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{FileReader as _, RowGroupReader, SerializedFileReader};
use parquet::file::statistics::Statistics;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};

use crate::column::properties;
use crate::delta::{self, LoggedFile};
use crate::escape::key;
use crate::prune;
use crate::rows::MOST_ROWS;
use crate::store::Store;
use crate::tables::{NewFile, TABLES};

/// The most partitions that become one version: each version is as much work as the table has files.
const MOST_TOGETHER: usize = 256;

/// Columns whose values grow, as they are called in the tables.
const GROWING: [&str; 5] = ["time", "time_ns", "minute", "begin_ns", "end_ns"];

/// Makes one file of the files of each day before this one and host; returns what to say.
pub fn compact(store: &Store, before: &str, grace_ns: u64) -> std::result::Result<String, String> {
    if !delta::has_logs(store)? {
        return Err("without a log, readers would see rows twice: tables that were begun with --delta can be compacted".into());
    }
    let _lock = store.lock("compaction", &mut || Ok(()))?;
    let (mut from, mut to) = (0, 0);
    for table in TABLES {
        let mut partitions: BTreeMap<(String, String), Vec<(String, LoggedFile)>> = BTreeMap::new();
        for (path, file) in
            delta::read(store, table)?.files.into_iter().filter(|(_, file)| &*file.date < before)
        {
            partitions.entry((file.date.clone(), file.host.clone())).or_default().push((path, file));
        }
        let partitions: Vec<_> = partitions.into_iter().filter(|(_, files)| files.len() > 1).collect();
        for together in partitions.chunks(MOST_TOGETHER) {
            let merged = together.iter().map(|(partition, files)| merge(store, table, partition, files));
            let merged: Vec<NewFile> = merged.collect::<std::result::Result<_, _>>()?;
            let mut lost = Vec::new();
            delta::change(store, table, "OPTIMIZE", |snapshot| {
                let (mut added, mut removed) = (Vec::new(), Vec::new());
                lost.clear();
                for (file, (_, files)) in merged.iter().zip(together) {
                    if snapshot.files.contains_key(&file.path) {
                        // The answer to the attempt before was lost.
                    } else if files.iter().all(|(path, _)| snapshot.files.contains_key(path)) {
                        added.push(delta::added(file, false));
                        removed.extend(files.iter().map(|(_, file)| delta::removed(file, false)));
                    } else {
                        // Retention has removed them meanwhile.
                        lost.push(file.path.clone());
                    }
                }
                added.extend(removed);
                Ok(added)
            })?;
            store.remove_all(&lost)?;
            let is_kept = |file: &NewFile| !lost.contains(&file.path);
            for (_, (_, files)) in merged.iter().zip(together).filter(|(file, _)| is_kept(file)) {
                from += files.len() as u64;
                to += 1;
            }
        }
        prune::vacuum(store, table, grace_ns)?;
    }
    Ok(format!("made {} of {}", counted(to, "file"), counted(from, "file")))
}

/// Makes one file of a partition's, and puts it in its place; it is not in the log yet.
fn merge(
    store: &Store,
    table: &str,
    (date, host): &(String, String),
    files: &[(String, LoggedFile)],
) -> std::result::Result<NewFile, String> {
    let name = key(&files.iter().map(|(path, _)| path).collect::<Vec<_>>());
    let staging = store.staging(&name)?;
    let inputs = files.iter().map(|(path, _)| store.local(path, &staging));
    let inputs: Vec<PathBuf> = inputs.collect::<std::result::Result<_, _>>()?;
    let output = staging.join("compacted");
    let size =
        write(&inputs, &output).map_err(|error| format!("cannot compact {table} of {host}: {error}"))?;
    let folder = files[0].0.rsplit_once('/').map_or("", |(folder, _)| folder);
    let file = NewFile::compacted(table, date, host, format!("{folder}/{name}-c.parquet"), size);
    store.publish(&output, &file.path)?;
    _ = std::fs::remove_dir_all(staging);
    Ok(file)
}

/// Writes the rows of files into one, those of the earliest first, and returns the number of rows and of bytes.
fn write(inputs: &[PathBuf], output: &Path) -> Result<(u64, u64)> {
    let readers = inputs.iter().map(|path| SerializedFileReader::new(File::open(path)?));
    let readers: Vec<_> = readers.collect::<Result<_>>()?;
    let mut fields: Vec<TypePtr> = Vec::new();
    for reader in &readers {
        for field in reader.metadata().file_metadata().schema().get_fields() {
            if fields.iter().all(|known| known.name() != field.name()) {
                fields.push(Arc::clone(field));
            }
        }
    }
    let schema = Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?);
    // Where each row group begins and ends in time, the first column of all tables.
    let mut groups: Vec<((i64, i64), usize, usize)> = Vec::new();
    for (file, reader) in readers.iter().enumerate() {
        for (number, group) in reader.metadata().row_groups().iter().enumerate() {
            let limits = match group.column(0).statistics() {
                Some(Statistics::Int64(limits)) => limits.min_opt().copied().zip(limits.max_opt().copied()),
                _ => None,
            };
            groups.push((limits.unwrap_or((i64::MIN, i64::MAX)), file, number));
        }
    }
    groups.sort();
    let is_sorted = groups.windows(2).all(|pair| pair[0].0.1 <= pair[1].0.0);
    let properties = properties(GROWING.into_iter(), is_sorted);
    let mut writer = SerializedFileWriter::new(File::create(output)?, schema, Arc::new(properties))?;
    let mut rows = 0;
    let mut rest = groups.as_slice();
    while !rest.is_empty() {
        // As many as fit into one row group, but at least one.
        let (mut taken, mut sum) = (0, 0);
        while let Some(&(_, file, number)) = rest.get(taken) {
            let more = readers[file].metadata().row_group(number).num_rows();
            if taken > 0 && sum + more > MOST_ROWS as i64 {
                break;
            }
            (taken, sum) = (taken + 1, sum + more);
        }
        let sources: Result<Vec<_>> =
            rest[..taken].iter().map(|&(_, file, number)| readers[file].get_row_group(number)).collect();
        append(&mut writer, &sources?)?;
        rows += sum as u64;
        rest = &rest[taken..];
    }
    let file = writer.into_inner()?;
    file.sync_all()?;
    Ok((rows, file.metadata()?.len()))
}

/// Appends row groups as one.
fn append(writer: &mut SerializedFileWriter<File>, sources: &[Box<dyn RowGroupReader + '_>]) -> Result<()> {
    let columns = writer.schema_descr().columns().to_vec();
    let mut group = writer.next_row_group()?;
    for column in columns {
        let mut target =
            group.next_column()?.ok_or_else(|| ParquetError::General("columns are missing".into()))?;
        for source in sources {
            let rows = source.metadata().num_rows() as usize;
            let place =
                source.metadata().columns().iter().position(|found| found.column_path() == column.path());
            let reader = place.map(|place| source.get_column_reader(place)).transpose()?;
            let levels = (column.max_def_level(), column.max_rep_level());
            match (target.untyped(), reader) {
                (ColumnWriter::ByteArrayColumnWriter(to), from) => {
                    copy(to, from.map(byte_arrays), levels, rows)?
                }
                (ColumnWriter::Int64ColumnWriter(to), from) => copy(to, from.map(integers), levels, rows)?,
                (ColumnWriter::DoubleColumnWriter(to), from) => copy(to, from.map(floats), levels, rows)?,
                (ColumnWriter::BoolColumnWriter(to), from) => copy(to, from.map(truths), levels, rows)?,
                _ => return Err(ParquetError::General(format!("{} has an unknown type", column.path()))),
            }
        }
        target.close()?;
    }
    group.close()?;
    Ok(())
}

/// Makes the reader of a column the one of its type.
macro_rules! reader_of {
    ($name:ident, $variant:ident, $type:ty) => {
        fn $name(reader: ColumnReader) -> Option<ColumnReaderImpl<$type>> {
            if let ColumnReader::$variant(reader) = reader { Some(reader) } else { None }
        }
    };
}
reader_of!(byte_arrays, ByteArrayColumnReader, parquet::data_type::ByteArrayType);
reader_of!(integers, Int64ColumnReader, parquet::data_type::Int64Type);
reader_of!(floats, DoubleColumnReader, parquet::data_type::DoubleType);
reader_of!(truths, BoolColumnReader, parquet::data_type::BoolType);

/// Copies a column of a row group; rows of files that do not have it have no value.
fn copy<T: DataType>(
    to: &mut ColumnWriterImpl<'_, T>,
    from: Option<Option<ColumnReaderImpl<T>>>,
    (most_defined, most_repeated): (i16, i16),
    rows: usize,
) -> Result<()> {
    let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
    match from {
        Some(None) => return Err(ParquetError::General("a column has two types".into())),
        None => {
            definitions.resize(rows, 0);
            repetitions.resize(rows, 0);
        }
        Some(Some(mut reader)) => {
            let mut left = rows;
            while left > 0 {
                let defined = (most_defined > 0).then_some(&mut definitions);
                let repeated = (most_repeated > 0).then_some(&mut repetitions);
                let (read, ..) = reader.read_records(left, defined, repeated, &mut values)?;
                if read == 0 {
                    return Err(ParquetError::General("a column has fewer rows than others".into()));
                }
                left -= read;
            }
        }
    }
    let definitions = (most_defined > 0).then_some(definitions.as_slice());
    let repetitions = (most_repeated > 0).then_some(repetitions.as_slice());
    to.write_batch(&values, definitions, repetitions).map(|_| ())
}
