//! What the project generates from a catalog can be imported again, and is the same to everybody.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use lttng_catalog::Catalog;
use lttng_catalog_cli::diff::diff;
use lttng_catalog_cli::import::{Options, header, provider_file};
use lttng_provider_build::{BackEnds, COptions, c_sources, generate};
use lttng_testing::{CommandInTime as _, cases, missing_tool};

#[test]
fn generated_headers_import_as_the_catalog_that_they_came_from() {
    let accepted = Path::new(env!("CARGO_MANIFEST_DIR")).join("../catalog/tests/cases/accepted.txt");
    let cases =
        cases(accepted).into_iter().map(|case| Catalog::parse(&case.name, &case.input).expect("a catalog"));
    let own = [lttng_catalog::valkey(), lttng_catalog::memcached(), lttng_catalog::redis()];
    let mut events = 0;
    for catalog in own.into_iter().chain(cases) {
        let mut options = lttng_provider_build::Options::default();
        options.back_ends = BackEnds { lttng: true, usdt: false };
        let files = generate(std::slice::from_ref(&catalog), &options).expect("they do not clash");
        for provider in &catalog.providers {
            let name = format!("{}-tp.h", provider.name);
            let file = files.iter().find(|file| file.name == name).unwrap_or_else(|| panic!("no {name}"));
            let imported = header(&name, &file.text, &Options::default());
            let imported =
                imported.unwrap_or_else(|problems| panic!("{}\n{problems}\n{}", catalog.name, file.text));
            let imported = Catalog::parse(&name, &imported.text).expect("it is a catalog");
            compare(&catalog, provider, &imported);
            events += provider.events.len();
        }
    }
    assert!(events > 100, "only {events} events were compared");
}

/// The header is by hand, for the tests that compare LTTng's own probes with ours.
#[test]
fn a_header_by_hand_imports_as_the_catalog_that_was_written_for_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests");
    let path = folder.join("fixtures/c/twin_c-tp.h");
    let text = fs::read_to_string(&path).expect("it is there");
    let imported =
        header("twin_c-tp.h", &text, &Options::default()).unwrap_or_else(|problems| panic!("{problems}"));
    let mut imported = Catalog::parse("twin", &imported.text).expect("it is a catalog");
    let catalog = Catalog::read(folder.join("catalogs/twin.toml")).expect("it is a catalog");
    assert_eq!(imported.providers.len(), catalog.providers.len());
    for (imported, provider) in imported.providers.iter_mut().zip(&catalog.providers) {
        imported.name.clone_from(&provider.name);
    }
    for provider in &catalog.providers {
        assert_eq!(imported.events().count(), catalog.events().count());
        compare(&catalog, provider, &imported);
    }
}

/// Scripts for the probes find them under their names, with their arguments in order.
#[test]
fn a_program_has_every_probe_of_the_provider_file_that_its_catalog_was_imported_from() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tool/import");
    let mut probes = 0;
    for file in ["memcached.d", "redis.d", "pairs.d"] {
        let text = fs::read_to_string(folder.join(file)).expect("it is there");
        let noted = noted_of_catalog(file, &text);
        let counted = noted.iter().map(|(name, sizes)| format!("{name}({})", sizes.len()));
        assert_eq!(counted.collect::<Vec<_>>(), declared(&text), "{file}");
        probes += noted.len();
    }
    assert!(probes > 60, "only {probes} probes were compared");
}

