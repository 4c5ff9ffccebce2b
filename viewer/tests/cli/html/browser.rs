//! The page in a real browser, Chromium without a window.

use serde_json::Value;

use super::chromium::{Chromium, from_npm};
use super::*;
use crate::cli::handwritten::requests;

/// The figures of the table of groups, in the order of its rows: the group's place, and its figures by their names.
const TABLE: &str = "Array.from(document.querySelectorAll('#groups tbody tr'), (row) => ({ group: Number(row.dataset.group), \
    ...Object.fromEntries(Array.from(row.querySelectorAll('[data-figure]'), (cell) => \
    [cell.dataset.figure, cell.dataset.value === '' ? null : Number(cell.dataset.value)])) }))";

/// Figures that a range has exactly, and those that it has within 1/64.
const EXACT: [&str; 6] = ["count", "total_us", "mean_us", "max_us", "rate_per_s", "wall_share"];
const NEAR: [&str; 4] = ["p50_us", "p90_us", "p99_us", "p999_us"];

fn assert_figures(table: &Value, groups: &[Value], page: &Value, within: f64) {
    let rows = table.as_array().unwrap();
    assert_eq!(rows.len(), groups.len());
    for row in rows {
        let of_page = &page["top"]["groups"][row["group"].as_u64().unwrap() as usize];
        let is_it = |group: &&Value| group["event"] == of_page["event"] && group["key"] == of_page["key"];
        let group = groups.iter().find(is_it).unwrap_or_else(|| panic!("{of_page}"));
        for (figure, tolerance) in
            EXACT.map(|figure| (figure, 1e-12)).into_iter().chain(NEAR.map(|figure| (figure, within)))
        {
            match (row[figure].as_f64(), group[figure].as_f64()) {
                (Some(shown), Some(known)) => {
                    assert!(
                        (shown - known).abs() <= known.abs() * tolerance,
                        "{figure}: {shown} for {known}: {group}"
                    );
                }
                (shown, known) => assert_eq!(shown, known, "{figure} of {group}"),
            }
        }
    }
}

/// A browser that shows the page of a trace; none if there is no browser.
fn opened(shared: &SharedTrace) -> Option<(Chromium, Page)> {
    let mut browser = Chromium::start()?;
    let page = Page::of(&[shared.folder()]);
    browser.resize(1440, false);
    browser.open(&page.path(), "");
    Some((browser, page))
}

#[test]
#[ignore = "make check: needs Chromium"]
fn figures_in_a_browser_are_those_of_top_also_in_a_range() {
    let shared = SharedTrace::unpack();
    let Some((mut browser, page)) = opened(&shared) else { return };
    let data = page.data();
    assert_figures(&browser.evaluate(TABLE), data["top"]["groups"].as_array().unwrap(), &data, 0.0);
    let count = data["slices"]["count"].as_u64().unwrap();
    let mut random = fastrand::Rng::new();
    println!("seed {}", random.get_seed());
    for _ in 0..3 {
        let from = random.u64(..count - 1);
        let to = random.u64(from + 1..=count);
        browser.open(&page.path(), &format!("#from={from}&to={to}"));
        let range = |browser: &mut Chromium, name: &str| {
            browser
                .evaluate(&format!("document.getElementById('range').dataset.{name}"))
                .as_str()
                .unwrap()
                .to_owned()
        };
        let (since, until) = (range(&mut browser, "since"), range(&mut browser, "until"));
        let window = ["--since", &since, "--until", &until];
        let found = json(ltt_top(["top"]).args(window).arg(shared.folder()));
        println!("slices {from} to {to}: {} events", found["trace"]["events"]);
        assert_figures(&browser.evaluate(TABLE), found["groups"].as_array().unwrap(), &data, 1.0 / 64.0);
        // The slowest that are shown are the slowest of the range, and incidents overlap it.
        let slow = json(ltt_top(["slow", "-n", "30"]).args(window).arg(shared.folder()));
        let shown = browser.evaluate(
            "Array.from(document.querySelectorAll('#slow tbody tr'), (row) => row.cells[1].textContent)",
        );
        for (shown, event) in shown.as_array().unwrap().iter().zip(slow["events"].as_array().unwrap()) {
            let ended = event["timestamp"].as_str().unwrap();
            assert!(ended.contains(shown.as_str().unwrap()), "{shown} for {ended}");
        }
        let incidents = json(ltt_top(["incidents"]).args(window).arg(shared.folder()));
        let said = browser.evaluate("document.getElementById('incidents').lastChild.textContent");
        let expected = match incidents["found"].as_u64().unwrap() {
            0 => "None in this range.".to_owned(),
            1 => "longest of 1 incident in this range.".to_owned(),
            found => format!("longest of {found} incidents in this range."),
        };
        assert!(said.as_str().unwrap().ends_with(&expected), "{said}: {expected}");
    }
    assert_eq!(browser.complaints(), [&Value::Null; 0]);
}

