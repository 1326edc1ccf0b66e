//! The walk over the root's value, with the rules of [`super::project`] one by one.
//!
//! Refuses a picked name that stands twice. Keeps nothing of the answer but what a field ends at. DESIGN, "Pick": Shape.

use std::collections::BTreeSet;

use pinhole_manifest::pick::{Field, Step};

use super::find::{Twice, element, member};
use super::plan::Plan;
use super::{Key, ProjectError, Tree};

/// What a place gave.
enum Shape {
    /// Nothing.
    Absent,
    /// Nothing, because the value here is of another kind than the next step takes.
    Other,
    /// This.
    Found(Tree),
}

/// A walk with its notes.
pub(super) struct Walk<'w> {
    fields: &'w [Field],
    plan: Option<&'w Plan>,
    notes: BTreeSet<usize>,
}

impl<'w> Walk<'w> {
    pub(super) fn new(fields: &'w [Field], plan: Option<&'w Plan>) -> Self {
        Self { fields, plan, notes: BTreeSet::new() }
    }

    /// The texts of the fields of which something was left out.
    pub(super) fn into_notes(self) -> BTreeSet<String> {
        self.notes.iter().filter_map(|note| self.fields.get(*note)).map(|field| field.text.clone()).collect()
    }

    /// Projects elements at the root; whether one that is neither an object nor `null` was left out.
    pub(super) fn elements(
        &mut self,
        elements: &mut [Tree],
        picked: &mut Vec<Tree>,
    ) -> Result<bool, ProjectError> {
        let mut odd = false;
        for element in elements {
            match element {
                Tree::Object(_) => picked.push(self.object(element)?),
                Tree::Null => picked.push(Tree::Null),
                _ => odd = true,
            }
        }
        Ok(odd)
    }

    /// Projects an object at the root.
    pub(super) fn object(&mut self, object: &mut Tree) -> Result<Tree, ProjectError> {
        let mut parts: Vec<(usize, Key, Tree)> = Vec::new();
        // These first, by copy: what is taken below is gone.
        for (place, field) in self.fields.iter().enumerate() {
            if let Some(alias) = &field.alias
                && let Shape::Found(value) = self.flat(object, &field.steps, place)?
            {
                parts.push((place, alias.into(), value));
            }
        }
        let (Some(plan), Tree::Object(members)) = (self.plan, &mut *object) else {
            return Ok(together(parts));
        };
        // INVARIANT: no pick has names beside a `[*]`. To look for names takes the members away.
        let own = if plan.each.is_some() { Vec::new() } else { self.members(members, plan)? };
        if parts.is_empty() && plan.each.is_none() {
            return Ok(Tree::Object(own));
        }
        parts.extend(own.into_iter().map(|(name, value)| (plan.place(&name), name, value)));
        if let Some(each) = &plan.each
            && let Shape::Found(Tree::Object(scalars)) = self.nested(object, plan)?
        {
            parts.extend(scalars.into_iter().map(|(name, value)| (each.first(), name, value)));
        }
        Ok(together(parts))
    }

    /// The value at a place of nested fields.
    fn nested(&mut self, value: &mut Tree, plan: &Plan) -> Result<Shape, ProjectError> {
        if plan.leaf {
            return Ok(self.leaf(value, plan.first()));
        }
        match (value, &plan.each) {
            (Tree::Null, _) => Ok(Shape::Found(Tree::Null)),
            (value, Some(each)) if each.leaf => self.every(value, each.first()),
            (Tree::Array(elements), Some(each)) => {
                let mut picked = Vec::with_capacity(elements.len());
                for element in elements {
                    match self.nested(element, each)? {
                        Shape::Found(tree) => picked.push(tree),
                        Shape::Absent => {}
                        Shape::Other => self.notes.extend(&each.fields),
                    }
                }
                Ok(Shape::Found(Tree::Array(picked)))
            }
            (Tree::Object(members), None) => Ok(Shape::Found(Tree::Object(self.members(members, plan)?))),
            _ => Ok(Shape::Other),
        }
    }

