//! A server's entry in a TOML file, with its comments.
//!
//! INVARIANT: what is outside the entry's table stays as it is written.

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value, value};

use super::entry::{Change, EditError, Edited, Entry, OURS, Seen, Setting};

/// Puts an entry under a name in a section, or takes the one that is there out.
pub(super) fn edit(
    text: &str,
    section: &str,
    name: &str,
    entry: Option<&Entry>,
) -> Result<Edited, EditError> {
    let (mark, body) = match text.strip_prefix('\u{feff}') {
        Some(body) => ("\u{feff}", body),
        None => ("", text),
    };
    let mut document: DocumentMut = body.parse().map_err(|error: toml_edit::TomlError| {
        let before = error.span().and_then(|span| body.get(..span.start)).unwrap_or_default();
        EditError::Syntax { line: before.matches('\n').count() + 1, why: error.message().to_owned() }
    })?;
    if entry.is_some() && !document.contains_key(section) {
        let mut servers = Table::new();
        servers.set_implicit(true);
        document.insert(section, Item::Table(servers));
    }
    let Some(servers) = document.get_mut(section) else { return Ok(Edited::nothing(text)) };
    let servers = group(servers, section)?;
    let (changes, kept) = match (servers.get_mut(name), entry) {
        (None, None) => return Ok(Edited::nothing(text)),
        (Some(before), None) => {
            let mut changes = Vec::new();
            for (key, item) in group(before, name)?.iter() {
                changes.push(Change { key: key.to_owned(), before: Some(seen(item)), after: None });
            }
            servers.remove(name);
            (changes, Vec::new())
        }
        (before, Some(entry)) => {
            if before.is_none() {
                servers.insert(name, Item::Table(Table::new()));
            }
            let Some(table) = servers.get_mut(name) else { return Ok(Edited::nothing(text)) };
            let Some(edited) = replace(group(table, name)?, entry) else { return Ok(Edited::nothing(text)) };
            edited
        }
    };
    Ok(Edited { text: format!("{mark}{document}"), changes, kept })
}

/// Changes what is ours in an entry, and nothing where it is as it should be.
fn replace(table: &mut dyn TableLike, Entry(settings): &Entry) -> Option<(Vec<Change>, Vec<String>)> {
    let (mut changes, mut differs) = (Vec::new(), false);
    for key in OURS.iter().filter(|key| settings.iter().all(|(wanted, _)| wanted != *key)) {
        if let Some(item) = table.remove(key) {
            differs = true;
            changes.push(Change { key: (*key).to_owned(), before: Some(seen(&item)), after: None });
        }
    }
    for (key, setting) in settings {
        let found = table.get(key).map(seen);
        if found != Some(Seen::Setting(setting.clone())) {
            differs = true;
            table.insert(key, input(setting));
        }
        changes.push(Change { key: (*key).to_owned(), before: found, after: Some(setting.clone()) });
    }
    let ours = |key: &String| settings.iter().any(|(wanted, _)| wanted == key);
    let kept = table.iter().map(|(key, _)| key.to_owned()).filter(|key| !ours(key)).collect();
    differs.then_some((changes, kept))
}

fn group<'a>(item: &'a mut Item, name: &str) -> Result<&'a mut dyn TableLike, EditError> {
    item.as_table_like_mut().ok_or_else(|| EditError::NotAGroup(name.to_owned()))
}

fn input(setting: &Setting) -> Item {
    match setting {
        Setting::Text(text) => value(text),
        Setting::List(list) => value(list.iter().collect::<Array>()),
        Setting::Map(map) => {
            value(map.iter().map(|(name, text)| (name, text.as_str())).collect::<InlineTable>())
        }
    }
}

fn seen(item: &Item) -> Seen {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let setting = match item {
        Item::Value(Value::Array(list)) => list.iter().map(text).collect::<Option<_>>().map(Setting::List),
        Item::Value(value) => text(value).map(Setting::Text),
        _ => None,
    };
    let setting = setting.or_else(|| {
        let map = item.as_table_like()?;
        let member = |(key, item): (&str, &Item)| Some((key.to_owned(), item.as_str()?.to_owned()));
        map.iter().map(member).collect::<Option<_>>().map(Setting::Map)
    });
    setting.map_or(Seen::Other, Seen::Setting)
}
