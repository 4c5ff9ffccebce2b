//! An event class, compiled once into the steps that decode the fields somebody wants.
//!
//! Only texts have a length that the plan does not know. All else stands at a fixed offset from the end of
//! the last text and is read in place; a field nobody wants and nobody refers to is only part of the offset of
//! the next. With contexts `vpid` and `vtid`, and `name` and `duration` wanted, a `command_call` becomes:
//!
//! ```text
//! vpid i32 │ vtid i32 │ enum_field i32 │ addr string │ laddr string │ name string │ duration u64
//! └──────────────────── 2 SkipTexts at 12 ─────────────────────────┘ └ Text → 0 ─┘ └ Integer → 1, end at 8
//! ```
//!
//! Whatever is not made of whole bytes in little-endian order takes the [general way](super::decode) within
//! the same plan.

use super::bits::{Bits, Fault};
use super::decode::{self, Slots, until_nul};
use super::metadata::{ByteOrder, Float, Integer, Length, Slot, Type};
use super::texts::Texts;
use crate::source::{Enumeration, Integer as Number, Value};

/// The steps that decode an event's fields.
#[derive(Debug, Default)]
pub struct Plan<'m> {
    stages: Vec<Stage<'m>>,
}

#[derive(Debug)]
enum Stage<'m> {
    /// Take steps in whole bytes.
    Bytes(Steps<'m>),
    /// Move on to a multiple of so many bits.
    Align(u32),
    /// Step over anything.
    Skip(&'m Type),
    /// Read anything.
    Any { kind: &'m Type, into: usize },
    /// Give a value out once more, for a field that is wanted twice.
    Copy { from: usize, into: usize },
}

/// Steps in whole bytes, one after the other.
#[derive(Debug, Default)]
struct Steps<'m> {
    steps: Vec<Step<'m>>,
    /// How many bytes behind the last text they end.
    end: usize,
}

/// What to do so many bytes (`at`) behind the last text, or behind the beginning if there was none.
#[derive(Debug)]
enum Step<'m> {
    /// Read an integer.
    Integer { at: usize, read: Read, into: usize },
    /// Read a floating-point number, a double or a single one.
    Float { at: usize, is_double: bool, into: usize },
    /// Read a label's number.
    Enum { at: usize, read: Read, labels: &'m Enumeration, into: usize },
    /// Read text of so many bytes.
    Characters { at: usize, length: usize, into: usize },
    /// Keep an integer for what refers to it.
    Keep { at: usize, read: Read, slot: Slot },
    /// Step over so many texts, each up to its NUL.
    SkipTexts { at: usize, count: usize },
    /// Read text up to its NUL.
    Text { at: usize, into: usize },
}

/// How to read an integer of whole bytes in little-endian order.
#[derive(Clone, Copy, Debug)]
enum Read {
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
}

impl<'m> Plan<'m> {
    /// A plan for scopes that stand one after the other, each with where the value of each member goes, if
    /// anywhere. `byte_aligned` says whether the first begins at a byte's boundary; `repeats` are values that
    /// are wanted twice, from where they go at first to where they go too.
    pub fn new(
        scopes: &[(&'m Type, Vec<Option<usize>>)],
        byte_aligned: bool,
        repeats: &[(usize, usize)],
    ) -> Plan<'m> {
        let mut planner = Planner {
            stages: Vec::new(),
            bytes: Steps::default(),
            modulus: if byte_aligned { 8 } else { 1 },
            residue: 0,
        };
        for (scope, wanted) in scopes {
            planner.align(scope.align());
            for (member, into) in scope.members().iter().zip(wanted) {
                planner.field(&member.kind, *into);
            }
        }
        planner.end_bytes();
        planner.stages.extend(repeats.iter().map(|&(from, into)| Stage::Copy { from, into }));
        Plan { stages: planner.stages }
    }

    /// Decodes the fields of one event.
    #[inline(always)]
    pub fn run<'a>(
        &'a self,
        bits: &mut Bits<'a>,
        slots: &mut Slots,
        values: &mut [Value<'a>],
    ) -> Result<(), Fault> {
        // Nearly all events are whole bytes throughout.
        if let [Stage::Bytes(steps)] = self.stages.as_slice() {
            bits.set_rest(steps.run(bits.rest(), slots, values).ok_or(Fault::Short)?);
        } else {
            *bits = self.run_stages(*bits, slots, values)?;
        }
        Ok(())
    }

    /// Takes one stage after the other. The place is taken and returned by value, so that the caller can keep
    /// its own in registers.
    #[inline(never)]
    fn run_stages<'a>(
        &'a self,
        mut bits: Bits<'a>,
        slots: &mut Slots,
        values: &mut [Value<'a>],
    ) -> Result<Bits<'a>, Fault> {
        for stage in &self.stages {
            match *stage {
                Stage::Bytes(ref steps) => {
                    bits.set_rest(steps.run(bits.rest(), slots, values).ok_or(Fault::Short)?);
                }
                Stage::Align(align) => bits.align(align)?,
                Stage::Skip(kind) => decode::skip(kind, &mut bits, slots)?,
                Stage::Any { kind, into } => values[into] = decode::value(kind, &mut bits, slots)?,
                Stage::Copy { from, into } => values[into] = values[from].clone(),
            }
        }
        Ok(bits)
    }
}

impl Steps<'_> {
    /// Takes the steps, and returns the bytes behind them, if there are enough.
    ///
    /// This is where the time goes when all is well.
    #[inline(always)]
    fn run<'a>(&'a self, bytes: &'a [u8], slots: &mut Slots, values: &mut [Value<'a>]) -> Option<&'a [u8]> {
        let mut texts = Texts::new(bytes);
        for step in &self.steps {
            match *step {
                Step::SkipTexts { at, count } => texts.skip(at, count)?,
                Step::Text { at, into } => put(&mut values[into], Value::Text(texts.take(at)?)),
                Step::Integer { at, read, into } => put(&mut values[into], read.value(texts.behind(at)?)?),
                Step::Float { at, is_double, into } => {
                    let bytes = texts.behind(at)?;
                    let number = if is_double {
                        f64::from_le_bytes(*bytes.first_chunk()?)
                    } else {
                        f32::from_le_bytes(*bytes.first_chunk()?).into()
                    };
                    put(&mut values[into], Value::Float(number));
                }
                Step::Enum { at, read, labels, into } => {
                    put(&mut values[into], Value::Enum(read.number(texts.behind(at)?)?, labels));
                }
                Step::Characters { at, length, into } => {
                    put(&mut values[into], Value::Text(until_nul(texts.behind(at)?.get(..length)?)));
                }
                Step::Keep { at, read, slot } => slots[slot] = read.number(texts.behind(at)?)?.into(),
            }
        }
        texts.behind(self.end)
    }
}

