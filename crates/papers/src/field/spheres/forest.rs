//! The sphere tree of an object, or the sphere trees of a fragment (Glondu et al. 2012, sec. 5.1).
//!
//! In: points on the surface and in the interior. Out: a [`SphereForest`]. In the paper a point is a node in every
//! level from the one at which it comes in, with a radius that covers its descendants there. Nodes of a point that
//! cover the same descendants are one node here, so that a point has a node for each level at which it has children,
//! and at least one.
//!
//! Space is the local space of the object: pieces of an octree keep its grid, pieces of other shapes its shape space,
//! so that points never move.

use glam::DVec3;

use super::{
    crack::Planted,
    hierarchy::{level_of_rank, maximum_distance_order},
};

/// A point that a tree is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObjectPoint {
    /// Local space.
    pub position: DVec3,
    /// Whether it lies on the surface; else in the interior, where a later crack finds it.
    pub on_surface: bool,
}

/// No parent.
pub(super) const NONE: u32 = u32::MAX;

/// A point with its place in the forest. Parents come before their children.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TreePoint {
    pub position: DVec3,
    pub on_surface: bool,
    /// The level at which it comes in.
    pub level: u16,
    /// Its parent point, or [`NONE`].
    pub parent: u32,
    /// The level of its parent's node above it: below `level`.
    pub hangs_at: u16,
    /// Its first node; the others follow.
    pub first_node: u32,
}

/// A sphere round a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Node {
    pub centre: DVec3,
    /// At least the distance to the farthest point below.
    pub radius: f64,
    pub point: u32,
    /// Range of [`SphereForest::children`].
    pub children: (u32, u32),
    /// The level of the visit: that of its point for the first node, else that of its children.
    pub level: u16,
    /// The level of its children; without children the level of its point.
    pub hangs_at: u16,
    /// Whether it is the first node of its point: the point is tested there.
    pub is_first: bool,
    /// Whether it is the last node of its point.
    pub is_last: bool,
    pub on_surface: bool,
}

/// The sphere trees of one fragment. Never changes: a fracture makes the forests of the new fragments of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SphereForest {
    pub(super) points: Vec<TreePoint>,
    /// By point, and by level for one point.
    pub(super) nodes: Vec<Node>,
    /// First nodes of the child points of each node.
    pub(super) children: Vec<u32>,
    /// First nodes of the points without a parent.
    pub(super) roots: Vec<u32>,
    /// Centre and radius of a sphere round all points.
    pub(super) bound: (DVec3, f64),
    pub(super) last_level: u16,
}

impl SphereForest {
    /// The tree of an object.
    #[must_use]
    pub fn build(points: &[ObjectPoint]) -> Self {
        let mut forest = Self::assemble(places(points, 0));
        let all = 0..forest.points.len();
        forest.grow_radii(all, Planted::Nothing);
        forest
    }

    /// This forest with additional points, which have trees of their own and come last.
    #[must_use]
    pub fn with(&self, more: &[ObjectPoint]) -> Self {
        let other = Self::build(more);
        let mut out = self.clone();
        let (points, nodes) = (self.points.len() as u32, self.nodes.len() as u32);
        let children = self.children.len() as u32;
        out.points.extend(other.points.into_iter().map(|point| TreePoint {
            parent: if point.parent == NONE { NONE } else { point.parent + points },
            first_node: point.first_node + nodes,
            ..point
        }));
        out.nodes.extend(other.nodes.into_iter().map(|node| Node {
            point: node.point + points,
            children: (node.children.0 + children, node.children.1 + children),
            ..node
        }));
        out.children.extend(other.children.into_iter().map(|node| node + nodes));
        out.roots.extend(other.roots.into_iter().map(|node| node + nodes));
        out.bound = bound_of(&out.points);
        out.last_level = self.last_level.max(other.last_level);
        out
    }

    /// Points of it: indices are below this.
    #[must_use]
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Where a point is, local space of the object; the middle of everything for a point that is not there.
    #[must_use]
    pub fn position(&self, point: u32) -> DVec3 {
        self.points.get(point as usize).map_or(self.bound.0, |point| point.position)
    }

    /// Whether it has no points.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Trees.
    #[must_use]
    pub fn trees(&self) -> usize {
        self.roots.len()
    }

    /// Spheres.
    #[must_use]
    pub fn spheres(&self) -> usize {
        self.nodes.len()
    }

    /// The last level at which a point comes in.
    #[must_use]
    pub fn last_level(&self) -> u32 {
        u32::from(self.last_level)
    }

    /// The points, in the order in which they came in.
    pub fn points(&self) -> impl ExactSizeIterator<Item = ObjectPoint> {
        self.points.iter().map(|p| ObjectPoint { position: p.position, on_surface: p.on_surface })
    }

