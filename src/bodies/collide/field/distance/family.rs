//! The fragment distance field of one family: an unbroken object and everything that it broke into.
//!
//! In: the object's shape, and after each fracture the shapes of the new fragments. Out: at every node of a
//! coarse cube grid the fragment that it lies in, its distance to that fragment's surface and the direction
//! there. Fragments partition the object, so one value a node is enough for all of them, whatever breaks
//! (Glondu et al. 2012, sec. 4.1).

use super::{
    error::FieldError,
    exact::{Seeds, in_runs, nearest_by_seed},
    flaw::Flaw,
    fragment::Fragment,
    front::propagate,
    lattice::{Lattice, ROUND_A_NODE},
    leaf::Foot,
    occupancy::CellBits,
    solid::Placed,
};
use crate::{
    shape::{Kind, Shape},
    svo::Grid,
};
use glam::DVec3;
use rayon::prelude::*;

/// Finest level of a field: 129^3 nodes at most.
pub const MAX_FIELD_LEVEL: u32 = 7;

/// Names a fragment of a family; never given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FragmentId(pub u32);

impl FragmentId {
    /// The unbroken object.
    pub const WHOLE: Self = Self(0);
    /// Of nodes that lie in no fragment.
    pub(super) const NOBODY: Self = Self(u32::MAX);
}

/// What a node knows.
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

/// What a fracture did to a field.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Update {
    /// The new fragments, in the order in which their shapes were given.
    pub fragments: Vec<FragmentId>,
    /// Nodes whose distance became smaller, in the order in which they did, with the step: 0 for nodes of cut
    /// cells, whose values are exact, then the step of the front. A node may be there several times.
    pub accepted: Vec<(u32, u32)>,
    /// Nodes of the broken fragment that now lie in none.
    pub lost: usize,
}

/// Values of all nodes.
#[derive(Clone, Debug)]
pub(super) struct Nodes {
    pub fragment: Vec<FragmentId>,
    pub distance: Vec<f64>,
    pub direction: Vec<DVec3>,
}

