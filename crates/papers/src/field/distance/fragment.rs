//! Contact queries of a fragment of a family (Glondu et al. 2012, sec. 4.3 to 4.5).
//!
//! Depths are never negative; the paper's are negative in contacts (sec. 3) and positive in the field (sec. 4).
//!
//! Within a cell of the surface everything is exact, from the surface itself, wherever the point lies: the paper does
//! this in cut cells only, which leaves the field's error right beside them. Deeper, eqs. 1 and 2 over the nodes of the
//! point's cell that lie in the fragment decide, and never less than a cell, since no surface is that near. For a
//! fragment so thin that none of these nodes lies in it, the distance to its surface is computed.

use super::{
    family::{FamilyField, FragmentId},
    interior::{Compared, Depth, Interior, Reached, Way},
    leaf::Foot,
    nodes::Sums,
    occupancy::ROUND_A_NODE,
    octree_solid::{OctreeSolid, geometric},
    solid::{Placed, Solid},
};
use crate::geometry::Aabb;
use glam::DVec3;

/// Nodes nearer than this share of a cell are the point itself.
const AT_NODE: f64 = 1e-9;

/// Where a point passes from one voxel to the next and is inside by the one alone, one of the two has surface, which is
/// no farther than the diagonal of a voxel.
const MOST_STEP: f64 = 1.733;

/// One fragment of a field, in the local space of the family.
#[derive(Clone, Copy)]
pub struct Fragment<'a> {
    pub(super) field: &'a FamilyField,
    pub(super) id: FragmentId,
    pub(super) placed: &'a Placed,
    /// Half-spaces that contain it; a point outside one of them is at least that far away.
    pub(super) walls: &'a [Wall],
}

/// The half-space `normal . p <= reach`, local space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wall {
    /// Unit, outward.
    pub normal: DVec3,
    /// Local units.
    pub reach: f64,
}

impl<'a> Fragment<'a> {
    /// The same fragment, with the half-spaces that contain it.
    #[must_use]
    pub fn within(self, walls: &'a [Wall]) -> Self {
        Self { walls, ..self }
    }

    /// Its name.
    #[must_use]
    pub fn id(&self) -> FragmentId {
        self.id
    }

    /// Bounds, local space.
    #[must_use]
    pub fn bounds(&self) -> Aabb {
        self.placed.bounds
    }

    /// Number of the field's cells that hold some of it.
    #[must_use]
    pub fn cells_with_solid(&self) -> usize {
        self.placed.occupancy.finest().count()
    }

    /// Its octree, unless it is a mesh.
    #[must_use]
    pub fn octree(&self) -> Option<&'a OctreeSolid> {
        match &self.placed.solid {
            Solid::Octree(octree) => Some(octree),
            Solid::Mesh(_) => None,
        }
    }

    /// Edge of the field's cells, local units: how near to the surface answers are exact.
    #[must_use]
    pub fn cell(&self) -> f64 {
        self.field.lattice.cell
    }

    /// Depth and direction by the field alone, from the nodes round `p` that lie in the fragment; `None` if none does.
    /// ([`Interior::penetration`] uses it deeper than a cell; this function is for display.)
    #[must_use]
    pub fn interpolated(&self, p: DVec3) -> Option<Depth> {
        let lattice = &self.field.lattice;
        let nodes = self.field.nodes();
        let cell = lattice.cell_of(p);
        let mut sums = Sums::default();
        for corner in ROUND_A_NODE.map(|step| cell - step) {
            let Some(node) = lattice.node(corner).filter(|node| nodes.is_of(*node, self.id)) else {
                continue;
            };
            let (distance, direction) = (nodes.distance[node], nodes.direction[node]);
            let to_node = lattice.place(corner) - p;
            if to_node.length() < AT_NODE * lattice.cell {
                return Some(Depth { distance, direction });
            }
            sums.add(to_node, distance, direction, self.field.flaw);
        }
        let (distance, direction) = sums.mean()?;
        Some(Depth { distance: distance.max(0.0), direction })
    }

    /// The nearest point of its surface, as far as it is nearer than `within`.
    fn exact(&self, p: DVec3, within: f64) -> Option<Foot> {
        self.placed.solid.nearest(p, within)
    }

    /// How deep a point inside is, unless it is no deeper than `least`.
    fn deeper(&self, p: DVec3, least: f64) -> Compared {
        let by = |foot: Foot| Compared::Deeper(Reached { depth: foot.distance, way: Way::By(foot) });
        let cell = self.cell();
        match self.placed.solid.nearest_until(p, cell, least) {
            Some(foot) if foot.distance <= least => Compared::AtMost(foot.distance),
            Some(foot) => by(foot),
            None => self.deep(p).map_or(Compared::Away, Compared::Deeper),
        }
    }

    fn deep(&self, p: DVec3) -> Option<Reached> {
        let by = |foot: Foot| Reached { depth: foot.distance, way: Way::By(foot) };
        let cell = self.cell();
        let far = || {
            let depth = self.interpolated(p)?;
            Some(Reached { depth: depth.distance.max(cell), way: Way::Along(depth.direction) })
        };
        let near = self.exact(p, cell).map(by);
        near.or_else(far).or_else(|| self.exact(p, f64::INFINITY).map(by))
    }

    fn high(&self, p: DVec3, within: f64) -> Option<Reached> {
        if !p.is_finite() || !self.sphere_meets(p, within) {
            return None;
        }
        self.exact(p, within).map(|foot| Reached { depth: -foot.distance, way: Way::By(foot) })
    }
}

