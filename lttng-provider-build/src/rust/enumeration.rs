//! Enumerations as Rust enums.

use lttng_catalog::{Enumeration, Label};

use super::doc;

pub(super) fn enumeration(enumeration: &Enumeration) -> String {
    let name = enumeration.rust_name();
    let integer = enumeration.container.rust_name();
    let unlabelled = Label::UNLABELLED;
    let each =
        |write: &dyn Fn(&Label) -> String| -> String { enumeration.labels.iter().map(write).collect() };
    let variants = each(&|label| {
        let variant = label.rust_name();
        let otherwise = format!("Recorded as `{}`.", label.name);
        let doc = doc::comment(&label.doc, &otherwise).replace("///", "    ///");
        if is_range(label) {
            let (start, end) = label.values.clone().into_inner();
            format!("{doc}    ///\n    /// A value from {start} to {end}.\n    {variant}({integer}),\n")
        } else {
            format!("{doc}    {variant},\n")
        }
    });
    let values = each(&|label| {
        let variant = label.rust_name();
        if is_range(label) {
            format!("            {name}::{variant}(value) => value,\n")
        } else {
            format!("            {name}::{variant} => {},\n", label.values.start())
        }
    });
    let labels = each(&|label| {
        let variant = label.rust_name();
        if is_range(label) {
            let (start, end) = label.values.clone().into_inner();
            format!("            {start}..={end} => {name}::{variant}(value),\n")
        } else {
            format!("            {} => {name}::{variant},\n", label.values.start())
        }
    });
    let doc =
        doc::comment(&enumeration.doc, &format!("The values of the enumeration `{}`.", enumeration.name));
    format!(
        "{doc}#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum {name} {{
{variants}    /// A value that has no label.
    {unlabelled}({integer}),
}}

impl {name} {{
    /// The value that is recorded.
    #[inline]
    pub fn value(self) -> {integer} {{
        match self {{
{values}            {name}::{unlabelled}(value) => value,
        }}
    }}
}}

impl From<{integer}> for {name} {{
    #[inline]
    #[allow(unreachable_patterns)]
    fn from(value: {integer}) -> Self {{
        match value {{
{labels}            _ => {name}::{unlabelled}(value),
        }}
    }}
}}

#[diagnostic::do_not_recommend]
impl lttng_provider::Value<'_, {name}> for {name} {{
    #[inline]
    fn value(&self) -> {name} {{
        *self
    }}
}}
"
    )
}

fn is_range(label: &Label) -> bool {
    label.values.start() != label.values.end()
}
