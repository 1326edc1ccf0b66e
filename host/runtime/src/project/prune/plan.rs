//! Which places of an answer are kept while it streams by: the fields of a pick and the few single values that a manifest
//! looks at besides, as one tree in which each place knows at once whether a name is wanted.
//!
//! INVARIANT: whatever [`super::super::project`], [`super::super::find`] and [`super::super::holds`] look at along the paths
//! that the plan was made of is kept, so that they see in the pruned document what they would see in the whole one.

use std::collections::BTreeMap;

use pinhole_manifest::pick::{Node, Projection, SingularStep, Step};

use super::super::Key;

/// A place, by its number in the plan.
pub(super) type Place = usize;

/// What is kept of one place.
#[derive(Debug, Clone, Default)]
pub(super) struct Keep {
    /// A scalar here is kept.
    pub(super) scalar: bool,
    /// The scalar members of an object here are kept under their names.
    pub(super) members: bool,
    /// Members that are looked into.
    names: Vec<(Key, Place)>,
    /// A bit for each look of a wanted name: what most names that nobody wants do not have.
    looks: u64,
    /// What is kept of every element of an array here.
    pub(super) each: Option<Place>,
    /// What is kept of single elements, in order of their places; each holds what `each` keeps, too.
    pub(super) indices: Vec<(u64, Place)>,
}

impl Keep {
    /// The name and what is kept of its member, if it is wanted.
    #[inline]
    pub(super) fn name(&self, name: &[u8]) -> Option<&(Key, Place)> {
        if !self.may_want(name) {
            return None;
        }
        self.names.iter().find(|(wanted, _)| wanted.as_bytes() == name)
    }

    /// Whether a member of this name may be wanted: false is sure.
    #[inline]
    pub(super) fn may_want(&self, name: &[u8]) -> bool {
        self.members || self.looks >> look(name) & 1 == 1
    }

    /// How many members an object here keeps at most, as far as a first guess goes.
    pub(super) fn width(&self) -> usize {
        self.names.len().min(16)
    }

    /// Whether anything of an object here is looked at.
    pub(super) fn enters_objects(&self) -> bool {
        self.members || !self.names.is_empty()
    }

    /// Whether anything of an array here is looked at.
    pub(super) fn enters_arrays(&self) -> bool {
        self.each.is_some() || !self.indices.is_empty()
    }
}

/// A number below 64 of a name's length and of how it starts and ends.
#[inline]
fn look(name: &[u8]) -> u32 {
    let (Some(first), Some(last)) = (name.first(), name.last()) else {
        return 0;
    };
    let ends = u32::from(*first).wrapping_mul(7) ^ u32::from(*last).wrapping_mul(29);
    u32::try_from(name.len()).unwrap_or(u32::MAX).wrapping_mul(5).wrapping_add(ends) & 63
}

/// A plan of what is kept. Made once for each op and document.
#[derive(Debug)]
pub struct Plan {
    places: Vec<Keep>,
    any_scalar: Place,
}