#[test]
#[ignore = "make check: needs Chromium"]
fn a_page_is_sorted_searched_and_remembered_by_its_address() {
    let shared = SharedTrace::unpack();
    let Some((mut browser, page)) = opened(&shared) else { return };
    for (figure, clicks, is_up) in [("p99_us", 1, false), ("count", 2, true), ("max_us", 1, false)] {
        for _ in 0..clicks {
            browser.evaluate(&format!("document.querySelector('[data-sort={figure}]').click()"));
        }
        let table = browser.evaluate(TABLE);
        let values: Vec<f64> =
            table.as_array().unwrap().iter().filter_map(|row| row[figure].as_f64()).collect();
        assert!(
            values.len() > 5
                && values.is_sorted_by(|one, next| if is_up { one <= next } else { one >= next }),
            "{figure}: {values:?}"
        );
    }
    browser.evaluate("document.getElementById('find').value = 'command_call'; document.getElementById('find').dispatchEvent(new Event('input'))");
    browser.evaluate("document.querySelector('#groups tbody button').click()");
    browser.evaluate("document.querySelector('.incident summary').click()");
    browser.evaluate("document.getElementById('from').value = 20; document.getElementById('from').dispatchEvent(new Event('input'))");
    // Elements are opened and closed in a task of their own.
    browser.evaluate("new Promise((done) => setTimeout(done, 100))");
    let look = "[document.getElementById('groups').innerText, document.getElementById('span').textContent, \
        document.getElementById('plots').querySelector('h3').textContent, document.querySelector('.incident[open]').innerText]";
    let before = browser.evaluate(look);
    let fragment = browser.evaluate("location.hash");
    for part in ["from=20", "group=", "incident=", "sort=max_us", "find=command_call"] {
        assert!(fragment.as_str().unwrap().contains(part), "{part}: {fragment}");
    }
    browser.open(&page.path(), fragment.as_str().unwrap());
    assert_eq!(browser.evaluate(look), before);
    // Any other fragment is a page, too.
    browser.open(&page.path(), "#from=-1&to=x&group=99999&sort=<script>&find=%00&incident=1e9");
    assert_eq!(browser.evaluate("document.querySelectorAll('#groups tbody tr').length"), 0);
    assert_eq!(browser.complaints(), [&Value::Null; 0]);
}

#[test]
#[ignore = "make check: needs Chromium"]
fn the_keyboard_reaches_everything() {
    let shared = SharedTrace::unpack();
    let Some((mut browser, _page)) = opened(&shared) else { return };
    let wanted = "Array.from(document.querySelectorAll('a[href], button:not(:disabled), input, select, summary, [tabindex=\"0\"]'))\
        .filter((element) => element.checkVisibility())";
    let all = browser
        .evaluate(&format!("window.wanted = {wanted}; window.reached = new Set(); wanted.length"))
        .as_u64()
        .unwrap();
    browser.evaluate("document.addEventListener('focusin', (event) => reached.add(event.target))");
    for _ in 0..all + 3 {
        browser.press("Tab", 9);
    }
    let missed = browser.evaluate(
        "wanted.filter((element) => !reached.has(element)).map((element) => element.outerHTML.slice(0, 200))",
    );
    assert_eq!(missed, Value::Array(Vec::new()));
    browser.evaluate("document.getElementById('from').focus()");
    (0..3).for_each(|_| browser.press("ArrowRight", 39));
    assert_eq!(browser.evaluate("new URLSearchParams(location.hash.slice(1)).get('from')"), "3");
    browser.evaluate("document.querySelector('#groups tbody button').focus()");
    browser.press("Enter", 13);
    assert_eq!(browser.evaluate("document.querySelectorAll('#plots svg').length"), 2);
    assert_eq!(browser.evaluate("document.activeElement.getAttribute('aria-pressed')"), "true");
    assert_eq!(browser.complaints(), [&Value::Null; 0]);
}

