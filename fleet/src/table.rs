//! A file of a table, written under another name until it is complete.

use std::fs::File;
use std::path::Path;

use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::writer::SerializedFileWriter;

use crate::column::Layout;
use crate::row_group::RowGroup;

/// A file in the making.
pub struct TableFile {
    writer: SerializedFileWriter<File>,
    rows: u64,
}

impl TableFile {
    /// Creates it.
    pub fn create(path: &Path, layout: &Layout) -> Result<TableFile> {
        let writer =
            SerializedFileWriter::new(File::create(path)?, layout.schema.clone(), layout.properties.clone())?;
        Ok(TableFile { writer, rows: 0 })
    }

    /// Appends a row group.
    pub fn append(&mut self, group: RowGroup) -> Result<()> {
        let mut writer = self.writer.next_row_group()?;
        for (bytes, closed) in group.columns {
            writer.append_column(&bytes, closed)?;
        }
        writer.close()?;
        self.rows += group.rows as u64;
        Ok(())
    }

    /// Writes the end of the file, waits until all of it is on the disk, and returns the number of rows and of bytes.
    pub fn finish(mut self, metadata: &[(String, String)]) -> Result<(u64, u64)> {
        for (key, value) in metadata {
            self.writer.append_key_value_metadata(KeyValue::new(key.clone(), value.clone()));
        }
        let file = self.writer.into_inner()?;
        file.sync_all()?;
        Ok((self.rows, file.metadata()?.len()))
    }
}