impl Interior for Fragment<'_> {
    fn inside(&self, p: DVec3) -> bool {
        p.is_finite() && self.placed.solid.inside(p)
    }

    fn penetration(&self, p: DVec3) -> Option<Depth> {
        let Reached { depth, way } = self.inside(p).then(|| self.deep(p)).flatten()?;
        Some(Depth { distance: depth, direction: self.direction(p, &way) })
    }

    fn sphere_meets(&self, p: DVec3, r: f64) -> bool {
        if !p.is_finite() || r.is_nan() || r < 0.0 {
            return false;
        }
        let apart = self.placed.bounds.distance(p);
        // Rounding must not lose a ball that just touches.
        apart <= r + self.cell() * 1e-9
            && self.apart(p) <= r
            && self.placed.occupancy.meets(&self.field.lattice, p, r)
    }

    fn outside_distance(&self, p: DVec3, within: f64) -> Option<Depth> {
        let Reached { depth, way } = (!self.inside(p)).then(|| self.high(p, within)).flatten()?;
        Some(Depth { distance: -depth, direction: self.direction(p, &way) })
    }

    fn reach(&self, p: DVec3, within: f64) -> Option<Reached> {
        if self.inside(p) { self.deep(p) } else { (within > 0.0).then(|| self.high(p, within)).flatten() }
    }

    fn reach_beyond(&self, p: DVec3, within: f64, least: f64) -> Compared {
        let exact = |reached: Option<Reached>| reached.map_or(Compared::Away, Compared::Deeper);
        match self.inside(p) {
            true if least >= 0.0 => self.deeper(p, least),
            true => exact(self.deep(p)),
            false => exact((within > 0.0).then(|| self.high(p, within)).flatten()),
        }
    }

    fn ball(&self) -> Option<(DVec3, f64)> {
        let Aabb { low, high } = self.placed.bounds;
        Some((low.midpoint(high), 0.5 * low.distance(high)))
    }

    fn apart(&self, p: DVec3) -> f64 {
        let over = |wall: &Wall| p.dot(wall.normal) - wall.reach;
        self.walls.iter().map(over).fold(f64::NEG_INFINITY, f64::max)
    }

    fn exact_to(&self) -> f64 {
        self.cell()
    }

    fn step(&self, p: DVec3) -> (f64, f64) {
        // Within a voxel its own planes decide.
        let to_next = || {
            let low = p - p.floor();
            low.min(DVec3::ONE - low).min_element()
        };
        self.octree().map_or((f64::INFINITY, 0.0), |_| (to_next(), MOST_STEP))
    }

    fn direction(&self, p: DVec3, way: &Way) -> DVec3 {
        match way {
            Way::Along(direction) => *direction,
            Way::By(foot) => self.field.flaw.outward(self.placed.solid.outward(p, foot)),
        }
    }

    fn quick_direction(&self, p: DVec3, way: &Way) -> DVec3 {
        match way {
            Way::Along(direction) => *direction,
            Way::By(foot) => self.field.flaw.outward(geometric(p, foot)),
        }
    }
}
