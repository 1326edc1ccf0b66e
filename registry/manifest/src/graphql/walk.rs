//! Which variables an operation uses, by way of its fragments too.
//!
//! INVARIANT: recursion follows the nesting of the document, which the parser bounds; fragments are followed by a list, not
//! by recursion, and cycles among them are refused.

use std::collections::{BTreeMap, BTreeSet};

use graphql_tools::parser::query::{Directive, FragmentDefinition, Selection, SelectionSet, Value};

use super::GraphqlFault;

type Fragment<'a> = FragmentDefinition<'a, &'a str>;

/// What one selection set uses.
#[derive(Default)]
struct Uses<'a> {
    variables: BTreeSet<&'a str>,
    fragments: BTreeSet<&'a str>,
}

/// The variables that an operation and the fragments it reaches use.
pub(super) fn variables<'a>(
    directives: &[Directive<'a, &'a str>],
    selection: &SelectionSet<'a, &'a str>,
    fragments: &[&Fragment<'a>],
) -> Result<BTreeSet<&'a str>, GraphqlFault> {
    let mut defined = BTreeMap::new();
    for fragment in fragments {
        let mut uses = Uses::default();
        uses.directives(&fragment.directives);
        uses.selection(&fragment.selection_set);
        if defined.insert(fragment.name, uses).is_some() {
            return Err(GraphqlFault::FragmentTwice(fragment.name.into()));
        }
    }
    let mut all = Uses::default();
    all.directives(directives);
    all.selection(selection);
    let mut reached = BTreeSet::new();
    let mut waiting: Vec<&str> = all.fragments.iter().copied().collect();
    while let Some(name) = waiting.pop() {
        let uses = defined.get(name).ok_or_else(|| GraphqlFault::UndefinedFragment(name.into()))?;
        if reached.insert(name) {
            all.variables.extend(&uses.variables);
            waiting.extend(&uses.fragments);
        }
    }
    if let Some(name) = defined.keys().find(|name| !reached.contains(*name)) {
        return Err(GraphqlFault::UnusedFragment((*name).into()));
    }
    no_cycle(&defined)?;
    Ok(all.variables)
}

/// Takes away fragments that spread none of those left; what cannot be taken away spreads itself.
fn no_cycle(defined: &BTreeMap<&str, Uses<'_>>) -> Result<(), GraphqlFault> {
    let mut left: BTreeSet<&str> = defined.keys().copied().collect();
    loop {
        let spreads = |name: &&str| {
            defined.get(name).is_some_and(|uses| uses.fragments.iter().any(|f| left.contains(f)))
        };
        let rest: BTreeSet<&str> = left.iter().copied().filter(spreads).collect();
        match rest.first() {
            None => return Ok(()),
            Some(name) if rest.len() == left.len() => {
                return Err(GraphqlFault::FragmentCycle((*name).into()));
            }
            Some(_) => left = rest,
        }
    }
}

impl<'a> Uses<'a> {
    fn directives(&mut self, directives: &[Directive<'a, &'a str>]) {
        for directive in directives {
            self.arguments(&directive.arguments);
        }
    }

    fn arguments(&mut self, arguments: &[(&'a str, Value<'a, &'a str>)]) {
        for (_, value) in arguments {
            self.value(value);
        }
    }

    fn value(&mut self, value: &Value<'a, &'a str>) {
        match value {
            Value::Variable(name) => {
                self.variables.insert(name);
            }
            Value::List(list) => list.iter().for_each(|value| self.value(value)),
            Value::Object(members) => self.arguments(members),
            Value::Int(_)
            | Value::Float(_)
            | Value::String(_)
            | Value::Boolean(_)
            | Value::Null
            | Value::Enum(_) => {}
        }
    }

    fn selection(&mut self, selection: &SelectionSet<'a, &'a str>) {
        for item in &selection.items {
            match item {
                Selection::Field(field) => {
                    self.arguments(&field.arguments);
                    self.directives(&field.directives);
                    self.selection(&field.selection_set);
                }
                Selection::FragmentSpread(spread) => {
                    self.fragments.insert(spread.fragment_name);
                    self.directives(&spread.directives);
                }
                Selection::InlineFragment(inline) => {
                    self.directives(&inline.directives);
                    self.selection(&inline.selection_set);
                }
            }
        }
    }
}
