//! Where ribs, the edges of the complex, are inside the solid.
//!
//! In: the shards. Out: for each rib the triangles that pierce it, in order, and for each vertex of the complex
//! whether it is inside. Both are found once, for all facets round a rib. A vertex on a wall of the box is outside, a
//! rib changes sides as often as it is pierced, and ribs and walls hang together, so every vertex gets its answer by
//! walking. Then the piercing triangles, in their exact order, must lead out and in by turns: where they do not, the
//! mesh crosses itself.

use super::SplitError;
use super::exact::{Distances, Place, minors};
use super::mesh::{By, Made, Makers};
use super::walk::Shards;
use crate::geometry::exact::cross;
use rayon::prelude::*;
use std::cmp::Ordering;

/// A triangle that pierces a rib.
#[derive(Clone, Copy)]
struct Pierce {
    triangle: u32,
    /// Going from the rib's first end to its second, this leads into the solid.
    enters: bool,
    place: Place,
}

/// What is inside.
pub struct Crossings {
    /// Of each rib, where its piercing triangles begin.
    first: Vec<u32>,
    pierces: Vec<Pierce>,
    vertex_inside: Vec<bool>,
}

impl Crossings {
    /// Finds all crossings; refuses those that no solid has.
    pub fn new(makers: Makers, shards: &Shards) -> Result<Self, SplitError> {
        let Makers { mesh, complex, skeleton } = makers;
        let named = pierces_of(makers, shards)?;
        let mut first = vec![0; skeleton.ribs.len() + 1];
        for &(rib, _) in &named {
            first[rib as usize + 1] += 1;
        }
        for rib in 0..skeleton.ribs.len() {
            first[rib + 1] += first[rib];
        }
        let pierces = named
            .par_iter()
            .map(|&(rib, triangle)| {
                let corners = mesh.fine_triangle(triangle);
                let planes = skeleton.ribs[rib as usize].planes;
                let [s, q] = planes.map(|plane| Distances::new(&plane, &corners));
                let direction = cross(s.normal, q.normal);
                let axis = (0..3)
                    .fold(0, |best, k| if direction[k].abs() > direction[best].abs() { k } else { best });
                // The sum of the minors is (direction of the rib) . (outward normal of the triangle).
                let enters = minors(&s, &q).iter().sum::<i128>() < 0;
                Pierce { triangle, enters, place: Place::new(&s, &q, &corners, axis) }
            })
            .collect();
        let mut this = Self { first, pierces, vertex_inside: vec![false; complex.vertices.len()] };
        this.find_vertices(makers)?;
        this.put_in_order(makers)?;
        Ok(this)
    }

    /// Whether a vertex of the complex is inside the solid.
    pub fn vertex_inside(&self, vertex: u32) -> bool {
        self.vertex_inside[vertex as usize]
    }

    /// The parts of a rib that are inside the solid, from its first end to its second.
    pub fn inside_parts(&self, makers: Makers, rib: u32, mut part: impl FnMut(Made, Made)) {
        let [start, end] = makers.skeleton.ribs[rib as usize].ends;
        let mut entered = self.vertex_inside(start).then(|| Made::new(By::Vertex(start)));
        for pierce in &self.pierces[self.range(rib)] {
            let at = Made::new(By::Pierce { triangle: pierce.triangle, rib });
            match entered.take() {
                Some(from) => part(from, at),
                None => entered = Some(at),
            }
        }
        if let Some(from) = entered {
            part(from, Made::new(By::Vertex(end)));
        }
    }

    fn range(&self, rib: u32) -> std::ops::Range<usize> {
        self.first[rib as usize] as usize..self.first[rib as usize + 1] as usize
    }

