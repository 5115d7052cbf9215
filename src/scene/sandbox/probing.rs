//! The probe of the window: everything about the voxel under a click.
//!
//! In: a picked point. Out: a [`Probe`] that is kept until the next click, and made anew when the inside of the break
//! has been read back, or other stress is shown.

use std::sync::{Arc, Weak};

use glam::{DVec3, Vec3};

use super::Sandbox;
use crate::{
    bodies::BodyId,
    scene::{
        Probe, ProbeBreak, ProbeMesh, Probed, ScenePick,
        breaking::{local_from_world, world_from_local_matrix},
    },
    svo::Octant,
};

/// How far along the ray from the picked point its voxel is looked for, voxels: a point in the face between two voxels
/// belongs to the one behind.
const BEHIND: f64 = 1e-4;

impl Sandbox {
    /// Probes the voxel at a picked point, on a ray with that direction; of a mesh the voxel that stands in for the
    /// place. Returns whether there is one: bodies without voxels have none.
    pub fn probe_at(&mut self, pick: &ScenePick, direction: Vec3) -> bool {
        self.probed = self.voxel_at(pick, direction.as_dvec3()).map(|voxel| {
            let body = self.stage.body(pick.body);
            let (point, shape, mesh) = body.map_or((DVec3::ZERO, Weak::new(), None), |body| {
                let shape = &body.def.shape;
                let point = shape.shape_from_local(local_from_world(&body.state, shape, pick.point));
                (point, Arc::downgrade(shape), ProbeMesh::at(shape, point))
            });
            let probe = self.probe(pick.body, voxel, mesh);
            Probed { body: pick.body, probe, point, shape, revision: self.probe_revision() }
        });
        self.probed.is_some()
    }

    /// The voxel that was probed last, if its body is still there.
    #[must_use]
    pub fn probed(&self) -> Option<&Probed> {
        self.probed.as_ref().filter(|probed| self.stage.body(probed.body).is_some())
    }

    /// Forgets the probed voxel.
    pub fn forget_probe(&mut self) {
        self.probed = None;
    }

    /// Corners of the probed voxel where its body is drawn, world space; bits 0, 1, 2 of a corner's number are its x,
    /// y, z.
    #[must_use]
    pub fn probed_corners(&self) -> Option<[Vec3; 8]> {
        let probed = self.probed()?;
        let body = self.stage.body(probed.body)?;
        let offset = self.stage.explode_offsets(self.tuning().view.explode);
        let offset = offset.get(self.stage.index(probed.body)?).copied().unwrap_or_default();
        let world = world_from_local_matrix(&body.state, &body.def.shape);
        let corner = |k: u32| {
            let at = [0, 1, 2].map(|a: usize| (probed.probe.voxel[a] + (k >> a & 1)) as f32);
            world.transform_point3(Vec3::from(at)) + offset.as_vec3()
        };
        Some([0, 1, 2, 3, 4, 5, 6, 7].map(corner))
    }

    /// Changes whenever a probe may say something else of the same voxel.
    fn probe_revision(&self) -> u64 {
        self.looking.revision() + self.stress.revision()
    }

    /// Makes the probe anew if the inside of its break has been read back since, or if other stress is shown. What it
    /// says of the mesh stays while the body has the same shape.
    pub(super) fn refresh_probe(&mut self) {
        let revision = self.probe_revision();
        let Some(probed) = self.probed.as_ref().filter(|probed| probed.revision != revision) else { return };
        let (id, voxel, point) = (probed.body, probed.probe.voxel, probed.point);
        let Some(shape) = self.stage.body(id).map(|body| &body.def.shape) else { return };
        let mesh = match std::ptr::eq(probed.shape.as_ptr(), Arc::as_ptr(shape)) {
            true => probed.probe.mesh.clone(),
            false => ProbeMesh::at(shape, point),
        };
        let shape = Arc::downgrade(shape);
        self.probed = Some(Probed { body: id, probe: self.probe(id, voxel, mesh), point, shape, revision });
    }