/// With `<sys/sdt.h>` as the judge of types.
#[test]
#[ignore = "make check: systemtap-sdt-dev"]
fn probes_of_twenty_provider_files_have_the_operands_that_dtraces_macros_give_them() {
    let include =
        Command::new("gcc").args(["-E", "-include", "sys/sdt.h", "-"]).stdin(Stdio::null()).output();
    if !include.expect("gcc runs").status.success() {
        return missing_tool("sys/sdt.h");
    }
    let facts = fs::read_to_string(crate::import::file("probes.txt")).expect("it is there");
    let (mut files, mut probes) = (0, 0);
    for facts in facts.split("\n= ").skip(1) {
        let file = Facts::read(facts);
        let noted = noted_of_catalog(file.title, &file.provider_file());
        let expected = noted_of(&[("sdt.c".to_owned(), file.program())], &[]);
        assert_eq!(noted, expected, "{}", file.title);
        files += 1;
        probes += noted.len();
    }
    assert_eq!((files, probes), (20, 502));
}

/// What a provider file says.
struct Facts<'t> {
    provider: &'t str,
    title: &'t str,
    definitions: String,
    /// Names and arguments.
    probes: Vec<(&'t str, Vec<&'t str>)>,
}

impl<'t> Facts<'t> {
    fn read(text: &'t str) -> Facts<'t> {
        let (title, rest) = text.split_once('\n').expect("a line");
        let mut facts = Facts {
            provider: title.split(' ').next().expect("a word"),
            title,
            definitions: String::new(),
            probes: vec![],
        };
        for line in rest.lines().filter(|line| !line.is_empty()) {
            match line.strip_prefix(": ") {
                Some(definition) => facts.definitions.push_str(&format!("#define {definition}\n")),
                None => {
                    let (name, arguments) = line.split_once('(').expect("arguments");
                    let arguments =
                        arguments.trim_end_matches(')').split(", ").filter(|text| !text.is_empty());
                    facts.probes.push((name, arguments.collect()));
                }
            }
        }
        facts
    }

    fn provider_file(&self) -> String {
        let probe =
            |(name, arguments): &(&str, Vec<&str>)| format!("  probe {name}({});\n", arguments.join(", "));
        let probes: String = self.probes.iter().map(probe).collect();
        format!("{}provider {} {{\n{probes}}};\n", self.definitions, self.provider)
    }

    /// A function for each probe, which passes on its parameters.
    fn program(&self) -> String {
        let function = |(index, (name, arguments)): (usize, &(&str, Vec<&str>))| {
            let types: Vec<String> = arguments.iter().map(|argument| type_of(argument)).collect();
            let declared: Vec<String> =
                types.iter().enumerate().map(|(n, kind)| format!("{kind} a{n}")).collect();
            let passed: String = (0..types.len()).map(|n| format!(", a{n}")).collect();
            let (declared, count) =
                (if declared.is_empty() { "void".to_owned() } else { declared.join(", ") }, types.len());
            format!(
                "void f{index}({declared})\n{{\n\tDTRACE_PROBE{}({}, {name}{passed});\n}}\n",
                if count == 0 { String::new() } else { count.to_string() },
                self.provider
            )
        };
        let functions: String = self.probes.iter().enumerate().map(function).collect();
        let includes =
            "#include <stdbool.h>\n#include <stdint.h>\n#include <sys/types.h>\n#include <sys/sdt.h>\n";
        // Declared here, so that they are not local to a function.
        let structs = "struct Tcl_Obj;\nstruct node_connection;\nstruct node_request;\n";
        format!("{includes}{structs}{}{functions}", self.definitions)
    }
}

/// `const char *key` without its name.
fn type_of(argument: &str) -> String {
    let word =
        argument.rfind(|letter: char| !letter.is_alphanumeric() && letter != '_').map_or(0, |at| at + 1);
    let is_type = word == 0 || ["int", "char", "long", ""].contains(&&argument[word..]);
    if is_type { argument.to_owned() } else { argument[..word].to_owned() }
}

/// The probes of a file as `provider:name(count)`: read without the import's parser, to judge it.
fn declared(text: &str) -> Vec<String> {
    let mut plain = text.to_owned();
    while let Some(start) = plain.find("/*") {
        let end = start + plain[start..].find("*/").expect("comments are closed") + 2;
        plain.replace_range(start..end, " ");
    }
    let (_, after) = plain.split_once("provider ").expect("it has a provider");
    let (provider, body) = after.split_once('{').expect("it has a body");
    let each = body.split("probe ").skip(1).map(|probe| {
        let (name, arguments) = probe.split_once('(').expect("it has arguments");
        let arguments = arguments.split_once(')').expect("they are closed").0.trim();
        let count = if ["", "void"].contains(&arguments) { 0 } else { arguments.split(',').count() };
        format!("{}:{}({count})", provider.trim(), name.trim())
    });
    let mut all: Vec<String> = each.collect();
    all.sort();
    all
}

/// The probes of a program that has the catalog of a provider file.
fn noted_of_catalog(file: &str, text: &str) -> Vec<(String, Vec<i32>)> {
    let imported = provider_file(file, text, &Options::default());
    let imported = imported.unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(imported.left_out, [], "{file}");
    let catalog = Catalog::parse(file, &imported.text).expect("it is a catalog");
    let files = c_sources(&[catalog], &COptions::default()).expect("they do not clash");
    let files: Vec<_> = files.into_iter().map(|file| (file.name, file.text)).collect();
    noted_of(&files, &["-DUSE_USDT", "-Wall", "-Werror"])
}

/// The probes that `readelf` finds in a library with these files: `provider:name` and the sizes of the arguments.
fn noted_of(files: &[(String, String)], flags: &[&str]) -> Vec<(String, Vec<i32>)> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).expect("it is writable"));
    let library = folder.path().join("library.so");
    let mut gcc = Command::new("gcc");
    gcc.args(["-O1", "-shared", "-fPIC", "-o"]).arg(&library).args(flags);
    gcc.args(files.iter().filter(|(name, _)| name.ends_with(".c")).map(|(name, _)| folder.path().join(name)));
    gcc.succeed();
    let notes = Command::new("readelf").args(["--notes"]).arg(&library).succeed();
    let of = |key: &str| {
        let found = notes.lines().filter_map(|line| line.trim().strip_prefix(key).map(str::trim));
        found.map(str::to_owned).collect::<Vec<_>>()
    };
    let names = of("Provider:").into_iter().zip(of("Name:")).zip(of("Arguments:"));
    let each = names.map(|((provider, name), arguments)| {
        let sizes = arguments.split_whitespace().filter_map(|argument| argument.split_once('@'));
        (format!("{provider}:{name}"), sizes.map(|(size, _)| size.parse().expect("a size")).collect())
    });
    let mut all: Vec<_> = each.collect();
    all.sort();
    all
}

