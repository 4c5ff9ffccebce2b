//! A catalog as one HTML page, made from its Markdown.

use std::collections::HashMap;

use lttng_catalog::{Catalog, markdown};
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

/// Writes a catalog as a self-contained page, without scripts, fonts or images.
///
/// HTML in a `doc` is shown as text, and links lead to web pages only.
///
/// ```
/// let page = lttng_catalog_cli::html::page(&lttng_catalog::valkey());
/// assert!(page.contains(r#"<h2 id="valkey_commands">"#));
/// ```
pub fn page(catalog: &Catalog) -> String {
    let text = markdown(catalog);
    let events = Parser::new_ext(&text, Options::ENABLE_TABLES).filter_map(defused).collect();
    let mut body = String::new();
    html::push_html(&mut body, with_anchors(events).into_iter());
    // A catalog's name has only letters, digits, `_` and `-`.
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>Events of {}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n",
        catalog.name
    )
}

const STYLE: &str = "\
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { border: 1px solid #8884; padding: .3rem .6rem; text-align: left; vertical-align: top; }
th { background: #8882; }
code { font-size: .92em; }
:root { color-scheme: light dark; }
";

/// The event without anything that a browser would execute or fetch.
fn defused(event: Event<'_>) -> Option<Event<'_>> {
    Some(match event {
        Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
        Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
        Event::Html(text) | Event::InlineHtml(text) | Event::Text(text) => Event::Text(printable(text)),
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            let dest_url = if leads_to_a_page(&dest_url) { dest_url } else { CowStr::Borrowed("#") };
            Event::Start(Tag::Link { link_type, dest_url, title, id })
        }
        // An image would be fetched without a click; its text stays.
        Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => return None,
        other => other,
    })
}

fn printable(text: CowStr<'_>) -> CowStr<'_> {
    let is_wrong = |letter: char| letter.is_control() && letter != '\n';
    if text.contains(is_wrong) { text.replace(is_wrong, "\u{FFFD}").into() } else { text }
}

fn leads_to_a_page(url: &str) -> bool {
    url.starts_with('#') || url.starts_with("https://") || url.starts_with("http://")
}

/// Gives each heading the anchor that GitHub would give it, so that the same links work.
fn with_anchors(mut events: Vec<Event<'_>>) -> Vec<Event<'_>> {
    let mut taken: HashMap<String, usize> = HashMap::new();
    let mut heading = None;
    let mut text = String::new();
    for index in 0..events.len() {
        match &events[index] {
            Event::Start(Tag::Heading { .. }) => {
                heading = Some(index);
                text.clear();
            }
            Event::Text(part) | Event::Code(part) => text.push_str(part),
            Event::End(TagEnd::Heading(_)) => {
                if let Some(Event::Start(Tag::Heading { id, .. })) = heading.map(|start| &mut events[start]) {
                    *id = Some(anchor(&text, &mut taken).into());
                }
            }
            _ => {}
        }
    }
    events
}

fn anchor(heading: &str, taken: &mut HashMap<String, usize>) -> String {
    let kept = |letter: char| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        _ => letter.is_alphanumeric().then(|| letter.to_ascii_lowercase()),
    };
    let anchor: String = heading.chars().filter_map(kept).collect();
    let uses = taken.entry(anchor.clone()).or_default();
    *uses += 1;
    if *uses == 1 { anchor } else { format!("{anchor}-{}", *uses - 1) }
}