/// Replaces a value by another. Neither owns memory, so there is nothing to drop, and no time to look.
#[inline(always)]
fn put<'a>(place: &mut Value<'a>, value: Value<'a>) {
    std::mem::forget(std::mem::replace(place, value));
}

impl Read {
    fn integer(integer: &Integer) -> Option<Read> {
        if integer.order != ByteOrder::Little || integer.align < 8 {
            return None;
        }
        Some(match (integer.size, integer.signed) {
            (8, false) => Read::U8,
            (16, false) => Read::U16,
            (32, false) => Read::U32,
            (64, false) => Read::U64,
            (8, true) => Read::I8,
            (16, true) => Read::I16,
            (32, true) => Read::I32,
            (64, true) => Read::I64,
            _ => return None,
        })
    }

    fn size(self) -> usize {
        match self {
            Read::U8 | Read::I8 => 1,
            Read::U16 | Read::I16 => 2,
            Read::U32 | Read::I32 => 4,
            Read::U64 | Read::I64 => 8,
        }
    }

    /// The value at the beginning of the bytes, if there are enough.
    #[inline]
    fn value<'a>(self, bytes: &[u8]) -> Option<Value<'a>> {
        Some(match self.number(bytes)? {
            Number::Unsigned(value) => Value::Unsigned(value),
            Number::Signed(value) => Value::Signed(value),
        })
    }

    #[inline]
    fn number(self, bytes: &[u8]) -> Option<Number> {
        Some(match self {
            Read::U8 => Number::Unsigned(u8::from_le_bytes(*bytes.first_chunk()?).into()),
            Read::U16 => Number::Unsigned(u16::from_le_bytes(*bytes.first_chunk()?).into()),
            Read::U32 => Number::Unsigned(u32::from_le_bytes(*bytes.first_chunk()?).into()),
            Read::U64 => Number::Unsigned(u64::from_le_bytes(*bytes.first_chunk()?)),
            Read::I8 => Number::Signed(i8::from_le_bytes(*bytes.first_chunk()?).into()),
            Read::I16 => Number::Signed(i16::from_le_bytes(*bytes.first_chunk()?).into()),
            Read::I32 => Number::Signed(i32::from_le_bytes(*bytes.first_chunk()?).into()),
            Read::I64 => Number::Signed(i64::from_le_bytes(*bytes.first_chunk()?)),
        })
    }
}

/// Makes a plan.
struct Planner<'m> {
    stages: Vec<Stage<'m>>,
    /// The stage in bytes that is being made; the place is at its end.
    bytes: Steps<'m>,
    /// The place is known to be `residue` bits past a multiple of `modulus` bits.
    modulus: u32,
    residue: u32,
}

