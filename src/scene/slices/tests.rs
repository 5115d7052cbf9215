use glam::{DVec3, Vec3};

use super::{Slice, SliceOrder, SlicePlace, Swing};
use crate::{
    compute::{Choice, Compute},
    render::piece_color,
    scene::{Arrived, Coloring, Key, Quantity, Sandbox, Scene, sandbox::testing::until},
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

/// Every triangle of a slice by cells has the colour of the seed that a search over all seeds finds nearest to its octant.
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
