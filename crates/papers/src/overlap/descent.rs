//! Walking two octrees at once, or one above a plane, for the points that they share (Domaradzki & Martyn 2016, sec.
//! 5.1.1 and 5.1.2).
//!
//! In: two bodies' octrees down to their levels, and the relative pose of their cells. Out: [`Raw`] points in cells of
//! the first, in the order of the walk. This is most of what an overlap costs.

use super::{INWARDS, LEAST_WEIGHT, Raw, SLIVER};
use crate::{
    bodies::{
        Body,
        octrees::{Cell, Surfels, first_of_level, look_up},
    },
    geometry::set_bits,
    svo::Forest,
};
use glam::{DMat4, DVec3, IVec3};

/// A body's octree down to a level.
#[derive(Clone, Copy)]
pub(super) struct LevelTree<'a> {
    forest: &'a Forest,
    surfels: &'a Surfels,
    tree: u32,
    level: u32,
    first: u32,
}

#[derive(Clone, Copy)]
pub(super) enum Node {
    /// Index in the forest; of the surfel's node at the last level.
    Boundary(u32),
    Inside,
}

/// A node and where it is: `cell` counts nodes of its own level.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub node: Node,
    pub level: u32,
    pub cell: IVec3,
}

fn octant(c: u32) -> IVec3 {
    IVec3::new((c & 1) as i32, (c >> 1 & 1) as i32, (c >> 2) as i32)
}

/// The cell that `p` lies in; as floor, which without a processor's own instruction for it is a call.
#[inline]
pub(super) fn cell_of(p: DVec3) -> IVec3 {
    let cut = p.as_ivec3();
    cut - IVec3::from(p.cmplt(cut.as_dvec3()))
}

/// Whether two boxes share more than rounding.
#[inline]
fn overlap(a: Span, b: Span) -> bool {
    (a.1.min(b.1) - a.0.max(b.0)).min_element() > SLIVER
}

impl<'a> LevelTree<'a> {
    pub fn new(body: &'a Body, level: u32, surfels: &'a Surfels) -> Self {
        let forest = &*body.def.octree().forest;
        Self { forest, surfels, tree: body.def.octree().tree, level, first: first_of_level(forest, level) }
    }

    /// The children whose bit is set in `wanted`, in Morton order, without empty ones. Called for every node of a
    /// descent, so it does not allocate.
    #[inline]
    fn each_child(&self, at: At, wanted: u32, mut take: impl FnMut(At)) {
        let (parent, there, internal) = match at.node {
            Node::Inside => (crate::svo::Node::default(), 0xff, 0xff),
            Node::Boundary(index) => {
                let Some(&parent) = self.forest.nodes.get(index as usize) else { return };
                let internal = u32::from(parent.internal());
                (parent, u32::from(parent.valid()) | internal, internal)
            }
        };
        for c in set_bits(wanted & there) {
            let node = if internal >> c & 1 == 1 { Node::Inside } else { Node::Boundary(parent.child(c)) };
            take(At { node, level: at.level + 1, cell: at.cell * 2 + octant(c) });
        }
    }

    /// Low corner and edge, cells.
    fn span(&self, at: At) -> (DVec3, f64) {
        let size = f64::from(1u32 << (self.level - at.level));
        (at.cell.as_dvec3() * size, size)
    }

    fn opens(&self, at: At) -> bool {
        at.level < self.level
    }

    /// Points of the boundary cell `at` on the planes of its surfel, next to `p`; cells of this body.
    fn touch(&self, at: At, node: u32, p: DVec3) -> impl Iterator<Item = (DVec3, DVec3)> {
        let (surfels, number) = (self.surfels, (node - self.first) as usize);
        let cell = at.cell.as_dvec3();
        let sides = surfels.items.get(number).map_or(0, |s| if s.thickness > 0.0 { 2 } else { 1 });
        (0..sides).map(move |side| {
            let (q, n) = surfels.side(number, side);
            let (q, n) = (q.as_dvec3(), n.as_dvec3());
            // The plane goes on beyond the cell, the surface of this cell does not.
            ((p - n * (p - q).dot(n)).clamp(cell, cell + 1.0), n)
        })
    }