    /// The picked members of an object, taken, in the manifest's order.
    fn members(
        &mut self,
        members: &mut Vec<(Key, Tree)>,
        plan: &Plan,
    ) -> Result<Vec<(Key, Tree)>, ProjectError> {
        // Most come in the manifest's order, and then none stands twice.
        let places =
            members.iter().filter_map(|(name, _)| plan.names.iter().position(|(wanted, _)| wanted == name));
        let in_order = places.is_sorted_by(|one, next| one < next);
        if !in_order {
            for (name, plan) in &plan.names {
                if member(members, name).is_err() {
                    return self.twice(plan.first());
                }
            }
        }
        let mut own = std::mem::take(members);
        let mut fault = None;
        own.retain_mut(|(name, value)| {
            let Some((_, plan)) = plan.names.iter().find(|(wanted, _)| wanted == name) else {
                return false;
            };
            match self.nested(value, plan) {
                Ok(Shape::Found(tree)) => {
                    *value = tree;
                    true
                }
                Ok(Shape::Absent | Shape::Other) => false,
                Err(error) => {
                    fault.get_or_insert(error);
                    false
                }
            }
        });
        if let Some(fault) = fault {
            return Err(fault);
        }
        if !in_order {
            own.sort_by_cached_key(|(name, _)| plan.place(name));
        }
        Ok(own)
    }

    /// What a field with `as` finds: one value, or all of them in one array where there is a `[*]` before its end.
    fn flat(&mut self, value: &Tree, steps: &[Step], field: usize) -> Result<Shape, ProjectError> {
        // What ends here is copied: another field may end here too.
        let Some((step, rest)) = steps.split_first() else { return Ok(self.leaf(&mut value.clone(), field)) };
        let next = match (step, value) {
            (_, Tree::Null) => return Ok(Shape::Found(Tree::Null)),
            (Step::Name(name), Tree::Object(members)) => {
                member(members, name).or_else(|Twice| self.twice(field))?
            }
            (Step::Index(index), Tree::Array(elements)) => element(elements, *index),
            (Step::Each, _) if rest.is_empty() => return self.every(&mut value.clone(), field),
            (Step::Each, Tree::Array(elements)) => return self.gather(elements, rest, field),
            _ => return Ok(Shape::Other),
        };
        match next.map(|next| self.flat(next, rest, field)).transpose()? {
            Some(Shape::Found(tree)) => Ok(Shape::Found(tree)),
            Some(Shape::Absent | Shape::Other) | None => Ok(Shape::Absent),
        }
    }

    /// What the elements give, in one array.
    fn gather(&mut self, elements: &[Tree], rest: &[Step], field: usize) -> Result<Shape, ProjectError> {
        let mut gathered = Vec::with_capacity(elements.len());
        for element in elements {
            match self.flat(element, rest, field)? {
                Shape::Found(Tree::Array(inner)) if rest.contains(&Step::Each) => gathered.extend(inner),
                Shape::Found(tree) => gathered.push(tree),
                Shape::Absent => {}
                Shape::Other => drop(self.notes.insert(field)),
            }
        }
        Ok(Shape::Found(Tree::Array(gathered)))
    }

    /// A field's end: a scalar or an array of scalars, which is taken.
    fn leaf(&mut self, value: &mut Tree, field: usize) -> Shape {
        let fits = match &*value {
            Tree::Array(elements) => elements.iter().all(Tree::is_scalar),
            scalar => scalar.is_scalar(),
        };
        if fits {
            return Shape::Found(std::mem::replace(value, Tree::Null));
        }
        self.notes.insert(field);
        Shape::Absent
    }

    /// A field's end at `[*]`: an array of scalars, or the scalar members of an object, which are taken.
    fn every(&mut self, value: &mut Tree, field: usize) -> Result<Shape, ProjectError> {
        match value {
            Tree::Null | Tree::Array(_) => Ok(self.leaf(value, field)),
            Tree::Object(members) => {
                let mut names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
                names.sort_unstable();
                if names.windows(2).any(|pair| pair.first() == pair.last()) {
                    return self.twice(field);
                }
                let mut picked = Vec::with_capacity(members.len());
                for (name, member) in members {
                    if member.is_scalar() {
                        picked.push((std::mem::take(name), std::mem::replace(member, Tree::Null)));
                    } else {
                        self.notes.insert(field);
                    }
                }
                Ok(Shape::Found(Tree::Object(picked)))
            }
            _ => Ok(Shape::Other),
        }
    }

    fn twice<T>(&self, field: usize) -> Result<T, ProjectError> {
        let field = self.fields.get(field).map(|field| field.text.clone()).unwrap_or_default();
        Err(ProjectError::DuplicateKey { field })
    }
}

/// An object of its parts, in the order of their places.
fn together(mut parts: Vec<(usize, Key, Tree)>) -> Tree {
    parts.sort_by_key(|(place, ..)| *place);
    Tree::Object(parts.into_iter().map(|(_, name, value)| (name, value)).collect())
}