#[test]
#[ignore = "make check: needs Chromium"]
fn nothing_overflows_and_axe_finds_nothing_serious_at_any_width_in_any_colours() {
    let Some(mut browser) = Chromium::start() else { return };
    let axe = from_npm("axe-core@4").map(|package| fs::read_to_string(package.join("axe.min.js")).unwrap());
    let shared = [SharedTrace::unpack(), SharedTrace::unpack_named("valkey-causes")];
    let mut pages: Vec<Page> = shared.iter().map(|shared| Page::of(&[shared.folder()])).collect();
    pages.push(Page::of(&[hostile().path()]));
    for page in &pages {
        for (width, is_dark) in [(1440, false), (375, false), (1440, true), (375, true)] {
            browser.resize(width, is_dark);
            browser.open(&page.path(), "#group=0&incident=0");
            let wide = browser.evaluate("document.documentElement.scrollWidth");
            let widest = "Array.from(document.querySelectorAll('body *')).filter((one) => !one.closest('.scroll, .skip, pre') && \
                one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.outerHTML.slice(0, 150)).slice(0, 5)";
            assert!(wide.as_u64().unwrap() <= u64::from(width), "{width}: {}", browser.evaluate(widest));
            assert_eq!(browser.evaluate(widest), Value::Array(Vec::new()), "{width}");
            if let Some(axe) = &axe {
                browser.evaluate(axe);
                let serious = browser.evaluate("axe.run().then((found) => found.violations.filter((one) => \
                    ['serious', 'critical'].includes(one.impact)).map((one) => [one.id, one.nodes[0].html, one.nodes[0].failureSummary]))");
                assert_eq!(serious, Value::Array(Vec::new()), "at {width}");
            }
            assert_eq!(browser.complaints(), [&Value::Null; 0]);
        }
    }
}

/// The colours of the page whose contrast to it is below 3, as WCAG defines it.
const FAINT: &str = "(() => { const style = getComputedStyle(document.documentElement); \
    const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4); \
    const light = (name) => { const hex = style.getPropertyValue(name).trim(); \
        const [red, green, blue] = [1, 3, 5].map((at) => linear(parseInt(hex.slice(at, at + 2), 16) / 255)); \
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue; }; \
    const contrast = (one, other) => (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05); \
    const names = [...'12345678'].map((level) => `--heat-${level}`).concat([...'01234567'].map((cause) => `--cause-${cause}`)); \
    return names.filter((name) => !(contrast(light(name), light('--page')) >= 3)); })()";