impl Plan {
    /// Keeps what a projection picks from, and the values at single paths.
    pub fn new<'s>(
        projection: Option<&Projection>,
        singles: impl IntoIterator<Item = &'s [SingularStep]>,
    ) -> Self {
        let mut wanted = projection.map_or_else(Wanted::default, Wanted::of_projection);
        for steps in singles {
            wanted.merge(&Wanted::at(steps.iter().map(single), Wanted::leaf()));
        }
        Self::compile(&wanted)
    }

    fn compile(wanted: &Wanted) -> Self {
        let mut plan = Self { places: Vec::new(), any_scalar: 0 };
        plan.place(wanted);
        plan.any_scalar = plan.place(&Wanted::scalar());
        plan
    }

    /// Numbers a place and all below it; the top is number 0.
    fn place(&mut self, wanted: &Wanted) -> Place {
        let place = self.places.len();
        self.places.push(Keep { scalar: wanted.scalar, members: wanted.members, ..Keep::default() });
        let mut keep = Keep { scalar: wanted.scalar, members: wanted.members, ..Keep::default() };
        for (name, below) in &wanted.names {
            keep.looks |= 1 << look(name.as_bytes());
            // Where all scalar members are kept, so is one that is looked into for something else as well.
            let below = Wanted { scalar: below.scalar || wanted.members, ..below.clone() };
            keep.names.push((Key::new(name), self.place(&below)));
        }
        keep.each = wanted.each.as_deref().map(|below| self.place(below));
        for (index, below) in &wanted.indices {
            let mut below = below.clone();
            if let Some(each) = &wanted.each {
                below.merge(each);
            }
            keep.indices.push((*index, self.place(&below)));
        }
        if let Some(slot) = self.places.get_mut(place) {
            *slot = keep;
        }
        place
    }

    /// The place of a member that is kept if it is a scalar, whatever its name.
    pub(super) fn any_scalar(&self) -> Place {
        self.any_scalar
    }

    pub(super) fn keep(&self, place: Place) -> &Keep {
        const NOTHING: &Keep = &Keep {
            scalar: false,
            members: false,
            names: Vec::new(),
            looks: 0,
            each: None,
            indices: Vec::new(),
        };
        self.places.get(place).unwrap_or(NOTHING)
    }
}

fn single(step: &SingularStep) -> Step {
    match step {
        SingularStep::Name(name) => Step::Name(name.clone()),
        SingularStep::Index(index) => Step::Index(*index),
    }
}

/// What is wanted of a place, while the plan is made.
#[derive(Debug, Clone, Default)]
struct Wanted {
    scalar: bool,
    members: bool,
    names: BTreeMap<String, Self>,
    each: Option<Box<Self>>,
    indices: BTreeMap<u64, Self>,
}

impl Wanted {
    fn scalar() -> Self {
        Self { scalar: true, ..Self::default() }
    }

    /// A scalar or an array of scalars.
    fn leaf() -> Self {
        Self { scalar: true, each: Some(Box::new(Self::scalar())), ..Self::default() }
    }

    /// `end`, at the end of these steps.
    fn at(steps: impl DoubleEndedIterator<Item = Step>, end: Self) -> Self {
        steps.rev().fold(end, |below, step| match step {
            Step::Name(name) => Self { names: BTreeMap::from([(name, below)]), ..Self::default() },
            Step::Index(index) => Self { indices: BTreeMap::from([(index, below)]), ..Self::default() },
            Step::Each => Self { each: Some(Box::new(below)), ..Self::default() },
        })
    }

    /// The root's value is looked into as an object, or its elements are, each as an object.
    fn of_projection(projection: &Projection) -> Self {
        let object = Self::of_node(&projection.tree);
        let root = Self { each: Some(Box::new(object.clone())), indices: BTreeMap::new(), ..object };
        Self::at(projection.root.iter().cloned(), root)
    }

    fn of_node(node: &Node) -> Self {
        let mut wanted = if node.leaves.is_empty() { Self::default() } else { Self::leaf() };
        wanted.names = node.names.iter().map(|(name, node)| (name.clone(), Self::of_node(node))).collect();
        wanted.indices = node.indices.iter().map(|(index, node)| (*index, Self::of_node(node))).collect();
        if let Some(each) = &node.each {
            // At the end of a field `[*]` takes an object's scalar members as well.
            wanted.members = !each.leaves.is_empty();
            let below = Self::of_node(each);
            wanted.each.get_or_insert_default().merge(&below);
        }
        wanted
    }

    fn merge(&mut self, other: &Self) {
        self.scalar |= other.scalar;
        self.members |= other.members;
        for (name, below) in &other.names {
            self.names.entry(name.clone()).or_default().merge(below);
        }
        for (index, below) in &other.indices {
            self.indices.entry(*index).or_default().merge(below);
        }
        if let Some(each) = &other.each {
            self.each.get_or_insert_default().merge(each);
        }
    }
}