    /// By walking from the walls; a rib is pierced an odd number of times where its ends are on two sides.
    fn find_vertices(&mut self, makers: Makers) -> Result<(), SplitError> {
        let ribs = &makers.skeleton.ribs;
        let mut first = vec![0_u32; makers.complex.vertices.len() + 1];
        for end in ribs.iter().flat_map(|rib| rib.ends) {
            first[end as usize + 1] += 1;
        }
        for vertex in 1..first.len() {
            first[vertex] += first[vertex - 1];
        }
        let mut ribs_at = vec![0_u32; 2 * ribs.len()];
        let mut next = first.clone();
        for (index, rib) in ribs.iter().enumerate() {
            for end in rib.ends {
                ribs_at[next[end as usize] as usize] = index as u32;
                next[end as usize] += 1;
            }
        }
        let mut known = vec![false; makers.complex.vertices.len()];
        let mut waiting = Vec::new();
        for end in ribs.iter().filter(|rib| rib.on_wall).flat_map(|rib| rib.ends) {
            if !std::mem::replace(&mut known[end as usize], true) {
                waiting.push(end);
            }
        }
        while let Some(vertex) = waiting.pop() {
            for &rib in &ribs_at[first[vertex as usize] as usize..first[vertex as usize + 1] as usize] {
                let [a, b] = ribs[rib as usize].ends;
                let other = if a == vertex { b } else { a };
                let inside = self.vertex_inside(vertex) ^ (self.range(rib).len() % 2 == 1);
                if !std::mem::replace(&mut known[other as usize], true) {
                    self.vertex_inside[other as usize] = inside;
                    waiting.push(other);
                } else if self.vertex_inside(other) != inside {
                    return Err(SplitError::SelfCrossing {
                        triangle: self.pierces.get(self.range(rib).start).map(|p| p.triangle),
                    });
                }
            }
        }
        Ok(())
    }

    /// Sorts the triangles along each rib, and refuses those that do not lead in and out by turns.
    fn put_in_order(&mut self, makers: Makers) -> Result<(), SplitError> {
        for (index, rib) in makers.skeleton.ribs.iter().enumerate() {
            let range = self.range(index as u32);
            if range.is_empty() {
                continue;
            }
            let mut inside = self.vertex_inside(rib.ends[0]);
            let pierces = &mut self.pierces[range];
            let [p, q] = rib.planes;
            let direction = cross(p.normal, q.normal);
            let greatest =
                direction.into_iter().fold(0, |best: i64, d| if d.abs() > best.abs() { d } else { best });
            pierces.sort_by(|a, b| {
                let order = a.place.order(&b.place);
                if greatest < 0 { order.reverse() } else { order }
            });
            for at in 0..pierces.len() {
                // Two triangles that overlap in one plane, as where two solids touch, are pierced at the same place
                // for every e. Then the order that is possible is taken.
                let fits = (at..pierces.len())
                    .take_while(|&k| pierces[k].place.order(&pierces[at].place) == Ordering::Equal)
                    .find(|&k| pierces[k].enters != inside);
                let Some(fits) = fits else {
                    return Err(SplitError::SelfCrossing { triangle: Some(pierces[at].triangle) });
                };
                pierces.swap(at, fits);
                inside = !inside;
            }
        }
        Ok(())
    }
}

/// All (rib, triangle), ascending. Each must have been met once in each cell round the rib.
fn pierces_of(makers: Makers, shards: &Shards) -> Result<Vec<(u32, u32)>, SplitError> {
    let mut named = Vec::new();
    for side in shards.shards.iter().flat_map(|shard| shards.sides(shard)) {
        if let By::Pierce { triangle, rib } = side.start.by() {
            named.push((rib, triangle));
        }
    }
    named.par_sort_unstable();
    let uneven = named.chunk_by(|a, b| a == b).find(|g| g.len() != makers.skeleton.facets_at(g[0].0).len());
    if let Some(&(rib, _)) = uneven.and_then(|group| group.first()) {
        return Err(SplitError::Complex { facet: makers.skeleton.facets_at(rib)[0] });
    }
    named.dedup();
    Ok(named)
}