#[test]
#[ignore = "make check: needs Chromium"]
fn every_colour_is_seen_and_named_and_the_order_is_marked() {
    let Some(mut browser) = Chromium::start() else { return };
    for (trace, sort, title) in [("valkey-causes", "p99", "p99"), ("valkey-mixed", "max", "Longest")] {
        let shared = SharedTrace::unpack_named(trace);
        let page = Page::with(&[shared.folder()], &["--sort", sort]);
        for is_dark in [false, true] {
            browser.resize(1440, is_dark);
            browser.open(&page.path(), "");
            assert_eq!(browser.evaluate(FAINT), Value::Array(Vec::new()), "dark: {is_dark}");
        }
        let sorted = "Array.from(document.querySelectorAll('#groups th[aria-sort=descending]'), (title) => title.textContent)";
        assert_eq!(browser.evaluate(sorted), Value::from(vec![title]));
        let shades = browser.evaluate("document.querySelectorAll('#timeline-picture .shade').length");
        let named = browser.evaluate("document.querySelectorAll('#legend .shade').length");
        assert_eq!(
            shades.as_u64() > Some(0),
            named.as_u64() == Some(1),
            "{trace}: {shades} shades, {named} in the legend"
        );
        // Browsers leave out backgrounds on paper, unless they are told not to.
        browser.call("Emulation.setEmulatedMedia", serde_json::json!({ "media": "print" }));
        let printed = "Array.from(Array.from(document.querySelectorAll('#legend .dot, .heat-key i, .bars progress'), \
            (one) => getComputedStyle(one).printColorAdjust).reduce((all, one) => all.add(one), new Set()))";
        assert_eq!(browser.evaluate(printed), Value::from(vec!["exact"]), "{trace}");
    }
}

#[test]
#[ignore = "make check: needs Chromium"]
fn hostile_names_are_shown_and_do_nothing() {
    let Some(mut browser) = Chromium::start() else { return };
    let trace = hostile();
    let page = Page::of(&[trace.path()]);
    for fragment in ["", "#group=0", "#from=100&to=130"] {
        browser.resize(1440, false);
        browser.open(&page.path(), fragment);
        let title = browser.evaluate("document.title");
        assert!(title.as_str().unwrap().starts_with("Report on "), "{title}");
        let text = browser.evaluate("document.body.innerText");
        let text = text.as_str().unwrap();
        assert!(text.contains("<script>document.title='owned'</script><img src=x onerror=alert(1)>\"'`&amp;\\u{202e}txt\\u{1b}[31m"), "{text}");
        assert!(!text.contains('\u{202e}') && !text.contains('\u{1b}'));
        assert_eq!(
            browser.evaluate("document.querySelectorAll('img, iframe, object, main script').length"),
            0
        );
        assert_eq!(browser.complaints(), [&Value::Null; 0]);
    }
}

#[test]
#[ignore = "make check: needs Chromium"]
fn empty_damaged_short_and_long_traces_are_pages_that_say_so() {
    let Some(mut browser) = Chromium::start() else { return };
    let mut trace = Handwritten::new("alpha");
    trace.class("app:request", "u64 _latency_us;");
    let empty = trace.write();
    let one = requests("alpha", &[("get", 7)]).write();
    let mut trace = Handwritten::new("alpha");
    let class = trace.class("app:request", "string _name; u64 _latency_us;");
    for second in 0..3600 {
        trace.event_at(BEGIN + second * 1_000_000_000, class, &[b"get\0", &(second % 50).to_le_bytes()]);
    }
    let hour = trace.write();
    let damaged = requests("alpha", &[("get", 7); 100]).write();
    let stream = damaged.path().join("stream_0");
    let length = fs::metadata(&stream).unwrap().len();
    fs::OpenOptions::new().write(true).open(&stream).unwrap().set_len(length / 2).unwrap();
    browser.resize(1440, false);
    for (trace, expected) in [
        (&empty, "the trace has no events"),
        (&one, "1 event in 0"),
        (&hour, "3,600 events in"),
        (&damaged, "Lost, damaged or doubtful"),
    ] {
        let page = Page::of(&[trace.path()]);
        browser.open(&page.path(), "");
        let text = browser.evaluate("document.body.innerText");
        assert!(text.as_str().unwrap().contains(expected), "{expected}: {text}");
        assert_eq!(browser.complaints(), [&Value::Null; 0], "{expected}");
    }
}

/// A place of the timeline, by its shares of the width and of the height of the picture.
fn place(browser: &mut Chromium, across: f64, down: f64) -> (f64, f64) {
    browser.evaluate(
        "document.getElementById('timeline').scrollIntoView({ block: 'center', behavior: 'instant' })",
    );
    let box_of = browser.evaluate("document.getElementById('timeline').getBoundingClientRect().toJSON()");
    let [x, y, width, height] = ["x", "y", "width", "height"].map(|side| box_of[side].as_f64().unwrap());
    (x + across * width, y + down * height)
}

