//! What a packager takes from `ltt-top`, `lttng-catalog` and `ltt-parquet`: version, man pages, completions, Debian packages.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lttng_testing::{Program, cargo, need, workspace};
use tempfile::TempDir;

#[path = "../build.rs"]
#[allow(dead_code, reason = "main is for Cargo")]
mod build;

/// The programs: the crate, the program, and a command or an option that each has.
const PROGRAMS: [(&str, &str, &str); 3] = [
    ("ltt-top", "ltt-top", "outliers"),
    ("lttng-catalog-cli", "lttng-catalog", "import"),
    ("ltt-parquet", "ltt-parquet", "longer-than"),
];

fn program(index: usize) -> PathBuf {
    let (package, name, _) = PROGRAMS[index];
    Program::binary(package, name).build()
}

fn said(command: &mut Command) -> String {
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{command:?}: {output:?}");
    String::from_utf8(output.stdout).expect("it writes UTF-8")
}

/// The commands that `--help` lists.
fn commands(program: &Path) -> Vec<String> {
    let help = said(Command::new(program).arg("-h"));
    let list = help.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next());
    let lines = list.unwrap_or_default().lines();
    // What is further to the right continues the line before.
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
#[ignore = "make check: packages and what is installed"]
fn version_has_the_commit() {
    for (index, (_, name, _)) in PROGRAMS.into_iter().enumerate() {
        let version = said(Command::new(program(index)).arg("--version"));
        let rest =
            version.strip_prefix(&format!("{name} {}", env!("CARGO_PKG_VERSION"))).expect("name and version");
        let commit = rest.trim_end().strip_prefix(" (").and_then(|rest| rest.strip_suffix(')'));
        // A source archive has no commit, and then nothing is said.
        assert!(commit.is_some() || rest == "\n", "{version}");
        let digits = commit.map(|commit| commit.strip_suffix("-dirty").unwrap_or(commit));
        let is_commit =
            |digits: &str| digits.len() == 10 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        assert!(digits.is_none_or(is_commit), "{version}");
    }
}

