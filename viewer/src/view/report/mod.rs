//! Pages for browsers: one file each that needs nothing else.
//!
//! `report.html` is a report on a trace, drawn by `script.js` from a block of data; `blocks.html` is any other finding, as
//! it stands on a terminal. What a trace says is untrusted: templates escape it, the script sets it as text only, and
//! the page's policy lets nothing run or load but its own script and style, which it names by their hashes.

mod blocks;
mod data;
mod hash;
mod text;

use std::io::{self, Write};

use minijinja::{Environment, Value, context};

use super::{Screen, notes};
use hash::source_hash;
use ltt_analysis::overview::Overview;

pub(super) use blocks::output;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// What made the page.
const GENERATOR: &str = concat!("ltt-top ", env!("CARGO_PKG_VERSION"));

/// Writes a report on a trace as a page of at most about 2 MB, whatever was recorded. `title` names the trace.
pub fn write(overview: &Overview, title: &str, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    let data = data::bounded(overview, screen)?;
    let page = context! {
        title,
        heading => text::heading(overview, screen),
        losses => notes::losses(&overview.top.trace),
        data => data.text,
        script => SCRIPT,
        script_hash => source_hash(SCRIPT),
        ..text::context(overview, &data.limits, screen)
    };
    render("report.html", page, out)
}

fn render(template: &str, page: Value, out: &mut dyn Write) -> io::Result<()> {
    let mut environment = Environment::new();
    let templates = [
        ("base.html", include_str!("base.html")),
        ("blocks.html", include_str!("blocks.html")),
        ("report.html", include_str!("report.html")),
    ];
    for (name, source) in templates {
        environment.add_template(name, source).map_err(io::Error::other)?;
    }
    let page = context! { style => STYLE, style_hash => source_hash(STYLE), generator => GENERATOR, ..page };
    let template = environment.get_template(template).map_err(io::Error::other)?;
    out.write_all(template.render(page).map_err(io::Error::other)?.as_bytes())
}
