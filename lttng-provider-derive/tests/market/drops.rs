//! Writes pairs of functions, plain and traced, with the same random body: parameters that are used, moved, unused, taken
//! apart; ends by `return`, `?` and a panic. `examples/drops.rs` compares in which order the two drop what they own.

use std::fmt::Write;

/// Functions of each kind.
const COUNT: usize = 30;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Sync,
    Async,
    /// A function that ends with an `async` block.
    Block,
    Boxed,
    Stream,
}

/// A random number generator: the same functions at each build.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn pick<'c>(&mut self, choices: &[&'c str]) -> &'c str {
        choices[self.below(choices.len())]
    }
}

pub fn functions() -> String {
    let mut random = Random(7);
    let (mut functions, mut methods, mut calls) = (String::new(), String::new(), String::new());
    for kind in [Kind::Sync, Kind::Async, Kind::Block, Kind::Boxed, Kind::Stream] {
        for index in 0..COUNT {
            let name = format!("{}_{index}", ["sync", "waits", "block", "boxed", "stream"][kind as usize]);
            let is_method = random.below(3) == 0;
            let into = if is_method { &mut methods } else { &mut functions };
            pair(&mut random, kind, &name, is_method, into, &mut calls);
        }
    }
    format!("{functions}\nimpl Van {{\n{methods}}}\n\nfn compare_all(compare: &mut Compare) {{\n{calls}}}\n")
}

/// A pair of functions, and the call that compares them.
fn pair(random: &mut Random, kind: Kind, name: &str, is_method: bool, into: &mut String, calls: &mut String) {
    let (mut parameters, mut arguments, mut usable) = (String::new(), String::new(), Vec::new());
    if is_method {
        usable.extend(["self.x".to_owned(), "self.y".to_owned()]);
    }
    for index in 0..1 + random.below(4) {
        let (pattern, type_, value, names) = match random.below(5) {
            0 => ("_".to_owned(), "D", format!("D(\"_{index}\")"), vec![]),
            1 => (
                format!("(p{index}, _)"),
                "(D, D)",
                format!("(D(\"a{index}\"), D(\"b{index}\"))"),
                vec![index],
            ),
            2 => (format!("mut p{index}"), "D", format!("D(\"m{index}\")"), vec![index]),
            _ => (format!("p{index}"), "D", format!("D(\"p{index}\")"), vec![index]),
        };
        write!(parameters, ", {pattern}: {type_}").unwrap();
        write!(arguments, ", {value}").unwrap();
        usable.extend(names.into_iter().map(|index| format!("p{index}")));
    }
    let field = usable
        .first()
        .filter(|_| random.below(2) == 0)
        .map_or("\"x\"".to_owned(), |name| format!("{name}.0"));
    let is_future = matches!(kind, Kind::Async | Kind::Block | Kind::Boxed);
    let body = body(random, kind, &mut usable);
    let outcome = match random.below(4) {
        _ if kind == Kind::Stream => format!("city = {field}, parcels = 1"),
        0 => format!("city = {field}, parcels = 1"),
        1 => "city = %err, parcels = 1".to_owned(),
        2 => format!("city = {field}, parcels = ret.is_ok() as u32"),
        _ => "city = ?ret, parcels = 1".to_owned(),
    };
    let polling = if kind != Kind::Sync && random.below(2) == 0 { ", polling" } else { "" };
    let (output, body) = match kind {
        Kind::Sync | Kind::Async => ("Result<D, D>", body),
        Kind::Block => (
            "impl Future<Output = Result<D, D>>",
            format!("let _before = D(\"before\"); async move {{ {body} }}"),
        ),
        Kind::Boxed => {
            ("Pin<Box<dyn Future<Output = Result<D, D>>>>", format!("Box::pin(async move {{ {body} }})"))
        }
        Kind::Stream => ("impl Stream<Item = D>", body),
    };
    let word = if kind == Kind::Async { "async " } else { "" };
    let receiver = if is_method { "self, " } else { "" };
    for (prefix, attribute) in [
        ("plain", String::new()),
        ("traced", format!("#[traced(shop::delivered, fields({outcome}){polling})]\n")),
    ] {
        writeln!(
            into,
            "{attribute}{word}fn {prefix}_{name}({receiver}how: usize{parameters}) -> {output} {{ {body} }}\n"
        )
        .unwrap();
    }
    let way = if is_future {
        "future"
    } else if kind == Kind::Stream {
        "stream"
    } else {
        "call"
    };
    let of = if is_method { "Van::new()." } else { "" };
    let [plain, traced] =
        ["plain", "traced"].map(|prefix| format!("|how| {of}{prefix}_{name}(how{arguments})"));
    writeln!(calls, "compare.{way}(\"{name}\", {plain}, {traced});").unwrap();
}

/// Statements, of which `how` says at which one the function ends before its end.
fn body(random: &mut Random, kind: Kind, usable: &mut Vec<String>) -> String {
    let mut body = String::new();
    let waits = !matches!(kind, Kind::Sync | Kind::Stream);
    let result = |name: &str| match kind {
        Kind::Stream => format!("Items(vec![D(\"{name}\"), D(\"second\")])"),
        _ => format!("Ok(D(\"{name}\"))"),
    };
    for step in 1..=3 + random.below(4) {
        let choice = random.below(10);
        let at = random.below(usable.len().max(1));
        let text = match choice {
            0 if waits => "pause().await;".to_owned(),
            1 if waits => format!("let _across = D(\"across{step}\"); pause().await; look(&_across);"),
            0 | 2 => format!("let _local{step} = D(\"local{step}\");"),
            3 => format!("if how == {step} {{ return {}; }}", result("early")),
            4 if kind != Kind::Stream => format!("fails(how == {step})?;"),
            4 | 5 => format!("assert!(how != {step}, \"as it should\");"),
            6 if !usable.is_empty() => format!("if how == {step} {{ drop({}); }}", usable.swap_remove(at)),
            7 if !usable.is_empty() => format!("let _moved{step} = {};", usable.swap_remove(at)),
            _ if !usable.is_empty() => format!("look(&{});", usable[at]),
            _ => format!("look(&D(\"temporary{step}\"));"),
        };
        body.push_str(&text);
        body.push('\n');
    }
    body + &result(random.pick(&["end", "last"]))
}
