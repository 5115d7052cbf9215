//! Whole breaks plane by plane on built-in shapes, and beside box cutting by the same seeds.

use glam::DVec3;

use crate::{
    compute::Compute,
    export::MeshCheck,
    fracture::{Break, BreakContext, Cancel, FractureError, FractureParams, Impact, Method, Passes, Strike},
    import::{Imported, import},
    shape::Side,
    svo::Arena,
    voxelize::Progress,
};

/// A built-in shape, or "ball", an octahedron that is divided four times.
fn object(name: &str) -> Imported {
    if name != "ball" {
        return import(&format!("builtin:{name}"), 6, &Progress::default()).unwrap();
    }
    let mut triangles: Vec<[DVec3; 3]> = (0..8)
        .map(|c: u32| {
            let sign = |k: u32| if c >> k & 1 == 0 { 1.0 } else { -1.0 };
            let [x, y, z] = [DVec3::X * sign(0), DVec3::Y * sign(1), DVec3::Z * sign(2)];
            if c.count_ones().is_multiple_of(2) { [x, y, z] } else { [x, z, y] }
        })
        .collect();
    for _ in 0..4 {
        triangles = triangles
            .into_iter()
            .flat_map(|[a, b, c]| {
                let middle = |p: DVec3, q: DVec3| (p + q).normalize();
                let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
                [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
            })
            .collect();
    }
    let text: String = triangles
        .iter()
        .flatten()
        .map(|p| format!("v {} {} {}\n", p.x as f32, p.y as f32, p.z as f32))
        .chain((0..triangles.len()).map(|t| format!("f {} {} {}\n", 3 * t + 1, 3 * t + 2, 3 * t + 3)))
        .collect();
    let file = std::env::temp_dir().join(format!(
        "kintsugi-ball-{}-{:?}.obj",
        std::process::id(),
        std::thread::current().id()
    ));
    std::fs::write(&file, text).unwrap();
    let made = import(&file.to_string_lossy(), 6, &Progress::default()).unwrap();
    std::fs::remove_file(&file).unwrap();
    made
}

fn broken(object: &Imported, method: &str, options: &[(&str, f64)]) -> Result<Break, FractureError> {
    let options = options.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let method = Method::named(method).unwrap();
    let params = FractureParams { method, options, seeds: 30, rng: 5, ..FractureParams::default() };
    let (arena, passes) = (Arena::new(Compute::Cpu).unwrap(), Passes::default());
    let (low, high) = object.mass.bounds;
    let impact = Impact { point: DVec3::new(low.x, 0.5 * (low.y + high.y), high.z), direction: DVec3::NEG_Z };
    let context = BreakContext { arena: &arena, passes: &passes, cancel: Cancel::never() };
    params.method.breaker.fracture(&context, &object.shape, &Strike::new(impact, &params))
}

#[test]
fn shards_are_those_of_box_cutting() {
    for name in ["box", "ball"] {
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
    let vase = object("vase");
    let said = broken(&vase, "planes", &[]).err().unwrap().to_string();
    assert!(said.contains("not convex") && said.contains("box-cut"), "{said}");
    let hull = broken(&vase, "planes", &[("hull", 1.0)]).unwrap();
    let (before, mesh) = (hull.before_m3.unwrap(), vase.shape.mass().volume_m3);
    println!("hull {before}, mesh {mesh}, {} shards", hull.parts.len());
    assert!(before > 1.5 * mesh && (hull.volume_m3() / before - 1.0).abs() < 1e-9);
    let params = FractureParams {
        method: Method::named("planes").unwrap(),
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