/// The field.
#[derive(Clone, Debug)]
pub struct FamilyField {
    pub(super) lattice: Lattice,
    kind: Kind,
    /// Of the object's octree, where it has one: all fragments have the same.
    grid: Option<Grid>,
    /// By id; none once it has broken.
    fragments: Vec<Option<Placed>>,
    pub(super) nodes: Nodes,
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
        let lattice = lattice_of(shape, field_level)?;
        let whole = Placed::new(shape, &lattice, flaw)?;
        let all: Vec<usize> = (0..lattice.nodes()).collect();
        let exact = |node: &usize, seed: &mut Option<Foot>| {
            let p = lattice.place(lattice.at(*node));
            whole.solid.inside(p).then(|| nearest_by_seed(&whole, p, f64::INFINITY, seed)).flatten()
        };
        let values: Vec<Option<Foot>> = in_runs(&all, || None, exact);
        let direction = |(node, foot): (usize, &Option<Foot>)| {
            let p = lattice.place(lattice.at(node));
            flaw.outward(foot.map_or(DVec3::ZERO, |foot| towards(p, &foot)))
        };
        let nodes = Nodes {
            fragment: values
                .iter()
                .map(|foot| if foot.is_some() { FragmentId::WHOLE } else { FragmentId::NOBODY })
                .collect(),
            distance: values.iter().map(|foot| foot.map_or(0.0, |foot| foot.distance)).collect(),
            direction: values.iter().enumerate().map(direction).collect(),
        };
        let fragments = vec![Some(whole)];
        Ok(Self { lattice, kind: shape.kind(), grid: grid_of(shape), fragments, nodes, flaw })
    }

    /// Follows a fracture: `old` has broken into `parts`, shapes in the same local space. Writes no node but
    /// those of the broken fragment (sec. 4.2).
    ///
    /// # Errors
    /// [`FieldError::Fragment`], [`FieldError::NoParts`], [`FieldError::Grid`] or
    /// [`FieldError::Empty`]; the field is then as before.
    pub fn fracture(&mut self, old: FragmentId, parts: &[&Shape]) -> Result<Update, FieldError> {
        let bounds = self.placed(old).ok_or(FieldError::Fragment(old))?.bounds;
        if parts.is_empty() {
            return Err(FieldError::NoParts);
        }
        let is_alike = |shape: &Shape| shape.kind() == self.kind && grid_of(shape) == self.grid;
        if let Some(k) = parts.iter().position(|shape| !is_alike(shape)) {
            return Err(FieldError::Grid(k));
        }
        let placed: Vec<Placed> = parts
            .par_iter()
            .map(|shape| Placed::new(shape, &self.lattice, self.flaw))
            .collect::<Result<_, _>>()?;
        let first = self.fragments.len() as u32;
        let own = self.nodes_of(old, bounds);
        let owners = self.owners(&own, old, &placed);
        let mut update = Update {
            fragments: (first..first + parts.len() as u32).map(FragmentId).collect(),
            lost: owners.iter().filter(|owner| owner.is_none()).count(),
            ..Update::default()
        };
        for (node, owner) in own.iter().zip(&owners) {
            let owner = owner.map(|k| update.fragments[self.flaw.owner(k, placed.len())]);
            self.nodes.fragment[*node] = owner.unwrap_or(FragmentId::NOBODY);
            if owner.is_none() {
                (self.nodes.distance[*node], self.nodes.direction[*node]) = (0.0, DVec3::ZERO);
            }
        }
        for (node, foot) in self.cut_nodes(&own, first, &placed) {
            self.nodes.distance[node] = foot.distance;
            let p = self.lattice.place(self.lattice.at(node));
            self.nodes.direction[node] = self.flaw.outward(towards(p, &foot));
            update.accepted.push((node as u32, 0));
        }
        propagate(&self.lattice, &mut self.nodes, &mut update.accepted, self.flaw);
        self.fragments[old.0 as usize] = None;
        self.fragments.extend(placed.into_iter().map(Some));
        Ok(update)
    }

    /// Forgets a fragment that is gone; its nodes lie in none from then on.
    ///
    /// # Errors
    /// [`FieldError::Fragment`].
    pub fn remove(&mut self, fragment: FragmentId) -> Result<(), FieldError> {
        let bounds = self.placed(fragment).ok_or(FieldError::Fragment(fragment))?.bounds;
        for node in self.nodes_of(fragment, bounds) {
            self.nodes.fragment[node] = FragmentId::NOBODY;
            (self.nodes.distance[node], self.nodes.direction[node]) = (0.0, DVec3::ZERO);
        }
        self.fragments[fragment.0 as usize] = None;
        Ok(())
    }

    /// A fragment, to be asked; `None` where it has broken, or never was.
    #[must_use]
    pub fn fragment(&self, id: FragmentId) -> Option<Fragment<'_>> {
        Some(Fragment { field: self, id, placed: self.placed(id)?, walls: &[] })
    }

    /// All that have not broken.
    pub fn fragments(&self) -> impl Iterator<Item = Fragment<'_>> {
        (0..self.fragments.len() as u32).filter_map(|id| self.fragment(FragmentId(id)))
    }

    fn placed(&self, id: FragmentId) -> Option<&Placed> {
        self.fragments.get(id.0 as usize)?.as_ref()
    }

    /// Its grid.
    #[must_use]
    pub fn lattice(&self) -> &Lattice {
        &self.lattice
    }

    /// A node by its number, x fastest; `None` beyond the last.
    #[must_use]
    pub fn node(&self, node: usize) -> Option<Node> {
        let fragment = *self.nodes.fragment.get(node)?;
        Some(Node {
            place: self.lattice.place(self.lattice.at(node)),
            fragment: (fragment != FragmentId::NOBODY).then_some(fragment),
            distance: self.nodes.distance[node],
            direction: self.nodes.direction[node],
        })
    }

    /// Bytes held beyond the shapes, whose octrees it shares.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let a_node = size_of::<FragmentId>() + size_of::<f64>() + size_of::<DVec3>();
        let fragments: usize = self.fragments.iter().flatten().map(Placed::bytes).sum();
        self.nodes.distance.len() * a_node + fragments + size_of_val(&self.fragments[..])
    }

    /// Nodes of a fragment with these bounds, ascending.
    fn nodes_of(&self, id: FragmentId, (low, high): (DVec3, DVec3)) -> Vec<usize> {
        let (low, high) = (self.lattice.cell_of(low), self.lattice.cell_of(high) + 1);
        CellBits::box_of(low, high + 1)
            .filter_map(|at| self.lattice.node(at))
            .filter(|node| self.nodes.fragment[*node] == id)
            .collect()
    }

    /// For each of the nodes, ascending, the first of the new fragments that it lies in.
    fn owners(&self, nodes: &[usize], old: FragmentId, placed: &[Placed]) -> Vec<Option<usize>> {
        let inside = |part: &Placed| -> Vec<usize> {
            let cells = part.occupancy.finest();
            let (low, high) = cells.range();
            // A node lies in the cell above it, as a point at the corner of a voxel does.
            CellBits::box_of(low, high)
                .filter(|at| cells.has(*at))
                .filter_map(|at| self.lattice.node(at).filter(|node| self.nodes.fragment[*node] == old))
                .filter(|node| part.solid.inside(self.lattice.place(self.lattice.at(*node))))
                .collect()
        };
        let inside: Vec<Vec<usize>> = placed.par_iter().map(inside).collect();
        let mut owners = vec![None; nodes.len()];
        for (k, own) in inside.iter().enumerate() {
            for at in own.iter().filter_map(|node| nodes.binary_search(node).ok()) {
                owners[at] = owners[at].or(Some(k));
            }
        }
        owners
    }

    /// The nodes of cut cells whose exact distance is smaller than what they know, ascending, with the exact
    /// value.
    fn cut_nodes(&self, nodes: &[usize], first: u32, placed: &[Placed]) -> Vec<(usize, Foot)> {
        let cracked: Vec<CellBits> =
            placed.par_iter().map(|part| part.solid.cracked(&self.lattice, &part.surface)).collect();
        let exact = |node: &usize, seeds: &mut Seeds| {
            let k = self.nodes.fragment[*node].0.checked_sub(first)? as usize;
            // Nodes in no fragment have none of these.
            let cracked = cracked.get(k)?;
            let at = self.lattice.at(*node);
            if !ROUND_A_NODE.iter().any(|step| cracked.has(at + *step)) {
                return None;
            }
            // Some surface of a cut cell is no farther than the opposite corner.
            let within = self.nodes.distance[*node].min(2.0 * self.lattice.cell);
            let seed = seeds.of(k);
            nearest_by_seed(&placed[k], self.lattice.place(at), within, seed).map(|foot| (*node, foot))
        };
        in_runs(nodes, Seeds::default, exact).into_iter().flatten().collect()
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
    let (low, high) = shape.bounds();
    let longest = (high - low).max_element();
    if shape.is_empty() || !low.is_finite() || !high.is_finite() || longest <= 0.0 {
        return Err(FieldError::Empty);
    }
    Ok(match octree_level {
        Some(level) => Lattice::around((low, high), f64::from(1u32 << (level - field_level)), true),
        None => Lattice::around((low, high), longest / f64::from(1u32 << field_level), false),
    })
}

/// The way from a point inside to its foot.
fn towards(p: DVec3, foot: &Foot) -> DVec3 {
    super::smooth::geometric(p, foot)
}
