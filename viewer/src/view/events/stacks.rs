//! Which fields of an event are stacks, and what is in them.

use std::rc::Rc;

use ctf_reader::{EventClass, OrderedEvent, Trace, Value};

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
    /// The name of each, and where its value is.
    pub fields: Vec<(String, usize)>,
    trace: usize,
    /// Where the process ID is.
    pid: Option<usize>,
}

impl ClassStacks {
    /// Whether the value in a slot is a stack.
    pub fn has(&self, slot: usize) -> bool {
        self.fields.iter().any(|(_, known)| *known == slot)
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
        let slot = |index: usize| shown.iter().find(|shown| shown.field == index).map(|shown| shown.slot);
        let stacks = self.dictionary.look_up(class).stacks;
        let field = |index: usize| Some((class.fields[index].name.to_string(), slot(index)?));
        let fields: Vec<_> = stacks.into_iter().filter_map(field).collect();
        let pid = class.field("vpid").and_then(slot);
        (!fields.is_empty()).then_some(ClassStacks { fields, trace: class.trace, pid })
    }

    /// What is in the stack in a slot of an event.
    pub(super) fn frames(
        &self,
        class: &ClassStacks,
        event: &OrderedEvent<'_>,
        slot: usize,
    ) -> Vec<Rc<Frame>> {
        let Value::List(list) = event.value(slot) else { return Vec::new() };
        let address = |element: &Value<'_>| match element {
            Value::Unsigned(address) => Some(*address),
            _ => None,
        };
        let addresses: Vec<u64> = list.elements.iter().filter_map(address).collect();
        let host = self.hosts.get(class.trace).and_then(Option::as_deref);
        let process = ProcessKey { host, pid: class.pid.and_then(|slot| vpid(&event.value(slot))) };
        self.symbols.frames(&process, event.timestamp(), &addresses)
    }
}
