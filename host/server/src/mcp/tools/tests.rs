//! What is offered to whom: names, schemas, hints, pages, search. The shapes of results are in `tests/shapes.rs`.

mod listing;
mod portability;
mod searching;
mod shapes;

use super::*;

/// The manifests of the binary.
fn built_in() -> Catalog {
    Catalog::built_in().unwrap()
}

fn connected(service: &str, label: &str, cap: Access) -> Connected {
    Connected {
        service: ServiceId::parse(service).unwrap(),
        label: Label::parse(label).unwrap(),
        account: Account::parse("mona").unwrap(),
        cap,
    }
}

/// Every service of a catalog, once.
fn all(catalog: &Catalog, cap: Access) -> Vec<Connected> {
    catalog.sources().map(|(service, _)| connected(service.as_str(), "default", cap)).collect()
}

/// All pages of a list.
fn listed(toolbox: &Toolbox<'_>) -> Vec<Tool> {
    let (mut tools, mut next) = toolbox.page(None).unwrap();
    while let Some(cursor) = next {
        let (more, after) = toolbox.page(Some(&cursor)).unwrap();
        assert!(!more.is_empty());
        tools.extend(more);
        next = after;
    }
    tools
}

fn names(toolbox: &Toolbox<'_>) -> Vec<String> {
    listed(toolbox).iter().map(|tool| tool.name.to_string()).collect()
}

/// A manifest of one service whose ops have these names, all of them reads but those that begin with `write`.
fn manifest(service: &str, ops: &[&str], change: impl Fn(&str, &mut serde_json::Value)) -> Vec<u8> {
    let ops: serde_json::Map<String, serde_json::Value> = ops
        .iter()
        .map(|name| {
            let mut op = serde_json::json!({
                "access": "read", "summary": "Look.",
                "args": {"type": "object", "additionalProperties": false, "properties": {}},
                "request": {"method": "GET", "path": format!("/{name}")},
                "pick": {"fields": ["id"]},
            });
            if name.starts_with("write") {
                let write = serde_json::json!({
                    "access": "write", "summary": "Write.", "confirm": "Write?", "effect": "create",
                    "request": {"method": "POST", "path": format!("/{name}")},
                });
                op.as_object_mut().unwrap().extend(write.as_object().unwrap().clone());
            }
            change(name, &mut op);
            ((*name).to_owned(), op)
        })
        .collect();
    let manifest = serde_json::json!({
        "pinhole": 1, "id": service, "version": "1.0.0", "name": "Made up", "summary": "For a test.",
        "host": "api.made-up.dev", "auth": {"scheme": "bearer", "pat": {"help": "Make one."}}, "ops": ops,
    });
    serde_json::to_vec(&manifest).unwrap()
}

fn catalog_of(manifests: &[Vec<u8>]) -> Catalog {
    let mut catalog = Catalog::default();
    for bytes in manifests {
        let added = catalog.add(bytes, pinhole_runtime::catalog::Source::UnsignedFile);
        assert!(added.is_ok(), "{added:?}");
    }
    catalog
}
