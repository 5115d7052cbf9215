//! The fragment distance field of one family: an unbroken object and everything that it broke into.
//!
//! In: the object's shape, and after each fracture the shapes of the new fragments. Out: at every node of a
//! coarse cube grid the fragment that it lies in, its distance to that fragment's surface and the direction
//! there. Fragments partition the object, so one value a node is enough for all of them, whatever breaks
//! (Glondu et al. 2012, sec. 4.1).
//!
//! # A plane through a field, for display: the fragment at each point, and the depth in it
//!
//! # How a field names its fragments, and why there is no field or why it did not change

use std::sync::Arc;

use glam::DVec3;
use rayon::prelude::*;

use super::{
    fragment::Fragment,
    interior::Interior,
    leaf::Work,
    nodes::{Break, LateNodes, Nodes, Update},
    occupancy::{Flaw, Lattice},
    solid::Placed,
};
use crate::{
    shape::{Kind, Shape},
    svo::Grid,
};

/// Finest level of a field: 129^3 nodes at most.
pub const MAX_FIELD_LEVEL: u32 = 7;

/// Value of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    /// Where it is, local space.
    pub place: DVec3,
    /// The fragment that it lies in.
    pub fragment: Option<FragmentId>,
    /// Distance to that fragment's surface, local units; 0 in no fragment.
    pub distance: f64,
    /// Unit vector to the nearest surface; zero in no fragment.
    pub direction: DVec3,
}

/// The field.
#[derive(Clone, Debug)]
pub struct FamilyField {
    pub(super) lattice: Lattice,
    kind: Kind,
    /// Grid of the object's octree, if it has one: all fragments have the same.
    grid: Option<Grid>,
    /// By id; `None` once it has broken.
    fragments: Vec<Option<Arc<Placed>>>,
    nodes: Arc<LateNodes>,
    pub(super) flaw: Flaw,
}

impl FamilyField {
    /// The field of an unbroken object, exact at every node, on cells of octree level `field_level` (where
    /// there is no octree: of a 2^`field_level`th of the longest side).
    ///
    /// # Errors
    /// [`FieldError::Level`] outside 1 to [`MAX_FIELD_LEVEL`] or finer than the octree,
    /// [`FieldError::Empty`].
    pub fn new(shape: &Shape, field_level: u32) -> Result<Self, FieldError> {
        Self::with_flaw(shape, field_level, Flaw::None)
    }

    pub(super) fn with_flaw(shape: &Shape, field_level: u32, flaw: Flaw) -> Result<Self, FieldError> {
        let field = Self::unasked(shape, field_level, flaw)?;
        field.nodes.make(&field.lattice);
        Ok(field)
    }

    /// Like [`Self::new`], but the nodes are computed on first use.
    ///
    /// # Errors
    /// See [`Self::new`].
    pub fn at_need(shape: &Shape, field_level: u32) -> Result<Self, FieldError> {
        Self::unasked(shape, field_level, Flaw::None)
    }

    fn unasked(shape: &Shape, field_level: u32, flaw: Flaw) -> Result<Self, FieldError> {
        let lattice = lattice_of(shape, field_level)?;
        let whole = Arc::new(Placed::new(shape, &lattice, flaw).ok_or(FieldError::Empty)?);
        let nodes = Arc::new(LateNodes::of_whole(&whole, flaw));
        let fragments = vec![Some(whole)];
        Ok(Self { lattice, kind: shape.kind(), grid: grid_of(shape), fragments, nodes, flaw })
    }

    /// Updates the field after a fracture of `old` into `parts`, shapes in the same local space. Only nodes of the
    /// broken fragment change (sec. 4.2).
    ///
    /// # Errors
    /// [`FieldError::Fragment`], [`FieldError::NoParts`], [`FieldError::Grid`] or [`FieldError::Empty`]; the field is
    /// then as before.
    pub fn fracture(&mut self, old: FragmentId, parts: &[&Shape]) -> Result<Update, FieldError> {
        let broken = self.place(old, parts)?;
        let mut nodes = self.nodes().clone();
        let update = nodes.follow(&broken, &self.lattice, self.flaw, Work::Shared);
        self.replace(&broken);
        self.nodes = Arc::new(LateNodes::given(nodes, self.flaw));
        Ok(update)
    }

