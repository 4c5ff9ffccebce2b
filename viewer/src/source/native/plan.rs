//! An event class, compiled once into the steps that decode the fields somebody wants.
//!
//! Neighbouring fields of fixed size become one run, which is checked against the packet's end once and read
//! in place; a field nobody wants and nobody refers to is only part of a run's length. With contexts `vpid` and
//! `vtid`, and `name` and `duration` wanted, a `command_call` becomes:
//!
//! ```text
//! vpid i32 │ vtid i32 │ enum_field i32 │ addr string │ laddr string │ name string │ duration u64
//! └─────────── Run 12 ────────────────┘ └ SkipText ─┘ └ SkipText ──┘ └ Text → 0 ─┘ └ Run 8, Integer → 1
//! ```
//!
//! Whatever is not made of whole bytes in little-endian order takes the [general way](super::decode) within
//! the same plan.

use super::bits::{Bits, Fault, split_text};
use super::decode::{self, Slots, until_nul};
use super::metadata::{ByteOrder, Float, Integer, Length, Slot, Type};
use crate::source::{Enumeration, Integer as Number, Value};

/// The steps that decode an event's fields.
#[derive(Debug, Default)]
pub struct Plan<'m> {
    stages: Vec<Stage<'m>>,
}

#[derive(Debug)]
enum Stage<'m> {
    /// Whole bytes, one step after the other.
    Bytes(Vec<Step<'m>>),
    /// Move on to a multiple of so many bits.
    Align(u32),
    /// Step over anything.
    Skip(&'m Type),
    /// Read anything.
    Any { kind: &'m Type, into: usize },
    /// Give a value out once more, for a field that is wanted twice.
    Copy { from: usize, into: usize },
}

#[derive(Debug)]
enum Step<'m> {
    /// Take so many bytes for the steps that read in them.
    Run(usize),
    /// Read an integer in the run.
    Integer { at: usize, read: Read, into: usize },
    /// Read a floating-point number in the run, a double or a single one.
    Float { at: usize, is_double: bool, into: usize },
    /// Read a label's number in the run.
    Enum { at: usize, read: Read, labels: &'m Enumeration, into: usize },
    /// Read text of so many bytes in the run.
    Characters { at: usize, length: usize, into: usize },
    /// Keep an integer in the run for what refers to it.
    Keep { at: usize, read: Read, slot: Slot },
    /// Step over text up to its NUL.
    SkipText,
    /// Read text up to its NUL.
    Text { into: usize },
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
            steps: Vec::new(),
            run: None,
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
    #[inline]
    pub fn run<'a>(
        &'a self,
        bits: &mut Bits<'a>,
        slots: &mut Slots,
        values: &mut [Value<'a>],
    ) -> Result<(), Fault> {
        for stage in &self.stages {
            if let Stage::Bytes(steps) = stage {
                bits.set_rest(bytes(steps, bits.rest(), slots, values).ok_or(Fault::Short)?);
            } else {
                *bits = stage.run(*bits, slots, values)?;
            }
        }
        Ok(())
    }
}

impl<'m> Stage<'m> {
    /// Takes a stage that is not in bytes. The place is taken and returned by value, so that the caller can
    /// keep its own in registers.
    #[inline(never)]
    fn run<'a>(
        &'a self,
        mut bits: Bits<'a>,
        slots: &mut Slots,
        values: &mut [Value<'a>],
    ) -> Result<Bits<'a>, Fault> {
        match *self {
            Stage::Bytes(_) => {}
            Stage::Align(align) => bits.align(align)?,
            Stage::Skip(kind) => decode::skip(kind, &mut bits, slots)?,
            Stage::Any { kind, into } => values[into] = decode::value(kind, &mut bits, slots)?,
            Stage::Copy { from, into } => values[into] = values[from].clone(),
        }
        Ok(bits)
    }
}

/// Takes steps in bytes, and returns the bytes behind them, if there are enough.
///
/// This is where the time goes when all is well. It is kept apart so that what changes from step to step stays
/// in registers.
#[inline(never)]
fn bytes<'a>(
    steps: &'a [Step<'_>],
    mut rest: &'a [u8],
    slots: &mut Slots,
    values: &mut [Value<'a>],
) -> Option<&'a [u8]> {
    let mut run: &'a [u8] = &[];
    for step in steps {
        match *step {
            Step::Run(length) => (run, rest) = rest.split_at_checked(length)?,
            Step::SkipText => (_, rest) = split_text(rest)?,
            Step::Text { into } => {
                let (text, behind) = split_text(rest)?;
                put(&mut values[into], Value::Text(text));
                rest = behind;
            }
            Step::Integer { at, read, into } => put(&mut values[into], read.value(&run[at..])),
            Step::Float { at, is_double, into } => {
                let number = if is_double {
                    f64::from_le_bytes(first(&run[at..]))
                } else {
                    f32::from_le_bytes(first(&run[at..])).into()
                };
                put(&mut values[into], Value::Float(number));
            }
            Step::Enum { at, read, labels, into } => {
                put(&mut values[into], Value::Enum(read.number(&run[at..]), labels));
            }
            Step::Characters { at, length, into } => {
                put(&mut values[into], Value::Text(until_nul(&run[at..at + length])));
            }
            Step::Keep { at, read, slot } => slots[slot] = read.number(&run[at..]).into(),
        }
    }
    Some(rest)
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

    /// The value at the beginning of the bytes, of which a run has enough.
    #[inline]
    fn value<'a>(self, bytes: &[u8]) -> Value<'a> {
        match self.number(bytes) {
            Number::Unsigned(value) => Value::Unsigned(value),
            Number::Signed(value) => Value::Signed(value),
        }
    }

    #[inline]
    fn number(self, bytes: &[u8]) -> Number {
        match self {
            Read::U8 => Number::Unsigned(u8::from_le_bytes(first(bytes)).into()),
            Read::U16 => Number::Unsigned(u16::from_le_bytes(first(bytes)).into()),
            Read::U32 => Number::Unsigned(u32::from_le_bytes(first(bytes)).into()),
            Read::U64 => Number::Unsigned(u64::from_le_bytes(first(bytes))),
            Read::I8 => Number::Signed(i8::from_le_bytes(first(bytes)).into()),
            Read::I16 => Number::Signed(i16::from_le_bytes(first(bytes)).into()),
            Read::I32 => Number::Signed(i32::from_le_bytes(first(bytes)).into()),
            Read::I64 => Number::Signed(i64::from_le_bytes(first(bytes))),
        }
    }
}

