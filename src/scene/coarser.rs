//! Plays a scene at a coarser level: a scene made at level 10 on a fast machine runs at level 8 on a slower one.
//!
//! In: a scene. Out: the same scene with every octree coarser by some levels, and all values in levels or voxels
//! adapted. Positions of pieces, their speeds and masses stay the same.

use super::{Event, Scene, SceneBody};
use crate::fracture::FractureParams;

/// Octrees are not made coarser than this level, where little of their shape would be visible.
const COARSEST: u32 = 4;

impl Scene {
    /// The scene with every leaf level lowered by `levels`, but not below 4.
    #[must_use]
    pub fn coarser(mut self, levels: u32) -> Self {
        // Bodies near the lowest level are lowered by less.
        let by: Vec<u32> = self.bodies.iter_mut().map(|body| coarsen(body, levels)).collect();
        let least = by.iter().copied().min().unwrap_or(levels);
        let of = |body: u32| by.get(body as usize).copied().unwrap_or(least);
        for event in &mut self.events {
            match event {
                Event::Projectile { body, .. } => _ = coarsen(body, levels),
                Event::Hand { .. } | Event::Move { .. } => {}
                Event::Impact { body, fracture, .. } => {
                    let by = body.map_or(least, of);
                    fracture.iter_mut().for_each(|params| coarsen_params(params, by));
                }
            }
        }
        if levels > 0 {
            // Parts are numbered by size, and coarser parts have other sizes.
            self.breaks.retain(|one| one.of.is_none());
            self.breaks.iter_mut().for_each(|one| coarsen_params(&mut one.fracture, of(one.body)));
            self.breaks.iter_mut().for_each(|one| one.joined.clear());
            self.poses.clear();
            self.deleted.clear();
        }
        for pair in &mut self.pairs {
            pair.physics_level = lower(pair.physics_level, levels);
        }
        self
    }
}

fn lower(level: u32, by: u32) -> u32 {
    level.saturating_sub(by).max(COARSEST.min(level))
}

/// Returns the number of levels actually lowered.
fn coarsen(body: &mut SceneBody, levels: u32) -> u32 {
    let level = lower(body.level, levels);
    let by = body.level - level;
    body.physics_level = body.physics_level.map(|physics| physics.saturating_sub(by).max(1));
    coarsen_params(&mut body.fracture, by);
    body.level = level;
    body.voxel_size = body.voxel_size.map(|edge| edge * f64::from(1u32 << levels.min(31)));
    by
}

fn coarsen_params(params: &mut FractureParams, by: u32) {
    params.island_level = params.island_level.map(|level| level.saturating_sub(by).max(1));
    let transition = &mut params.crack.transition_level;
    *transition = transition.map(|level| level.saturating_sub(by).max(2));
    params.crack.dusty.width /= f64::from(1u32 << by);
    if let Some(smallest) = &mut params.smallest {
        // The number of larger voxels that fill the same space.
        smallest.voxels = smallest.voxels.div_ceil(1 << (3 * by));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fracture::Smallest, scene::load_scene};
    use glam::DVec3;
    use std::path::Path;

    #[test]
    fn levels_and_what_counts_voxels_shrink_together() {
        let mut body = SceneBody { physics_level: Some(8), ..SceneBody::standing("builtin:box", 10) };
        body.fracture.island_level = Some(9);
        body.fracture.crack.transition_level = Some(7);
        body.fracture.crack.dusty.width = 4.0;
        body.fracture.smallest = Some(Smallest { voxels: 130, ..Smallest::default() });
        let small = SceneBody { physics_level: None, ..SceneBody::standing("builtin:box", 5) };
        let scene = Scene { bodies: vec![body, small], ..Scene::default() }.coarser(2);
        let [large, small] = &scene.bodies[..] else { panic!("two bodies") };
        assert_eq!((large.level, large.physics_level), (8, Some(6)));
        assert_eq!(large.fracture.island_level, Some(7));
        assert_eq!(large.fracture.crack.transition_level, Some(5));
        assert_eq!(large.fracture.crack.dusty.width, 1.0);
        assert_eq!(large.fracture.smallest.map(|rule| rule.voxels), Some(3));
        assert_eq!((small.level, small.collision_level()), (4, 3));
        assert_eq!(scene.clone().coarser(0), scene);
    }

    /// The four scenes of Domaradzki & Martyn 2016 have the paper's numbers (Table 1, figures 4 to 7).
    #[test]
    fn cracks_are_coarser_by_as_much_as_the_body_that_they_are_of() {
        let mut fracture = FractureParams::default();
        fracture.crack.dusty.width = 8.0;
        let body = |level: u32| SceneBody {
            level,
            fracture: fracture.clone(),
            ..SceneBody::standing("builtin:box", level)
        };
        let blow = |body: Option<u32>| Event::Impact {
            time: 0.0,
            point: DVec3::ZERO,
            direction: DVec3::X,
            speed: 1.0,
            body,
            parts: Vec::new(),
            fracture: Some(fracture.clone()),
            hold: false,
            energy: None,
            at_once: false,
        };
        let events = vec![blow(Some(0)), blow(Some(1)), blow(None)];
        let scene = Scene { bodies: vec![body(5), body(8)], events, ..Scene::default() }.coarser(3);
        assert_eq!(scene.bodies.iter().map(|body| body.level).collect::<Vec<_>>(), [4, 5]);
        let width = |event: &Event| match event {
            Event::Impact { fracture: Some(params), .. } => params.crack.dusty.width,
            _ => f64::NAN,
        };
        // The last event strikes any body, so the least lowering applies.
        assert_eq!(scene.events.iter().map(width).collect::<Vec<_>>(), [4.0, 1.0, 4.0]);
        assert_eq!(scene.bodies[0].fracture.crack.dusty.width, 4.0);
    }

    #[test]
    fn the_papers_scenes_have_its_numbers() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/scenes");
        let numbers = |name: &str| -> Vec<(u32, u32, u32)> {
            let scene = load_scene(&folder.join(name).with_extension("toml")).unwrap();
            scene.bodies.iter().map(|b| (b.level, b.fracture.seeds, b.collision_level())).collect()
        };
        assert_eq!(numbers("bunny"), [(10, 90, 8)]);
        assert_eq!(numbers("columns"), [(10, 70, 7); 3]);
        assert_eq!(numbers("buddha"), [(10, 40, 9)]);
        assert_eq!(numbers("dragons"), [(9, 15, 8), (9, 35, 8), (9, 50, 8)]);
    }
}
