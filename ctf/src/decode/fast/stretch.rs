//! Fields in whole bytes.
//!
//! Only texts have a length that is not known beforehand. All else is at a fixed distance after the last
//! text, or after the beginning. So an event is stepped over by finding the ends of its texts, its *marks*, and a
//! field is read, on demand, from its position after a mark:
//!
//! ```text
//! vpid i32 │ vtid i32 │ enum_field i32 │ addr string │ laddr string │ name string │ duration u64
//! ^ mark 0                                           ^ mark 1       ^ mark 2      ^ mark 3
//!                                                                     name: text at mark 2
//!                                                                     duration: u64 at mark 3, end 8 after it
//! ```

use std::ops::Range;
use std::sync::Arc;

use super::texts::{Texts, adjacent_ends};
use crate::decode::bits::{Bits, Fault};
use crate::decode::general::{Slots, until_nul};
use crate::metadata::{ByteOrder, FloatType, IntegerType, Slot};
use crate::{Brief, Enumeration, Integer, Value};

/// The number of bytes that marks can address, as they have 32 bits. Parts are always smaller.
pub const REACH: usize = u32::MAX as usize;

/// Fields in whole bytes, one after the other.
#[derive(Debug, Default)]
pub struct Stretch {
    /// The distance of each text from the mark before it, in bytes.
    texts: Vec<usize>,
    /// The distance of the first text from the beginning, in bytes, if nothing lies between it and the others.
    adjacent: Option<usize>,
    /// The distance of the end from the last mark, in bytes.
    end: usize,
    /// The wanted fields, with where their values go.
    pub fields: Vec<(usize, StoredField)>,
    /// The integers that others refer to.
    pub kept: Vec<(Slot, StoredField)>,
}

/// A field at an offset from a mark.
#[derive(Clone, Debug)]
pub struct StoredField {
    pub mark: usize,
    /// Its distance from the mark, in bytes.
    pub offset: usize,
    /// How it is stored.
    pub form: FieldForm,
}

/// How a field is stored.
#[derive(Clone, Debug)]
pub enum FieldForm {
    Integer(Primitive),
    /// An integer with labels.
    Enum(Primitive, Arc<Enumeration>),
    /// A boolean: any bit is set.
    Bool(Primitive),
    /// A floating-point number.
    Float(Primitive),
    /// A text of at most this many bytes.
    Characters(usize),
    /// A text up to its NUL; the next mark is after that.
    Text,
}

/// How to read a number of whole bytes in little-endian order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Primitive {
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
}

