//! Whole breaks by box cutting on built-in shapes, on the cores.

use std::sync::Arc;

use glam::DVec3;

use crate::{
    compute::Compute,
    fracture::{
        Break, BreakContext, Cancel, FractureError, FractureParams, MethodId, Passes, SmallRule, Smallest,
        Strike, break_shape,
        generations::{Plan, break_object, default_impact},
        nearest_seed,
        solid::Units,
    },
    import::{Imported, import},
    mesh::Mesh,
    shape::{Kind, Look, MeshCheck, Original, Shape},
    svo::Arena,
    voxelize::Progress,
};

fn object(name: &str) -> Imported {
    import(&format!("builtin:{name}"), 6, &Progress::default()).unwrap()
}

fn params(seeds: u32) -> FractureParams {
    FractureParams { method: MethodId::named("box-cut").unwrap(), seeds, rng: 3, ..FractureParams::default() }
}

fn broken(shape: &Shape, params: &FractureParams) -> Result<Break, FractureError> {
    let (arena, passes) = (Arena::new(Compute::Cpu).unwrap(), Passes::default());
    let octree = shape.as_octree().unwrap();
    let mesh_bounds = octree.mass.bounds;
    let place = |p: DVec3| octree.grid.origin + octree.grid.h * p;
    let mut impact = default_impact(shape, mesh_bounds.placed(place));
    impact.point = shape.local_from_shape(impact.point);
    let context = BreakContext { arena: &arena, passes: &passes, cancel: Cancel::never() };
    break_shape(&context, shape, &Strike::new(impact, params))
}

#[test]
fn pieces_are_closed_and_weigh_what_the_mesh_did() {
    for name in ["box", "sphere", "vase", "shell", "cavity", "statue"] {
        let object = object(name);
        let out = broken(&object.shape, &params(40)).unwrap();
        let (before, after) = (out.before_m3.unwrap(), out.volume_m3());
        println!("{name}: {} parts, {before} m^3, off by {:.1e}", out.parts.len(), after / before - 1.0);
        assert!((after / before - 1.0).abs() < 1e-9, "{name}");
        // The octree of the whole object is another measure of the same.
        assert!((object.shape.mass().volume_m3 / before - 1.0).abs() < 0.01, "{name}");
        assert!(out.parts.len() > 10 && out.parts.is_sorted_by_key(|part| std::cmp::Reverse(part.size)));
        for part in &out.parts {
            let check = MeshCheck::of(part.shape.as_mesh().unwrap().surface());
            assert!(check.is_watertight() && check.volume > 0.0, "{name}: {check:?}");
            assert!((check.volume / part.shape.mass().volume_m3 - 1.0).abs() < 1e-6);
        }
    }
}