    /// Whether the cell at `p` is not empty, where the cell `full` is known not to be.
    #[inline]
    fn holds_beside(&self, p: DVec3, full: IVec3) -> bool {
        let cell = cell_of(p);
        cell == full || look_up(self.forest, self.tree, self.level, cell) != Cell::Empty
    }

    /// Whether the cell at `p` is not empty; `strict`: whether `p` is behind the surface in it.
    pub fn holds(&self, p: DVec3, strict: bool) -> bool {
        match look_up(self.forest, self.tree, self.level, cell_of(p)) {
            Cell::Empty => false,
            Cell::Inside => true,
            Cell::Surface(node) => {
                let number = (node - self.first) as usize;
                !strict
                    || self.surfels.items.get(number).is_some_and(|s| {
                        let behind = |side: u32| {
                            let (q, n) = self.surfels.side(number, side);
                            (p - q.as_dvec3()).dot(n.as_dvec3()) < 0.0
                        };
                        behind(0) && (s.thickness == 0.0 || behind(1))
                    })
            }
        }
    }

    /// Surfels behind a plane.
    pub fn below(&self, node: u32, level: u32, cell: IVec3, plane: (DVec3, f64), out: &mut Vec<Raw>) {
        self.each_child(At { node: Node::Boundary(node), level, cell }, 0xff, |child| {
            let Node::Boundary(index) = child.node else { return };
            let (low, size) = self.span(child);
            let nearest = plane.0.dot(low + size * 0.5) - 0.867 * size - 0.5;
            if nearest >= plane.1 {
                return;
            }
            if self.opens(child) {
                self.below(index, child.level, child.cell, plane, out);
            } else {
                // Next to the plane: at an edge the surface of a cell is deeper on one side than in its
                // middle.
                let centre = low + size * 0.5;
                let near = centre - plane.0 * (plane.0.dot(centre) - plane.1);
                for (p, n) in self.touch(child, index, near.clamp(low, low + size)) {
                    if plane.0.dot(p) < plane.1 {
                        out.push(Raw { p, n, owner: 0, weight: 1.0 });
                    }
                }
            }
        });
    }
}

pub(super) struct Descent<'a> {
    pub shapes: [LevelTree<'a>; 2],
    pub a_from_b: DMat4,
    pub b_from_a: DMat4,
    /// Half the box that a cell of b takes up along the axes of a.
    pub half: DVec3,
    /// Volume of the smaller body's cell, cells of a.
    pub least_cell: f64,
    /// The points that were found.
    pub raw: Vec<Raw>,
}

/// Low and high corner along the axes of a, cells of a.
type Span = (DVec3, DVec3);

/// Children of a node that lie on the low side of each axis, a bit each.
const LOW_SIDE: [u32; 3] = [0x55, 0x33, 0x0f];

