//! The update upon a fracture (Glondu et al. 2012, sec. 5.2).
//!
//! In: the forest of a fragment, which new fragment each of its points now belongs to, and the points on the cracks.
//! Out: a forest for each new fragment. Points are not reordered: a point whose parent went to another fragment becomes
//! a child of its closest ancestor in its own fragment, at that ancestor's node on the path to the root, whose sphere
//! contained it before; without such an ancestor it becomes a root. A new point becomes a child of its neighbour, and
//! the spheres above it grow until they contain it.
//!
//! A point keeps its level, so that a query still visits points in the order of their distances. The paper puts every
//! new point one level below its neighbour; if many share a neighbour, here only the first is put there, and the others
//! follow in farthest-point order, each level with twice as many as the level above; otherwise the first eight contacts
//! would lie in one corner.

use glam::DVec3;
use rayon::prelude::*;

use super::{
    crack::Planted,
    forest::{NONE, ObjectPoint, SphereForest, TreePoint, places},
};

/// New fragment of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is in no fragment.
    Gone,
    /// It belongs to a new fragment.
    In {
        /// Which.
        fragment: u32,
        /// Whether it lies on that one's surface.
        on_surface: bool,
    },
}

impl Fate {
    fn fragment(self) -> Option<u32> {
        match self {
            Self::Gone => None,
            Self::In { fragment, .. } => Some(fragment),
        }
    }
}

/// A point on a crack, which is new.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrackPoint {
    /// Local space.
    pub position: DVec3,
    /// A point of the old forest nearby that went to the same fragment. `None` if there is none.
    pub neighbour: Option<u32>,
}

/// The changes of a fragment's points in a fracture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fracture {
    /// By point of the old forest.
    pub fates: Vec<Fate>,
    /// By new fragment: its new points.
    pub cracks: Vec<Vec<CrackPoint>>,
}

/// A fracture that does not fit the forest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FractureMismatch {
    /// There must be one fate a point.
    #[error("{fates} fates of points were given, and the forest has {points} points")]
    Fates {
        /// Number of fates.
        fates: usize,
        /// Number of points.
        points: usize,
    },
    /// A fate names a fragment that is not there.
    #[error("point {point} went to fragment {fragment}, which is not there")]
    Fragment {
        /// Index of the point.
        point: usize,
        /// The fragment.
        fragment: u32,
    },
    /// A crack point's neighbour did not go to its fragment.
    #[error(
        "a crack point of fragment {fragment} has the neighbour {neighbour}, which is not in that fragment"
    )]
    Neighbour {
        /// The fragment.
        fragment: usize,
        /// Index of the neighbour.
        neighbour: u32,
    },
}

impl Fracture {
    fn check(&self, forest: &SphereForest) -> Result<(), FractureMismatch> {
        let (fates, points) = (self.fates.len(), forest.len());
        if fates != points {
            return Err(FractureMismatch::Fates { fates, points });
        }
        for (point, fate) in self.fates.iter().enumerate() {
            if let Some(fragment) = fate.fragment().filter(|f| *f as usize >= self.cracks.len()) {
                return Err(FractureMismatch::Fragment { point, fragment });
            }
        }
        for (fragment, cracks) in self.cracks.iter().enumerate() {
            let elsewhere = |neighbour: &u32| {
                let fate = self.fates.get(*neighbour as usize).and_then(|fate| fate.fragment());
                fate != Some(fragment as u32)
            };
            if let Some(neighbour) = cracks.iter().filter_map(|c| c.neighbour).find(elsewhere) {
                return Err(FractureMismatch::Neighbour { fragment, neighbour });
            }
        }
        Ok(())
    }
}

impl SphereForest {
    /// The forests of the new fragments.
    ///
    /// # Errors
    /// [`FractureMismatch`] where the fracture is not one of this forest.
    pub fn fracture(&self, fracture: &Fracture) -> Result<Vec<Self>, FractureMismatch> {
        self.fracture_with(fracture, Planted::Nothing)
    }

    pub(super) fn fracture_with(
        &self,
        fracture: &Fracture,
        planted: Planted,
    ) -> Result<Vec<Self>, FractureMismatch> {
        fracture.check(self)?;
        let mut kept: Vec<Vec<u32>> = vec![Vec::new(); fracture.cracks.len()];
        let mut new_index = vec![NONE; self.points.len()];
        for (i, fate) in self.fates_in_order(fracture) {
            new_index[i] = kept[fate as usize].len() as u32;
            kept[fate as usize].push(i as u32);
        }
        let fragment = |(fragment, kept): (usize, &Vec<u32>)| {
            self.fragment(fracture, (fragment as u32, kept), &new_index, planted)
        };
        Ok(kept.par_iter().enumerate().map(fragment).collect())
    }

