use std::sync::Arc;

use glam::{DVec3, Vec3};

use super::{Slice, SliceOrder, SlicePlace, Swing};
use crate::{
    compute::{Choice, Compute},
    elastic::Solution,
    render::{ColorBy, piece_color},
    scene::{
        Arrived, BodyStress, Coloring, Key, Legend, Quantity, Sandbox, Scene, Touching,
        sandbox::testing::until,
    },
};

fn opened(file: &str, level: u32) -> Sandbox {
    let mut sandbox = Sandbox::new(Compute::open(Choice::Cpu).unwrap()).unwrap();
    sandbox.open_scene(Scene::of_mesh(file, level));
    until(&mut sandbox, Arrived::Opened);
    sandbox
}

/// A slice across z through the middle of everything, which takes away what is in front.
fn middle(sandbox: &Sandbox, show: Quantity) -> Slice {
    let (low, high) = sandbox.bounds(None).unwrap();
    let at = f64::from(0.5 * (low.z + high.z)) + 1e-3;
    Slice { at, show: Some(show), ..Slice::default() }
}

fn slice(sandbox: &mut Sandbox, slices: Vec<Slice>) {
    let mut tuning = sandbox.tuning().clone();
    tuning.slices = slices;
    sandbox.tune("slices", tuning);
    sandbox.finish_colors().unwrap();
    sandbox.update_touching().unwrap();
}

#[test]
fn a_slice_lies_in_its_plane_and_is_explained() {
    let mut sandbox = opened("builtin:box", 5);
    let of = middle(&sandbox, Quantity::Coverage);
    slice(&mut sandbox, vec![Slice { lines: true, ..of }]);
    let overlay = sandbox.inside_overlay().unwrap();
    let corners: Vec<Vec3> = overlay.triangles.iter().flat_map(|t| [t.a, t.b, t.c]).collect();
    assert!(corners.len() > 100 && !overlay.lines.is_empty(), "{} corners", corners.len());
    assert!(corners.iter().all(|p| (f64::from(p.z) - of.at).abs() < 1e-4));
    let legends = sandbox.legends();
    assert!(matches!(&legends[..], [legend] if legend.title == "Coverage"), "{legends:?}");
    assert_eq!(sandbox.picture_options().clips.planes().len(), 1);
    // Without slices there is nothing, and the picture is whole.
    slice(&mut sandbox, Vec::new());
    assert!(sandbox.inside_overlay().is_none() && sandbox.legends().is_empty());
    assert!(sandbox.picture_options().clips.is_empty());
}

#[test]
fn a_ray_meets_the_body_where_the_slice_opens_it() {
    let mut sandbox = opened("builtin:box", 5);
    let of = middle(&sandbox, Quantity::Part);
    let (low, high) = sandbox.bounds(None).unwrap();
    let from = low.midpoint(high).with_z(high.z + 3.0) + Vec3::new(0.01, 0.02, 0.0);
    let whole = sandbox.pick(from, Vec3::NEG_Z).unwrap();
    assert!((whole.point.z - f64::from(high.z)).abs() < 0.01, "{whole:?}");
    slice(&mut sandbox, vec![of]);
    let opened = sandbox.pick(from, Vec3::NEG_Z).unwrap();
    assert!((opened.point.z - of.at).abs() < 1e-4, "{opened:?}");
    assert!((opened.distance - (f64::from(from.z) - of.at)).abs() < 1e-4, "{opened:?}");
    // From the other side the back is there, and nothing of what was taken away.
    let behind = from.with_z(low.z - 3.0);
    assert!((sandbox.pick(behind, Vec3::Z).unwrap().point.z - f64::from(low.z)).abs() < 0.01);
    let across = Vec3::new(low.x - 2.0, from.y, 0.5 * (of.at as f32 + high.z));
    assert!(sandbox.pick(across, Vec3::X).is_none());
}