    /// The spheres of one level of the tree, for display: centre and radius, local space.
    pub fn spheres_of_level(&self, level: u32) -> impl Iterator<Item = (DVec3, f64)> {
        let level = level.min(u32::from(u16::MAX)) as u16;
        self.points.iter().enumerate().filter(move |(_, point)| point.level <= level).map(
            move |(i, point)| {
                let covering = self.nodes_of(i).find(|node| node.hangs_at >= level);
                (point.position, covering.map_or(0.0, |node| node.radius))
            },
        )
    }

    /// The nodes of a point, from the first to the last.
    pub(super) fn nodes_of(&self, point: usize) -> impl Iterator<Item = &Node> {
        let first = self.points[point].first_node as usize;
        self.nodes[first..].iter().take_while(move |node| node.point as usize == point)
    }

    /// Nodes of these points, all with radius 0. Parents come before their children.
    pub(super) fn assemble(mut points: Vec<TreePoint>) -> Self {
        let mut hanging: Vec<(u32, u16, u32)> = Vec::with_capacity(points.len());
        hanging.extend(
            points
                .iter()
                .enumerate()
                .filter(|(_, p)| p.parent != NONE)
                .map(|(i, p)| (p.parent, p.hangs_at, i as u32)),
        );
        hanging.sort_unstable();
        let mut nodes: Vec<Node> = Vec::with_capacity(2 * points.len());
        let mut next = 0;
        for (i, point) in points.iter_mut().enumerate() {
            point.first_node = nodes.len() as u32;
            let mut node = Node {
                centre: point.position,
                radius: 0.0,
                point: i as u32,
                children: (next, next),
                level: point.level,
                hangs_at: point.level,
                is_first: true,
                is_last: false,
                on_surface: point.on_surface,
            };
            while let Some(&(_, hangs_at, _)) = hanging.get(next as usize).filter(|h| h.0 == i as u32) {
                let more = hanging[next as usize..].iter().take_while(|h| h.0 == i as u32 && h.1 == hangs_at);
                let end = next + more.count() as u32;
                let level = if node.is_first { point.level } else { hangs_at };
                nodes.push(Node { children: (next, end), level, hangs_at, ..node });
                (node.is_first, next) = (false, end);
            }
            if node.is_first {
                nodes.push(node);
            }
            if let Some(last) = nodes.last_mut() {
                last.is_last = true;
            }
        }
        let first_node = |point: u32| points[point as usize].first_node;
        let children = hanging.iter().map(|(_, _, child)| first_node(*child)).collect();
        let roots = points.iter().filter(|p| p.parent == NONE).map(|p| p.first_node).collect();
        let last_level = nodes.iter().map(|node| node.level).max().unwrap_or(0);
        let bound = bound_of(&points);
        Self { points, nodes, children, roots, bound, last_level }
    }

    /// Enlarges the spheres of all ancestors of these points to contain them. A sphere may contain a point although
    /// spheres above do not, so every walk goes to the root.
    pub(super) fn grow_radii(&mut self, points: std::ops::Range<usize>, planted: Planted) {
        'points: for i in points {
            let TreePoint { position, mut parent, mut hangs_at, .. } = self.points[i];
            while parent != NONE {
                let above = self.points[parent as usize];
                let distance = upper_distance(position, above.position);
                let first = above.first_node as usize;
                for node in &mut self.nodes[first..] {
                    if node.point != parent || (node.hangs_at > hangs_at && !node.is_first) {
                        break;
                    }
                    if node.radius < distance {
                        node.radius = distance;
                    } else if planted.stops_growing() {
                        continue 'points;
                    }
                }
                (parent, hangs_at) = (above.parent, above.hangs_at);
            }
        }
    }
}

/// The places of points in a tree of their own, whose first point is number `first` of its forest.
pub(super) fn places(points: &[ObjectPoint], first: u32) -> Vec<TreePoint> {
    let positions: Vec<DVec3> = points.iter().map(|p| p.position).collect();
    let place = |(rank, ranked): (usize, super::hierarchy::Ranked)| {
        let ObjectPoint { position, on_surface } = points[ranked.point as usize];
        let level = level_of_rank(rank);
        let parent = ranked.parent.map_or(NONE, |parent| first + parent);
        TreePoint { position, on_surface, level, parent, hangs_at: level.saturating_sub(1), first_node: 0 }
    };
    maximum_distance_order(&positions).into_iter().enumerate().map(place).collect()
}

/// At least the distance of two points, whatever was rounded.
pub(super) fn upper_distance(a: DVec3, b: DVec3) -> f64 {
    a.distance(b) * (1.0 + 4.0 * f64::EPSILON)
}

/// A sphere round all points: of the middle of their bounds.
fn bound_of(points: &[TreePoint]) -> (DVec3, f64) {
    let Some(first) = points.first().map(|p| p.position) else { return (DVec3::ZERO, 0.0) };
    let (low, high) =
        points.iter().fold((first, first), |(low, high), p| (low.min(p.position), high.max(p.position)));
    let centre = low.midpoint(high);
    (centre, points.iter().map(|p| upper_distance(p.position, centre)).fold(0.0, f64::max))
}
