//! Words, names and strings of a zone file. RFC 1035, section 5.1; names RFC 4343, section 2.1.
//!
//! INVARIANT: nothing that is written here ends a line or begins a comment, whatever it was made of, but for the end of a
//! comment's own line.

/// Most bytes of one string. RFC 1035, section 3.3.
const STRING_BYTES: usize = 255;

/// A word of a record's content.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// Its text; a quoted one without its quotes and escapes.
    text: String,
    quoted: bool,
}

impl Word {
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// As a zone file has it.
    pub(crate) fn written(&self) -> String {
        if self.quoted { quoted(self.text.as_bytes()) } else { escaped(&self.text, b"\"\\;()") }
    }
}

/// The words of a content: between blanks, or in quotes. Nothing when a quote does not end, or there is a control character
/// in it.
pub(crate) fn words(content: &str) -> Option<Vec<Word>> {
    if content.chars().any(|c| c.is_control() && c != '\t') {
        return None;
    }
    let mut found = Vec::new();
    let mut rest = content.trim_start_matches([' ', '\t']);
    while !rest.is_empty() {
        let (word, behind) = if let Some(inner) = rest.strip_prefix('"') {
            let (text, behind) = until_quote(inner)?;
            // Two words that touch are not told apart by every reader.
            let apart = behind.is_empty() || behind.starts_with([' ', '\t']);
            apart.then_some((Word { text, quoted: true }, behind))?
        } else {
            let (word, behind) = rest.split_at(rest.find([' ', '\t']).unwrap_or(rest.len()));
            (Word { text: word.to_owned(), quoted: false }, behind)
        };
        found.push(word);
        rest = behind.trim_start_matches([' ', '\t']);
    }
    Some(found)
}

/// The text up to the quote that ends it, and what comes behind that.
fn until_quote(inner: &str) -> Option<(String, &str)> {
    let mut text = String::new();
    let mut rest = inner.chars();
    loop {
        match rest.next()? {
            '"' => return Some((text, rest.as_str())),
            '\\' => match rest.next()? {
                first if first.is_ascii_digit() => {
                    let digits: String =
                        [Some(first), rest.next(), rest.next()].into_iter().flatten().collect();
                    let byte = digits.parse::<u8>().ok().filter(|_| digits.len() == 3)?;
                    // A byte that is no ASCII is a part of a letter that nobody can name here.
                    text.push(byte.is_ascii().then_some(char::from(byte))?);
                }
                other => text.push(other),
            },
            other => text.push(other),
        }
    }
}

/// The strings of a TXT record: its content in pieces of 255 bytes, or the strings that it is written as already.
pub(crate) fn strings(content: &str) -> String {
    let written = words(content).filter(|words| !words.is_empty() && words.iter().all(|word| word.quoted));
    let pieces: Vec<&[u8]> = match &written {
        Some(words) => words.iter().flat_map(|word| pieces(word.text.as_bytes())).collect(),
        None => pieces(content.as_bytes()),
    };
    pieces.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

fn pieces(bytes: &[u8]) -> Vec<&[u8]> {
    if bytes.is_empty() { vec![bytes] } else { bytes.chunks(STRING_BYTES).collect() }
}

fn quoted(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for byte in bytes {
        push(&mut text, *byte, b"\"\\");
    }
    text.push('"');
    text
}

/// Escapes these characters and whatever cannot be seen.
fn escaped(text: &str, special: &[u8]) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte == b' ' { out.push_str("\\032") } else { push(&mut out, byte, special) }
    }
    out
}

fn push(text: &mut String, byte: u8, special: &[u8]) {
    match byte {
        b' '..=b'~' => {
            if special.contains(&byte) {
                text.push('\\');
            }
            text.push(char::from(byte));
        }
        _ => numbered(text, u32::from(byte)),
    }
}

fn numbered(text: &mut String, code: u32) {
    let escape = format!("\\{code:03}");
    text.push_str(&escape);
}

/// Whether a text is a name: labels of 1 to 63 bytes, all together at most 253; or the root. RFC 1035, section 2.3.4.
pub(crate) fn is_name(text: &str) -> bool {
    let text = text.strip_suffix('.').unwrap_or(text);
    text.is_empty() || (text.len() <= 253 && text.split('.').all(|label| (1..=63).contains(&label.len())))
}

/// A name with the dot at its end.
pub(crate) fn absolute(name: &str) -> String {
    let name = name.strip_suffix('.').unwrap_or(name);
    format!("{}.", escaped(name, b"\"\\;()@$"))
}

/// A record's name under the zone; `@` for the zone itself.
pub(crate) fn owner(name: &str) -> String {
    if name.is_empty() { "@".to_owned() } else { escaped(name, b"\"\\;()@$") }
}

/// A comment on a line of its own, its control characters as `\DDD`.
pub(crate) fn comment(text: &str) -> String {
    let mut line = String::from("; ");
    for c in text.chars() {
        match c {
            '\t' => line.push(' '),
            // Some readers end a line there.
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => numbered(&mut line, u32::from(c)),
            c => line.push(c),
        }
    }
    line.push('\n');
    line
}