impl Descent<'_> {
    /// Both octrees at once from their roots, as long as the boxes overlap (sec. 5.1.1).
    pub fn run(&mut self, a: At, b: At) {
        let (low, size) = self.shapes[0].span(a);
        let (low_b, cells_b) = self.shapes[1].span(b);
        let centre = self.a_from_b.transform_point3(low_b + cells_b * 0.5);
        let box_b = (centre - self.half * cells_b, centre + self.half * cells_b);
        if overlap((low, low + size), box_b) {
            self.meet(a, b, box_b);
        }
    }

    /// Two nodes whose boxes overlap; that of b is `box_b`. Two internal nodes have no surface to offer.
    fn meet(&mut self, a: At, b: At, box_b: Span) {
        let boundary = |at: At| matches!(at.node, Node::Boundary(_));
        if !boundary(a) && !boundary(b) {
            return;
        }
        let (low_a, size_a) = self.shapes[0].span(a);
        let cells_b = f64::from(1u32 << (self.shapes[1].level - b.level));
        let opens = [self.shapes[0].opens(a), self.shapes[1].opens(b)];
        let larger_a = size_a >= 2.0 * (self.half.max_element() * cells_b);
        // Internal nodes are cut last: only where a single boundary cell lies in them.
        let open_a = opens[0] && (boundary(a) && (larger_a || !(opens[1] && boundary(b))));
        let open_b = !open_a && opens[1] && boundary(b);
        if open_a || (!open_b && opens[0]) {
            self.open_a((a, low_a, size_a), b, box_b);
        } else if open_b || opens[1] {
            self.open_b((a, (low_a, low_a + size_a)), b, cells_b);
        } else {
            let (low, high) = (low_a.max(box_b.0), (low_a + size_a).min(box_b.1));
            let weight = (high - low).element_product() / self.least_cell;
            self.touch(a, b, (low + high) * 0.5, weight.clamp(LEAST_WEIGHT, 1.0));
        }
    }

    /// The children of a against b. The test is per axis: most miss b.
    fn open_a(&mut self, (a, low, size): (At, DVec3, f64), b: At, box_b: Span) {
        let middle = low + size * 0.5;
        let mut reached = 0xff;
        for (axis, low_side) in LOW_SIDE.into_iter().enumerate() {
            let of_half = |from: f64, to: f64| to.min(box_b.1[axis]) - from.max(box_b.0[axis]) > SLIVER;
            let in_low = of_half(low[axis], middle[axis]);
            let in_high = of_half(middle[axis], low[axis] + size);
            reached &= if in_low { low_side } else { 0 } | if in_high { !low_side } else { 0 };
        }
        let shape = self.shapes[0];
        shape.each_child(a, reached, |child| self.meet(child, b, box_b));
    }

    /// The children of b, whose edge is `cells` of b, against a. Their middles are sums of the same six products.
    fn open_b(&mut self, (a, box_a): (At, Span), b: At, cells: f64) {
        let (low, half) = (b.cell.as_dvec3() * cells, cells * 0.5);
        let m = self.a_from_b;
        let parts = [m.x_axis, m.y_axis, m.z_axis].map(|axis| axis.truncate());
        let along = |axis: usize| [0.5, 1.5].map(|at| parts[axis] * (low[axis] + at * half));
        let (x, y, z, w) = (along(0), along(1), along(2), m.w_axis.truncate());
        let reach = self.half * half;
        let shape = self.shapes[1];
        shape.each_child(b, 0xff, |child| {
            let [i, j, k] = (child.cell & 1).to_array().map(|bit| bit as usize);
            let centre = w + (z[k] + (y[j] + x[i]));
            let box_b = (centre - reach, centre + reach);
            if overlap(box_a, box_b) {
                self.meet(a, child, box_b);
            }
        });
    }

    /// Two cells of the last level: a point on each surface in them, under the middle of what they share.
    fn touch(&mut self, a: At, b: At, middle: DVec3, weight: f64) {
        let [shape_a, shape_b] = self.shapes;
        if let Node::Boundary(node) = a.node {
            for (p, n) in shape_a.touch(a, node, middle) {
                if shape_b.holds_beside(self.b_from_a.transform_point3(p - n * INWARDS), b.cell) {
                    self.raw.push(Raw { p, n, owner: 0, weight });
                }
            }
        }
        if let Node::Boundary(node) = b.node {
            for (p, n) in shape_b.touch(b, node, self.b_from_a.transform_point3(middle)) {
                let p = self.a_from_b.transform_point3(p);
                let n = self.a_from_b.transform_vector3(n).normalize_or_zero();
                if shape_a.holds_beside(p - n * INWARDS, a.cell) {
                    self.raw.push(Raw { p, n, owner: 1, weight });
                }
            }
        }
    }
}
