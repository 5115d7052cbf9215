//! The arrangement of a solid and crack surfaces: nodes, segments, and the region of each part.
//!
//! In: a closed solid and cracks in whole units. Out: for every triangle of one, the polygons into which the other cuts
//! it, as loops of nodes. Signs are exact ([`super::exact`]), and loops are traced by regions alone, so all polygons
//! meet edge to edge however node positions are rounded.
//!
//! ```text
//! node   0 ..                 corners of the solid
//!        then                 corners of the cracks
//!        then                 an edge of the solid through a crack triangle
//!        then                 an edge of the cracks through a triangle of the solid
//! ```

use rayon::prelude::*;

use super::{
    cracks::{CrackEdge, Cracks},
    meet::{Met, Tangle, all_met, count, in_order, region_at, regions, starts, wind, winding_at},
    solid::{Edges, Point, Prepared, Solid, bounds_of, tree_of},
};

/// One side of the line where a triangle of the solid and one of the cracks intersect.
#[derive(Clone, Copy, Debug)]
struct Segment {
    solid: u32,
    crack: u32,
    /// Seen from outside the solid, the region behind the crack is on the left of the segment.
    from: u32,
    to: u32,
}

/// A part of a triangle, within one region.
#[derive(Clone, Debug)]
pub struct Polygon {
    /// Index of the triangle.
    pub triangle: u32,
    /// For the solid: the region. For the cracks: unused.
    pub region: u32,
    /// The outline, counter-clockwise.
    pub outer: Vec<u32>,
    /// Holes, clockwise.
    pub holes: Vec<Vec<u32>>,
}

/// The arrangement.
pub struct Arrangement<'a> {
    solid: &'a Solid,
    cracks: &'a Cracks,
    prepared: &'a Prepared,
    crack_edges: Vec<CrackEdge>,
    crack_sides: Vec<[u32; 3]>,
    /// First node of each edge of the solid; the last entry is the number of nodes.
    first: Vec<u32>,
    met: Vec<Met>,
    crack_first: Vec<u32>,
    crack_met: Vec<Met>,
    segments: Vec<Segment>,
    /// First segment of each triangle of the solid; the last entry is the number of segments.
    segments_of: Vec<u32>,
    /// Segments sorted by crack triangle.
    by_crack: Vec<u32>,
    /// Region of every vertex of the solid.
    pub regions: Vec<u32>,
    /// Winding number of the solid at each vertex of the cracks: 1 inside, 0 outside, other values where the solid
    /// intersects itself.
    windings: Vec<i32>,
}

impl<'a> Arrangement<'a> {
    /// Computes the arrangement of a solid and cracks.
    ///
    /// # Errors
    /// [`Tangle`].
    pub fn new(solid: &'a Solid, prepared: &'a Prepared, cracks: &'a Cracks) -> Result<Self, Tangle> {
        let (crack_edges, crack_sides) = cracks.edges();
        let corners = |t: &[u32; 3]| t.map(|i| cracks.points[i as usize]);
        let crack_tree =
            tree_of(&cracks.triangles.iter().map(|t| bounds_of(&corners(t))).collect::<Vec<_>>());
        let solid_corners = |t: &[u32; 3]| t.map(|i| solid.points[i as usize]);
        let Prepared { edges, tree } = prepared;
        let crack_triangle = |t: u32| corners(&cracks.triangles[t as usize]);
        let solid_triangle = |t: u32| solid_corners(&solid.triangles[t as usize]);

        let ends = |e: usize| edges.list[e].ends.map(|i| solid.points[i as usize]);
        let behind_front = |met: &Met| {
            let [behind, front] = cracks.sides[met.triangle as usize];
            if met.crossing.to_front { (behind, front) } else { (front, behind) }
        };
        let (first, mut met) = all_met(edges.list.len(), &ends, &crack_tree, &crack_triangle)?;
        for e in 0..edges.list.len() {
            in_order(&mut met[first[e] as usize..first[e + 1] as usize], &behind_front);
        }
        let crack_ends = |e: usize| crack_edges[e].ends.map(|i| cracks.points[i as usize]);
        let (crack_first, crack_met) = all_met(crack_edges.len(), &crack_ends, tree, &solid_triangle)?;

        let far_crack = |p: Point| region_at(p, cracks, &crack_tree, &crack_triangle);
        let regions = regions(&edges.list, (&first, &met), &behind_front, &solid.points, &far_crack)?;
        let bounds = bounds_of(&solid.points);
        let far = |p: Point| winding_at(p, bounds, tree, &solid_triangle);
        let windings = wind(&crack_edges, &crack_first, &crack_met, &cracks.points, &far)?;

        let mut whole = Self {
            solid,
            cracks,
            prepared,
            crack_edges,
            crack_sides,
            first,
            met,
            crack_first,
            crack_met,
            segments: Vec::new(),
            segments_of: Vec::new(),
            by_crack: Vec::new(),
            regions,
            windings,
        };
        whole.join_nodes()?;
        Ok(whole)
    }