impl<'m> Planner<'m> {
    fn field(&mut self, kind: &'m Type, into: Option<usize>) {
        self.align(kind.align());
        let in_bytes = self.modulus >= 8 && self.residue.is_multiple_of(8);
        match kind {
            Type::Integer(integer) if in_bytes && let Some(read) = Read::integer(integer) => {
                let at = self.pass(read.size());
                self.keep(integer, at, read);
                self.bytes.steps.extend(into.map(|into| Step::Integer { at, read, into }));
            }
            Type::Enum(integer, labels) if in_bytes && let Some(read) = Read::integer(integer) => {
                let at = self.pass(read.size());
                self.keep(integer, at, read);
                self.bytes.steps.extend(into.map(|into| Step::Enum { at, read, labels, into }));
            }
            Type::Float(Float { size, align: 8.., order: ByteOrder::Little }) if in_bytes => {
                let at = self.pass(*size as usize / 8);
                let is_double = *size == 64;
                self.bytes.steps.extend(into.map(|into| Step::Float { at, is_double, into }));
            }
            Type::Text if in_bytes => {
                let at = std::mem::take(&mut self.bytes.end);
                match (into, self.bytes.steps.last_mut()) {
                    (Some(into), _) => self.bytes.steps.push(Step::Text { at, into }),
                    (None, Some(Step::SkipTexts { count, .. })) if at == 0 => *count += 1,
                    (None, _) => self.bytes.steps.push(Step::SkipTexts { at, count: 1 }),
                }
                (self.modulus, self.residue) = (8, 0);
            }
            Type::Array(array)
                if in_bytes
                    && (into.is_none() || kind.is_text_array())
                    && let Length::Fixed(length) = array.length
                    && let Some(bytes) = whole_bytes(&array.element, length) =>
            {
                let at = self.pass(bytes);
                self.bytes.steps.extend(into.map(|into| Step::Characters { at, length: bytes, into }));
            }
            Type::Struct(structure) if into.is_none() => {
                for member in &structure.members {
                    self.field(&member.kind, None);
                }
            }
            // A number that is skipped and that nobody refers to, of an odd size or in the other order.
            Type::Integer(Integer { size, slot: None, .. })
            | Type::Enum(Integer { size, slot: None, .. }, _)
                if in_bytes && into.is_none() && size.is_multiple_of(8) =>
            {
                self.pass(*size as usize / 8);
            }
            _ => {
                self.end_bytes();
                self.stages.push(match into {
                    Some(into) => Stage::Any { kind, into },
                    None => Stage::Skip(kind),
                });
                (self.modulus, self.residue) = (ends_at(kind), 0);
            }
        }
    }

    fn keep(&mut self, integer: &Integer, at: usize, read: Read) {
        self.bytes.steps.extend(integer.slot.map(|slot| Step::Keep { at, read, slot }));
    }

    /// Moves on by so many bytes, and says where they are.
    fn pass(&mut self, bytes: usize) -> usize {
        let at = self.bytes.end;
        self.bytes.end += bytes;
        self.residue = ((u64::from(self.residue) + bytes as u64 * 8) % u64::from(self.modulus)) as u32;
        at
    }

    fn end_bytes(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        if !bytes.steps.is_empty() || bytes.end > 0 {
            self.stages.push(Stage::Bytes(bytes));
        }
    }

    fn align(&mut self, align: u32) {
        if align > self.modulus {
            self.end_bytes();
            self.stages.push(Stage::Align(align));
            (self.modulus, self.residue) = (align, 0);
            return;
        }
        let padding = self.residue.wrapping_neg() & (align - 1);
        if padding == 0 {
            return;
        }
        if padding.is_multiple_of(8) && self.residue.is_multiple_of(8) {
            self.pass(padding as usize / 8);
        } else {
            self.end_bytes();
            self.stages.push(Stage::Align(align));
            self.residue = (self.residue + padding) % self.modulus;
        }
    }
}

/// The size in bytes of so many elements, if it is a whole number of them.
fn whole_bytes(element: &Type, length: u64) -> Option<usize> {
    let size = decode::packed_size(element).filter(|size| size.is_multiple_of(8))?;
    usize::try_from(length.checked_mul(size.into())? / 8).ok().filter(|&bytes| bytes > 0 && bytes < 1 << 24)
}

/// A multiple of how many bits a field of this type surely ends at.
fn ends_at(kind: &Type) -> u32 {
    match kind {
        Type::Text => 8,
        Type::Array(array) if kind.align() >= 8 => match decode::packed_size(&array.element) {
            Some(size) if size.is_multiple_of(8) => 8,
            _ => 1,
        },
        _ => 1,
    }
}
