//! The cells of all sites, each on its own (the paper's "Loop").
//!
//! In: the planes and corners of the object, and sites. Out: shards.

use super::{
    Beyond, FARTHEST_SITE, Planes, SAME_SITE, Shard, ShatterError, TOUCH, cell::Cell, mass::Mass,
    polyhedron::Polyhedron, weld::first_within,
};
use glam::DVec3;
use rayon::prelude::*;
use std::{cmp::Reverse, collections::BinaryHeap};

impl Planes {
    /// Shatters the object into the cells of `sites`; see [`super::shatter`].
    ///
    /// # Errors
    /// [`ShatterError`] where a site is not finite or too far away.
    pub fn shatter(&self, sites: &[DVec3]) -> Result<Vec<Shard>, ShatterError> {
        if let Some(index) = sites.iter().position(|site| !site.is_finite()) {
            return Err(ShatterError::NotFinite { what: "site", index });
        }
        let units: Vec<DVec3> = sites.iter().map(|site| self.frame.to_units(*site)).collect();
        if let Some(site) = units.iter().position(|site| site.abs().max_element() > FARTHEST_SITE) {
            return Err(ShatterError::FarSite { site });
        }
        let firsts = first_within(&units, SAME_SITE);
        let distinct: Vec<usize> = (0..units.len()).filter(|site| firsts[*site] as usize == *site).collect();
        let new_cell = || Cell::new(self.planes.len() + units.len());
        let shard = |cell: &mut Cell, site: &usize| self.shard(*site, &units, &distinct, cell);
        let shards: Vec<Option<Shard>> = distinct.par_iter().map_init(new_cell, shard).collect();
        Ok(shards.into_iter().flatten().collect())
    }

    /// The shard of one site, if it has a cell.
    fn shard(&self, site: usize, sites: &[DVec3], distinct: &[usize], cell: &mut Cell) -> Option<Shard> {
        let outward = |plane: u32| match self.beyond(plane) {
            Beyond::Mesh(index) => self.planes[index].normal,
            Beyond::Site(other) => (sites[other] - sites[site]).normalize_or_zero(),
        };
        let mut solid = None;
        for touch in TOUCH {
            cell.begin(&self.corners, touch);
            self.cut_out(site, sites, distinct, cell);
            solid = Polyhedron::new(&cell.corners, outward);
            if solid.as_ref().is_none_or(Polyhedron::is_closed) {
                break;
            }
        }
        let solid = solid?;
        let mass = Mass::of(&solid);
        if mass.volume <= 0.0 {
            return None;
        }
        let unit = self.frame.unit;
        let cubed = unit * unit * unit;
        Some(Shard {
            site,
            vertices: solid.vertices.iter().map(|p| self.frame.to_object(*p)).collect(),
            faces: solid.faces,
            beyond: solid.planes.into_iter().map(|plane| self.beyond(plane)).collect(),
            volume: mass.volume * cubed,
            centre: self.frame.to_object(mass.centre),
            inertia: mass.inertia * (cubed * unit * unit),
        })
    }

    /// Planes are numbered through: those of the object, then one for each site.
    fn beyond(&self, plane: u32) -> Beyond {
        let plane = plane as usize;
        plane.checked_sub(self.planes.len()).map_or(Beyond::Mesh(plane), Beyond::Site)
    }

    /// Cuts the object by the planes half way to the other sites, nearest first, until none can matter any more.
    fn cut_out(&self, site: usize, sites: &[DVec3], distinct: &[usize], cell: &mut Cell) {
        let own = sites[site];
        // The nearest are taken off a heap: to sort all others, of which a few dozen matter, would take most of the
        // time where there are thousands. Distances are not negative, so their bits have their order.
        let others = distinct.iter().filter(|other| **other != site);
        let mut nearest: BinaryHeap<Reverse<(u64, usize)>> =
            others.map(|other| Reverse((own.distance_squared(sites[*other]).to_bits(), *other))).collect();
        let mut reach = cell.corners.farthest_squared(own);
        while let Some(Reverse((squared, other))) = nearest.pop() {
            let squared = f64::from_bits(squared);
            if squared > self.stop_factor() * reach {
                break;
            }
            #[cfg(test)]
            if self.planted.skips(site, other) {
                continue;
            }
            let normal = (sites[other] - own).normalize_or_zero();
            cell.cut((self.planes.len() + other) as u32, normal, normal.dot((own + sites[other]) * 0.5));
            if cell.corners.len() == 0 {
                return;
            }
            reach = cell.corners.farthest_squared(own);
        }
        #[cfg(test)]
        self.planted.spoil(site, &mut cell.corners);
    }

    /// A site matters up to twice the distance of the farthest corner; squared.
    fn stop_factor(&self) -> f64 {
        #[cfg(test)]
        return self.planted.stop_factor();
        #[cfg(not(test))]
        4.0
    }
}
