//! What is picked and what a page is found by, looked for in what the document selects.
//!
//! Follows aliases and fragments as the service does: by the names that stand in the answer. A custom scalar may hold
//! anything, so whatever lies below one passes. GraphQL, September 2025, section 6.3.

use std::collections::{HashMap, HashSet};

use graphql_tools::static_graphql::query::{
    Field, FragmentDefinition, Selection, SelectionSet, Type, TypeCondition,
};
use graphql_tools::static_graphql::schema::TypeDefinition;

use super::super::schema::Schema;
use super::document::Parsed;
use super::{Found, nullable};
use crate::finding::{FindingCode, quoted};
use crate::model::{Op, Page};
use crate::pick::{Pick, SingularPath, SingularStep, Step};

/// Holds the pick and the page of an op against its document.
pub(super) fn check(parsed: &Parsed, op: &Op, schema: &Schema, found: &mut Found<'_>) {
    let answer = Answer { parsed, schema, fragments: parsed.fragments() };
    if let Pick::Fields(projection) = &op.pick {
        match answer.follow(Place::Top, &projection.root) {
            Ok(Place::Scalars) => report(&Miss::NoList, "the root", "/pick/root", found),
            Ok(root) => {
                let root = root.element();
                for (at, field) in projection.fields.iter().enumerate() {
                    let below = if field.alias.is_some() { "/path" } else { "" };
                    let ended =
                        answer.follow(root.clone(), &field.steps).and_then(|place| answer.value(&place));
                    if let Err(miss) = ended {
                        report(&miss, &field.text, &format!("/pick/fields/{at}{below}"), found);
                    }
                }
            }
            Err(miss) => report(&miss, "the root", "/pick/root", found),
        }
    }
    let next = match &op.page {
        Some(Page::Relay { info, .. }) => {
            vec![(info, Some("hasNextPage")), (info, Some("endCursor"))]
        }
        Some(Page::Cursor { next, .. }) => vec![(next, None)],
        Some(Page::Link { .. } | Page::Number { .. }) | None => Vec::new(),
    };
    for (path, member) in next {
        let mut steps = steps(path);
        steps.extend(member.map(|name| Step::Name(name.into())));
        let ended = answer.follow(Place::Top, &steps).and_then(|place| answer.value(&place));
        if let Err(miss) = ended {
            let (message, help) = miss.say(member.unwrap_or(path.as_str()));
            let pointer = if member.is_some() { "/page/info" } else { "/page/next" };
            found.add(FindingCode::PageUnknown, pointer, message, help);
        }
    }
}

/// Holds a path to one value of an answer against the document that it answers.
pub(super) fn check_singular(
    parsed: &Parsed,
    path: &SingularPath,
    schema: &Schema,
    pointer: &str,
    found: &mut Found<'_>,
) {
    let answer = Answer { parsed, schema, fragments: parsed.fragments() };
    if let Err(miss) = answer.follow(Place::Top, &steps(path)) {
        report(&miss, path.as_str(), pointer, found);
    }
}

fn steps(path: &SingularPath) -> Vec<Step> {
    let step = |step: &SingularStep| match step {
        SingularStep::Name(name) => Step::Name(name.clone()),
        SingularStep::Index(index) => Step::Index(*index),
    };
    path.steps().iter().map(step).collect()
}

fn report(miss: &Miss, what: &str, pointer: &str, found: &mut Found<'_>) {
    let code = match miss {
        Miss::Unselected(_) => FindingCode::PickUnselected,
        Miss::Unknown { .. } => FindingCode::PickUnknown,
        Miss::Object(_) | Miss::List | Miss::NoList | Miss::NoObject(_) => FindingCode::PickNotValue,
    };
    let (message, help) = miss.say(what);
    found.add(code, pointer, message, help);
}

/// Why a path leads nowhere.
enum Miss {
    /// The document does not ask for it.
    Unselected(String),
    /// The schema does not have it.
    Unknown { name: String, of: String },
    /// It ends at an object.
    Object(String),
    /// It goes on through a list, or ends at a list of lists.
    List,
    /// It wants elements of what is no list.
    NoList,
    /// It wants members of a single value.
    NoObject(String),
}

impl Miss {
    fn say(&self, what: &str) -> (String, &'static str) {
        let what = quoted(what);
        match self {
            Self::Unselected(name) => {
                let message = format!("`{what}`: the document does not select `{}`", quoted(name));
                (message, "select it in the document, or leave it out here")
            }
            Self::Unknown { name, of } => {
                let message = format!("`{what}`: `{}` has no field `{}`", quoted(of), quoted(name));
                (message, "take a field of the schema, or the alias that the document gives it")
            }
            Self::Object(of) => {
                let message = format!("`{what}` is an object of the type `{}`", quoted(of));
                (message, "name the fields of it that are wanted")
            }
            Self::List => (format!("`{what}` goes through a list"), "write `[*]` behind the list's name"),
            Self::NoList => (format!("`{what}` has a place for a list where there is none"), "leave it out"),
            Self::NoObject(of) => {
                let message = format!("`{what}` goes on behind a value of the type `{}`", quoted(of));
                (message, "end the path there")
            }
        }
    }
}

/// A place in an answer.
#[derive(Clone)]
enum Place<'d> {
    /// The answer itself, which has `data`.
    Top,
    /// A value of this type, of which this is selected.
    Data { kind: Type, sets: Vec<&'d SelectionSet> },
    /// What no schema describes.
    Open,
    /// The scalars of an object.
    Scalars,
}