    /// Number of the first node on an edge of the solid.
    fn first_met(&self) -> usize {
        self.solid.points.len() + self.cracks.points.len()
    }

    fn first_crack_met(&self) -> usize {
        self.first_met() + self.met.len()
    }

    /// Number of nodes.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.first_crack_met() + self.crack_met.len()
    }

    /// Interpolates values at all nodes: from `places` for the solid's edges, from `crack_places` for those of the
    /// cracks.
    pub fn places<T: Copy>(
        &self,
        places: &[T],
        crack_places: &[T],
        between: impl Fn(T, T, f64) -> T,
    ) -> Vec<T> {
        let mut all = Vec::with_capacity(self.node_count());
        all.extend_from_slice(places);
        all.extend_from_slice(crack_places);
        for (e, edge) in self.prepared.edges.list.iter().enumerate() {
            let on = &self.met[self.first[e] as usize..self.first[e + 1] as usize];
            if on.is_empty() {
                continue;
            }
            let [a, b] = edge.ends.map(|i| places[i as usize]);
            all.extend(on.iter().map(|met| between(a, b, met.crossing.at)));
        }
        for (e, edge) in self.crack_edges.iter().enumerate() {
            let [a, b] = edge.ends.map(|i| crack_places[i as usize]);
            let on = &self.crack_met[self.crack_first[e] as usize..self.crack_first[e + 1] as usize];
            all.extend(on.iter().map(|met| between(a, b, met.crossing.at)));
        }
        all
    }

    fn join_nodes(&mut self) -> Result<(), Tangle> {
        // Triangle of the solid, of the cracks, node, whether a segment starts there.
        let mut ends: Vec<(u32, u32, u32, bool)> = Vec::new();
        let base = self.first_met() as u32;
        for (e, edge) in self.prepared.edges.list.iter().enumerate() {
            for node in self.first[e]..self.first[e + 1] {
                let met = &self.met[node as usize];
                for (side, t) in edge.triangles.into_iter().enumerate() {
                    ends.push((t, met.triangle, base + node, met.crossing.to_front == (side == 0)));
                }
            }
        }
        let base = self.first_crack_met() as u32;
        for (e, edge) in self.crack_edges.iter().enumerate() {
            for node in self.crack_first[e]..self.crack_first[e + 1] {
                let met = &self.crack_met[node as usize];
                for (t, along) in &edge.around {
                    ends.push((met.triangle, *t, base + node, met.crossing.to_front != *along));
                }
            }
        }
        ends.par_sort_unstable();
        for pair in ends.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let [one, other] = pair else { return Err(Tangle::Open) };
            if one.3 == other.3 {
                return Err(Tangle::Open);
            }
            let (from, to) = if one.3 { (one.2, other.2) } else { (other.2, one.2) };
            self.segments.push(Segment { solid: one.0, crack: one.1, from, to });
        }
        self.segments_of = starts(self.segments.iter().map(|s| s.solid), self.solid.triangles.len());
        self.by_crack = (0..self.segments.len() as u32).collect();
        self.by_crack.par_sort_unstable_by_key(|s| (self.segments[*s as usize].crack, *s));
        Ok(())
    }

    /// The edges of the solid.
    #[must_use]
    pub fn edges(&self) -> &Edges {
        &self.prepared.edges
    }

    /// The region of a triangle of the solid that no crack cuts.
    #[must_use]
    pub fn whole(&self, t: u32) -> Option<u32> {
        let t = t as usize;
        let corner = self.solid.triangles[t][0];
        (self.segments_of[t] == self.segments_of[t + 1]).then(|| self.regions[corner as usize])
    }

    /// The parts of a triangle of the solid that cracks cut, without dust. `flat` gives a node's position in the plane of
    /// the triangle, counter-clockwise.
    ///
    /// # Errors
    /// [`Tangle`].
    pub fn outside(
        &self,
        t: u32,
        flat: &impl Fn(u32) -> glam::DVec2,
        is_dust: &impl Fn(u32) -> bool,
    ) -> Result<Vec<Polygon>, Tangle> {
        let (triangle, t) = (t, t as usize);
        let base = self.first_met() as u32;
        let corners = self.solid.triangles[t];
        let mut around = Vec::new();
        for k in 0..3 {
            let e = self.prepared.edges.of_triangle[t][k] as usize;
            let nodes = self.first[e]..self.first[e + 1];
            let edge = &self.prepared.edges.list[e];
            let along = edge.triangles[0] == triangle && edge.ends[0] == corners[k];
            let (mut last, mut held) = (corners[k], vec![(self.regions[corners[k] as usize], 1)]);
            let mut step = |node: u32| {
                let [behind, front] = self.cracks.sides[self.met[node as usize].triangle as usize];
                run_along(&mut around, &held, last, base + node);
                let to_front = self.met[node as usize].crossing.to_front == along;
                let (from, to) = if to_front { (behind, front) } else { (front, behind) };
                count(&mut held, from, -1);
                count(&mut held, to, 1);
                last = base + node;
            };
            if along {
                nodes.for_each(&mut step)
            } else {
                nodes.rev().for_each(&mut step)
            }
            run_along(&mut around, &held, last, corners[(k + 1) % 3]);
        }
        for s in &self.segments[self.segments_of[t] as usize..self.segments_of[t + 1] as usize] {
            let [behind, front] = self.cracks.sides[s.crack as usize];
            around.push((behind, s.from, s.to));
            around.push((front, s.to, s.from));
        }
        around.retain(|edge| !is_dust(edge.0));
        let first_crack_met = self.first_crack_met() as u32;
        let on_border = |node: u32| node < first_crack_met;
        polygons(triangle, around, &on_border, flat)
    }

    /// The parts of crack triangles inside the solid.
    ///
    /// # Errors
    /// [`Tangle`].
    pub fn inside(&self, flat: &(impl Fn(u32, u32) -> glam::DVec2 + Sync)) -> Result<Vec<Polygon>, Tangle> {
        let crack_of = self.by_crack.iter().map(|s| self.segments[*s as usize].crack);
        let starts = starts(crack_of, self.cracks.triangles.len());
        let (corner_base, base) = (self.solid.points.len() as u32, self.first_crack_met() as u32);
        let all: Vec<Result<Vec<Polygon>, Tangle>> = (0..self.cracks.triangles.len())
            .into_par_iter()
            .map(|t| {
                let corners = self.cracks.triangles[t];
                let segments = &self.by_crack[starts[t] as usize..starts[t + 1] as usize];
                let nodes = corners.map(|i| corner_base + i);
                if segments.is_empty() {
                    let times = self.windings[corners[0] as usize];
                    let [a, b, c] = nodes;
                    let outer = if times > 0 { vec![a, b, c] } else { vec![a, c, b] };
                    let whole = Polygon { triangle: t as u32, region: 1, outer, holes: Vec::new() };
                    return Ok(vec![whole; times.unsigned_abs() as usize]);
                }
                let mut around = Vec::new();
                for k in 0..3 {
                    let e = self.crack_sides[t][k] as usize;
                    let on = self.crack_first[e]..self.crack_first[e + 1];
                    let along = self.crack_edges[e].ends[0] == corners[k];
                    let (mut last, mut times) = (nodes[k], self.windings[corners[k] as usize]);
                    let mut step = |node: u32| {
                        run_along(&mut around, &[(1, times)], last, base + node);
                        times +=
                            if self.crack_met[node as usize].crossing.to_front == along { -1 } else { 1 };
                        last = base + node;
                    };
                    if along {
                        on.for_each(&mut step)
                    } else {
                        on.rev().for_each(&mut step)
                    }
                    run_along(&mut around, &[(1, times)], last, nodes[(k + 1) % 3]);
                }
                for s in segments {
                    let s = &self.segments[*s as usize];
                    around.push((1, s.to, s.from));
                }
                let first_met = self.first_met() as u32;
                let on_border = |node: u32| node < first_met || node >= base;
                polygons(t as u32, around, &on_border, &|node| flat(t as u32, node))
            })
            .collect();
        let mut out = Vec::with_capacity(all.len());
        for polygons in all {
            out.extend(polygons?);
        }
        Ok(out)
    }
}