#[test]
#[ignore = "make check: needs Chromium"]
fn dragging_shows_a_range_and_zooms_in_to_single_events() {
    let shared = SharedTrace::unpack();
    let Some((mut browser, page)) = opened(&shared) else { return };
    let data = page.data();
    let readout = "document.getElementById('readout').textContent";
    // Under the pointer: the time and the rate, and on the heat map durations, too.
    let there = place(&mut browser, 0.5, 0.1);
    browser.mouse("mouseMoved", there, false);
    let said = browser.evaluate(readout);
    assert!(said.as_str().unwrap().contains("events per second"), "{said}");
    let heat = place(&mut browser, 0.1, 0.88);
    browser.mouse("mouseMoved", heat, false);
    let said = browser.evaluate(readout);
    assert!(said.as_str().unwrap().contains(" to ") && said.as_str().unwrap().contains(": "), "{said}");
    // The slowest event, dragged over until it fills the picture.
    let slowest = &data["slow"][0];
    let length = data["slices"]["count"].as_f64().unwrap() * data["slices"]["width_ns"].as_f64().unwrap();
    let (end, took) = (slowest["at"].as_f64().unwrap(), slowest["duration_us"].as_f64().unwrap() * 1000.0);
    let inner = "document.getElementById('timeline').viewBox.baseVal.width";
    let width = browser.evaluate(inner).as_f64().unwrap();
    let across = |at: f64| (58.0 + (width - 70.0) * at / length) / width;
    let from = place(&mut browser, across(end - 1.5 * took), 0.5);
    let to = place(&mut browser, across(end + took / 2.0), 0.5);
    browser.mouse("mousePressed", from, true);
    browser.mouse("mouseMoved", ((from.0 + to.0) / 2.0, from.1), true);
    browser.mouse("mouseMoved", to, true);
    let drawn = browser.evaluate("document.querySelector('#timeline .brush').getBoundingClientRect().width");
    assert!((drawn.as_f64().unwrap() - (to.0 - from.0)).abs() < 3.0, "{drawn}");
    let said = browser.evaluate(readout);
    assert!(said.as_str().unwrap().contains(" to "), "{said}");
    assert_eq!(browser.evaluate("location.hash"), "", "nothing is chosen while one drags");
    browser.mouse("mouseReleased", to, true);
    browser.wait_for("it is chosen", "location.hash.includes('from=')");
    let singles = "Array.from(document.querySelectorAll('#timeline .single'), (bar) => [bar.textContent, \
        bar.getBoundingClientRect().width / document.getElementById('timeline').getBoundingClientRect().width])";
    let shown = browser.evaluate(singles);
    let label = slowest["label"].as_str().unwrap();
    let bar = shown.as_array().unwrap().iter().find(|bar| bar[0].as_str().unwrap().ends_with(label));
    let part = bar.unwrap_or_else(|| panic!("{label}: {shown}"))[1].as_f64().unwrap();
    assert!((0.3..0.7).contains(&part), "half of the picture is the slowest event: {part}");
    // What a range does not narrow says so.
    let whole =
        browser.evaluate("['h-outliers', 'h-clients'].map((id) => document.getElementById(id).textContent)");
    assert!(
        whole.as_array().unwrap().iter().all(|title| title.as_str().unwrap().ends_with("(whole trace)")),
        "{whole}"
    );
    // Further in than a slice is long, and out again.
    for _ in 0..3 {
        let [from, to] = [0.45, 0.5].map(|across| place(&mut browser, across, 0.5));
        browser.mouse("mousePressed", from, true);
        browser.mouse("mouseMoved", to, true);
        browser.mouse("mouseReleased", to, true);
    }
    let fragment = browser.evaluate("Object.fromEntries(new URLSearchParams(location.hash.slice(1)))");
    let [at, till] = ["at", "till"].map(|name| fragment[name].as_str().unwrap().parse::<f64>().unwrap());
    assert!(till - at < data["slices"]["width_ns"].as_f64().unwrap(), "{fragment}");
    let look = "[document.getElementById('timeline').innerHTML, document.getElementById('span').textContent]";
    let before = browser.evaluate(look);
    let address = browser.evaluate("location.hash");
    browser.open(&page.path(), address.as_str().unwrap());
    assert_eq!(browser.evaluate(look), before, "the address has the zoom");
    for _ in 0..12 {
        browser.evaluate("document.getElementById('out').click()");
    }
    assert_eq!(browser.evaluate("document.getElementById('all').disabled"), true);
    assert_eq!(browser.complaints(), [&Value::Null; 0]);
}