    fn voxel_at(&self, pick: &ScenePick, direction: DVec3) -> Option<[u32; 3]> {
        let body = self.stage.body(pick.body)?;
        let shape = &body.def.shape;
        let octree = shape.as_octree()?;
        let along = (body.state.rotation.inverse() * direction).normalize_or_zero();
        let local = local_from_world(&body.state, shape, pick.point) + along * BEHIND;
        let side = f64::from(1u32 << octree.level());
        let cell = local.floor();
        let is_in = cell.cmpge(DVec3::ZERO).all() && cell.cmplt(DVec3::splat(side)).all();
        let cell = is_in.then(|| cell.to_array().map(|v| v as u32));
        let is_solid = |cell: &[u32; 3]| {
            !matches!(octree.forest.octant_at(octree.tree as usize, *cell), Octant::Empty { .. })
        };
        cell.filter(is_solid).or(pick.cell)
    }

    /// What is known of a voxel of a body, with what a mesh has at the place.
    fn probe(&mut self, id: BodyId, voxel: [u32; 3], mesh: Option<ProbeMesh>) -> Probe {
        let Some(body) = self.stage.body(id) else { return Probe::default() };
        let octree = body.def.octree();
        let mut probe = Probe::of_leafs(&octree.forest, octree.tree, voxel).with_grid(&octree.grid);
        probe.mesh = mesh;
        let info = self.stage.info_or_whole(id);
        let record = info.origin.and_then(|origin| Some((self.breaks.get(origin.record)?, origin)));
        let pinned = self.document.tuning().pin.as_ref().filter(|pin| pin.aim.body == id);
        if let Some(cells) = pinned.and_then(|_| self.preview.pinned_cells()) {
            probe = probe.with_pattern(&cells.pattern, octree.level());
        } else if let Some(pattern) = record.and_then(|(record, _)| record.pattern.as_ref()) {
            probe = probe.with_pattern(pattern, octree.level());
        }
        let part = record.map(|(_, origin)| origin.part);
        let is_last = record.is_some_and(|(record, _)| {
            record.forest().is_some_and(|forest| self.looking.is_of_break(&forest, record.tree))
        });
        // The inside of a blow that has not fallen belongs to the whole body.
        if is_last || self.looking.is_of_aim_at(id) {
            probe = self.looking.probe(probe, part);
        }
        probe.generation = Some(info.generation);
        if let Some((record, origin)) = record {
            let (_, impact) = (origin, record.grid.map(|grid| grid.from_mesh(record.impact.point)));
            probe.piece = u32::try_from(origin.part).ok();
            probe.cell = record.cells.get(origin.part).copied().or(probe.cell);
            probe.made_by = Some(ProbeBreak {
                number: origin.record as u32,
                impact: impact.unwrap_or_default().to_array(),
                rng: record.params.rng,
            });
        }
        match self.stress.known().of(id, &body.def.shape) {
            Some(stress) => probe.with_stress(stress),
            None => probe,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        compute::{Choice, Compute},
        scene::{Arrived, LabelView, Scene, sandbox::testing::until},
    };

    /// A click on a piece that is a mesh says what there is: its cell, mass, triangle and normal, found by a search,
    /// and the voxel that stands in.
    #[test]
    fn a_click_on_a_mesh_probes_its_surface() {
        let mut sandbox = Sandbox::new(Compute::open(Choice::Cpu).unwrap()).unwrap();
        let mut scene = Scene::of_mesh("builtin:box", 5);
        scene.bodies[0].fracture.method = crate::fracture::MethodId::named("box-cut").unwrap();
        sandbox.open_scene(scene);
        until(&mut sandbox, Arrived::Opened);
        let body = sandbox.bodies()[0].id;
        sandbox.break_at(body, sandbox.bodies()[0].state.position, DVec3::NEG_Y);
        until(&mut sandbox, Arrived::Broke);
        let (low, high) = sandbox.bounds(None).unwrap();
        let from = low.midpoint(high).with_z(high.z + 2.0) + Vec3::new(0.013, 0.021, 0.0);
        let pick = sandbox.pick(from, Vec3::NEG_Z).unwrap();
        assert!(sandbox.probe_at(&pick, Vec3::NEG_Z), "a mesh is probed, too");
        let probe = sandbox.probed().unwrap().probe.clone();
        let mesh = probe.mesh.clone().unwrap();
        let body = sandbox.bodies().iter().find(|body| body.id == pick.body).unwrap();
        let shape = &body.def.shape;
        assert_eq!((mesh.mass_kg, mesh.voxel_stands_in), (shape.mass().kg, true));
        let turned = body.state.rotation * DVec3::from_array(mesh.normal.unwrap());
        assert!(turned.distance(DVec3::Z) < 1e-6, "the front looks along z: {turned}");
        assert_eq!(mesh.face, Some(crate::scene::ProbeFace::Outside));
        // The point lies in the plane of that triangle, within its bounds.
        let surface = shape.as_mesh().unwrap().surface();
        let [a, b, c] = surface.corners_of_triangles().nth(mesh.triangle.unwrap() as usize).unwrap();
        let at = shape.shape_from_local(local_from_world(&body.state, shape, pick.point));
        assert!((b - a).cross(c - a).normalize().dot(at - a).abs() < 1e-6);
        assert!((at - a.min(b).min(c)).min_element() > -1e-6 && (a.max(b).max(c) - at).min_element() > -1e-6);
        let info = *sandbox.info(pick.body).unwrap();
        assert_eq!(probe.piece, info.origin.map(|origin| origin.part as u32));
        assert!(probe.cell.is_some() && probe.label.is_none());
        assert_eq!(probe.morton, crate::svo::morton::encode(probe.voxel));
        assert!(probe.to_json().contains("\"voxel_stands_in\": true"));
        // No other triangle is nearer than the one that the tree finds.
        let far = |k: usize| {
            crate::geometry::triangle::distance(at, surface.corners_of_triangles().nth(k).unwrap())
        };
        let nearest = (0..surface.triangles.len()).min_by(|a, b| far(*a).total_cmp(&far(*b)));
        assert_eq!(mesh.triangle.map(|index| index as usize), nearest);
    }

    #[test]
    fn a_click_probes_the_voxel_behind_it() {
        let mut sandbox = Sandbox::new(Compute::open(Choice::Cpu).unwrap()).unwrap();
        sandbox.open_scene(Scene::of_mesh("builtin:box", 5));
        until(&mut sandbox, Arrived::Opened);
        let (low, high) = sandbox.bounds(None).unwrap();
        let from = low.midpoint(high).with_z(high.z + 2.0) + Vec3::new(0.013, 0.021, 0.0);
        let pick = sandbox.pick(from, Vec3::NEG_Z).unwrap();
        assert!(sandbox.probe_at(&pick, Vec3::NEG_Z));
        let probe = &sandbox.probed().unwrap().probe;
        assert_eq!(Some(probe.voxel), pick.cell, "the surface is a leaf");
        assert!(probe.boundary.coverage.is_some() && probe.seeds.is_empty() && probe.piece.is_none());
        // The voxel's corners are round the point.
        let corners = sandbox.probed_corners().unwrap();
        let span = |k: usize| {
            let all = corners.map(|corner| corner[k]);
            (all.into_iter().fold(f32::MAX, f32::min), all.into_iter().fold(f32::MIN, f32::max))
        };
        for (k, at) in pick.point.to_array().into_iter().enumerate() {
            let (low, high) = span(k);
            assert!(low - 1e-4 <= at as f32 && at as f32 <= high + 1e-4, "{k}: {low} {at} {high}");
        }
        let body = sandbox.bodies()[0].id;
        sandbox.break_at(body, sandbox.bodies()[0].state.position, DVec3::NEG_Y);
        until(&mut sandbox, Arrived::Broke);
        assert!(sandbox.probed().is_none(), "the body is gone");
        let pick = sandbox.pick(from, Vec3::NEG_Z).unwrap();
        assert!(sandbox.probe_at(&pick, Vec3::NEG_Z));
        let probe = &sandbox.probed().unwrap().probe;
        let info = *sandbox.info(pick.body).unwrap();
        assert_eq!(probe.piece, info.origin.map(|origin| origin.part as u32));
        assert_eq!((probe.generation, probe.seeds.len()), (Some(1), 2));
        assert!(probe.seeds[0].squared_distance <= probe.seeds[1].squared_distance);
        // With the labelling on display, the probe has the labels of every iteration.
        let mut tuning = sandbox.tuning().clone();
        tuning.view.inside.labels = LabelView::Published;
        sandbox.tune("labels", tuning);
        let start = std::time::Instant::now();
        while sandbox.probed().is_some_and(|probed| probed.probe.label.is_none()) {
            assert!(start.elapsed().as_secs() < 120, "no labels come");
            sandbox.warm_up();
            sandbox.update_looking();
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let label = sandbox.probed().unwrap().probe.label.clone().unwrap();
        assert!(label.iterations.len() > 2, "{label:?}");
    }
}
