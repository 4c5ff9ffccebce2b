//! Labels for the values of an integer.

use std::ops::RangeInclusive;

use crate::field_type::number::Integer;

/// An enumeration: labels for the values of an integer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Enumeration {
    /// The name, unique in its provider.
    pub name: String,
    /// What is enumerated.
    pub doc: String,
    /// The integer that is recorded.
    pub container: Integer,
    /// The labels; a value without one can still be recorded.
    pub labels: Vec<Label>,
}

/// One label of an [`Enumeration`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Label {
    /// The label as readers show it.
    pub name: String,
    /// What the label means; empty if the name says it all.
    pub doc: String,
    /// The values that carry this label; mostly a single one.
    pub values: RangeInclusive<i128>,
}
