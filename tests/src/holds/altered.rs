//! A sound JSON document with changes that bytes describe, so that what comes out is still JSON and mostly still sound.

use serde_json::Value;

/// Each change is two bytes that choose a place, one that says how, and what is put there; they are divided by bytes of
/// 0xFF.
pub(super) fn altered(mut document: Value, changes: &[u8]) -> Value {
    for change in changes.split(|byte| *byte == 0xff).take(8) {
        let Some((&[high, low, how], put)) = change.split_first_chunk::<3>() else { continue };
        let places = places(&document);
        let chosen =
            |high: u8, low: u8| places[usize::from(u16::from_be_bytes([high, low])) % places.len()].clone();
        let place = chosen(high, low);
        let text = String::from_utf8_lossy(put).into_owned();
        let Some((parent, name)) = place.rsplit_once('/') else { continue };
        let (parent, name) = (parent.to_owned(), name.replace("~1", "/").replace("~0", "~"));
        let here = document.pointer(&place).cloned().unwrap_or_default();
        let value = match how % 6 {
            0 => serde_json::from_str(&text).unwrap_or(Value::String(text)),
            1 => Value::String(text),
            2 => here.as_str().map_or(Value::Null, |before| Value::String(format!("{before}{text}"))),
            3 => {
                let from = chosen(put.first().copied().unwrap_or(0), put.get(1).copied().unwrap_or(0));
                document.pointer(&from).cloned().unwrap_or_default()
            }
            4 => {
                remove(&mut document, &parent, &name);
                continue;
            }
            _ => {
                // The member under another name, or a further element.
                remove(&mut document, &parent, &name);
                put_at(&mut document, &parent, &text, here);
                continue;
            }
        };
        put_at(&mut document, &parent, &name, value);
    }
    document
}

/// The pointers of all values below the top.
fn places(document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), document)];
    while let Some((way, value)) = open.pop() {
        match value {
            Value::Object(members) => open.extend(members.iter().map(|(name, member)| {
                (format!("{way}/{}", name.replace('~', "~0").replace('/', "~1")), member)
            })),
            Value::Array(elements) => {
                open.extend(
                    elements.iter().enumerate().map(|(at, element)| (format!("{way}/{at}"), element)),
                );
            }
            _ => {}
        }
        found.push(way);
    }
    found
}

fn remove(document: &mut Value, parent: &str, name: &str) {
    match document.pointer_mut(parent) {
        Some(Value::Object(members)) => drop(members.remove(name)),
        Some(Value::Array(elements)) => {
            let at = name.parse::<usize>().ok().filter(|at| *at < elements.len());
            at.map(|at| elements.remove(at));
        }
        _ => {}
    }
}

fn put_at(document: &mut Value, parent: &str, name: &str, value: Value) {
    match document.pointer_mut(parent) {
        Some(Value::Object(members)) => drop(members.insert(name.to_owned(), value)),
        Some(Value::Array(elements)) => {
            match name.parse::<usize>().ok().and_then(|at| elements.get_mut(at)) {
                Some(element) => *element = value,
                None => elements.push(value),
            }
        }
        _ => {}
    }
}
