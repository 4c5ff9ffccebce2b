//! An event class, compiled once into a plan that decodes the wanted fields.
//!
//! Nearly all events are one [stretch](super::fast::stretch) of whole bytes in little-endian order, and are only stepped
//! over: their fields are read where they are. Anything else takes the [general path](super::general), one stage
//! after the other.

use std::sync::Arc;

use super::bits::{Bits, Fault};
use super::fast::stretch::{FieldForm, Primitive, StoredField, Stretch};
use super::frozen::Frozen;
use super::general::{self, Slots};
use crate::Value;
use crate::metadata::{ArrayType, EnvironmentValue, IntegerType, Length, Type};

/// How to decode the events of a class.
#[derive(Debug)]
pub enum EventPlan {
    /// Step over them, and read the wanted fields in place.
    InPlace(Stretch, Vec<ValueSource>),
    /// Take one stage after the other.
    Stages(Stages),
}

/// Where the values of a wanted field come from.
#[derive(Clone, Debug)]
pub enum ValueSource {
    /// From each event.
    Field(StoredField),
    /// From the trace or the packet.
    Constant(Constant),
}

/// A value that does not change from event to event.
#[derive(Clone, Debug)]
pub enum Constant {
    /// The same for the trace.
    Environment(EnvironmentValue),
    /// A member of the packet context.
    Packet(usize),
    /// No value.
    Nothing,
}

impl Constant {
    /// The value, in a packet with this context.
    #[inline]
    pub fn value<'a>(&'a self, context: &'a [Frozen]) -> Value<'a> {
        match self {
            Constant::Environment(EnvironmentValue::Text(text)) => Value::Text(text.as_bytes()),
            Constant::Environment(EnvironmentValue::Integer(number)) => match i64::try_from(*number) {
                Ok(number) => Value::Signed(number),
                Err(_) => Value::Unsigned(*number as u64),
            },
            Constant::Packet(member) => {
                context.get(*member).map_or_else(|| Value::Unsigned(0), Frozen::value)
            }
            Constant::Nothing => Value::Unsigned(0),
        }
    }
}

/// Stages, one after the other.
#[derive(Debug)]
pub struct Stages {
    stages: Vec<Stage>,
    /// The constants, with where they go.
    constants: Vec<(usize, Constant)>,
    /// The number of wanted values.
    width: usize,
}

#[derive(Debug)]
enum Stage {
    /// Decode whole bytes.
    Stretch(Stretch),
    /// Move on to a multiple of this many bits.
    Align(u32),
    /// Step over anything.
    Skip(Type),
    /// Read anything.
    Any { kind: Type, into: usize },
}

/// A scope of an event, with where the value of each of its members goes, if anywhere.
pub type WantedMembers<'t> = (&'t Type, Vec<Option<usize>>);

impl EventPlan {
    /// A plan for scopes that follow each other. `byte_aligned` says whether the first begins at a byte's
    /// boundary. `constants` has a place for each wanted value, and a constant where no member goes.
    pub fn new(
        scopes: &[WantedMembers<'_>],
        byte_aligned: bool,
        constants: Vec<Option<Constant>>,
    ) -> EventPlan {
        let mut planner = Planner {
            stages: Vec::new(),
            stretch: Stretch::default(),
            modulus: if byte_aligned { 8 } else { 1 },
            residue: 0,
        };
        for (scope, wanted) in scopes {
            planner.align(scope.align());
            for (member, into) in scope.members().iter().zip(wanted) {
                planner.field(&member.kind, *into);
            }
        }
        let stretch = std::mem::take(&mut planner.stretch);
        if planner.stages.is_empty() && stretch.kept.is_empty() {
            let constants = constants.into_iter().map(|constant| constant.unwrap_or(Constant::Nothing));
            let mut wanted: Vec<_> = constants.map(ValueSource::Constant).collect();
            stretch.fields.iter().for_each(|(into, field)| wanted[*into] = ValueSource::Field(field.clone()));
            return EventPlan::InPlace(stretch, wanted);
        }
        planner.stretch = stretch;
        planner.end_stretch();
        let (stages, width) = (planner.stages, constants.len());
        let places = constants.into_iter().enumerate();
        let constants = places.filter_map(|(into, constant)| Some((into, constant?))).collect();
        EventPlan::Stages(Stages { stages, constants, width })
    }

    /// Where the wanted fields come from, if they are read in place.
    #[inline(always)]
    pub fn in_place(&self) -> &[ValueSource] {
        match self {
            EventPlan::InPlace(_, wanted) => wanted,
            EventPlan::Stages(_) => &[],
        }
    }

    /// Whether it needs the context of packets.
    pub fn needs_context(&self) -> bool {
        let is_packet = |constant: &Constant| matches!(constant, Constant::Packet(_));
        match self {
            EventPlan::InPlace(_, wanted) => wanted
                .iter()
                .any(|wanted| matches!(wanted, ValueSource::Constant(constant) if is_packet(constant))),
            EventPlan::Stages(stages) => stages.constants.iter().any(|(_, constant)| is_packet(constant)),
        }
    }
}

impl Stages {
    /// Steps over one event.
    pub fn skip(&self, bits: &mut Bits<'_>, slots: &mut Slots) -> Result<(), Fault> {
        for stage in &self.stages {
            match stage {
                Stage::Stretch(stretch) => stretch.skip(bits, slots)?,
                Stage::Align(align) => bits.align(*align)?,
                Stage::Skip(kind) | Stage::Any { kind, .. } => general::skip(kind, bits, slots)?,
            }
        }
        Ok(())
    }

