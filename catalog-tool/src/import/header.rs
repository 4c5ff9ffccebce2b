//! LTTng-UST headers with the usual macros, in the names of 2.13 (`LTTNG_UST_TRACEPOINT_…`) and the older ones.
//!
//! Macros of the application around them are expanded first.

mod enums;

use std::collections::{HashMap, HashSet};

use super::c_type::{Types, spell};
use super::calls::{Call, Calls, Range};
use super::comments::{Comments, Documentation};
use super::draft::{
    Draft, DraftClass, DraftEnumeration, DraftEvent, DraftField, DraftProvider, MOST_ARGUMENTS,
};
use super::field_macro::{Read, Reader};
use super::lex::{Kind, Source, Token};
use super::lttng_macros::{Macro, kind_of, log_level};
use super::number::Constants;
use super::problem::Problem;

/// Reads the providers of a header without the events that have errors; the notes say what differs from it.
pub fn read(source: Source<'_>, types: &Types, notes: &mut Vec<Problem>) -> Draft {
    let Source { tokens, comments, .. } = source;
    let calls = Calls::new(&tokens);
    let constants = Constants::find(&tokens);
    let mut header = Header {
        reader: Reader { calls: &calls, types, constants: &constants },
        comments: Comments::new(comments),
        providers: Vec::new(),
        by_name: HashMap::new(),
        classes: HashMap::new(),
        enums: HashMap::new(),
        used: HashSet::new(),
        left_out: HashSet::new(),
        later: Vec::new(),
        is_later: false,
        problems: Vec::new(),
        notes,
    };
    header.run();
    header.note_what_is_left_out();
    if header.providers.is_empty() && header.problems.is_empty() {
        header.problem(1, "no `LTTNG_UST_TRACEPOINT_EVENT(…)` or `TRACEPOINT_EVENT(…)` found");
    }
    Draft { providers: header.providers, problems: header.problems }
}

struct Header<'h, 'a, 't> {
    reader: Reader<'h, 'a, 't>,
    comments: Comments<'t>,
    providers: Vec<DraftProvider>,
    by_name: HashMap<String, usize>,
    /// By provider and name.
    classes: HashMap<(String, String), DraftClass>,
    enums: HashMap<(String, String), DraftEnumeration>,
    /// The classes and enums that something uses.
    used: HashSet<(String, String)>,
    /// The events that have errors, by provider and name.
    left_out: HashSet<(String, String)>,
    /// Instances of classes that come after them, and what is said of those; read at the end.
    later: Vec<(Macro, Call<'t>)>,
    is_later: bool,
    problems: Vec<Problem>,
    notes: &'h mut Vec<Problem>,
}

impl<'t> Header<'_, '_, 't> {
    fn run(&mut self) {
        let (mut at, end) = (0, self.reader.calls.tokens.len());
        while at < end {
            let call = match self.reader.calls.at(at, end) {
                Some(Ok(call)) => call,
                Some(Err(name)) if kind_of(name.text).is_some() => {
                    self.problem(name.line, format!("`{}(` is not closed; add a `)`", name.text));
                    at += 1;
                    continue;
                }
                _ => {
                    at += 1;
                    continue;
                }
            };
            let Some(kind) = kind_of(call.name.text) else {
                at += 1;
                continue;
            };
            self.take(kind, &call);
            at = call.end;
        }
        self.is_later = true;
        for (kind, call) in std::mem::take(&mut self.later) {
            self.take(kind, &call);
        }
    }

    fn take(&mut self, kind: Macro, call: &Call<'t>) {
        let done = match kind {
            Macro::Event | Macro::Class => self.with_fields(kind, call),
            Macro::Instance => self.instance(call),
            Macro::Enum => self.enumeration(call),
            Macro::LogLevel => self.log_level(call),
            Macro::ModelUri => self.model_uri(call),
        };
        match done {
            Err(_) if !self.is_later && self.may_be_later(kind, call) => {
                self.later.push((kind, call.clone()))
            }
            Err(message) => self.problem(call.name.line, message),
            Ok(()) => {}
        }
    }

