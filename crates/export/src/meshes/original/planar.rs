//! Voronoi cells as crack surfaces: the triangulated facets between cells of different objects.
//!
//! In: a pattern, a box. Out: [`Cracks`]. The cells are those by which box cutting cuts a mesh: cut out of the box
//! exactly, every facet and every vertex once, so that neighbouring cells agree on every vertex.

use crate::fracture::{
    Pattern,
    box_cut::{Beyond, Complex, Point as Unit, Vertex},
};

use super::{
    cracks::{Cracks, by_a_hair},
    exact::{Point, UNIT_BITS},
};

/// The facets within the box `bounds` (low, high; seeds' units). `salt` selects the perturbation of vertices.
#[must_use]
pub fn cracks(pattern: &Pattern, [low, high]: [Unit; 2], salt: u64) -> Cracks {
    let complex = Complex::new(&pattern.seeds, low, high);
    let object = |s: u32| pattern.objects.get(s as usize).copied().unwrap_or(s);
    let unit = (1u64 << (UNIT_BITS - crate::fracture::UNIT_BITS)) as f64;
    let point = |(v, vertex): (u64, &Vertex)| -> Point {
        by_a_hair((vertex.position() * unit).to_array().map(|x| x.round() as i64), v, salt)
    };
    let points = (0..).zip(&complex.vertices).map(point).collect();
    // A seed whose cell lies outside the box has no facets, not even walls.
    let has_cell = |s: &u32| complex.facets_of.get(*s as usize).is_some_and(|facets| !facets.is_empty());
    let first = (0..pattern.seeds.len() as u32).find(has_cell).unwrap_or_default();
    let mut cracks = Cracks { points, everywhere: object(first), ..Cracks::default() };
    for facet in &complex.facets {
        let Beyond::Site(beyond) = facet.beyond else { continue };
        let sides = [facet.site, beyond].map(object);
        if sides[0] == sides[1] {
            continue;
        }
        for pair in facet.ring[1..].windows(2) {
            cracks.triangles.push([facet.ring[0], pair[0], pair[1]]);
            cracks.sides.push(sides);
        }
    }
    cracks
}
