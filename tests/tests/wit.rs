//! The contract with op modules only grows: each version that was published is recorded, a line for each thing in it, and
//! the file as it is now still has every one of those lines.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use wit_parser::{Function, InterfaceId, Resolve, Type, TypeDefKind, TypeId, WorldItem, WorldKey};

fn wit() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit")
}

/// What a contract has, a line each. A type is whole on its line, so that one more field makes another line.
struct Contract {
    version: String,
    lines: BTreeSet<String>,
    /// Those of them that a component owes its host.
    owed: BTreeSet<String>,
}

impl Contract {
    fn read(text: &str) -> Self {
        let mut resolve = Resolve::default();
        let package = resolve.push_source("pinhole-op.wit", text).unwrap();
        let name = resolve.packages[package].name.clone();
        assert_eq!((name.namespace.as_str(), name.name.as_str()), ("pinhole", "op"));
        let mut lines = BTreeSet::new();
        for (name, id) in &resolve.packages[package].interfaces {
            lines.extend(interface(&resolve, name, *id));
        }
        let mut owed = BTreeSet::new();
        for (name, id) in &resolve.packages[package].worlds {
            let item = |key: &WorldKey, item: &WorldItem| match item {
                // Without the version, which is another in each.
                WorldItem::Interface { .. } => {
                    let name = resolve.name_world_key(key);
                    format!("interface {}", name.split('@').next().unwrap_or_default())
                }
                WorldItem::Function(function) => signature(&resolve, function),
                WorldItem::Type { id, .. } => definition(&resolve, *id),
            };
            let world = &resolve.worlds[*id];
            lines.extend(world.imports.iter().map(|(key, it)| format!("{name}: import {}", item(key, it))));
            owed.extend(world.exports.iter().map(|(key, it)| format!("{name}: export {}", item(key, it))));
        }
        lines.extend(owed.iter().cloned());
        Self { version: name.version.unwrap().to_string(), lines, owed }
    }
}

fn interface(resolve: &Resolve, name: &str, id: InterfaceId) -> Vec<String> {
    let interface = &resolve.interfaces[id];
    let types = interface.types.values().map(|id| definition(resolve, *id));
    let functions = interface.functions.values().map(|function| signature(resolve, function));
    types.chain(functions).map(|line| format!("{name}: {line}")).collect()
}

fn signature(resolve: &Resolve, function: &Function) -> String {
    let params: Vec<String> = function
        .params
        .iter()
        .map(|param| format!("{}: {}", param.name, written(resolve, &param.ty)))
        .collect();
    let result =
        function.result.as_ref().map_or_else(String::new, |ty| format!(" -> {}", written(resolve, ty)));
    format!("func {}({}){result}", function.name, params.join(", "))
}

fn definition(resolve: &Resolve, id: TypeId) -> String {
    let ty = &resolve.types[id];
    format!("{} {}", ty.name.as_deref().unwrap_or_default(), shape(resolve, &ty.kind))
}

fn written(resolve: &Resolve, ty: &Type) -> String {
    match ty {
        Type::Id(id) => match &resolve.types[*id] {
            named if named.name.is_some() => named.name.clone().unwrap(),
            unnamed => shape(resolve, &unnamed.kind),
        },
        other => format!("{other:?}").to_lowercase(),
    }
}

fn shape(resolve: &Resolve, kind: &TypeDefKind) -> String {
    let of = |ty: &Type| written(resolve, ty);
    let maybe = |ty: &Option<Type>| ty.as_ref().map_or_else(|| "_".to_owned(), of);
    match kind {
        TypeDefKind::Record(record) => {
            let fields = record.fields.iter().map(|field| format!("{}: {}", field.name, of(&field.ty)));
            format!("record {{ {} }}", fields.collect::<Vec<_>>().join(", "))
        }
        TypeDefKind::Enum(cases) => {
            let cases: Vec<&str> = cases.cases.iter().map(|case| case.name.as_str()).collect();
            format!("enum {{ {} }}", cases.join(", "))
        }
        TypeDefKind::Tuple(tuple) => {
            format!("tuple<{}>", tuple.types.iter().map(of).collect::<Vec<_>>().join(", "))
        }
        TypeDefKind::Option(ty) => format!("option<{}>", of(ty)),
        TypeDefKind::List(ty) => format!("list<{}>", of(ty)),
        TypeDefKind::Result(result) => format!("result<{}, {}>", maybe(&result.ok), maybe(&result.err)),
        TypeDefKind::Type(ty) => format!("= {}", of(ty)),
        other => panic!("this test cannot write down {other:?} yet"),
    }
}