    /// Whether a class may follow that this needs, directly or by an event that is read later.
    fn may_be_later(&self, kind: Macro, call: &Call<'t>) -> bool {
        let event =
            |call: &Call<'t>| call.arguments.iter().rev().nth(1).and_then(|range| self.name(range).ok());
        match kind {
            Macro::Instance => true,
            Macro::LogLevel | Macro::ModelUri => {
                self.later.iter().any(|(_, other)| event(other) == event(call))
            }
            _ => false,
        }
    }

    /// A catalog has classes and enums only for events.
    fn note_what_is_left_out(&mut self) {
        let classes = self.classes.iter().map(|(key, class)| (key, "class", class.line));
        let enums = self.enums.iter().map(|(key, enumeration)| (key, "enum", enumeration.line));
        for (key, what, line) in classes.chain(enums).filter(|(key, ..)| !self.used.contains(*key)) {
            self.notes.push(Problem::new(
                line,
                format!("the {what} `{}` is left out, because nothing uses it", key.1),
            ));
        }
    }

    /// An event with its own fields, or a class.
    fn with_fields(&mut self, kind: Macro, call: &Call<'t>) -> Result<(), String> {
        let doc = self.comments.before(call.name.offset, call.name.line).text;
        let [provider, name, arguments, rest @ ..] = &call.arguments[..] else {
            return Err(takes(call, "a provider, a name, arguments and fields"));
        };
        let (provider, name, line) = (self.name(provider)?, self.name(name)?, call.name.line);
        self.check_arguments(call, arguments)?;
        match (kind, self.fields(call, rest.first(), &provider)?) {
            (Macro::Class, Some(fields)) => {
                let class = DraftClass { name: name.clone(), line, doc, fields };
                if self.classes.insert((provider, name.clone()), class).is_some() {
                    return Err(format!("duplicate class `{name}`"));
                }
            }
            (Macro::Class, None) => {}
            (_, Some(fields)) => {
                let event = DraftEvent { name, line, doc, fields, ..DraftEvent::default() };
                self.provider(&provider, call).events.push(event);
            }
            (_, None) => _ = self.left_out.insert((provider, name)),
        }
        Ok(())
    }

    /// An event of a class; since 2.13 the class comes with its provider.
    fn instance(&mut self, call: &Call<'t>) -> Result<(), String> {
        let documentation = self.comments.before(call.name.offset, call.name.line);
        let (class_provider, class, provider, name) = match &call.arguments[..] {
            [class_provider, class, provider, name, _] => (class_provider, class, provider, name),
            [provider, class, name, _] => (provider, class, provider, name),
            _ => return Err(takes(call, "a class, a provider, a name and arguments")),
        };
        let (class_provider, class_name) = (self.name(class_provider)?, self.name(class)?);
        let (provider, name) = (self.name(provider)?, self.name(name)?);
        let Some(class) = self.classes.get(&(class_provider.clone(), class_name.clone())) else {
            if self.is_later {
                self.left_out.insert((provider, name.clone()));
            }
            return Err(format!("`{name}`: no class `{class_name}` of `{class_provider}`"));
        };
        let mut class = class.clone();
        self.used.insert((class_provider.clone(), class_name.clone()));
        let (line, doc) = (call.name.line, documentation.text);
        let mut event = DraftEvent { name: name.clone(), line, doc, ..DraftEvent::default() };
        if class.fields.is_empty() {
            // An event without fields needs no class.
        } else if class_provider != provider {
            let note =
                format!("`{name}` gets copies of the fields of `{class_provider}`'s class `{class_name}`");
            self.notes.push(Problem::new(call.name.line, note));
            event.fields = class.fields;
        } else {
            event.class = Some(class_name.clone());
            let known = self.provider(&provider, call);
            // An instance of the same class is mostly the last event.
            if !known.classes.iter().rev().any(|known| known.name == class_name) {
                class.name = class_name;
                known.classes.push(class);
            }
        }
        self.provider(&provider, call).events.push(event);
        Ok(())
    }

