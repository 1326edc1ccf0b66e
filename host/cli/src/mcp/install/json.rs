//! A server's entry in a JSON file, with comments or without.
//!
//! INVARIANT: every byte of the file outside the entry stays, but for the white space and the comma that join the entry to its
//! neighbours.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};

use super::entry::{Change, EditError, Edited, Entry, OURS, Seen, Setting};

/// Comments and trailing commas, which several clients read; nothing else that JSON has not.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Most members of an object that is changed: adding one to many in a single line takes time that grows with their square.
/// (2,000 take a tenth of a second.) Others may have as many as they like.
const MEMBERS_MAX: usize = 2_000;

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
    let root = CstRootNode::parse(body, &OPTIONS)
        .map_err(|error| EditError::Syntax { line: error.line_display(), why: error.kind().to_string() })?;
    let whole =
        root.object_value_or_create().ok_or_else(|| EditError::NotAGroup("the whole file".to_owned()))?;
    few(&whole, "it")?;
    let Some(edited) = edit_within(&whole, section, name, entry)? else { return Ok(Edited::nothing(text)) };
    let (changes, kept) = edited;
    Ok(Edited { text: format!("{mark}{root}"), changes, kept })
}

type Parts = (Vec<Change>, Vec<String>);

fn edit_within(
    whole: &CstObject,
    section: &str,
    name: &str,
    entry: Option<&Entry>,
) -> Result<Option<Parts>, EditError> {
    let servers = match (only(whole, section)?, entry) {
        (Some(servers), _) => group(&servers, section)?,
        (None, None) => return Ok(None),
        (None, Some(_)) => {
            let added = whole.append(section, CstInputValue::Object(Vec::new()));
            group(&added, section)?
        }
    };
    let before = only(&servers, name)?;
    match (before, entry) {
        (None, None) => Ok(None),
        (None, Some(Entry(settings))) => {
            let members = settings.iter().map(|(key, setting)| ((*key).to_owned(), input(setting)));
            servers.append(name, CstInputValue::Object(members.collect()));
            let added = |(key, setting): &(&str, Setting)| Change {
                key: (*key).to_owned(),
                before: None,
                after: Some(setting.clone()),
            };
            Ok(Some((settings.iter().map(added).collect(), Vec::new())))
        }
        (Some(before), None) => {
            let mut changes = Vec::new();
            for member in group(&before, name)?.properties() {
                changes.push(Change { key: key_of(&member), before: Some(seen(&member)), after: None });
            }
            before.remove();
            Ok(Some((changes, Vec::new())))
        }
        (Some(before), Some(entry)) => replace(&group(&before, name)?, entry),
    }
}

/// Changes what is ours in an entry that is there, and nothing where it is as it should be.
fn replace(before: &CstObject, Entry(settings): &Entry) -> Result<Option<Parts>, EditError> {
    let (mut changes, mut differs) = (Vec::new(), false);
    for key in OURS.iter().filter(|key| settings.iter().all(|(wanted, _)| wanted != *key)) {
        if let Some(member) = only(before, key)? {
            differs = true;
            changes.push(Change { key: (*key).to_owned(), before: Some(seen(&member)), after: None });
            member.remove();
        }
    }
    for (key, setting) in settings {
        let member = only(before, key)?;
        let found = member.as_ref().map(seen);
        if found != Some(Seen::Setting(setting.clone())) {
            differs = true;
            match member {
                Some(member) => member.set_value(input(setting)),
                None => drop(before.append(key, input(setting))),
            }
        }
        changes.push(Change { key: (*key).to_owned(), before: found, after: Some(setting.clone()) });
    }
    let ours =
        |key: &String| OURS.contains(&key.as_str()) || settings.iter().any(|(wanted, _)| wanted == key);
    let kept = before.properties().iter().map(key_of).filter(|key| !ours(key)).collect();
    Ok(differs.then_some((changes, kept)))
}

/// The one member of this name. Of two, clients take the one or the other.
fn only(object: &CstObject, name: &str) -> Result<Option<CstObjectProp>, EditError> {
    let mut found = object.properties().into_iter().filter(|member| key_of(member) == name);
    let first = found.next();
    if found.next().is_some() {
        return Err(EditError::Twice(name.to_owned()));
    }
    Ok(first)
}

fn group(member: &CstObjectProp, name: &str) -> Result<CstObject, EditError> {
    let group = member.object_value().ok_or_else(|| EditError::NotAGroup(name.to_owned()))?;
    few(&group, &format!("`{name}`"))?;
    Ok(group)
}

fn few(object: &CstObject, of: &str) -> Result<(), EditError> {
    if object.properties().len() > MEMBERS_MAX {
        return Err(EditError::Many { of: of.to_owned(), most: MEMBERS_MAX });
    }
    Ok(())
}

fn key_of(member: &CstObjectProp) -> String {
    member.decoded_name().unwrap_or_default()
}

fn input(setting: &Setting) -> CstInputValue {
    match setting {
        Setting::Text(text) => text.as_str().into(),
        Setting::List(list) => list.clone().into(),
        Setting::Map(map) => CstInputValue::Object(
            map.iter().map(|(name, text)| (name.clone(), text.as_str().into())).collect(),
        ),
    }
}

fn seen(member: &CstObjectProp) -> Seen {
    let setting = member.value().and_then(|value| {
        if let Some(list) = value.as_array() {
            return list.elements().iter().map(text).collect::<Option<_>>().map(Setting::List);
        }
        if let Some(map) = value.as_object() {
            let member = |member: &CstObjectProp| Some((key_of(member), text(&member.value()?)?));
            return map.properties().iter().map(member).collect::<Option<_>>().map(Setting::Map);
        }
        text(&value).map(Setting::Text)
    });
    setting.map_or(Seen::Other, Seen::Setting)
}

fn text(node: &CstNode) -> Option<String> {
    node.as_string_lit()?.decoded_value().ok()
}