/// Every triangle of a slice by cells has the colour of the seed that a search over all seeds finds nearest to its
/// octant.
#[test]
fn a_slice_by_cells_shows_the_nearest_seeds() {
    let mut sandbox = opened("builtin:box", 5);
    let body = sandbox.bodies()[0].id;
    sandbox.break_at(body, sandbox.bodies()[0].state.position, DVec3::NEG_Y);
    until(&mut sandbox, Arrived::Broke);
    let of = middle(&sandbox, Quantity::Cell);
    slice(&mut sandbox, vec![of]);
    let overlay = sandbox.inside_overlay().unwrap().clone();
    let record = sandbox.breaks().records().next().unwrap().1;
    let (seeds, grid) = (&record.pattern.as_ref().unwrap().seeds, record.grid.unwrap());
    let units = f64::from(1u32 << (14 - grid.level));
    let shape = &sandbox.bodies()[0].def.shape;
    assert!(overlay.triangles.len() > 200);
    let state = record.state;
    let centre = record.whole.centre;
    let mut colors = std::collections::BTreeSet::new();
    for triangle in &overlay.triangles {
        let middle = (triangle.a + triangle.b + triangle.c).as_dvec3() / 3.0;
        let in_shape = state.rotation.inverse() * (middle - state.position) + centre;
        // The middle of the voxel in which the triangle lies.
        let voxel = grid.from_mesh(in_shape).floor() + 0.5;
        let near = seeds
            .iter()
            .enumerate()
            .map(|(i, seed)| (DVec3::from(seed.map(f64::from)).distance_squared(voxel * units), i));
        let (_, nearest) = near.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
        let [r, g, b, _] = triangle.color;
        assert_eq!([r, g, b], piece_color(nearest as u32), "at {voxel}");
        colors.insert(nearest);
    }
    assert!(colors.len() > 3, "{colors:?} of {:?}", shape.mass());
}

#[test]
fn bodies_have_the_colours_of_their_masses() {
    let mut sandbox = opened("builtin:box", 5);
    let body = sandbox.bodies()[0].id;
    sandbox.break_at(body, sandbox.bodies()[0].state.position, DVec3::NEG_Y);
    until(&mut sandbox, Arrived::Broke);
    let mut tuning = sandbox.tuning().clone();
    tuning.view.color_by = Coloring::Value(Quantity::Mass);
    sandbox.tune("colours", tuning);
    let Key::Numbers(range) = sandbox.legends().remove(0).key else { panic!("masses are numbers") };
    for (body, drawn) in sandbox.bodies().iter().zip(sandbox.render_bodies(None)) {
        assert_eq!(drawn.color, Some(range.color(body.def.shape.mass().kg)));
    }
    let kg = |body: &crate::bodies::Body| body.def.shape.mass().kg;
    let most = sandbox.bodies().iter().map(kg).fold(0.0, f64::max);
    assert!((range.high - most).abs() < 1e-9 * most);
}

/// Middles of the cells of a solution at that height along z (shape space), with their stress of von Mises.
fn cells_at(solution: &Solution, z: f64) -> Vec<(DVec3, f64)> {
    let body = solution.body();
    let cells = (0..body.len()).map(|i| (body.cell(i).unwrap().centre, solution.stress()[i].von_mises()));
    cells.filter(|(centre, _)| (centre.z - z).abs() <= 0.5 * body.cell_size()).collect()
}

/// The stress of von Mises in the cell that holds a point, by a search.
fn von_mises(cells: &[(DVec3, f64)], edge: f64, point: DVec3) -> f64 {
    let holds = |centre: DVec3| (centre - point).abs().max_element() <= 0.5001 * edge;
    let mut found = cells.iter().filter(|(centre, _)| holds(*centre));
    let (_, stress) = found.next().unwrap_or_else(|| panic!("no cell holds {point}"));
    assert!(found.next().is_none(), "two cells hold {point}");
    *stress
}

