//! Columns: what they are called, and their values for some rows.

use std::sync::Arc;

use parquet::basic::{
    Compression, ConvertedType, Encoding, LogicalType, Repetition, TimeUnit, Type as Physical,
};
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::schema::types::{ColumnPath, Type, TypePtr};

use crate::interner::NONE;

/// The rows of a page: engines skip the pages whose limits exclude what is asked for.
pub const PAGE_ROWS: usize = 1 << 14;

/// Stands for no integer.
pub const NULL: i64 = i64::MIN;

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Text,
    Integer,
    /// Microseconds since 1970, UTC: the finest that every engine reads.
    Time,
    Float,
    Bool,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub kind: Kind,
    /// Whether every row has a value.
    pub is_required: bool,
    /// Whether its values grow: differences take less room than a dictionary.
    pub is_growing: bool,
}

impl Column {
    /// A column in which values may be missing.
    pub fn new(name: impl Into<String>, kind: Kind) -> Column {
        Column { name: name.into(), kind, is_required: false, is_growing: kind == Kind::Time }
    }

    /// A column in which every row has a value.
    pub fn required(name: &str, kind: Kind) -> Column {
        Column { is_required: true, ..Column::new(name, kind) }
    }

    /// The same, with values that grow.
    pub fn growing(self) -> Column {
        Column { is_growing: true, ..self }
    }
}

/// Values of a column, one for each row; if there are fewer, the rows at the end have none.
#[derive(Clone, Debug)]
pub enum Values {
    /// Numbers of texts; [`NONE`] is none.
    Text(Vec<u32>),
    /// [`NULL`] is none.
    Integer(Vec<i64>),
    Float(Vec<Option<f64>>),
    Bool(Vec<Option<bool>>),
}

impl Values {
    /// No values of a kind.
    pub fn new(kind: Kind) -> Values {
        match kind {
            Kind::Text => Values::Text(Vec::new()),
            Kind::Integer | Kind::Time => Values::Integer(Vec::new()),
            Kind::Float => Values::Float(Vec::new()),
            Kind::Bool => Values::Bool(Vec::new()),
        }
    }

    /// Leaves rows without a value up to this one.
    pub fn pad(&mut self, rows: usize) {
        match self {
            Values::Text(values) => values.resize(rows, NONE),
            Values::Integer(values) => values.resize(rows, NULL),
            Values::Float(values) => values.resize(rows, None),
            Values::Bool(values) => values.resize(rows, None),
        }
    }

    /// Puts the rows into another order.
    pub fn reorder(&mut self, order: &[usize]) {
        fn by<T: Copy>(values: &mut Vec<T>, order: &[usize]) {
            *values = order.iter().map(|&row| values[row]).collect();
        }
        match self {
            Values::Text(values) => by(values, order),
            Values::Integer(values) => by(values, order),
            Values::Float(values) => by(values, order),
            Values::Bool(values) => by(values, order),
        }
    }
}

/// The name of the map of fields that have no column.
pub const OTHER: &str = "other";

/// How the files of a table are laid out.
pub struct Layout {
    /// Whether a map of names to texts follows the columns.
    pub has_other: bool,
    pub schema: TypePtr,
    pub properties: WriterPropertiesPtr,
}

impl Layout {
    /// A table of these columns.
    pub fn new(columns: Vec<Column>, has_other: bool) -> parquet::errors::Result<Layout> {
        let mut fields = columns.iter().map(field).collect::<Result<Vec<TypePtr>, _>>()?;
        if has_other {
            fields.push(map(OTHER)?);
        }
        let schema = Type::group_type_builder("schema").with_fields(fields).build()?;
        let growing = columns.iter().filter(|column| column.is_growing).map(|column| column.name.as_str());
        let properties = Arc::new(properties(growing, true));
        Ok(Layout { has_other, schema: Arc::new(schema), properties })
    }
}

/// How files are written: these columns grow, and rows are in the order of time or not.
pub fn properties<'c>(growing: impl Iterator<Item = &'c str>, is_sorted: bool) -> WriterProperties {
    // Time is the first column of all tables.
    let by_time = SortingColumn { column_idx: 0, descending: false, nulls_first: false };
    let mut properties = WriterProperties::builder()
        .set_created_by(concat!("ltt-parquet ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_sorting_columns(is_sorted.then(|| vec![by_time]))
        .set_write_batch_size(8192)
        .set_data_page_row_count_limit(PAGE_ROWS);
    for name in growing {
        properties = properties
            .set_column_dictionary_enabled(ColumnPath::from(name), false)
            .set_column_encoding(ColumnPath::from(name), Encoding::DELTA_BINARY_PACKED);
    }
    properties.build()
}

fn field(column: &Column) -> parquet::errors::Result<TypePtr> {
    let (physical, logical) = match column.kind {
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Kind::Integer => (Physical::INT64, None),
        Kind::Time => {
            let unit = TimeUnit::MICROS;
            (Physical::INT64, Some(LogicalType::timestamp(true, unit)))
        }
        Kind::Float => (Physical::DOUBLE, None),
        Kind::Bool => (Physical::BOOLEAN, None),
    };
    let repetition = if column.is_required { Repetition::REQUIRED } else { Repetition::OPTIONAL };
    let built = Type::primitive_type_builder(&column.name, physical)
        .with_repetition(repetition)
        .with_logical_type(logical)
        .build()?;
    Ok(Arc::new(built))
}

/// A map of texts to texts.
fn map(name: &str) -> parquet::errors::Result<TypePtr> {
    let text = |name: &str| {
        Type::primitive_type_builder(name, Physical::BYTE_ARRAY)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(Some(LogicalType::String))
            .build()
            .map(Arc::new)
    };
    let entry = Type::group_type_builder("key_value")
        .with_repetition(Repetition::REPEATED)
        .with_fields(vec![text("key")?, text("value")?])
        .build()?;
    let map = Type::group_type_builder(name)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(Some(LogicalType::Map))
        .with_converted_type(ConvertedType::MAP)
        .with_fields(vec![Arc::new(entry)])
        .build()?;
    Ok(Arc::new(map))
}