#[test]
fn a_part_lies_in_the_cell_that_it_names() {
    let object = object("vase");
    let out = broken(&object.shape, &params(30)).unwrap();
    let seeds = &out.pattern.as_ref().unwrap().seeds;
    let units = Units::of(&object.grid);
    for part in &out.parts {
        let surface = part.shape.as_mesh().unwrap().surface();
        for [a, b, c] in surface.corners_of_triangles() {
            // The middle of a triangle of the outside is inside the cell; a crack's is on its border.
            let middle = units.from_shape((a + b + c) / 3.0);
            let nearest = nearest_seed(seeds, middle.round().as_ivec3().to_array(), |_| true);
            let distance = |s: u32| DVec3::from_array(seeds[s as usize].map(f64::from)).distance(middle);
            assert!(distance(part.cell) - distance(nearest.unwrap()) < 2.0, "cell {}", part.cell);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_generations_go_on() {
    let object = object("statue");
    let surfaces = |out: &Break| -> Vec<_> {
        out.parts.iter().map(|part| Arc::clone(part.shape.as_mesh().unwrap().surface())).collect()
    };
    let (a, b) = (broken(&object.shape, &params(24)).unwrap(), broken(&object.shape, &params(24)).unwrap());
    assert!(surfaces(&a) == surfaces(&b));

    let mut arena = Arena::new(Compute::Cpu).unwrap();
    let impact = default_impact(&object.shape, object.bounds);
    let plan = Plan { impact, params: params(12), seeds: None, bounds: Some(object.bounds), generations: 4 };
    let all = break_object(&mut arena, &Passes::default(), &object.shape, &plan, &mut |_, _| {}).unwrap();
    assert!(all.steps.len() > 3 && all.steps.iter().any(|step| step.generation == 4));
    let left: f64 = all.pieces.iter().map(|at| all.part(*at).shape.mass().volume_m3).sum();
    let before = all.steps[0].result.before_m3.unwrap();
    assert!((left / before - 1.0).abs() < 1e-9, "{left} of {before}");
    for at in &all.pieces {
        assert_eq!(all.part(*at).shape.kind(), Kind::Mesh);
        assert!(MeshCheck::of(all.part(*at).shape.as_mesh().unwrap().surface()).is_watertight());
    }
}

#[test]
fn what_is_kept_is_one_part_and_a_number_of_pieces_is_solved_for() {
    let object = object("vase");
    let local = FractureParams { local: Some(0.3), ..params(40) };
    let out = broken(&object.shape, &local).unwrap();
    let kept = out.kept.unwrap();
    assert!(kept.cells.len() > 1 && kept.parts == 1, "{kept:?}");
    let body = &out.parts[kept.part.unwrap()];
    assert!(MeshCheck::of(body.shape.as_mesh().unwrap().surface()).is_watertight());
    let share: f64 = out.parts.iter().map(|part| part.shape.mass().volume_m3).sum();
    assert!((share / out.before_m3.unwrap() - 1.0).abs() < 1e-9);

    let wanted = FractureParams { target_pieces: Some(30), ..params(40) };
    let out = broken(&object.shape, &wanted).unwrap();
    let solved = out.solved.unwrap();
    println!("{solved:?}");
    assert!(solved.reached.abs_diff(30) <= 3 && solved.reached as usize == out.parts.len());

    let smallest = |rule| Some(Smallest { voxels: 0, fraction: 0.01, rule });
    let merge = broken(&object.shape, &FractureParams { smallest: smallest(SmallRule::Merge), ..params(60) })
        .unwrap();
    let drop =
        broken(&object.shape, &FractureParams { smallest: smallest(SmallRule::Drop), ..params(60) }).unwrap();
    for out in [&merge, &drop] {
        let before = out.before_m3.unwrap();
        assert!((out.volume_m3() / before - 1.0).abs() < 1e-9);
        assert!(out.parts.iter().all(|part| part.shape.mass().volume_m3 >= 0.01 * before));
    }
    assert!(merge.counts.merged > 0 && drop.counts.dropped > 0);
}

#[test]
fn what_cannot_be_cut_is_refused_with_what_to_do() {
    let object = object("box");
    let text = |shape: &Shape, params: &FractureParams| broken(shape, params).err().unwrap().to_string();
    let mut open = Mesh::clone(&object.mesh);
    open.triangles.truncate(open.triangles.len() / 2);
    let open = Shape::octree(object.shape.as_octree().unwrap().clone(), 1.0, Look::default())
        .with_original(Original::new(Arc::new(open), 1.0));
    let said = text(&open, &params(5));
    assert!(said.contains("not closed (") && said.contains("octree"), "{said}");
    let voxels = Shape::octree(object.shape.as_octree().unwrap().clone(), 1.0, Look::default());
    let said = text(&voxels, &params(5));
    assert!(said.contains("piece of voxels") && said.contains("octree"), "{said}");
    let rough = FractureParams { surface: crate::fracture::Surface::Rough, ..params(5) };
    let (field, said) = rough.problem().unwrap();
    assert!(field == "surface" && said.contains("planar"), "{said}");
}