    fn log_level(&mut self, call: &Call<'t>) -> Result<(), String> {
        let [_, _, level] = &call.arguments[..] else {
            return Err(takes(call, "a provider, an event and a level"));
        };
        let level = spell(self.reader.calls.slice(level));
        let known = log_level(&level).ok_or_else(|| format!("unknown log level `{level}`"))?;
        if let Some(event) = self.declared_event(call)? {
            event.log_level = Some(known);
        }
        Ok(())
    }

    fn model_uri(&mut self, call: &Call<'t>) -> Result<(), String> {
        let [_, _, uri] = &call.arguments[..] else {
            return Err(takes(call, "a provider, an event and a URI"));
        };
        let uri = self.text(uri)?;
        if let Some(event) = self.declared_event(call)? {
            event.model_uri = Some(uri);
        }
        Ok(())
    }

    /// The event that the first two arguments name; `None` if it was left out.
    fn declared_event(&mut self, call: &Call<'t>) -> Result<Option<&mut DraftEvent>, String> {
        let (provider, name) = (self.name(&call.arguments[0])?, self.name(&call.arguments[1])?);
        let index = self.by_name.get(&provider).copied();
        // It is mostly the last one.
        let found = index
            .and_then(|index| self.providers[index].events.iter_mut().rev().find(|event| event.name == name));
        let is_left_out = self.left_out.contains(&(provider.clone(), name.clone()));
        if found.is_none() && !is_left_out {
            return Err(format!("no event `{provider}:{name}` before this line"));
        }
        Ok(found)
    }

    /// The fields in `TP_FIELDS(…)`; an event without any may lack it. `None` if one of them has an error.
    fn fields(
        &mut self,
        event: &Call<'t>,
        range: Option<&Range>,
        provider: &str,
    ) -> Result<Option<Vec<DraftField>>, String> {
        let Some(range) = range.filter(|range| !range.is_empty()) else { return Ok(Some(Vec::new())) };
        let known = self.problems.len();
        let range = self.wrapped(range, &["LTTNG_UST_TP_FIELDS", "TP_FIELDS"])?;
        let mut fields: Vec<DraftField> = Vec::new();
        self.each_call(range, |header, call| {
            let before = header.comments.before(call.name.offset, call.name.line);
            let mut field = match header.reader.read(call)? {
                Read::Nothing => return Ok(()),
                Read::Field(field) => field,
                Read::Enum { mut field, provider: declared, name, container } => {
                    field.kind = header.enum_type(event, provider, &declared, &name, &container)?;
                    field
                }
            };
            field.doc = before.or(header.on_line_of(call)).text;
            fields.push(field);
            Ok(())
        });
        self.drop_derived(&mut fields);
        unshare_arguments(&mut fields);
        Ok((self.problems.len() == known).then_some(fields))
    }

    /// A catalog's event takes an argument for each field. If these are too many, fields go of which another one has the
    /// argument.
    fn drop_derived(&mut self, fields: &mut Vec<DraftField>) {
        let argument = |field: &DraftField| field.argument.clone().unwrap_or_else(|| field.name.clone());
        let mut count: usize = fields.iter().map(DraftField::arguments).sum();
        for index in (0..fields.len()).rev() {
            if count <= MOST_ARGUMENTS {
                return;
            }
            let shared = argument(&fields[index]);
            if fields[..index].iter().any(|other| argument(other) == shared) {
                let field = fields.remove(index);
                count -= field.arguments();
                let message = format!(
                    "the field `{}` is left out: LTTng-UST takes at most {MOST_ARGUMENTS} arguments, and another field \
                     has `{shared}`",
                    field.name
                );
                self.notes.push(Problem::new(field.line, message));
            }
        }
    }