impl Stretch {
    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.end == 0
    }

    /// The number of marks of an event.
    #[inline(always)]
    pub fn marks(&self) -> usize {
        self.texts.len() + 1
    }

    /// Adds something of this many bytes, and returns what it would be as a field.
    pub fn pass(&mut self, bytes: usize, form: FieldForm) -> StoredField {
        let field = StoredField { mark: self.texts.len(), offset: self.end, form };
        self.end += bytes;
        field
    }

    /// Adds a text.
    pub fn text(&mut self) -> StoredField {
        let field = self.pass(0, FieldForm::Text);
        self.texts.push(std::mem::take(&mut self.end));
        self.adjacent = match *self.texts {
            [first, ref others @ ..] if others.iter().all(|&gap| gap == 0) => Some(first),
            _ => None,
        };
        field
    }

    /// Steps over an event from a position in bytes on: notes its marks and returns where it ends, if there are enough
    /// bytes. `marks` must have room for all [`marks`](Stretch::marks), and there must not be more bytes than they
    /// [reach](REACH). This is the innermost part of the hot loop.
    #[inline(always)]
    pub fn step_over(&self, bytes: &[u8], at: usize, marks: &mut [u32]) -> Option<usize> {
        let (first, marks) = marks.split_first_mut()?;
        *first = at as u32;
        let last = match self.adjacent {
            Some(gap) => match adjacent_ends(bytes, at + gap, marks) {
                Some(end) => end,
                None => self.texts_one_by_one(bytes, at, marks)?,
            },
            None if marks.is_empty() => at,
            None => self.texts_one_by_one(bytes, at, marks)?,
        };
        let end = last + self.end;
        (end <= bytes.len()).then_some(end)
    }

    /// Notes the ends of the texts, and returns the last one.
    #[inline(never)]
    fn texts_one_by_one(&self, bytes: &[u8], at: usize, marks: &mut [u32]) -> Option<usize> {
        let mut texts = Texts::new(bytes, at);
        let mut last = at;
        for (mark, gap) in marks.iter_mut().zip(&self.texts) {
            texts.pass(*gap);
            last = texts.end()?;
            *mark = last as u32;
        }
        Some(last)
    }

    /// Decodes its fields from a position on, which must be at a byte's boundary.
    pub fn decode<'a>(
        &'a self,
        bits: &mut Bits<'a>,
        slots: &mut Slots,
        values: &mut [Value<'a>],
    ) -> Result<(), Fault> {
        let bytes = bits.rest();
        let marks = self.pass_over(bits, slots)?;
        for (into, field) in &self.fields {
            values[*into] = field.value(bytes, &marks);
        }
        Ok(())
    }

    /// Steps over its fields from a position on, which must be at a byte's boundary.
    pub fn skip(&self, bits: &mut Bits<'_>, slots: &mut Slots) -> Result<(), Fault> {
        self.pass_over(bits, slots).map(|_| ())
    }

    /// Steps over its fields, keeps the integers that others refer to, and returns the marks.
    fn pass_over(&self, bits: &mut Bits<'_>, slots: &mut Slots) -> Result<Vec<u32>, Fault> {
        let mut marks = vec![0; self.marks()];
        let bytes = bits.rest();
        let bytes = bytes.get(..REACH).unwrap_or(bytes);
        let end = self.step_over(bytes, 0, &mut marks).ok_or(Fault::Short)?;
        for (slot, field) in &self.kept {
            slots[*slot] = match field.value(bytes, &marks) {
                Value::Unsigned(number) => number.into(),
                Value::Signed(number) => number.into(),
                _ => 0,
            };
        }
        bits.bytes(end)?;
        Ok(marks)
    }
}

impl StoredField {
    /// The same bytes, stored in another way.
    pub fn with_form(&self, form: FieldForm) -> StoredField {
        StoredField { mark: self.mark, offset: self.offset, form }
    }

    /// Its value in an event with these marks.
    #[inline(always)]
    pub fn value<'a>(&'a self, bytes: &'a [u8], marks: &[u32]) -> Value<'a> {
        let at = marks[self.mark] as usize + self.offset;
        match &self.form {
            FieldForm::Integer(read) => match read.number(bytes, at) {
                Integer::Unsigned(number) => Value::Unsigned(number),
                Integer::Signed(number) => Value::Signed(number),
            },
            FieldForm::Enum(read, labels) => Value::Enum(read.number(bytes, at), labels),
            FieldForm::Bool(read) => Value::Bool(read.raw(bytes, at) != 0),
            FieldForm::Float(Primitive::U32) => Value::Float(f32::from_le_bytes(array(bytes, at)).into()),
            FieldForm::Float(_) => Value::Float(f64::from_le_bytes(array(bytes, at))),
            FieldForm::Characters(_) | FieldForm::Text => Value::Text(self.text(bytes, marks)),
        }
    }
}

impl StoredField {
    /// Its value in an event with these marks, if it is an integer, in two's complement.
    #[inline(always)]
    pub fn integer(&self, bytes: &[u8], marks: &[u32]) -> Option<u64> {
        match self.form {
            FieldForm::Integer(read) => Some(read.raw(bytes, marks[self.mark] as usize + self.offset)),
            _ => None,
        }
    }