    fn fates_in_order(&self, fracture: &Fracture) -> impl Iterator<Item = (usize, u32)> {
        fracture.fates.iter().enumerate().filter_map(|(i, fate)| Some((i, fate.fragment()?)))
    }

    /// The forest of the fragment with these points.
    fn fragment(
        &self,
        fracture: &Fracture,
        (fragment, kept): (u32, &[u32]),
        new_index: &[u32],
        planted: Planted,
    ) -> Self {
        let mut points = Vec::with_capacity(kept.len() + fracture.cracks[fragment as usize].len());
        for &old in kept {
            let (mut parent, mut hangs_at) =
                self.closest_ancestor(old, |p| fracture.fates[p as usize].fragment() == Some(fragment));
            if parent != NONE {
                parent = new_index[parent as usize];
            } else if planted.keeps_parent() && self.points[old as usize].parent != NONE && !points.is_empty()
            {
                (parent, hangs_at) = (0, self.points[old as usize].hangs_at);
            }
            let point = self.points[old as usize];
            let on_surface = matches!(fracture.fates[old as usize], Fate::In { on_surface: true, .. });
            points.push(TreePoint { parent, hangs_at, on_surface, ..point });
        }
        hang_cracks(&mut points, &fracture.cracks[fragment as usize], new_index);
        let mut forest = Self::assemble(points);
        for node in &mut forest.nodes {
            // Children at some level or below were children before, or are new.
            if let Some(old) = kept.get(node.point as usize) {
                let covering =
                    self.nodes_of(*old as usize).find(|covering| covering.hangs_at >= node.hangs_at);
                let is_leaf = node.is_last && node.children.0 == node.children.1;
                node.radius = covering.filter(|_| !is_leaf).map_or(0.0, |covering| covering.radius);
            }
        }
        forest.grow_radii(kept.len()..forest.points.len(), planted);
        if planted.loses_root() && forest.roots.len() > 1 {
            forest.roots.pop();
        }
        forest
    }

    /// The closest ancestor in the point's fragment, and the level at which the path to it passes its nodes.
    fn closest_ancestor(&self, point: u32, stays: impl Fn(u32) -> bool) -> (u32, u16) {
        let TreePoint { mut parent, mut hangs_at, .. } = self.points[point as usize];
        while parent != NONE && !stays(parent) {
            let above = &self.points[parent as usize];
            (parent, hangs_at) = (above.parent, above.hangs_at);
        }
        (parent, hangs_at)
    }
}

/// Appends the new points of a fragment to its old ones.
fn hang_cracks(points: &mut Vec<TreePoint>, cracks: &[CrackPoint], new_index: &[u32]) {
    let mut hanging: Vec<(u32, DVec3)> =
        cracks.iter().filter_map(|c| Some((new_index[c.neighbour? as usize], c.position))).collect();
    hanging.sort_by_key(|(parent, _)| *parent);
    for group in hanging.chunk_by_mut(|a, b| a.0 == b.0) {
        let parent = group[0].0;
        let TreePoint { position: centre, level, .. } = points[parent as usize];
        spread(centre, group);
        for (k, (_, position)) in group.iter().enumerate() {
            let hangs_at = level + (k + 1).ilog2() as u16;
            let level = hangs_at + 1;
            points.push(TreePoint {
                position: *position,
                on_surface: true,
                level,
                parent,
                hangs_at,
                first_node: 0,
            });
        }
    }
    let alone: Vec<ObjectPoint> = cracks
        .iter()
        .filter(|c| c.neighbour.is_none())
        .map(|c| ObjectPoint { position: c.position, on_surface: true })
        .collect();
    let first = points.len() as u32;
    points.extend(places(&alone, first));
}

/// Orders the few points round one neighbour by maximum distance, from the neighbour on.
fn spread(centre: DVec3, group: &mut [(u32, DVec3)]) {
    let mut nearest: Vec<f64> = group.iter().map(|(_, p)| p.distance_squared(centre)).collect();
    for k in 0..group.len() {
        let ahead = (k..group.len()).max_by(|a, b| nearest[*a].total_cmp(&nearest[*b]).then(b.cmp(a)));
        let farthest = ahead.unwrap_or(k);
        group.swap(k, farthest);
        nearest.swap(k, farthest);
        let chosen = group[k].1;
        for (near, (_, p)) in nearest[k + 1..].iter_mut().zip(&group[k + 1..]) {
            *near = near.min(p.distance_squared(chosen));
        }
    }
}