impl Place<'_> {
    /// An element, where it is a list: a pick takes the elements of a root by itself.
    fn element(self) -> Self {
        match self {
            Self::Data { kind, sets } => match nullable(&kind) {
                Type::ListType(inner) => Self::Data { kind: (**inner).clone(), sets },
                _ => Self::Data { kind, sets },
            },
            other => other,
        }
    }
}

struct Answer<'a> {
    parsed: &'a Parsed,
    schema: &'a Schema,
    fragments: HashMap<&'a str, &'a FragmentDefinition>,
}

impl<'a> Answer<'a> {
    fn follow(&self, from: Place<'a>, steps: &[Step]) -> Result<Place<'a>, Miss> {
        steps.iter().try_fold(from, |place, step| self.step(place, step))
    }

    fn step(&self, place: Place<'a>, step: &Step) -> Result<Place<'a>, Miss> {
        let (kind, sets) = match (place, step) {
            (Place::Data { kind, sets }, _) => (kind, sets),
            (Place::Open, _) => return Ok(Place::Open),
            (Place::Top, Step::Name(name)) if name == "data" => {
                let kind = Type::NamedType(self.parsed.root.clone());
                return Ok(Place::Data { kind, sets: self.parsed.selection().into_iter().collect() });
            }
            (Place::Top, Step::Name(name)) if name == "extensions" => return Ok(Place::Open),
            (Place::Top, Step::Name(name)) => return Err(Miss::Unselected(name.clone())),
            (Place::Top | Place::Scalars, _) => return Err(Miss::NoList),
        };
        match (step, nullable(&kind)) {
            (Step::Each | Step::Index(_), Type::ListType(inner)) => {
                Ok(Place::Data { kind: (**inner).clone(), sets })
            }
            (Step::Name(_), Type::ListType(_)) => Err(Miss::List),
            (_, Type::NonNullType(_)) => Err(Miss::NoList),
            (step, Type::NamedType(of)) => match (step, self.schema.find(of)) {
                (_, Some(TypeDefinition::Scalar(_))) if !is_built_in(of) => Ok(Place::Open),
                (Step::Name(name), _) if self.schema.is_composite(of) => self.member(name, of, &sets),
                (Step::Name(_), _) => Err(Miss::NoObject(of.clone())),
                (Step::Each, _) if self.schema.is_composite(of) => Ok(Place::Scalars),
                (Step::Each | Step::Index(_), _) => Err(Miss::NoList),
            },
        }
    }

    /// The member of this name in an answer, wherever the selections ask for it.
    fn member(&self, name: &str, of: &str, sets: &[&'a SelectionSet]) -> Result<Place<'a>, Miss> {
        let mut fields = Vec::new();
        let mut seen = HashSet::new();
        for set in sets {
            self.collect(name, of, set, &mut seen, &mut fields);
        }
        let Some((parent, first)) = fields.first() else {
            let known = name == "__typename" || self.schema.field(of, name).is_some();
            let union = matches!(self.schema.find(of), Some(TypeDefinition::Union(_)));
            return Err(if known || union {
                Miss::Unselected(name.to_owned())
            } else {
                Miss::Unknown { name: name.to_owned(), of: of.to_owned() }
            });
        };
        let kind = if first.name == "__typename" {
            Type::NamedType("String".to_owned())
        } else {
            let known = self.schema.field(parent, &first.name);
            let unknown = || Miss::Unknown { name: first.name.clone(), of: parent.clone() };
            known.ok_or_else(unknown)?.field_type.clone()
        };
        let sets = fields.iter().map(|(_, field)| &field.selection_set).collect();
        Ok(Place::Data { kind, sets })
    }

    fn collect(
        &self,
        name: &str,
        parent: &str,
        set: &'a SelectionSet,
        seen: &mut HashSet<&'a str>,
        fields: &mut Vec<(String, &'a Field)>,
    ) {
        for item in &set.items {
            let (condition, inner) = match item {
                Selection::Field(field) => {
                    if field.alias.as_ref().unwrap_or(&field.name) == name {
                        fields.push((parent.to_owned(), field));
                    }
                    continue;
                }
                Selection::InlineFragment(one) => (one.type_condition.as_ref(), &one.selection_set),
                Selection::FragmentSpread(spread) => {
                    match self.fragments.get(spread.fragment_name.as_str()) {
                        Some(one) if seen.insert(&one.name) => {
                            (Some(&one.type_condition), &one.selection_set)
                        }
                        _ => continue,
                    }
                }
            };
            let narrower = condition.map(|TypeCondition::On(narrower)| narrower.as_str());
            self.collect(name, narrower.unwrap_or(parent), inner, seen, fields);
        }
    }

    /// Whether a place is a value: a scalar, or a list of scalars.
    fn value(&self, place: &Place<'_>) -> Result<(), Miss> {
        let kind = match place {
            Place::Data { kind, .. } => nullable(kind),
            Place::Open | Place::Scalars => return Ok(()),
            Place::Top => return Err(Miss::Object("answer".to_owned())),
        };
        let element = match kind {
            Type::ListType(inner) => nullable(inner),
            other => other,
        };
        match element {
            Type::NamedType(of) if self.schema.is_composite(of) => Err(Miss::Object(of.clone())),
            Type::NamedType(_) => Ok(()),
            Type::ListType(_) | Type::NonNullType(_) => Err(Miss::List),
        }
    }
}

fn is_built_in(name: &str) -> bool {
    matches!(name, "Boolean" | "Float" | "ID" | "Int" | "String")
}
