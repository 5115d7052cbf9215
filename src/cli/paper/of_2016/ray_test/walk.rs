//! The published ray test on every empty octant of an object (Domaradzki & Martyn 2016, sec. 3.2).
//!
//! In: an object. Out: for each empty octant of the published octree the solid volume in it, and what its ray met.

use glam::DVec3;

use super::leaves::published;
use crate::{
    Object,
    svo::{Forest, Octant, ray_cast, unpack_normal},
};

/// A sum of unit normals shorter than this is rounding: the normals cancel, and the parent has no direction.
const CANCELLED: f64 = 1e-3;

/// What came of a ray.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ray {
    /// There is none, since the normals below the parent cancel.
    Absent,
    /// It meets no boundary voxel.
    Missed,
    /// It meets the outer side of a boundary voxel.
    Outer,
    /// It meets the inner side of a boundary voxel: the octant is called inner.
    Inner,
}

/// An empty octant with the answers of both tests.
pub struct Tested {
    /// Low corner, voxels.
    pub low: [u32; 3],
    /// Edge, voxels.
    pub size: u32,
    /// Solid volume in it by winding number or parity, voxels.
    solid: f64,
    /// What its ray met.
    pub ray: Ray,
}

impl Tested {
    /// Its volume, voxels.
    fn volume(&self) -> f64 {
        f64::from(self.size).powi(3)
    }

    /// Whether most of it is solid. One across a hole is solid in part; all others are so wholly or not at all.
    pub fn is_inner(&self) -> bool {
        2.0 * self.solid > self.volume()
    }

    /// Whether the two tests disagree.
    pub fn is_wrong(&self) -> bool {
        self.is_inner() != (self.ray == Ray::Inner)
    }

    /// The volume that the ray test puts on the wrong side, voxels.
    fn wrong_volume(&self) -> f64 {
        if self.ray == Ray::Inner { self.volume() - self.solid } else { self.solid }
    }
}

/// Corner of octant `c` below a node at `low`, whose octants have edge `size`.
fn corner(low: [u32; 3], c: u32, size: u32) -> [u32; 3] {
    std::array::from_fn(|axis| low[axis] + (c >> axis & 1) * size)
}

/// The solid volume of `forest` in one of its cubes, voxels.
fn solid_in(forest: &Forest, low: [u32; 3], size: u32) -> f64 {
    match forest.octant_at(0, low) {
        Octant::Empty { size: found, .. } if found >= size => 0.0,
        Octant::Internal { size: found, .. } if found >= size => f64::from(size).powi(3),
        Octant::Leaf(leaf) if size == 1 => {
            forest.leaves.coverage.get(leaf as usize).map_or(0.0, |covered| f64::from(*covered))
        }
        _ => (0..8u32).map(|c| solid_in(forest, corner(low, c, size / 2), size / 2)).sum(),
    }
}

/// The ray test on an object.
pub struct Walk<'a> {
    /// The octree with the answers of winding number or parity.
    pub ours: &'a Forest,
    /// The octree of the ray test.
    pub published: Forest,
    /// Its empty octants.
    pub tested: Vec<Tested>,
}

impl<'a> Walk<'a> {
    /// Tests every empty octant of the object.
    pub fn new(object: &'a Object) -> Self {
        let mut walk = Self { ours: &object.forest, published: published(object), tested: Vec::new() };
        walk.descend(0, 0, [0; 3]);
        walk
    }

    /// The outward normal of a leaf of the published octree; 0 for a leaf that is not there.
    fn leaf_normal(&self, leaf: u32) -> DVec3 {
        let packed = self.published.leaves.normals.get(leaf as usize);
        packed.map_or(DVec3::ZERO, |packed| unpack_normal(*packed).as_dvec3())
    }

    /// Tests the empty octants below a node; the sum of the normals of the leaves below it.
    fn descend(&mut self, index: u32, level: u32, low: [u32; 3]) -> DVec3 {
        let Some(&node) = self.published.nodes.get(index as usize) else { return DVec3::ZERO };
        let size = 1u32 << (self.published.level - level - 1);
        let (stored, empty): (Vec<u32>, Vec<u32>) = (0..8u32).partition(|c| node.valid() >> c & 1 == 1);
        let mut normal = DVec3::ZERO;
        for c in stored {
            normal += match size {
                1 => self.leaf_normal(node.child(c)),
                _ => self.descend(node.child(c), level + 1, corner(low, c, size)),
            };
        }
        for low in empty.into_iter().map(|c| corner(low, c, size)) {
            let middle = DVec3::from_array(low.map(f64::from)) + f64::from(size) / 2.0;
            let (solid, ray) = (solid_in(self.ours, low, size), self.cast(middle, normal));
            self.tested.push(Tested { low, size, solid, ray });
        }
        normal
    }

    /// The published test, of a ray from a middle along a sum of normals.
    fn cast(&self, from: DVec3, along: DVec3) -> Ray {
        if along.length() < CANCELLED {
            return Ray::Absent;
        }
        match ray_cast(&self.published, 0, from, along, f64::INFINITY) {
            None => Ray::Missed,
            Some(hit) if self.leaf_normal(hit.leaf).dot(along) > 0.0 => Ray::Inner,
            Some(_) => Ray::Outer,
        }
    }

    /// The number of octants of which this holds.
    pub fn count(&self, of: impl Fn(&Tested) -> bool) -> usize {
        self.tested.iter().filter(|tested| of(tested)).count()
    }

    /// The number of octants that the ray test puts on the wrong side, with this for the ray.
    pub fn wrong(&self, ray: Ray) -> usize {
        self.count(|tested| tested.is_wrong() && tested.ray == ray)
    }

    /// Volume on the wrong side as a share of the object's.
    pub fn wrong_share(&self) -> f64 {
        self.tested.iter().map(Tested::wrong_volume).sum::<f64>() / self.ours.solid_voxels(0)
    }

    /// Octants in the layer of voxels at this z.
    pub fn layer(&self, z: u32) -> impl Iterator<Item = &Tested> {
        self.tested.iter().filter(move |tested| (tested.low[2]..tested.low[2] + tested.size).contains(&z))
    }
}