/// The first bytes; zeros if there are too few, which a plan's runs rule out.
#[inline]
fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk().copied().unwrap_or([0; N])
}

/// Makes a plan.
struct Planner<'m> {
    stages: Vec<Stage<'m>>,
    /// The steps of the stage in bytes that is being made.
    steps: Vec<Step<'m>>,
    /// The step that begins the current run, and the run's length in bytes.
    run: Option<(usize, usize)>,
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
                let at = self.extend_run(read.size());
                self.keep(integer, at, read);
                self.steps.extend(into.map(|into| Step::Integer { at, read, into }));
            }
            Type::Enum(integer, labels) if in_bytes && let Some(read) = Read::integer(integer) => {
                let at = self.extend_run(read.size());
                self.keep(integer, at, read);
                self.steps.extend(into.map(|into| Step::Enum { at, read, labels, into }));
            }
            Type::Float(Float { size, align: 8.., order: ByteOrder::Little }) if in_bytes => {
                let at = self.extend_run(*size as usize / 8);
                let is_double = *size == 64;
                self.steps.extend(into.map(|into| Step::Float { at, is_double, into }));
            }
            Type::Text if in_bytes => {
                self.end_run();
                self.steps.push(match into {
                    Some(into) => Step::Text { into },
                    None => Step::SkipText,
                });
                (self.modulus, self.residue) = (8, 0);
            }
            Type::Array(array)
                if in_bytes
                    && (into.is_none() || kind.is_text_array())
                    && let Length::Fixed(length) = array.length
                    && let Some(bytes) = whole_bytes(&array.element, length) =>
            {
                let at = self.extend_run(bytes);
                self.steps.extend(into.map(|into| Step::Characters { at, length: bytes, into }));
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
                self.extend_run(*size as usize / 8);
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
        self.steps.extend(integer.slot.map(|slot| Step::Keep { at, read, slot }));
    }

    /// Puts so many bytes at the end of the current run, and says where in it they are.
    fn extend_run(&mut self, bytes: usize) -> usize {
        let (_, length) = self.run.get_or_insert((self.steps.len(), 0));
        let at = *length;
        *length += bytes;
        if at == 0 {
            self.steps.push(Step::Run(0));
        }
        self.residue = ((u64::from(self.residue) + bytes as u64 * 8) % u64::from(self.modulus)) as u32;
        at
    }

    fn end_run(&mut self) {
        if let Some((step, length)) = self.run.take() {
            self.steps[step] = Step::Run(length);
        }
    }

    fn end_bytes(&mut self) {
        self.end_run();
        if !self.steps.is_empty() {
            self.stages.push(Stage::Bytes(std::mem::take(&mut self.steps)));
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
        if padding.is_multiple_of(8) && self.run.is_some() {
            self.extend_run(padding as usize / 8);
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