/// A repository with a crate in it, as ours: the crate's folder.
fn repository(folder: &Path) -> PathBuf {
    let package = folder.join("viewer");
    fs::create_dir_all(package.join("src")).expect("a folder");
    fs::create_dir_all(package.join("tests")).expect("a folder");
    for file in ["Cargo.toml", "Cargo.lock", "viewer/Cargo.toml", "viewer/src/main.rs", "viewer/tests/a.rs"] {
        fs::write(folder.join(file), "a").expect("a file");
    }
    git(folder, &["init", "--quiet"]);
    git(folder, &["add", "."]);
    git(folder, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message=a"]);
    package
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    said(Command::new("git").arg("-C").arg(folder).args(arguments))
}

#[test]
#[ignore = "make check: packages and what is installed"]
fn commit_is_that_of_the_repository_and_marked_if_sources_differ() {
    if !need("git") {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let package = repository(folder.path());
    let head = &git(folder.path(), &["rev-parse", "HEAD"])[..10];
    assert_eq!(build::commit(&package).as_deref(), Some(head));
    // A test is not part of the program, nor is a file that Git does not know.
    fs::write(package.join("tests/a.rs"), "b").expect("a file");
    fs::write(package.join("src/notes"), "b").expect("a file");
    assert_eq!(build::commit(&package).as_deref(), Some(head));
    fs::write(package.join("src/main.rs"), "b").expect("a file");
    assert_eq!(build::commit(&package), Some(format!("{head}-dirty")));
}

#[test]
#[ignore = "make check: packages and what is installed"]
fn commit_of_somebody_elses_repository_is_not_taken() {
    if !need("git") {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let package = repository(folder.path());
    // Vendored: deeper than in our repository.
    let vendored = folder.path().join("vendor/viewer");
    fs::create_dir_all(&vendored).expect("a folder");
    fs::copy(package.join("Cargo.toml"), vendored.join("Cargo.toml")).expect("a file");
    assert_eq!(build::commit(&vendored), None);
    // Of the same place, but not part of the repository.
    let unknown = folder.path().join("other");
    fs::create_dir_all(&unknown).expect("a folder");
    fs::write(unknown.join("Cargo.toml"), "a").expect("a file");
    assert_eq!(build::commit(&unknown), None);
}

#[test]
#[ignore = "make check: packages and what is installed"]
fn commit_of_a_package_is_what_cargo_wrote() {
    let folder = TempDir::new().expect("a folder");
    let info = |json: &str| {
        fs::write(folder.path().join(".cargo_vcs_info.json"), json).expect("a file");
        build::commit(folder.path())
    };
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let clean =
        format!("{{\n  \"git\": {{\n    \"sha1\": \"{commit}\"\n  }},\n  \"path_in_vcs\": \"viewer\"\n}}");
    assert_eq!(info(&clean).as_deref(), Some("0123456789"));
    let dirty = format!("{{\"git\":{{\"sha1\":\"{commit}\",\"dirty\":true}}}}");
    assert_eq!(info(&dirty).as_deref(), Some("0123456789-dirty"));
    for damaged in ["", "{}", "\"sha1\"", "{\"sha1\": \"short\"}", "{\"sha1\": \"öäüöäüöäüöäü\"}"]
    {
        assert_eq!(info(damaged), None, "{damaged}");
    }
}

#[test]
#[ignore = "make check: packages and what is installed"]
fn changes_of_every_crate_that_the_programs_contain_are_seen() {
    let mut found = BTreeSet::new();
    for (package, _, _) in PROGRAMS {
        let mut tree = cargo();
        tree.args(["tree", "--package", package, "--edges", "normal", "--prefix", "none", "--format", "{p}"]);
        let tree = said(&mut tree);
        let folder = |line: &str| Some(line.split('(').nth(1)?.split(')').next()?.to_owned());
        let folders = tree.lines().filter_map(folder).filter(|path| Path::new(path).starts_with(workspace()));
        let names = folders.map(|path| path.rsplit('/').next().unwrap_or_default().to_owned());
        found.extend(names.filter(|name| !["viewer", "catalog-tool", "fleet"].contains(&name.as_str())));
    }
    assert_eq!(found, build::CRATES.map(str::to_owned).into());
}

#[test]
#[ignore = "make check: packages and what is installed"]
fn every_command_has_a_man_page() {
    for (index, (_, name, _)) in PROGRAMS.into_iter().enumerate() {
        let (program, folder) = (program(index), TempDir::new().expect("a folder"));
        let pages = folder.path().join("man/man1");
        said(Command::new(&program).arg("man").arg(&pages));
        let commands = commands(&program);
        assert_eq!(commands.len() >= 8, name != "ltt-parquet", "{commands:?}");
        let expected =
            commands.iter().map(|command| format!("{name}-{command}.1")).chain([format!("{name}.1")]);
        let found =
            fs::read_dir(&pages).expect("the folder").flatten().map(|entry| entry.file_name().into_string());
        assert_eq!(found.map(Result::unwrap).collect::<BTreeSet<_>>(), expected.collect());
        if !need("man") {
            continue;
        }
        for page in fs::read_dir(&pages).expect("the folder").flatten() {
            let mut man = Command::new("man");
            man.args(["--warnings", "--local-file"])
                .arg(page.path())
                .env("MANWIDTH", "80")
                .env("LC_ALL", "C.UTF-8");
            let output = man.output().expect("man runs");
            assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{page:?}");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            for heading in ["NAME", "SYNOPSIS", "DESCRIPTION", "SEE ALSO"] {
                assert!(text.lines().any(|line| line == heading), "{page:?}: {heading}\n{text}");
            }
        }
    }
}

#[test]
#[ignore = "make check: packages and what is installed"]
fn man_pages_that_cannot_be_written_are_an_error_of_one_line() {
    for (index, (_, name, _)) in PROGRAMS.into_iter().enumerate() {
        let output = Command::new(program(index)).args(["man", "/dev/null/man1"]).output().expect("it runs");
        assert_eq!(output.status.code(), Some(1));
        let error = String::from_utf8(output.stderr).expect("it writes UTF-8");
        assert_eq!(
            error,
            format!("{name}: error: /dev/null/man1: cannot write man pages: Not a directory (os error 20)\n")
        );
    }
}

#[test]
#[ignore = "make check: packages and what is installed"]
fn completions_are_scripts_that_shells_parse() {
    for (index, (_, _, command)) in PROGRAMS.into_iter().enumerate() {
        for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
            let script = said(Command::new(program(index)).args(["completions", shell]));
            assert!(script.contains(command), "{shell}");
            if ["bash", "zsh", "fish"].contains(&shell) && need(shell) {
                let file = TempDir::new().expect("a folder");
                let path = file.path().join("script");
                fs::write(&path, &script).expect("a file");
                said(Command::new(shell).arg("-n").arg(path));
            }
        }
    }
}

#[test]
#[ignore = "make check: packages and what is installed"]
fn debian_packages_have_all_that_they_should() {
    if !["dpkg-deb", "dpkg-shlibdeps", "strip", "git"].into_iter().all(need) {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let mut deb = Command::new(workspace().join("scripts/deb.sh"));
    let target = workspace().join("target/e2e");
    said(
        deb.arg(folder.path())
            .env("DEB_PROFILE", "dev")
            .env("CARGO_TARGET_DIR", target)
            .env("CARGO_NET_OFFLINE", "true"),
    );
    let package = |name: &str| {
        let files = fs::read_dir(folder.path()).expect("the folder").flatten().map(|entry| entry.path());
        let is_it = |path: &PathBuf| path.to_string_lossy().contains(&format!("/{name}_"));
        files.into_iter().find(is_it).expect("there is a package")
    };
    let module = package("valkey-trace-module");
    let contents = said(Command::new("dpkg-deb").arg("--contents").arg(&module));
    for path in
        ["/usr/lib/valkey-trace/libvalkey_trace.so", "/usr/share/doc/valkey-trace-module/stock-servers.md"]
    {
        assert!(contents.lines().any(|line| line.ends_with(&format!(".{path}"))), "{path}:\n{contents}");
    }
    check_with_lintian(&module);
    // Where the library is found, it is none: as without it.
    let broken = folder.path().join("broken");
    fs::create_dir(&broken).expect("a folder");
    fs::write(broken.join("libbabeltrace2.so.0"), "").expect("a file");
    for (index, (_, name, _)) in PROGRAMS.into_iter().enumerate() {
        let package = package(name);
        let contents = said(Command::new("dpkg-deb").arg("--contents").arg(&package));
        let share = "/usr/share";
        let mut expected = vec![
            format!("/usr/bin/{name}"),
            format!("{share}/man/man1/{name}.1.gz"),
            format!("{share}/bash-completion/completions/{name}"),
            format!("{share}/zsh/vendor-completions/_{name}"),
            format!("{share}/fish/vendor_completions.d/{name}.fish"),
            format!("{share}/doc/{name}/copyright"),
            format!("{share}/doc/{name}/licenses.gz"),
            format!("{share}/doc/{name}/changelog.gz"),
        ];
        let pages = commands(&program(index))
            .into_iter()
            .map(|command| format!("{share}/man/man1/{name}-{command}.1.gz"));
        expected.extend(pages);
        for path in expected {
            assert!(contents.lines().any(|line| line.ends_with(&format!(".{path}"))), "{path}:\n{contents}");
        }
        assert!(contents.lines().all(|line| line.contains(" root/root ")), "{contents}");
        let field = |name: &str| said(Command::new("dpkg-deb").arg("--field").arg(&package).arg(name));
        let depends = field("Depends");
        assert!(depends.contains("libc6 (>= 2.") && !depends.contains("babeltrace"), "{depends}");

        let root = folder.path().join(format!("root-{name}"));
        said(Command::new("dpkg-deb").arg("--extract").arg(&package).arg(&root));
        let version = said(Command::new(root.join("usr/bin").join(name)).arg("--version"));
        assert!(version.starts_with(&format!("{name} ")), "{version}");
        if name == "ltt-top" {
            assert!(contents.contains("/babeltrace2/plugins/babeltrace-plugin-ltt-top.so"), "{contents}");
            assert!(field("Suggests").contains("libbabeltrace2-0"));
            let mut without = Command::new(root.join("usr/bin").join(name));
            without.args(["info", "--source", "babeltrace2:text.dmesg"]).env("LD_LIBRARY_PATH", &broken);
            let error = without.output().expect("it runs").stderr;
            let error = String::from_utf8_lossy(&error);
            assert!(error.contains("install the package libbabeltrace2-0"), "{error}");
        }
        check_with_lintian(&package);
    }
}

fn check_with_lintian(package: &Path) {
    if need("lintian") {
        let mut lintian = Command::new("lintian");
        // The maintainer is whoever made the commit.
        lintian.args(["--allow-root", "--fail-on", "error,warning", "--suppress-tags", MAINTAINER]);
        said(lintian.arg(package));
    }
}

const MAINTAINER: &str =
    "bogus-mail-host,mail-address-loops-or-bounces,malformed-contact,bogus-mail-host-in-debian-changelog";