    /// Decodes one event in a packet with this context.
    pub fn decode<'a>(
        &'a self,
        bits: &mut Bits<'a>,
        slots: &mut Slots,
        context: &'a [Frozen],
    ) -> Result<Vec<Value<'a>>, Fault> {
        let mut values = vec![Value::Unsigned(0); self.width];
        for stage in &self.stages {
            match stage {
                Stage::Stretch(stretch) => stretch.decode(bits, slots, &mut values)?,
                Stage::Align(align) => bits.align(*align)?,
                Stage::Skip(kind) => general::skip(kind, bits, slots)?,
                Stage::Any { kind, into } => values[*into] = general::value(kind, bits, slots)?,
            }
        }
        for (into, constant) in &self.constants {
            values[*into] = constant.value(context);
        }
        Ok(values)
    }
}

/// Makes a plan.
struct Planner {
    stages: Vec<Stage>,
    /// The stretch that is being made; the position is at its end.
    stretch: Stretch,
    /// The position is known to be `residue` bits past a multiple of `modulus` bits.
    modulus: u32,
    residue: u32,
}

impl Planner {
    fn field(&mut self, kind: &Type, into: Option<usize>) {
        self.align(kind.align());
        let in_bytes = self.modulus >= 8 && self.residue % 8 == 0;
        if in_bytes && self.field_in_bytes(kind, into) {
            return;
        }
        match kind {
            Type::Struct(structure) if into.is_none() => {
                for member in &structure.members {
                    self.field(&member.kind, None);
                }
            }
            // A number that is skipped and that nothing refers to, of an odd size or in the other byte order.
            Type::Integer(IntegerType { size: Some(size), slot: None, .. })
                if in_bytes && into.is_none() && size % 8 == 0 =>
            {
                self.skip(*size / 8);
            }
            _ => {
                self.end_stretch();
                self.stages.push(match into {
                    Some(into) => Stage::Any { kind: kind.clone(), into },
                    None => Stage::Skip(kind.clone()),
                });
                (self.modulus, self.residue) = (ends_at(kind), 0);
            }
        }
    }

    /// Adds a field that begins at a byte's boundary to the stretch, if its type allows that.
    fn field_in_bytes(&mut self, kind: &Type, into: Option<usize>) -> bool {
        match kind {
            Type::Integer(integer) => {
                let Some(read) = Primitive::integer(integer) else { return false };
                let form = match &integer.labels {
                    Some(labels) => FieldForm::Enum(read, Arc::clone(labels)),
                    None if integer.is_boolean => FieldForm::Bool(read),
                    None => FieldForm::Integer(read),
                };
                let field = self.pass(read.size(), form);
                // Others may refer to it.
                let slot = integer.slot.map(|slot| (slot, field.with_form(FieldForm::Integer(read))));
                self.stretch.kept.extend(slot);
                self.want(field, into);
            }
            Type::Float(float) => {
                let Some(read) = Primitive::float(float) else { return false };
                let field = self.pass(read.size(), FieldForm::Float(read));
                self.want(field, into);
            }
            Type::Text => {
                let field = self.stretch.text();
                self.want(field, into);
                (self.modulus, self.residue) = (8, 0);
            }
            Type::Array(array) if into.is_none() || kind.is_text_array() => {
                let Some(bytes) = whole_bytes(array) else { return false };
                let field = self.pass(bytes, FieldForm::Characters(bytes));
                self.want(field, into);
            }
            _ => return false,
        }
        true
    }

    fn want(&mut self, field: StoredField, into: Option<usize>) {
        self.stretch.fields.extend(into.map(|into| (into, field)));
    }

    /// Moves on by something of this many bytes.
    fn pass(&mut self, bytes: usize, form: FieldForm) -> StoredField {
        self.residue = ((u64::from(self.residue) + bytes as u64 * 8) % u64::from(self.modulus)) as u32;
        self.stretch.pass(bytes, form)
    }

    /// Moves on by bytes that are not wanted.
    fn skip(&mut self, bytes: u32) {
        self.pass(bytes as usize, FieldForm::Integer(Primitive::U8));
    }

    fn end_stretch(&mut self) {
        let stretch = std::mem::take(&mut self.stretch);
        if !stretch.is_empty() {
            self.stages.push(Stage::Stretch(stretch));
        }
    }

    fn align(&mut self, align: u32) {
        if align > self.modulus {
            self.end_stretch();
            self.stages.push(Stage::Align(align));
            (self.modulus, self.residue) = (align, 0);
            return;
        }
        let padding = self.residue.wrapping_neg() & (align - 1);
        if padding == 0 {
            return;
        }
        if padding % 8 == 0 && self.residue % 8 == 0 {
            self.skip(padding / 8);
        } else {
            self.end_stretch();
            self.stages.push(Stage::Align(align));
            self.residue = (self.residue + padding) % self.modulus;
        }
    }
}

/// The size of an array in bytes, if it is fixed and a whole number of them.
fn whole_bytes(array: &ArrayType) -> Option<usize> {
    let Length::Fixed(length) = array.length else { return None };
    let size = general::packed_size(&array.element).filter(|size| size % 8 == 0)?;
    usize::try_from(length.checked_mul(size.into())? / 8).ok().filter(|&bytes| bytes > 0 && bytes < 1 << 24)
}

/// The multiple of bits at which a field of this type always ends.
fn ends_at(kind: &Type) -> u32 {
    match kind {
        Type::Integer(IntegerType { size: None, .. }) | Type::Text => 8,
        Type::Array(array) if kind.align() >= 8 => match general::packed_size(&array.element) {
            Some(size) if size % 8 == 0 => 8,
            _ => 1,
        },
        _ => 1,
    }
}
