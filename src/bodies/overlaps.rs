//! What pairs share, for the paper's response, for the log and for drawing.
//!
//! In: the bodies as they are. Out: one [`Overlap`] for each pair and plane that touch, in order of body.

use super::{
    Body, BodyId, Levels, Overlap, World, WorldSettings, broad_phase,
    collide::{Manifold, of_bodies, of_plane},
    planes::{Plane, planes},
    step,
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
    work_out(bodies, shapes, &planes, &work)
}

fn work_out(bodies: &[Body], shapes: &mut Shapes, planes: &[Plane], work: &[Work]) -> Vec<Overlap> {
    for w in work {
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

    /// What each overlapping pair shares now, and what each body shares with the floor and the walls; sleepers, too.
    pub fn all_pair_data(&mut self) -> Vec<Overlap> {
        let far = self.far();
        let Self { bodies, shapes, pair_levels, settings, .. } = self;
        let levels = Levels::new(bodies, pair_levels, far);
        let boxes: Vec<_> =
            bodies.iter().enumerate().map(|(i, b)| step::bounds(b, levels.coarsest(i), 0.0)).collect();
        let moves: Vec<bool> = bodies.iter().map(|b| !b.is_static()).collect();
        let pairs = broad_phase::pairs(&boxes, &moves).into_iter().map(|(i, j)| [i as usize, j as usize]);
        let mut work: Vec<Work> = pairs.map(|pair| Work::Pair(pair, levels.pair(pair[0], pair[1]))).collect();
        let planes = planes(settings);
        for i in (0..bodies.len()).filter(|&i| moves[i] && boxes[i].is_some()) {
            work.extend((0..planes.len()).map(|k| Work::Plane(i, levels.own(i), k)));
        }
        work_out(bodies, shapes, &planes, &work)
    }

    pub(super) fn far(&self) -> Option<(glam::DVec3, super::Adaptive)> {
        self.eye.filter(|eye| eye.is_finite()).zip(self.settings.adaptive)
    }
}
