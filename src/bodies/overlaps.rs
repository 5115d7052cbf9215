//! What pairs share, for the paper's response, for the log and for drawing.
//!
//! In: the bodies as they are. Out: one [`Overlap`] for each pair and plane that touch, in order of body.

use super::{
    Body, BodyId, Levels, Overlap, World, WorldSettings,
    collide::{Manifold, of_bodies, of_plane},
    planes::planes,
    surfels::Shapes,
};
use rayon::prelude::*;

/// What has to be looked at: indices, and of a plane its number.
enum Work {
    Pair([usize; 2], [u32; 2]),
    Plane(usize, u32, usize),
}

/// Overlaps of everything that the manifolds say is near, of bodies of which one can move.
pub fn find(
    bodies: &[Body],
    levels: &Levels<'_>,
    shapes: &mut Shapes,
    manifolds: &[Manifold],
    settings: &WorldSettings,
) -> Vec<Overlap> {
    let index = |id: BodyId| bodies.binary_search_by(|b| b.id.cmp(&id)).ok();
    let planes = planes(settings);
    let mut work = Vec::new();
    for m in manifolds {
        let Some(a) = index(m.first) else { continue };
        match m.second {
            Some(id) => work.extend(index(id).map(|b| Work::Pair([a, b], levels.pair(a, b)))),
            None => work.extend((0..planes.len()).map(|k| Work::Plane(a, levels.own(a), k))),
        }
    }
    for w in &work {
        let needed = match w {
            Work::Pair(pair, at) => vec![(pair[0], at[0]), (pair[1], at[1])],
            Work::Plane(a, at, _) => vec![(*a, *at)],
        };
        needed.into_iter().for_each(|(k, level)| _ = shapes.get(&bodies[k].def.forest, level));
    }
    let surfels = |k: usize, level: u32| shapes.known(&bodies[k].def.forest, level);
    let found: Vec<Option<Overlap>> = work
        .par_iter()
        .map(|w| match w {
            Work::Pair(pair, at) => {
                let both = [surfels(pair[0], at[0])?, surfels(pair[1], at[1])?];
                Some(of_bodies(pair.map(|k| &bodies[k]), *at, both))
            }
            Work::Plane(a, at, k) => Some(of_plane(&bodies[*a], *at, surfels(*a, *at)?, &planes[*k])),
        })
        .collect();
    found.into_iter().flatten().filter(|o| !o.columns.is_empty()).collect()
}

impl World {
    /// What bodies `a` and `b` share now, at the level at which they meet, on the lattice of `a`; nothing where one of them is
    /// not there. A pair that does not overlap has neither points nor volume.
    pub fn pair_data(&mut self, a: BodyId, b: BodyId) -> Option<Overlap> {
        let index = |id: BodyId| self.bodies.iter().position(|body| body.id == id);
        let (i, j) = (index(a)?, index(b)?);
        let at = Levels::new(&self.bodies, &self.pair_levels, self.far()).pair(i, j);
        let both = [self.bodies[i].clone(), self.bodies[j].clone()];
        let surfels = [0, 1].map(|s| self.shapes.get(&both[s].def.forest, at[s]).surfels.clone());
        Some(of_bodies(both.each_ref(), at, surfels.each_ref().map(|s| &**s)))
    }

    /// What each touching pair shares now, and what each body shares with the floor and the walls.
    pub fn all_pair_data(&mut self) -> Vec<Overlap> {
        let far = self.far();
        let Self { bodies, shapes, manifolds, pair_levels, settings, .. } = self;
        find(bodies, &Levels::new(bodies, pair_levels, far), shapes, manifolds, settings)
    }

    pub(super) fn far(&self) -> Option<(glam::DVec3, super::Adaptive)> {
        self.eye.filter(|eye| eye.is_finite()).zip(self.settings.adaptive)
    }
}