    /// A new field for the state after a fracture, with the ids of the new fragments. Its nodes are computed on first
    /// use.
    ///
    /// # Errors
    /// See [`Self::fracture`].
    pub fn after(&self, old: FragmentId, parts: &[&Shape]) -> Result<(Self, Vec<FragmentId>), FieldError> {
        let broken = self.place(old, parts)?;
        let mut field = self.clone();
        field.replace(&broken);
        let fragments = (broken.first..).take(parts.len()).map(FragmentId).collect();
        field.nodes = Arc::new(LateNodes::follow(&self.nodes, broken, &self.lattice));
        Ok((field, fragments))
    }

    /// The broken fragment and the parts on the lattice.
    fn place(&self, old: FragmentId, parts: &[&Shape]) -> Result<Break, FieldError> {
        let bounds = self.placed(old).ok_or(FieldError::Fragment(old))?.bounds;
        if parts.is_empty() {
            return Err(FieldError::NoParts);
        }
        let is_alike = |shape: &Shape| shape.kind() == self.kind && grid_of(shape) == self.grid;
        if let Some(k) = parts.iter().position(|shape| !is_alike(shape)) {
            return Err(FieldError::Grid(k));
        }
        let on_lattice = |shape: &&Shape| {
            Placed::new(shape, &self.lattice, self.flaw).map(Arc::new).ok_or(FieldError::Empty)
        };
        let placed = parts.par_iter().map(on_lattice).collect::<Result<_, _>>()?;
        Ok(Break { old, bounds, first: self.fragments.len() as u32, placed })
    }

    fn replace(&mut self, broken: &Break) {
        self.fragments[broken.old.0 as usize] = None;
        self.fragments.extend(broken.placed.iter().cloned().map(Some));
    }

    /// All nodes.
    pub(super) fn nodes(&self) -> &Nodes {
        self.nodes.get(&self.lattice)
    }

    /// Writes into nodes.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut Nodes)) {
        let mut nodes = self.nodes().clone();
        change(&mut nodes);
        self.nodes = Arc::new(LateNodes::given(nodes, self.flaw));
    }

    /// Removes a fragment; its nodes lie in no fragment from then on.
    ///
    /// # Errors
    /// [`FieldError::Fragment`].
    pub fn remove(&mut self, fragment: FragmentId) -> Result<(), FieldError> {
        let bounds = self.placed(fragment).ok_or(FieldError::Fragment(fragment))?.bounds;
        let lost = self.nodes().of_fragment(&self.lattice, fragment, bounds);
        self.change(|nodes| lost.into_iter().for_each(|node| nodes.lose(node)));
        self.fragments[fragment.0 as usize] = None;
        Ok(())
    }

    /// A fragment for queries; `None` if it has broken, or never existed.
    #[must_use]
    pub fn fragment(&self, id: FragmentId) -> Option<Fragment<'_>> {
        Some(Fragment { field: self, id, placed: self.placed(id)?, walls: &[] })
    }

    /// All that have not broken.
    pub fn fragments(&self) -> impl Iterator<Item = Fragment<'_>> {
        (0..self.fragments.len() as u32).filter_map(|id| self.fragment(FragmentId(id)))
    }

    fn placed(&self, id: FragmentId) -> Option<&Placed> {
        self.fragments.get(id.0 as usize)?.as_deref()
    }

    /// Its grid.
    #[must_use]
    pub fn lattice(&self) -> &Lattice {
        &self.lattice
    }

    /// A node by its number, x fastest; `None` beyond the last.
    #[must_use]
    pub fn node(&self, node: usize) -> Option<Node> {
        let nodes = self.nodes();
        let fragment = *nodes.fragment.get(node)?;
        Some(Node {
            place: self.lattice.place(self.lattice.at(node)),
            fragment: (fragment != FragmentId::NOBODY).then_some(fragment),
            distance: nodes.distance[node],
            direction: nodes.direction[node],
        })
    }

    /// Bytes held beyond the shapes, whose octrees it shares.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let a_node = size_of::<FragmentId>() + size_of::<f64>() + size_of::<DVec3>();
        let fragments: usize = self.fragments.iter().flatten().map(|placed| placed.bytes()).sum();
        self.nodes.made().map_or(0, |nodes| nodes.distance.len()) * a_node
            + fragments
            + size_of_val(&self.fragments[..])
    }
}

