//! Whole breaks plane by plane on built-in shapes, and beside box cutting by the same seeds.

use crate::geometry::Aabb;
use glam::DVec3;

use crate::{
    compute::Compute,
    fracture::{
        Break, BreakContext, Cancel, FractureError, FractureParams, Impact, MethodId, Passes, Strike,
        break_shape,
    },
    import::{Imported, import},
    shape::MeshCheck,
    shape::Side,
    svo::Arena,
    voxelize::Progress,
};

fn object(name: &str) -> Imported {
    import(&format!("builtin:{name}"), 6, &Progress::default()).unwrap()
}

fn broken(object: &Imported, method: &str, options: &[(&str, f64)]) -> Result<Break, FractureError> {
    let options = options.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    crate::register();
    let method = MethodId::named(method).unwrap();
    let params = FractureParams { method, options, seeds: 30, rng: 5, ..FractureParams::default() };
    let (arena, passes) = (Arena::new(Compute::Cpu).unwrap(), Passes::default());
    let Aabb { low, high } = object.mass.bounds;
    let impact = Impact { point: DVec3::new(low.x, 0.5 * (low.y + high.y), high.z), direction: DVec3::NEG_Z };
    let context = BreakContext { arena: &arena, passes: &passes, cancel: Cancel::never() };
    break_shape(&context, &object.shape, &Strike::new(impact, &params))
}

#[test]
fn shards_are_those_of_box_cutting() {
    for name in ["box"] {
        let object = object(name);
        let (planes, boxes) =
            (broken(&object, "planes", &[]).unwrap(), broken(&object, "box-cut", &[]).unwrap());
        let before = planes.before_m3.unwrap();
        // What rounding dents breaks as its hull, which is a little larger.
        let larger = before / boxes.before_m3.unwrap() - 1.0;
        println!("{name}: the hull is larger by {larger:.1e}");
        assert!((-1e-9..1e-4).contains(&larger), "{name}");
        assert!((planes.volume_m3() / before - 1.0).abs() < 1e-8, "{name}: {}", planes.volume_m3() / before);
        assert_eq!(planes.parts.len(), boxes.parts.len(), "{name}");
        for shard in &planes.parts {
            let surface = shard.shape.as_mesh().unwrap().surface();
            let check = MeshCheck::of(surface);
            assert!(check.is_watertight() && check.volume > 0.0, "{name}: {check:?}");
            let same = boxes.parts.iter().find(|part| part.cell == shard.cell).unwrap();
            let (a, b) = (shard.shape.mass(), same.shape.mass());
            assert!((a.volume_m3 - b.volume_m3).abs() < 1e-5 * before, "{name}: {a:?} {b:?}");
            assert!(a.centre.distance(b.centre) < 1e-3 * object.shape.longest_side_m(), "{name}");
            // Both say which cells lie beyond.
            let beyond = |surface: &crate::shape::PieceMesh| {
                let all = surface.faces.iter().filter(|face| face.side == Side::Inside);
                all.filter_map(|face| face.beyond).collect::<std::collections::BTreeSet<u32>>()
            };
            assert_eq!(beyond(surface), beyond(same.shape.as_mesh().unwrap().surface()), "{name}");
        }
    }
}

#[test]
fn only_convex_meshes_break_unless_the_hull_is_asked_for() {
    let fine = broken(&object("sphere"), "planes", &[]).err().unwrap().to_string();
    assert!(fine.contains("round and fine") && fine.contains("box-cut"), "{fine}");
    let column = object("column");
    let said = broken(&column, "planes", &[]).err().unwrap().to_string();
    assert!(said.contains("not convex") && said.contains("box-cut"), "{said}");
    let hull = broken(&column, "planes", &[("hull", 1.0)]).unwrap();
    let (before, mesh) = (hull.before_m3.unwrap(), column.shape.mass().volume_m3);
    assert!(before > 1.2 * mesh && (hull.volume_m3() / before - 1.0).abs() < 1e-6, "{before} {mesh}");
    let params = FractureParams {
        method: MethodId::named("planes").unwrap(),
        local: Some(0.3),
        ..FractureParams::default()
    };
    assert_eq!(params.problem().unwrap().0, "local");
}

#[test]
fn shards_show_what_the_mesh_shows_there() {
    let object = object("box");
    let out = broken(&object, "planes", &[]).unwrap();
    let whole = object.shape.original().unwrap().surface().unwrap();
    let colors: std::collections::BTreeSet<[u8; 3]> =
        whole.corners.iter().flatten().map(|corner| corner.color).collect();
    let near = |color: [u8; 3]| colors.iter().any(|c| c.iter().zip(color).all(|(a, b)| a.abs_diff(b) <= 24));
    for part in &out.parts {
        let surface = part.shape.as_mesh().unwrap().surface();
        for (face, corners) in surface.faces.iter().zip(&surface.corners) {
            assert!(corners.iter().all(|c| c.normal.is_normalized()));
            assert!(face.side == Side::Inside || corners.iter().all(|c| near(c.color)), "{corners:?}");
        }
    }
}
