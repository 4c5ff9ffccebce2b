//! The public interfaces of the crates that writers use, as `docs/interfaces/` lists them: a change that a user may notice is a
//! difference there. Read from the sources, because rustdoc's JSON needs a nightly compiler; what a macro writes is not seen.
//!
//! `OVERWRITE=1 cargo test -p lttng-provider-derive --test interface` rewrites the lists.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use lttng_testing::{check_golden, workspace};
use quote::{ToTokens, quote};
use syn::{
    Attribute, Fields, FnArg, ImplItem, Item, ItemImpl, ReturnType, Signature, TraitItem, Type, UseTree,
    Visibility,
};

#[test]
fn public_interfaces_are_as_they_were_reviewed() {
    let crates = [
        ("lttng-catalog", "catalog"),
        ("lttng-provider", "lttng-provider"),
        ("lttng-provider-build", "lttng-provider-build"),
        ("lttng-provider-derive", "lttng-provider-derive"),
        ("lttng-provider-tracing", "lttng-provider-tracing"),
    ];
    let differences: Vec<String> = crates
        .iter()
        .filter_map(|(name, folder)| {
            let listing = Crate::read(&workspace().join(folder).join("src")).listing();
            check_golden(workspace().join(format!("docs/interfaces/{name}.txt")), &listing).err()
        })
        .collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// The items of a crate, by name and by module.
#[derive(Default)]
struct Crate {
    /// The items of `lib.rs`.
    root: Vec<Item>,
    /// Those of the other files, by the file's name without its ending, or by the folder's for `mod.rs`.
    modules: BTreeMap<String, Vec<Item>>,
}

impl Crate {
    fn read(folder: &Path) -> Crate {
        let mut this = Crate::default();
        this.add_folder(folder, "");
        this.root = this.modules.remove("lib").unwrap();
        this
    }

    fn add_folder(&mut self, folder: &Path, name: &str) {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                self.add_folder(&path, &stem);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let items = syn::parse_file(&fs::read_to_string(&path).unwrap()).unwrap().items;
                let module = if stem == "mod" { name.to_owned() } else { stem };
                self.modules.entry(module).or_default().extend(items);
            }
        }
    }

    fn listing(&self) -> String {
        let mut lines = BTreeSet::new();
        self.list_module("", &self.root, &mut lines);
        let macros = self.all().filter_map(|item| match item {
            Item::Macro(item)
                if item.attrs.iter().any(|attribute| attribute.path().is_ident("macro_export")) =>
            {
                Some(item)
            }
            _ => None,
        });
        for item in macros.filter(|item| !is_hidden(&item.attrs)) {
            lines.insert(format!("macro {}!", item.ident.as_ref().unwrap()));
        }
        lines.into_iter().map(|line| line + "\n").collect()
    }

    fn all(&self) -> impl Iterator<Item = &Item> {
        self.root.iter().chain(self.modules.values().flatten())
    }

    fn list_module(&self, prefix: &str, items: &[Item], lines: &mut BTreeSet<String>) {
        for item in items {
            match item {
                Item::Use(item) if is_public(&item.vis, &item.attrs) => {
                    self.list_use(prefix, &item.tree, None, lines);
                }
                Item::Mod(item) if is_public(&item.vis, &item.attrs) => {
                    let prefix = format!("{prefix}{}::", item.ident);
                    let inner = item.content.as_ref().map(|(_, items)| items);
                    let items = inner.or_else(|| self.modules.get(&item.ident.to_string()));
                    self.list_module(&prefix, items.unwrap(), lines);
                }
                item => self.list_item(prefix, item, lines),
            }
        }
    }

    fn list_use(&self, prefix: &str, tree: &UseTree, module: Option<&str>, lines: &mut BTreeSet<String>) {
        match tree {
            UseTree::Path(path) => self.list_use(prefix, &path.tree, Some(&path.ident.to_string()), lines),
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.list_use(prefix, tree, module, lines))
            }
            UseTree::Glob(_) => self.list_module(prefix, &self.modules[module.unwrap()], lines),
            UseTree::Rename(_) => {}
            UseTree::Name(name) => {
                let found = self.all().filter(|item| name_of(item).is_some_and(|other| *other == name.ident));
                let before = lines.len();
                found.for_each(|item| self.list_item(prefix, item, lines));
                if lines.len() == before {
                    lines.insert(format!("use {}::{}", module.unwrap_or_default(), name.ident));
                }
            }
        }
    }

    /// A public item, and what can be reached through it.
    fn list_item(&self, prefix: &str, item: &Item, lines: &mut BTreeSet<String>) {
        let mut add = |text: String| {
            lines.insert(tidy(&text));
        };
        match item {
            Item::Fn(item) if is_public(&item.vis, &item.attrs) => {
                add(format!("{prefix}{}", signature(&item.sig)));
            }
            Item::Const(item) if is_public(&item.vis, &item.attrs) => {
                add(format!("const {prefix}{}: {}", item.ident, item.ty.to_token_stream()));
            }
            Item::Type(item) if is_public(&item.vis, &item.attrs) => {
                add(format!("type {prefix}{} = {}", item.ident, item.ty.to_token_stream()));
            }
            Item::Struct(item) if is_public(&item.vis, &item.attrs) => {
                let path = format!("{prefix}{}", item.ident);
                add(format!(
                    "{}struct {path}{}",
                    non_exhaustive(&item.attrs),
                    item.generics.to_token_stream()
                ));
                fields(&path, &item.fields, false).into_iter().for_each(&mut add);
                self.impls(&item.ident.to_string(), &path).into_iter().for_each(&mut add);
            }
            Item::Enum(item) if is_public(&item.vis, &item.attrs) => {
                let path = format!("{prefix}{}", item.ident);
                add(format!("{}enum {path}{}", non_exhaustive(&item.attrs), item.generics.to_token_stream()));
                for variant in &item.variants {
                    let path = format!("{path}::{}", variant.ident);
                    add(format!("variant {path}"));
                    fields(&path, &variant.fields, true).into_iter().for_each(&mut add);
                }
                self.impls(&item.ident.to_string(), &path).into_iter().for_each(&mut add);
            }
            Item::Trait(item) if is_public(&item.vis, &item.attrs) => {
                let path = format!("{prefix}{}", item.ident);
                let bounds = &item.supertraits;
                add(format!("trait {path}{}: {}", item.generics.to_token_stream(), bounds.to_token_stream()));
                for part in &item.items {
                    match part {
                        TraitItem::Fn(part) => {
                            let provided = if part.default.is_some() { "provided " } else { "" };
                            add(format!("{provided}{path}::{}", signature(&part.sig)));
                        }
                        TraitItem::Const(part) => {
                            add(format!("const {path}::{}: {}", part.ident, part.ty.to_token_stream()));
                        }
                        TraitItem::Type(part) => {
                            add(format!("type {path}::{}{}", part.ident, part.generics.to_token_stream()));
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    /// The methods of a type, and the traits that it has.
    fn impls(&self, name: &str, path: &str) -> Vec<String> {
        let is_of = |item: &&ItemImpl| {
            matches!(&*item.self_ty, Type::Path(kind) if kind.path.is_ident(name)
            || kind.path.segments.last().is_some_and(|last| last.ident == name))
        };
        let impls = self.all().filter_map(|item| if let Item::Impl(item) = item { Some(item) } else { None });
        let mut lines = Vec::new();
        for item in impls.filter(is_of) {
            if let Some((_, implemented, _)) = &item.trait_ {
                let (generics, kind) = (&item.generics, &item.self_ty);
                lines.push(format!("impl {}", quote!(#generics #implemented for #kind)));
                continue;
            }
            for part in &item.items {
                match part {
                    ImplItem::Fn(part) if is_public(&part.vis, &part.attrs) => {
                        lines.push(format!("{path}::{}", signature(&part.sig)));
                    }
                    ImplItem::Const(part) if is_public(&part.vis, &part.attrs) => {
                        lines.push(format!("const {path}::{}: {}", part.ident, part.ty.to_token_stream()));
                    }
                    _ => {}
                }
            }
        }
        lines
    }
}

fn name_of(item: &Item) -> Option<&syn::Ident> {
    Some(match item {
        Item::Fn(item) => &item.sig.ident,
        Item::Const(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        _ => return None,
    })
}

fn fields(path: &str, fields: &Fields, is_variant: bool) -> Vec<String> {
    let public =
        fields.iter().enumerate().filter(|(_, field)| is_variant || is_public(&field.vis, &field.attrs));
    public
        .map(|(index, field)| {
            let name = field.ident.as_ref().map_or(index.to_string(), ToString::to_string);
            format!("field {path}.{name}: {}", field.ty.to_token_stream())
        })
        .collect()
}

/// Without the names of parameters, which callers do not see.
fn signature(signature: &Signature) -> String {
    let Signature { ident, generics, inputs, output, unsafety, constness, asyncness, .. } = signature;
    let inputs = inputs.iter().map(|input| match input {
        FnArg::Receiver(receiver) => receiver.to_token_stream(),
        FnArg::Typed(parameter) => parameter.ty.to_token_stream(),
    });
    let output = if let ReturnType::Type(..) = output { output.to_token_stream() } else { quote!() };
    let bounds = &generics.where_clause;
    quote!(#constness #asyncness #unsafety fn #ident #generics (#(#inputs),*) #output #bounds).to_string()
}

fn is_public(visibility: &Visibility, attributes: &[Attribute]) -> bool {
    matches!(visibility, Visibility::Public(_)) && !is_hidden(attributes)
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.to_token_stream().to_string().contains("hidden"))
}

fn non_exhaustive(attributes: &[Attribute]) -> &'static str {
    let is = attributes.iter().any(|attribute| attribute.path().is_ident("non_exhaustive"));
    if is { "non_exhaustive " } else { "" }
}

/// As one writes it.
fn tidy(text: &str) -> String {
    let pairs = [
        (" :: ", "::"),
        (":: ", "::"),
        (" < ", "<"),
        ("< ", "<"),
        (" >", ">"),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        (" ,", ","),
        (" :", ":"),
        ("& ", "&"),
        (" ;", ";"),
        ("-> ", " -> "),
        (" [", "["),
        ("[ ", "["),
        (" ]", "]"),
        ("  ", " "),
        ("' ", "'"),
    ];
    let tidied = pairs.iter().fold(text.trim().to_owned(), |text, (from, to)| text.replace(from, to));
    tidied.trim_end_matches([':', ' ']).to_owned()
}
