//! One pass over the whole file for characters that nobody sees, wherever no rule of its own has looked for them.
//!
//! Refuses them in every key and text, at any depth; tabs and line ends stand in a GraphQL document alone. INVARIANT: a
//! manifest comes out only of a file that shows every character of its texts. DESIGN, "Manifest".

use std::collections::HashSet;

use super::reader::{At, Faults};
use crate::diagnostic::Code;
use crate::json::{self, Node};
use crate::visible::is_invisible;

const HELP: &str = "leave it out, or write what can be seen";

/// Reports what cannot be seen, where nothing has been reported yet.
pub(super) fn check(root: &Node, faults: &Faults) {
    let mut pass = Pass { faults, reported: faults.pointers(), way: Vec::new() };
    pass.node(root);
}

struct Pass<'f, 'n> {
    faults: &'f Faults,
    /// Where something has been reported already.
    reported: HashSet<String>,
    way: Vec<Token<'n>>,
}

#[derive(Clone, Copy)]
enum Token<'n> {
    Name(&'n str),
    Index(usize),
}

impl<'n> Pass<'_, 'n> {
    fn node(&mut self, node: &'n Node) {
        match node {
            Node::String(text) => {
                let is_document = self.is_document();
                let may_stand = |c| is_document && matches!(c, '\t' | '\n' | '\r');
                if let Some(c) = text.chars().find(|c| is_invisible(*c) && !may_stand(*c)) {
                    let message = format!("the text holds U+{:04X}, which cannot be seen", u32::from(c));
                    self.report(|faults, pointer| {
                        faults.add_below(Code::Invisible, &At::default(), pointer, message, HELP.into());
                    });
                }
            }
            Node::Array(elements) => {
                for (at, element) in elements.iter().enumerate() {
                    self.way.push(Token::Index(at));
                    self.node(element);
                    self.way.pop();
                }
            }
            Node::Object(members) => {
                for (key, member) in members {
                    self.way.push(Token::Name(key));
                    if let Some(c) = key.chars().find(|c| is_invisible(*c)) {
                        let message = format!("the key holds U+{:04X}, which cannot be seen", u32::from(c));
                        self.report(|faults, pointer| {
                            faults.add_key_below(Code::Invisible, pointer, message, HELP.into());
                        });
                    }
                    self.node(member);
                    self.way.pop();
                }
            }
            Node::Null | Node::Bool(_) | Node::Number(_) => {}
        }
    }

    /// Whether the way leads to a GraphQL document.
    fn is_document(&self) -> bool {
        use Token::{Index, Name};
        matches!(
            self.way.as_slice(),
            [Name("ops"), Name(_), Name("request"), Name("graphql"), Name("query")]
                | [Name("ops"), Name(_), Name("module"), Name("requests"), Index(_), Name("graphql")]
        )
    }

    fn report(&mut self, add: impl FnOnce(&Faults, &str)) {
        let tokens = self.way.iter().map(|token| match token {
            Token::Name(name) => (*name).to_owned(),
            Token::Index(at) => at.to_string(),
        });
        let pointer = json::pointer(&tokens.collect::<Vec<_>>());
        if !self.reported.contains(&pointer) {
            add(self.faults, &pointer);
            self.reported.insert(pointer);
        }
    }
}