/// Why a contract breaks one that was published.
fn breaks(published: &BTreeSet<String>, now: &Contract) -> Vec<String> {
    let lost = published.difference(&now.lines).map(|line| format!("gone: {line}"));
    let asked = now.owed.difference(published).map(|line| format!("asked for: {line}"));
    lost.chain(asked).collect()
}

fn published() -> Vec<(String, BTreeSet<String>)> {
    let files = std::fs::read_dir(wit().join("recorded")).unwrap();
    let read = |path: PathBuf| {
        let lines = std::fs::read_to_string(&path).unwrap().lines().map(str::to_owned).collect();
        (path.file_stem().unwrap().to_str().unwrap().to_owned(), lines)
    };
    files.map(|file| read(file.unwrap().path())).collect()
}

fn current() -> String {
    std::fs::read_to_string(wit().join("pinhole-op.wit")).unwrap()
}

#[test]
fn the_contract_has_all_that_any_published_version_has() {
    let (now, published) = (Contract::read(&current()), published());
    assert!(published.iter().any(|(version, _)| version == "1.0.0"));
    for (version, lines) in &published {
        let broken = breaks(lines, &now);
        assert!(broken.is_empty(), "{version}:\n{}", broken.join("\n"));
        if *version == now.version {
            let more: Vec<_> = now.lines.difference(lines).collect();
            assert!(more.is_empty(), "{version} is published; what is new needs a new version: {more:#?}");
        }
    }
    assert!(published.iter().any(|(version, _)| *version == now.version), "{:#?}", now.lines);
}

#[test]
fn the_rust_sdk_has_the_contract_as_it_is() {
    let copy = wit().join("../guest-sdk/rust/wit/pinhole-op.wit");
    assert_eq!(
        std::fs::read_to_string(copy).unwrap(),
        current(),
        "copy wit/pinhole-op.wit to guest-sdk/rust/wit"
    );
}

#[test]
fn whatever_changes_for_a_component_breaks_the_contract() {
    let text = current();
    let published = Contract::read(&text).lines;
    let edits = [
        ("        patch,\n        delete,\n    }", "        patch,\n    }"),
        ("        delete,\n    }", "        delete,\n        options,\n    }"),
        ("        body: option<string>,", "        body: option<string>,\n        timeout: u32,"),
        ("        status: u16,", "        status: u32,"),
        ("    now: func() -> timestamp;", "    now: func(zone: string) -> timestamp;"),
        ("    type timestamp = s64;", "    type timestamp = u64;"),
        ("    send-all: func(requests: list<request>) -> list<result<response, failure>>;", ""),
        ("    import clock;", ""),
        ("    export run: func", "    export ready: func();\n    export run: func"),
    ];
    for (old, new) in edits {
        assert!(text.contains(old), "{old}");
        let changed = Contract::read(&text.replace(old, new));
        assert!(!breaks(&published, &changed).is_empty(), "nobody minds {new:?} for {old:?}");
    }
}

#[test]
fn what_is_only_added_does_not() {
    let text = current();
    let published = Contract::read(&text).lines;
    let log = "    write: func(level: level, message: string);";
    for (old, new) in [
        (log, "    flush: func();\n    write: func(level: level, message: string);"),
        (
            "/// The time.\n",
            "interface more { record pair { a: u8 } twice: func(p: pair); }\n/// The time.\n",
        ),
        ("    import clock;", "    import clock;\n    import more: interface { once: func(); }"),
    ] {
        assert!(text.contains(old), "{old}");
        let grown = Contract::read(&text.replace(old, new));
        assert!(grown.lines.len() > published.len(), "{new}");
        assert_eq!(breaks(&published, &grown), Vec::<String>::new());
    }
}