/// Every triangle of a slice across z has the colour of the stress of the cell in which it lies, and the legend has
/// the least and the greatest of these. Returns how many colours there are.
fn shows_stress(sandbox: &Sandbox, solution: &Solution) -> usize {
    let legends = sandbox.legends();
    let [Legend { title, unit, key: Key::Numbers(range) }] = &legends[..] else { panic!("{legends:?}") };
    assert_eq!((title.as_str(), unit.as_str()), ("Stress, von Mises, own weight", "Pa"));
    let body = &sandbox.bodies()[0];
    let (state, centre) = (&body.state, body.def.shape.mass().centre);
    let in_shape = |p: DVec3| state.rotation.inverse() * (p - state.position) + centre;
    let triangles = &sandbox.inside_overlay().unwrap().triangles;
    let cells = cells_at(solution, in_shape(triangles[0].a.as_dvec3()).z);
    let (mut colors, mut ends) = (std::collections::BTreeSet::new(), [f64::INFINITY, 0.0]);
    for triangle in triangles {
        let middle = in_shape((triangle.a + triangle.b + triangle.c).as_dvec3() / 3.0);
        let found = von_mises(&cells, solution.body().cell_size(), middle);
        let [r, g, b, _] = triangle.color;
        assert_eq!([r, g, b], range.color(found), "{found} Pa at {middle}");
        colors.insert([r, g, b]);
        ends = [found.min(ends[0]), found.max(ends[1])];
    }
    assert_eq!([range.low, range.high], ends);
    colors.len()
}