fn grid_of(shape: &Shape) -> Option<Grid> {
    shape.as_octree().map(|octree| octree.grid)
}

/// The cells of a field.
fn lattice_of(shape: &Shape, field_level: u32) -> Result<Lattice, FieldError> {
    let octree_level = shape.as_octree().map(crate::shape::Octree::level);
    let finest = octree_level.map_or(MAX_FIELD_LEVEL, |level| level.min(MAX_FIELD_LEVEL));
    if !(1..=finest).contains(&field_level) {
        return Err(FieldError::Level { asked: field_level, finest });
    }
    let bounds = shape.bounds();
    let longest = bounds.size().max_element();
    if shape.is_empty() || !bounds.low.is_finite() || !bounds.high.is_finite() || longest <= 0.0 {
        return Err(FieldError::Empty);
    }
    Ok(match octree_level {
        Some(level) => Lattice::around(bounds, f64::from(1u32 << (level - field_level)), true),
        None => Lattice::around(bounds, longest / f64::from(1u32 << field_level), false),
    })
}

/// A point of a slice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SliceSample {
    /// The fragment that it lies in.
    pub fragment: Option<FragmentId>,
    /// Depth, local units; 0 in no fragment.
    pub distance: f64,
    /// Direction out; zero in no fragment.
    pub direction: DVec3,
}

/// Points of a plane, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// Points in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// `width` * `height` of them.
    pub samples: Vec<SliceSample>,
}

impl FamilyField {
    /// The fragment that a point (local space) lies in.
    #[must_use]
    pub fn fragment_at(&self, p: DVec3) -> Option<FragmentId> {
        let cell = self.lattice.cell_of(p);
        let holds = |part: &super::Fragment<'_>| part.placed.occupancy.finest().has(cell) && part.inside(p);
        self.fragments().find(holds).map(|part| part.id())
    }

    /// The field on the plane from `corner` (local space): point (x, y) is at `corner` + x * `right` + y *
    /// `down`.
    #[must_use]
    pub fn slice(&self, corner: DVec3, [right, down]: [DVec3; 2], [width, height]: [usize; 2]) -> Slice {
        let nothing = SliceSample { fragment: None, distance: 0.0, direction: DVec3::ZERO };
        let sample = |k: usize| {
            let p = corner + right * (k % width) as f64 + down * (k / width) as f64;
            let fragment = self.fragment_at(p).and_then(|id| self.fragment(id));
            let Some((fragment, depth)) = fragment.and_then(|part| Some((part.id(), part.penetration(p)?)))
            else {
                return nothing;
            };
            SliceSample { fragment: Some(fragment), distance: depth.distance, direction: depth.direction }
        };
        let samples = (0..width.saturating_mul(height)).into_par_iter().map(sample).collect();
        Slice { width, height, samples }
    }
}

/// Id of a fragment of a family; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FragmentId(pub u32);

impl FragmentId {
    /// The unbroken object.
    pub const WHOLE: Self = Self(0);
    /// The id in nodes that lie in no fragment.
    pub(super) const NOBODY: Self = Self(u32::MAX);
}

/// Why a field was not made or changed. The field is then as before.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FieldError {
    /// The level of the field's cells cannot be.
    #[error("field level {asked} is outside 1 to {finest}; choose one of these (5 suits octrees of level 7)")]
    Level {
        /// The level that was asked for.
        asked: u32,
        /// The finest that this object can have.
        finest: u32,
    },
    /// There is no solid.
    #[error("a distance field needs a shape with something in it; leave empty shapes out")]
    Empty,
    /// The fragment is not there, or has broken before.
    #[error("the field has no fragment {}; use the fragments that its last update returned", .0.0)]
    Fragment(FragmentId),
    /// A new fragment lies on another grid, or is of another kind, than the object.
    #[error("part {0} is not on the object's own grid; give parts as the fracture made them")]
    Grid(usize),
    /// The list of parts is empty.
    #[error("a fragment breaks into at least one part; remove it instead")]
    NoParts,
}
