//! The paper's way, for small inputs: the points in which any three planes meet, if they are inside all others. No
//! order, no stop rule, no planes left out.

use super::{Plane, Planes, testing::between};
use glam::DVec3;

/// Farther outside a plane than this share of the size is outside.
const INSIDE: f64 = 1e-9;

/// The corners of a site's cell, each once.
pub(super) fn corners(planes: &Planes, sites: &[DVec3], site: usize) -> Vec<DVec3> {
    let unit = planes.frame.unit;
    let mut all: Vec<Plane> = (0..planes.len()).map(|k| planes.plane(k)).collect();
    let others = sites.iter().enumerate().filter(|(k, s)| *k != site && **s != sites[site]);
    all.extend(others.map(|(_, other)| between(sites[site], *other)));
    let mut corners: Vec<DVec3> = Vec::new();
    for i in 0..all.len() {
        for j in i + 1..all.len() {
            let along = all[i].normal.cross(all[j].normal);
            for k in j + 1..all.len() {
                let [a, b, c] = [all[i], all[j], all[k]];
                let determinant = along.dot(c.normal);
                if determinant.abs() < 1e-9 {
                    continue;
                }
                let sum = b.normal.cross(c.normal) * a.distance + c.normal.cross(a.normal) * b.distance;
                let point = (sum + along * c.distance) / determinant;
                let is_inside = |p: &Plane| p.normal.dot(point) - p.distance <= INSIDE * unit;
                if all.iter().all(is_inside) && !corners.iter().any(|p| p.distance(point) < 1e-7 * unit) {
                    corners.push(point);
                }
            }
        }
    }
    corners
}