/// A header says all of the wire and nothing of the meaning.
fn compare(catalog: &Catalog, provider: &lttng_catalog::Provider, imported: &Catalog) {
    let mut original = catalog.clone();
    original.providers = vec![provider.clone()];
    let unsaid = "duration measure clock group-by client repeats explains started-by formerly unit tracing";
    for change in diff(&original, imported).changes {
        let is_unsaid =
            change.change.split_once(':').is_some_and(|(word, _)| unsaid.split(' ').any(|w| w == word));
        // A stack is a sequence of addresses to LTTng; a truth is a number.
        let is_spelled_otherwise = change.change.starts_with("type:")
            && (change.change.ends_with("was `stack`") || change.change.ends_with("was `bool`"));
        // How a value is shown that is not recorded, no header says.
        let is_shown = change.change.starts_with("type:")
            && provider.events.iter().any(|event| {
                event.fields.iter().any(|field| {
                    !field.recorded
                        && change.place == format!("{}:{} → {}", provider.name, event.name, field.name)
                })
            });
        let is_entry = change.change.contains("USDT probe");
        let matters = change.reader || change.caller;
        assert!(
            !matters || is_unsaid || is_spelled_otherwise || is_shown || is_entry,
            "{}: {change:?}",
            catalog.name
        );
    }
}