/// The window's stress of the weight, and the command's. Level 6 has voxels finer than the cells, and octants larger
/// than these.
#[test]
fn a_slice_shows_the_stress_where_there_is_one() {
    let mut sandbox = opened("builtin:box", 6);
    let of = middle(&sandbox, Quantity::VonMises);
    slice(&mut sandbox, vec![of]);
    assert!(sandbox.legends().is_empty(), "nothing was solved for");
    assert!(sandbox.inside_overlay().unwrap().triangles.is_empty());
    let body = &sandbox.bodies()[0];
    let shape = Arc::clone(&body.def.shape);
    let gravity = body.state.rotation.inverse() * (DVec3::NEG_Y * 9.81);
    let reference = BodyStress::of_weight(&shape, shape.density(), gravity).unwrap();
    assert_eq!(shape.density(), 2000.0, "scenes have this density");

    assert_eq!(sandbox.weigh(), None);
    sandbox.update_touching().unwrap();
    let colors = shows_stress(&sandbox, reference.solution());
    assert!(colors > 20, "{colors}");

    let mut shown = opened("builtin:box", 6);
    slice(&mut shown, vec![of]);
    let mut tuning = shown.tuning().clone();
    tuning.view.touching = Touching::Stress;
    shown.tune("stress", tuning.clone());
    let start = std::time::Instant::now();
    while shown.stress().is_none() || shown.is_solving_stress() {
        assert!(start.elapsed().as_secs() < 120, "no stress comes");
        shown.update_touching().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(shows_stress(&shown, reference.solution()), colors);
    // The probe says the same of the voxel behind the slice.
    let (low, high) = shown.bounds(None).unwrap();
    let from = low.midpoint(high).with_z(high.z + 3.0) + Vec3::new(0.05, 0.02, 0.0);
    let pick = shown.pick(from, Vec3::NEG_Z).unwrap();
    assert!(shown.probe_at(&pick, Vec3::NEG_Z));
    let probe = shown.probed().unwrap().probe.clone();
    let at = DVec3::from_array(probe.centre_in_mesh.unwrap());
    let (cells, edge) = (cells_at(reference.solution(), at.z), reference.solution().body().cell_size());
    assert_eq!(probe.von_mises_pa, Some(von_mises(&cells, edge, at)));
    assert!(probe.stress_pa.unwrap() <= reference.greatest().tension);
    assert!(probe.to_json().contains("\"stress_load\": \"weight\""));
    // Bodies have the colour of their greatest stress.
    tuning.view.color_by = Coloring::Value(Quantity::VonMises);
    shown.tune("colours", tuning.clone());
    let Key::Numbers(range) = shown.legends().remove(0).key else { panic!("stresses are numbers") };
    assert_eq!(shown.render_bodies(None)[0].color, Some(range.color(reference.greatest().von_mises)));
    // With the display the stress goes, and the probe's with it.
    tuning.view.touching = Touching::Off;
    shown.tune("stress", tuning);
    shown.update_touching().unwrap();
    assert!(shown.legends().is_empty() && shown.inside_overlay().unwrap().triangles.is_empty());
    assert_eq!(shown.probed().unwrap().probe.von_mises_pa, None);
}

/// Pieces have the numbers of their trees in the break, on the slice and on their surfaces; the whole object has none.
#[test]
fn labels_are_the_trees_of_the_break() {
    let mut sandbox = opened("builtin:box", 5);
    let of = middle(&sandbox, Quantity::Label);
    slice(&mut sandbox, vec![of]);
    assert!(sandbox.legends().is_empty(), "nothing broke");
    let body = sandbox.bodies()[0].id;
    sandbox.break_at(body, sandbox.bodies()[0].state.position, DVec3::NEG_Y);
    until(&mut sandbox, Arrived::Broke);
    let mut tuning = sandbox.tuning().clone();
    tuning.view.color_by = Coloring::Value(Quantity::Label);
    sandbox.tune("colours", tuning);
    sandbox.update_touching().unwrap();
    let mut trees = std::collections::BTreeSet::new();
    for (body, drawn) in sandbox.bodies().iter().zip(sandbox.render_bodies(None)) {
        let tree = body.def.shape.as_octree().unwrap().tree;
        assert_eq!(drawn.color, Some(piece_color(tree)));
        trees.insert(piece_color(tree));
    }
    assert!(trees.len() > 3, "{}", trees.len());
    let triangles = &sandbox.inside_overlay().unwrap().triangles;
    assert!(triangles.len() > 100);
    assert!(triangles.iter().all(|t| trees.contains(&[t.color[0], t.color[1], t.color[2]])));
}

/// Whether two colours differ by rounding alone.
fn is_like(a: [u8; 3], b: [u8; 3]) -> bool {
    a.iter().zip(b).all(|(a, b)| a.abs_diff(b) <= 3)
}

/// The field of a box is the distance to its nearest face, which needs no octree.
#[cfg(feature = "papers")]
#[test]
fn a_slice_by_the_field_shows_the_distance_to_the_nearest_face() {
    let mut sandbox = opened("builtin:box", 5);
    let of = middle(&sandbox, Quantity::Field);
    slice(&mut sandbox, vec![of]);
    let legends = sandbox.legends();
    let [Legend { key: Key::Numbers(range), .. }] = &legends[..] else { panic!("{legends:?}") };
    let body = &sandbox.bodies()[0];
    let (shape, state) = (&body.def.shape, &body.state);
    let grid = shape.as_octree().unwrap().grid;
    // The voxelised box fills the grid but for a margin of one voxel.
    let (low, high) = (DVec3::splat(1.0), DVec3::splat(f64::from(grid.side()) - 1.0));
    let mut checked = 0;
    for triangle in &sandbox.inside_overlay().unwrap().triangles {
        let middle = (triangle.a + triangle.b + triangle.c).as_dvec3() / 3.0;
        let at = shape.to_local(state.position, state.rotation, middle - DVec3::Z * 1e-6);
        let centre = at.floor() + 0.5;
        let depth = (centre - low).min(high - centre).min_element() * grid.h;
        let [r, g, b, _] = triangle.color;
        // Deeper than a cell the field is interpolated: a colour within a voxel of the exact one.
        let near = (-20..=20).any(|k| is_like(range.color(depth + f64::from(k) * 0.05 * grid.h), [r, g, b]));
        assert!(near, "{depth} m at {centre}: {:?}", triangle.color);
        checked += 1;
    }
    assert!(checked > 500, "{checked}");
    assert!(range.low < grid.h && range.high > 10.0 * grid.h, "{range:?}");
}

/// A mesh shard has a cross-section in the colour of its cell, and by its voxels in those of the planes between seeds.
#[test]
fn slices_fill_pieces_that_are_meshes() {
    let mut sandbox = Sandbox::new(Compute::open(Choice::Cpu).unwrap()).unwrap();
    let mut scene = Scene::of_mesh("builtin:box", 5);
    scene.bodies[0].fracture.method = crate::fracture::MethodId::named("box-cut").unwrap();
    sandbox.open_scene(scene);
    until(&mut sandbox, Arrived::Opened);
    let of = middle(&sandbox, Quantity::Cell);
    let (low, high) = sandbox.bounds(None).unwrap();
    let body = sandbox.bodies()[0].id;
    sandbox.break_at(body, sandbox.bodies()[0].state.position, DVec3::NEG_Y);
    until(&mut sandbox, Arrived::Broke);
    assert!(sandbox.bodies().iter().all(|body| body.def.shape.as_mesh().is_some()));
    slice(&mut sandbox, vec![of]);
    let record = sandbox.breaks().records().next().unwrap().1.clone();
    let (seeds, grid) = (&record.seeds.as_ref().unwrap().seeds, record.grid.unwrap());
    let (units, centre) = (f64::from(1u32 << (14 - grid.level)), record.whole.centre);
    let in_grid = |triangle: &crate::render::Triangle| {
        let middle = (triangle.a + triangle.b + triangle.c).as_dvec3() / 3.0;
        grid.from_mesh(record.state.rotation.inverse() * (middle - record.state.position) + centre) * units
    };
    let distances = |p: DVec3| -> Vec<f64> {
        seeds.iter().map(|seed| DVec3::from(seed.map(f64::from)).distance(p)).collect()
    };
    let area = |triangles: &[crate::render::Triangle]| -> f64 {
        triangles.iter().map(|t| f64::from((t.b - t.a).cross(t.c - t.a).length()) * 0.5).sum()
    };
    let wanted = f64::from((high.x - low.x) * (high.y - low.y));
    let triangles = sandbox.inside_overlay().unwrap().triangles.clone();
    assert!((area(&triangles) / wanted - 1.0).abs() < 0.02, "{} of {wanted}", area(&triangles));
    let is_of_nearest = |triangle: &crate::render::Triangle| {
        let all = distances(in_grid(triangle));
        let nearest = (0..all.len()).min_by(|a, b| all[*a].total_cmp(&all[*b])).unwrap();
        let [r, g, b, _] = triangle.color;
        [r, g, b] == piece_color(nearest as u32)
    };
    // By area: slivers along the borders between cells have middles on either side.
    let of_nearest: Vec<_> = triangles.iter().copied().filter(is_of_nearest).collect();
    let right = area(&of_nearest) / area(&triangles);
    assert!(triangles.len() > 8 && right > 0.999, "{right} of {} triangles", triangles.len());
    // By the distance to the nearest seed, sampled in the middle of each voxel that stands in.
    slice(&mut sandbox, vec![Slice { show: Some(Quantity::SeedDistance), ..of }]);
    let legends = sandbox.legends();
    let [Legend { key: Key::Numbers(range), .. }] = &legends[..] else { panic!("{legends:?}") };
    let triangles = &sandbox.inside_overlay().unwrap().triangles;
    assert!((area(triangles) / wanted - 1.0).abs() < 0.02, "{} of {wanted}", area(triangles));
    let unit = grid.h / units;
    for triangle in triangles {
        let value = distances(in_grid(triangle)).into_iter().fold(f64::INFINITY, f64::min) * unit;
        let [r, g, b, _] = triangle.color;
        let near = (-40..=40).any(|k| is_like(range.color(value + f64::from(k) * 0.025 * grid.h), [r, g, b]));
        assert!(near, "{value} m: {:?}", triangle.color);
    }
}

/// Bodies are drawn by copies in the range of what their leaves are covered by, and by their own shapes afterwards.
#[test]
fn bodies_are_drawn_by_copies_while_colours_mean_their_voxels() {
    let mut sandbox = opened("builtin:box", 5);
    let body = sandbox.bodies()[0].id;
    sandbox.break_at(body, sandbox.bodies()[0].state.position, DVec3::NEG_Y);
    until(&mut sandbox, Arrived::Broke);
    let mut tuning = sandbox.tuning().clone();
    tuning.view.color_by = Coloring::Value(Quantity::Coverage);
    sandbox.tune("colours", tuning.clone());
    sandbox.finish_colors().unwrap();
    sandbox.update_touching().unwrap();
    assert_eq!(sandbox.picture_options().color_by, ColorBy::Material);
    let Key::Numbers(range) = sandbox.legends().remove(0).key else { panic!("coverage is a number") };
    let shown = sandbox.render_bodies(None);
    let arena = Arc::clone(sandbox.arena());
    for (body, drawn) in sandbox.bodies().iter().zip(&shown) {
        let (own, copy) = (body.def.shape.as_octree().unwrap(), drawn.shape.as_octree().unwrap());
        assert!(arena.read().unwrap().slot(&copy.forest).is_some(), "it can be drawn");
        for leaf in own.leaves() {
            let covered = f64::from(own.forest.leaves.coverage[leaf]);
            assert_eq!(copy.forest.leaves.colors[leaf].rgb(), range.color(covered));
        }
    }
    // While nothing changes, nothing is made.
    sandbox.update_touching().unwrap();
    assert!(Arc::ptr_eq(&sandbox.render_bodies(None)[0].shape, &shown[0].shape));
    tuning.view.color_by = Coloring::default();
    sandbox.tune("colours", tuning);
    sandbox.update_touching().unwrap();
    assert!(Arc::ptr_eq(&sandbox.render_bodies(None)[0].shape, &sandbox.bodies()[0].def.shape));
}

/// Waits for the workers that make colours, as the window does from frame to frame.
fn settle(sandbox: &mut Sandbox) {
    let start = std::time::Instant::now();
    sandbox.update_touching().unwrap();
    while sandbox.is_coloring() {
        assert!(start.elapsed().as_secs() < 120, "no colours come");
        std::thread::sleep(std::time::Duration::from_millis(1));
        sandbox.update_touching().unwrap();
    }
}

/// A worker makes the same copies and legends as are made by waiting, after a break and after a change of scale, and
/// the old ones stay until then.
#[test]
fn a_worker_makes_the_colours_that_are_made_by_waiting() {
    let colors = |sandbox: &Sandbox| -> Vec<Vec<[u8; 3]>> {
        let of = |drawn: &crate::render::RenderBody| -> Vec<[u8; 3]> {
            let octree = drawn.shape.as_octree().unwrap();
            octree.leaves().map(|leaf| octree.forest.leaves.colors[leaf].rgb()).collect()
        };
        sandbox.render_bodies(None).iter().map(of).collect()
    };
    let shown = |by_worker: bool| {
        let mut sandbox = opened("builtin:box", 5);
        let finish = |sandbox: &mut Sandbox| match by_worker {
            true => settle(sandbox),
            false => sandbox.finish_colors().unwrap(),
        };
        let mut tuning = sandbox.tuning().clone();
        tuning.view.color_by = Coloring::Value(Quantity::SeedDistance);
        sandbox.tune("colours", tuning.clone());
        finish(&mut sandbox);
        let body = sandbox.bodies()[0].id;
        sandbox.break_at(body, sandbox.bodies()[0].state.position, DVec3::NEG_Y);
        until(&mut sandbox, Arrived::Broke);
        finish(&mut sandbox);
        let broken = (colors(&sandbox), sandbox.legends());
        let revision = sandbox.looking_revision();
        tuning.view.scale.high = Some(0.01);
        sandbox.tune("colours", tuning);
        if by_worker {
            sandbox.update_touching().unwrap();
            if sandbox.is_coloring() {
                assert!((colors(&sandbox), sandbox.legends()) == broken, "the old colours stay until then");
            }
        }
        finish(&mut sandbox);
        assert!(sandbox.looking_revision() > revision, "the picture is drawn again");
        let scaled = (colors(&sandbox), sandbox.legends());
        assert!(!sandbox.is_coloring() && broken != scaled && !broken.1.is_empty());
        (broken, scaled)
    };
    assert!(shown(true) == shown(false));
}

/// A slice by the field shows nothing of a body until a worker has made its field, and then what is shown by waiting.
#[cfg(feature = "papers")]
#[test]
fn a_worker_makes_the_fields_that_slices_show() {
    let broken = || {
        let mut sandbox = opened("builtin:box", 5);
        let body = sandbox.bodies()[0].id;
        sandbox.break_at(body, sandbox.bodies()[0].state.position, DVec3::NEG_Y);
        until(&mut sandbox, Arrived::Broke);
        sandbox
    };
    let (mut sandbox, mut waiting) = (broken(), broken());
    let of = middle(&sandbox, Quantity::Field);
    let mut tuning = sandbox.tuning().clone();
    tuning.slices = vec![of];
    sandbox.tune("slices", tuning);
    assert!(sandbox.sliced(None).unwrap().triangles.is_empty(), "no field is there yet");
    sandbox.update_touching().unwrap();
    assert!(sandbox.is_coloring());
    settle(&mut sandbox);
    let made = &sandbox.inside_overlay().unwrap().triangles;
    assert!(made.len() > 100 && sandbox.legends().len() == 1, "{} triangles", made.len());
    slice(&mut waiting, vec![of]);
    assert!(waiting.inside_overlay().unwrap().triangles == *made && waiting.legends() == sandbox.legends());
    // Nothing is made while no slice shows fields.
    slice(&mut sandbox, Vec::new());
    assert!(!sandbox.is_coloring());
}

#[test]
fn slices_swing_there_and_back() {
    let slice = Slice { at: 1.0, swing: Some(Swing { to: 3.0, period: 4.0 }), ..Slice::default() };
    for (time, at) in [(0.0, 1.0), (1.0, 2.0), (2.0, 3.0), (3.0, 2.0), (4.0, 1.0), (5.0, 2.0)] {
        assert!((slice.at_time(time) - at).abs() < 1e-12, "{time}: {}", slice.at_time(time));
    }
    assert!(slice.check().is_ok());
    assert!(Slice { normal: DVec3::ZERO, ..slice }.check().is_err());
    assert!(Slice { at: f64::NAN, ..slice }.check().is_err());
    assert!(Slice { swing: Some(Swing { to: 1.0, period: 0.0 }), ..slice }.check().is_err());
}

#[test]
fn orders_are_read() {
    let order: SliceOrder = "z50%:coverage".parse().unwrap();
    assert_eq!((order.axis, order.place, order.show), (2, SlicePlace::Share(0.5), Some(Quantity::Coverage)));
    let order: SliceOrder = "y-0.25".parse().unwrap();
    assert_eq!((order.axis, order.place, order.show), (1, SlicePlace::Metres(-0.25), None));
    // What is nearer to the eye is taken away.
    let bounds = (DVec3::ZERO, DVec3::splat(2.0));
    let near = "x50%".parse::<SliceOrder>().unwrap().slice(bounds, DVec3::new(9.0, 0.0, 0.0));
    let far = "x50%".parse::<SliceOrder>().unwrap().slice(bounds, DVec3::new(-9.0, 0.0, 0.0));
    assert_eq!(((near.normal, near.at), (far.normal, far.at)), ((DVec3::X, 1.0), (DVec3::NEG_X, -1.0)));
    for bad in ["", "w50%", "z150%", "zz", "z50%:weight", "x"] {
        assert!(bad.parse::<SliceOrder>().is_err(), "{bad}");
    }
}