/// The border from one node to the next, once per count of each held region; reversed for negative counts.
fn run_along(around: &mut Vec<(u32, u32, u32)>, held: &[(u32, i32)], from: u32, to: u32) {
    for &(region, times) in held {
        let edge = if times > 0 { (region, from, to) } else { (region, to, from) };
        around.extend(std::iter::repeat_n(edge, times.unsigned_abs() as usize));
    }
}

/// Traces loops of directed edges (region, from, to), and assigns holes to the outlines that contain them.
fn polygons(
    triangle: u32,
    mut around: Vec<(u32, u32, u32)>,
    on_border: &dyn Fn(u32) -> bool,
    flat: &dyn Fn(u32) -> glam::DVec2,
) -> Result<Vec<Polygon>, Tangle> {
    use crate::geometry::polygon::{holds, loop_area};
    around.sort_unstable();
    let mut done = vec![false; around.len()];
    let mut out: Vec<Polygon> = Vec::new();
    let mut holes: Vec<(u32, Vec<u32>)> = Vec::new();
    for first in 0..around.len() {
        if done[first] {
            continue;
        }
        let (region, start, _) = around[first];
        let (mut nodes, mut at) = (Vec::new(), first);
        loop {
            done[at] = true;
            nodes.push(around[at].1);
            let next = around[at].2;
            if next == start {
                break;
            }
            let first = around.partition_point(|e| (e.0, e.1) < (region, next));
            let mut out = first..around.len();
            let open = out
                .by_ref()
                .take_while(|k| (around[*k].0, around[*k].1) == (region, next))
                .find(|k| !done[*k]);
            at = open.ok_or(Tangle::Open)?;
        }
        let places = || nodes.iter().map(|n| flat(*n)).collect::<Vec<_>>();
        if nodes.iter().any(|n| on_border(*n)) || loop_area(&places()) > 0.0 {
            out.push(Polygon { triangle, region, outer: nodes, holes: Vec::new() });
        } else {
            holes.push((region, nodes));
        }
    }
    let laid = |polygon: &Polygon| {
        let places: Vec<_> = polygon.outer.iter().map(|n| flat(*n)).collect();
        let area = loop_area(&places);
        (places, area)
    };
    // Once for all holes, since parts that pass through each other have hundreds in one triangle.
    let laid: Vec<_> = if holes.is_empty() { Vec::new() } else { out.iter().map(laid).collect() };
    for (region, hole) in holes {
        let p = flat(hole[0]);
        let of_region = || (0..out.len()).filter(|k| out[*k].region == region);
        let by_area = |a: &usize, b: &usize| laid[*a].1.total_cmp(&laid[*b].1);
        let holder = of_region().filter(|k| holds(&laid[*k].0, p)).min_by(by_area);
        let holder = holder.or_else(|| of_region().max_by(by_area)).ok_or(Tangle::Open)?;
        out[holder].holes.push(hole);
    }
    Ok(out)
}