    /// `TP_ARGS(type, name, …)`: both of each, or nothing.
    fn check_arguments(&self, event: &Call<'t>, range: &Range) -> Result<(), String> {
        let calls = self.reader.calls;
        let Some(Ok(call)) = calls.at(range.start, range.end).filter(|_| !range.is_empty()) else {
            return Err(takes(event, "arguments such as `LTTNG_UST_TP_ARGS(int, number)`"));
        };
        let is_void = matches!(&call.arguments[..], [only] if spell(calls.slice(only)) == "void");
        if call.arguments.len() % 2 != 0 && !is_void {
            return Err(format!(
                "`{}` has a type and a name for each argument, but {} is an odd number",
                call.name.text,
                call.arguments.len()
            ));
        }
        Ok(())
    }

    /// The tokens within the parentheses of one of these macros.
    fn wrapped(&self, range: &Range, names: &[&str]) -> Result<Range, String> {
        match self.reader.calls.at(range.start, range.end) {
            Some(Ok(call)) if names.contains(&call.name.text) && call.end == range.end => {
                Ok(range.start + 2..range.end - 1)
            }
            _ => Err(format!("expected `{}(…)`", names[0])),
        }
    }

    /// Visits every call in a list without commas; an error in one does not affect the others.
    fn each_call(&mut self, range: Range, mut take: impl FnMut(&mut Self, &Call<'t>) -> Result<(), String>) {
        let mut at = range.start;
        while at < range.end {
            let calls = self.reader.calls;
            match calls.at(at, range.end) {
                Some(Ok(call)) => {
                    at = call.end;
                    if let Err(message) = take(self, &call) {
                        self.problem(call.name.line, message);
                    }
                }
                _ => {
                    let token = calls.tokens[at];
                    self.problem(
                        token.line,
                        format!("expected a macro with parentheses, found `{}`", token.text),
                    );
                    return;
                }
            }
        }
    }

    /// The comment after a macro, on its line and before anything else.
    fn on_line_of(&mut self, call: &Call<'t>) -> Documentation {
        let tokens = self.reader.calls.tokens;
        let (end, next) = (tokens[call.end - 1], tokens.get(call.end));
        self.comments.after(end.end(), end.line, next.map_or(usize::MAX, |next| next.offset))
    }

    fn provider(&mut self, name: &str, call: &Call<'t>) -> &mut DraftProvider {
        let index = *self.by_name.entry(name.to_owned()).or_insert_with(|| {
            let (name, line) = (name.to_owned(), call.name.line);
            self.providers.push(DraftProvider { name, line, ..DraftProvider::default() });
            self.providers.len() - 1
        });
        &mut self.providers[index]
    }

    fn name(&self, range: &Range) -> Result<String, String> {
        match self.reader.calls.slice(range) {
            [word] if word.kind == Kind::Word => Ok(word.text.to_owned()),
            tokens => Err(format!("expected a name, found `{}`", spell(tokens))),
        }
    }

    /// A text of one or several literals.
    fn text(&self, range: &Range) -> Result<String, String> {
        let tokens = self.reader.calls.slice(range);
        let parts: Option<String> = tokens.iter().map(literal).collect();
        parts
            .filter(|_| !tokens.is_empty())
            .ok_or_else(|| format!("expected a text, found `{}`", spell(tokens)))
    }

    fn problem(&mut self, line: usize, message: impl Into<String>) {
        self.problems.push(Problem::new(line, message));
    }
}

fn takes(call: &Call<'_>, what: &str) -> String {
    format!("`{}` takes {what}", call.name.text)
}

/// An argument that two fields share cannot be the argument of both; they get the names of the fields.
fn unshare_arguments(fields: &mut [DraftField]) {
    let mut uses: HashMap<String, usize> = HashMap::new();
    for field in fields.iter() {
        *uses.entry(field.argument.clone().unwrap_or_else(|| field.name.clone())).or_default() += 1;
    }
    for field in fields {
        field.argument.take_if(|argument| uses.get(argument).is_some_and(|uses| *uses > 1));
    }
}

/// The text of a literal with its simple escapes.
fn literal(token: &Token<'_>) -> Option<String> {
    let inner = token.text.strip_prefix('"')?.strip_suffix('"')?;
    let mut text = String::new();
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        text.push(if letter == '\\' { letters.next()? } else { letter });
    }
    Some(text)
}