    /// Its value in an event with these marks, if it is a text.
    #[inline(always)]
    pub fn text<'a>(&self, bytes: &'a [u8], marks: &[u32]) -> &'a [u8] {
        let at = marks[self.mark] as usize + self.offset;
        match self.form {
            FieldForm::Text => &bytes[at..marks[self.mark + 1] as usize - 1],
            FieldForm::Characters(length) => until_nul(&bytes[at..at + length]),
            _ => &[],
        }
    }

    /// All bytes of an event with these marks that come before it, if their number is the same in all events.
    #[inline(always)]
    pub fn leading<'a>(&self, bytes: &'a [u8], marks: &[u32]) -> Option<&'a [u8]> {
        let begin = *marks.first().filter(|_| self.mark == 0)? as usize;
        bytes.get(begin..begin + self.offset)
    }

    /// Where it is from the beginning of an event on, if that is the same in all events.
    pub fn place(&self) -> Option<Range<usize>> {
        let size = match self.form {
            FieldForm::Integer(read)
            | FieldForm::Enum(read, _)
            | FieldForm::Bool(read)
            | FieldForm::Float(read) => read.size(),
            FieldForm::Characters(length) => length,
            FieldForm::Text => return None,
        };
        (self.mark == 0).then_some(self.offset..self.offset + size)
    }

    /// Its value in an event with these marks, as far as it is brief.
    #[inline(always)]
    pub fn brief(&self, bytes: &[u8], marks: &[u32]) -> Brief {
        match self.form {
            FieldForm::Enum(..) => Brief::OTHER,
            _ => self.stored(bytes, marks),
        }
    }

    /// The same, but of a label its number.
    #[inline(always)]
    pub fn stored(&self, bytes: &[u8], marks: &[u32]) -> Brief {
        let at = marks[self.mark] as usize + self.offset;
        match self.form {
            FieldForm::Integer(read) | FieldForm::Enum(read, _) => Brief::integer(read.number(bytes, at)),
            FieldForm::Characters(length) => Brief::characters(&bytes[at..], length),
            FieldForm::Text => Brief::text(&bytes[at..], marks[self.mark + 1] as usize - 1 - at),
            FieldForm::Bool(_) | FieldForm::Float(_) => Brief::OTHER,
        }
    }
}

impl Primitive {
    /// How to read an integer, if it is one of these.
    pub fn integer(integer: &IntegerType) -> Option<Primitive> {
        if integer.order != ByteOrder::Little || integer.align < 8 {
            return None;
        }
        Some(match (integer.size, integer.signed) {
            (Some(8), false) => Primitive::U8,
            (Some(16), false) => Primitive::U16,
            (Some(32), false) => Primitive::U32,
            (Some(64), false) => Primitive::U64,
            (Some(8), true) => Primitive::I8,
            (Some(16), true) => Primitive::I16,
            (Some(32), true) => Primitive::I32,
            (Some(64), true) => Primitive::I64,
            _ => return None,
        })
    }

    /// How to read the bits of a floating-point number, if it is one of these.
    pub fn float(float: &FloatType) -> Option<Primitive> {
        match float {
            FloatType { size: 32, align: 8.., order: ByteOrder::Little } => Some(Primitive::U32),
            FloatType { size: 64, align: 8.., order: ByteOrder::Little } => Some(Primitive::U64),
            _ => None,
        }
    }

    /// Its size in bytes.
    #[inline]
    pub fn size(self) -> usize {
        match self {
            Primitive::U8 | Primitive::I8 => 1,
            Primitive::U16 | Primitive::I16 => 2,
            Primitive::U32 | Primitive::I32 => 4,
            Primitive::U64 | Primitive::I64 => 8,
        }
    }

    #[inline]
    fn is_signed(self) -> bool {
        matches!(self, Primitive::I8 | Primitive::I16 | Primitive::I32 | Primitive::I64)
    }

    #[inline]
    pub fn number(self, bytes: &[u8], at: usize) -> Integer {
        let raw = self.raw(bytes, at);
        if self.is_signed() { Integer::Signed(raw as i64) } else { Integer::Unsigned(raw) }
    }

    /// The number in 64 bits, in two's complement.
    #[inline(always)]
    pub fn raw(self, bytes: &[u8], at: usize) -> u64 {
        let word = word(bytes, at);
        // Without a branch on the size, which changes from field to field and would be mispredicted.
        let unused = u64::BITS - 8 * self.size() as u32;
        let high = word << unused;
        if self.is_signed() { (high as i64 >> unused) as u64 } else { high >> unused }
    }
}

/// The number in 8 bytes, or in those that are left, with zeros after them.
#[inline(always)]
pub fn word(bytes: &[u8], at: usize) -> u64 {
    let word = bytes.get(at..).and_then(<[u8]>::first_chunk);
    word.map_or_else(|| padded(bytes, at), |word| u64::from_le_bytes(*word))
}

/// The number in fewer than 8 bytes, with zeros after them.
#[cold]
fn padded(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|byte| bytes.get(at + byte).copied().unwrap_or(0)))
}

/// The bytes at a position. Stepping over the event has checked that they exist.
#[inline(always)]
fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or([0; N])
}
