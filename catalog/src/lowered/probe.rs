//! An event as a USDT probe: which of its arguments a tracer can read, and as what.
//!
//! The probe's function gets one pointer, to an array of 64-bit words, and the note in the binary describes each
//! argument as memory from there. So the operands are the same for any number of arguments, and none depends on what a
//! compiler keeps in which register.

use crate::{Content, Event, Extent, NumberKind, Shape};

use super::argument::Argument;

/// A probe of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The arguments, in the order in which a tracer counts them.
    pub arguments: Vec<ProbeArgument>,
    /// Whether there is a second probe, `EVENT__start`, where a measurement begins.
    pub has_start: bool,
}

/// An argument of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeArgument {
    /// The argument of the event that it comes from.
    pub index: usize,
    /// The part of it that a tracer reads.
    pub part: ProbePart,
    /// The bytes that a tracer reads, negative if they are signed.
    pub size: i32,
}

/// What a tracer sees of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbePart {
    /// A number; the bits of a float.
    Value,
    /// A pointer to text that ends in a NUL.
    Text,
    /// A pointer to bytes or elements.
    Start,
    /// The number of bytes or elements.
    Length,
}

impl Probe {
    pub(crate) fn lower(event: &Event, arguments: &[Argument<'_>]) -> Probe {
        let each = arguments.iter().enumerate();
        // Twelve fit, and LTTng-UST takes no more than ten.
        let arguments = each.flat_map(|(index, argument)| of_argument(index, argument)).collect();
        Probe { arguments, has_start: event.entry }
    }

    /// The arguments as a stapsdt note has them on x86-64: `8@0(%rdi) -4@8(%rdi)`.
    pub fn x86_64(&self) -> String {
        self.operands(|offset| format!("{offset}(%rdi)"))
    }

    /// The arguments as a stapsdt note has them on AArch64: `8@[x0] -4@[x0, 8]`.
    pub fn aarch64(&self) -> String {
        self.operands(|offset| match offset {
            0 => "[x0]".to_owned(),
            _ => format!("[x0, {offset}]"),
        })
    }

    fn operands(&self, operand: impl Fn(usize) -> String) -> String {
        let each = self.arguments.iter().enumerate();
        let each = each.map(|(index, argument)| format!("{}@{}", argument.size, operand(8 * index)));
        each.collect::<Vec<_>>().join(" ")
    }
}

fn of_argument(index: usize, argument: &Argument<'_>) -> Vec<ProbeArgument> {
    let of = |part, size| ProbeArgument { index, part, size };
    let Shape { content, element, extent } = argument.shape;
    let start = match content {
        // Tracers take stacks themselves.
        Content::Stack => return vec![],
        Content::Text => ProbePart::Text,
        Content::Number | Content::Enumeration => ProbePart::Start,
    };
    let size = element.width.bytes() as i32;
    match extent {
        Extent::One if element.kind == NumberKind::Signed => vec![of(ProbePart::Value, -size)],
        Extent::One => vec![of(ProbePart::Value, size)],
        Extent::Terminated | Extent::Fixed(_) => vec![of(start, 8)],
        Extent::Counted(width) => {
            let size = width.bytes() as i32;
            let size = if argument.field.signed_length { -size } else { size };
            vec![of(start, 8), of(ProbePart::Length, size)]
        }
    }
}