/// Rows that a table cuts, and the letters of visible names between which a line breaks.
const CUT: &str = "(() => { const found = []; \
    for (const box of document.querySelectorAll('.scroll.tall')) { \
        const bottom = box.getBoundingClientRect().top + box.clientTop + box.clientHeight; \
        for (const row of box.querySelectorAll('tbody tr')) { const { top, bottom: end } = row.getBoundingClientRect(); \
            if (top < bottom - 2 && end > bottom + 2) found.push(`${box.id}: ${row.textContent.slice(0, 60)}`); } } \
    for (const name of document.querySelectorAll('#groups td.name, .why, .line-of span, .tiles span, #legend li, #slow td.name')) { \
        const nodes = document.createTreeWalker(name, NodeFilter.SHOW_TEXT); \
        for (let node = nodes.nextNode(); node; node = nodes.nextNode()) { let last = null; \
            for (let at = 0; at < node.length; at += 1) { const range = document.createRange(); \
                range.setStart(node, at); range.setEnd(node, at + 1); const { top } = range.getBoundingClientRect(); \
                if (last !== null && top > last + 4 && /\\w\\w/.test(node.data.slice(at - 1, at + 1))) found.push(node.data); last = top; } } } \
    return found; })()";

#[test]
#[ignore = "make check: needs Chromium"]
fn no_row_is_cut_no_word_broken_and_no_figure_there_twice() {
    let Some(mut browser) = Chromium::start() else { return };
    for name in ["valkey-causes", "valkey-mixed", "valkey-lite-busy"] {
        let shared = SharedTrace::unpack_named(name);
        let page = Page::of(&[shared.folder()]);
        for width in [1280, 1440, 3840, 768] {
            browser.resize(width, false);
            browser.open(&page.path(), "");
            assert_eq!(browser.evaluate(CUT), Value::Array(Vec::new()), "{name} at {width}");
        }
        let tiles = "Array.from(document.querySelectorAll('#tiles strong'), (one) => one.textContent)";
        let tiles = browser.evaluate(tiles);
        let tiles: Vec<&str> = tiles.as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
        let distinct: std::collections::BTreeSet<_> = tiles.iter().collect();
        assert_eq!(distinct.len(), tiles.len(), "{tiles:?}");
    }
}

#[test]
#[ignore = "make check: needs Chromium"]
fn a_comparison_shows_its_events_on_a_small_screen() {
    let Some(mut browser) = Chromium::start() else { return };
    let recorded = SharedTrace::unpack_named("valkey-pair");
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("compare.html");
    let sides = ["before", "slower"].map(|name| recorded.folder().join(name));
    let said = said(ltt_top(["compare", "--format", "html"]).args(sides));
    assert_eq!(said.status, 0, "{}", said.err);
    fs::write(&page, said.out).unwrap();
    for width in [1280, 1440] {
        browser.resize(width, false);
        browser.open(&page, "");
        let cut =
            "Array.from(document.querySelectorAll('.scroll'), (box) => box.scrollWidth - box.clientWidth)";
        let cut = browser.evaluate(cut);
        let cut = cut.as_array().unwrap();
        assert!(!cut.is_empty() && cut.iter().all(|cut| cut.as_i64() <= Some(0)), "{width}: {cut:?}");
    }
}
