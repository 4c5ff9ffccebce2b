//! Which fields of an event are stacks, and what is in them.

use std::rc::Rc;

use ctf_reader::{EventClass, Field, OrderedEvent, Trace, Value};

use super::form::ShownField;
use ltt_analysis::meaning::Dictionary;
use ltt_analysis::symbols::{Frame, ProcessKey, Symbols, vpid};

/// Finds stacks and names their frames.
pub struct Stacks {
    dictionary: Dictionary,
    symbols: Symbols,
    /// The hosts of the traces.
    hosts: Vec<Option<String>>,
}

/// The stacks of a class.
pub(super) struct ClassStacks {
    /// The name of each, and its value.
    pub fields: Vec<(String, Field)>,
    trace: usize,
    /// The process ID.
    pid: Option<Field>,
}

impl ClassStacks {
    /// Whether a field is a stack.
    pub fn has(&self, field: Field) -> bool {
        self.fields.iter().any(|(_, known)| *known == field)
    }
}

impl Stacks {
    /// For events of these traces.
    pub fn new(dictionary: Dictionary, symbols: Symbols, traces: &[Trace]) -> Stacks {
        let host = |trace: &Trace| trace.environment("hostname").map(str::to_owned);
        Stacks { dictionary, symbols, hosts: traces.iter().map(host).collect() }
    }

    /// The stacks among the shown fields of a class, if there are any.
    pub(super) fn of_class(&self, class: &EventClass, shown: &[ShownField]) -> Option<ClassStacks> {
        let value = |index: usize| shown.iter().find(|shown| shown.index == index).map(|shown| shown.value);
        let stacks = self.dictionary.look_up(class).stacks;
        let field = |index: usize| Some((class.fields[index].name.to_string(), value(index)?));
        let fields: Vec<_> = stacks.into_iter().filter_map(field).collect();
        let pid = class.field("vpid").and_then(value);
        (!fields.is_empty()).then_some(ClassStacks { fields, trace: class.trace, pid })
    }

    /// What is in a stack of an event.
    pub(super) fn frames(
        &self,
        class: &ClassStacks,
        event: &OrderedEvent<'_>,
        stack: Field,
    ) -> Vec<Rc<Frame>> {
        let Value::List(list) = event.value(stack) else { return Vec::new() };
        let address = |element: &Value<'_>| match element {
            Value::Unsigned(address) => Some(*address),
            _ => None,
        };
        let addresses: Vec<u64> = list.elements.iter().filter_map(address).collect();
        let host = self.hosts.get(class.trace).and_then(Option::as_deref);
        let process = ProcessKey { host, pid: class.pid.and_then(|field| vpid(&event.value(field))) };
        self.symbols.frames(&process, event.timestamp(), &addresses)
    }
}
