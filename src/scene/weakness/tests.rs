//! Patterns and bonds at the weak place of a body, and its colours.

use std::sync::Arc;

use glam::DVec3;

use super::*;
use crate::{
    Fracture, Mesh, Object,
    compute::{Choice, Compute},
    fracture::Preset,
    import::ReadMesh,
    scene::{
        Arrived, BodyFields, BodyPlace, Key, LeafColors, Place, Quantity, ReadMeshes, ReadScene, Sandbox,
        Scale, Scene, SceneBody,
        coloring::{FieldKind, VoxelPlace},
        sandbox::testing,
    },
};

/// Two lumps of 3 with a neck of 2 between them along x, a quarter as thick.
fn dumbbell() -> Mesh {
    let sections: [[f32; 3]; 3] = [[0.0, 3.0, 1.6], [3.0, 5.0, 0.4], [5.0, 8.0, 1.6]];
    let places = sections.into_iter().flat_map(|[from, to, half]| [(from, half), (to, half)]);
    let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    let ring = |(x, half): (f32, f32)| corners.map(|[y, z]: [f32; 2]| [x, half * y, half * z]);
    let positions: Vec<[f32; 3]> = places.flat_map(ring).collect();
    let rings = positions.len() as u32 / 4;
    let quads = (0..rings - 1).flat_map(|ring| {
        (0..4).map(move |k| {
            let (here, next, after) = (4 * ring, 4 * ring + 4, (k + 1) % 4);
            [here + k, here + after, next + after, next + k]
        })
    });
    let last = 4 * (rings - 1);
    let ends = [[3, 2, 1, 0], [last, last + 1, last + 2, last + 3]];
    let halves = |[a, b, c, d]: [u32; 4]| [[a, b, c], [a, c, d]];
    Mesh { positions, triangles: quads.chain(ends).flat_map(halves).collect(), ..Mesh::default() }
}

fn object() -> Object {
    Object::from_mesh(dumbbell(), 6).unwrap()
}

/// Whether a place lies at the neck, mesh units.
fn is_at_neck(place: DVec3) -> bool {
    (2.2..5.8).contains(&place.x) && place.y.abs() < 1.0 && place.z.abs() < 1.0
}

fn uniform() -> FractureParams {
    FractureParams { preset: Preset::Uniform, seeds: 40, ..FractureParams::default() }
}

fn following(object: &Object) -> FractureParams {
    let mut params = uniform();
    Follow::Weakness.paint(&object.shape, &mut params).unwrap();
    params
}

/// Planted error to see this fail: share the seeds out over all cracks alike.
#[test]
fn dabs_lie_at_the_neck_and_add_as_many_seeds_as_there_are() {
    let object = object();
    let params = following(&object);
    assert!(params.paint.iter().all(|dab| is_at_neck(dab.at)), "{:?}", params.paint);
    let of = |kind: Paint| params.paint.iter().filter(move |dab| dab.kind == kind).map(Dab::amount);
    assert_eq!(of(Paint::Dense).sum::<f64>(), 40.0);
    let least = of(Paint::Weak).fold(1.0, f64::min);
    assert!((least - Paint::Weak.usual_amount()).abs() < 1e-6, "{least}");
    assert_eq!(params.problem(), None);
    assert_eq!(following(&object).paint, params.paint, "the same body, the same paint");
    // What is added leaves room for the pattern's own.
    let mut many = FractureParams { seeds: MAX_SEEDS - 10, ..uniform() };
    Follow::Weakness.paint(&object.shape, &mut many).unwrap();
    let added = many.paint.iter().filter(|dab| dab.kind == Paint::Dense).map(Dab::amount).sum::<f64>();
    assert_eq!(added, 10.0);
}

#[test]
fn seeds_are_denser_at_the_neck_of_what_follows_its_weakness() {
    let object = object();
    let seeds = |params: FractureParams| {
        let plan = object.plan(&Fracture { params, ..Fracture::new() }).unwrap();
        object.pattern(&plan).unwrap().seeds
    };
    let unit = object.grid.h * f64::from(1u32 << object.grid.level) / 16384.0;
    let place = |seed: &[i32; 3]| object.grid.origin + unit * DVec3::from_array(seed.map(f64::from));
    let at_neck = |seeds: &[[i32; 3]]| seeds.iter().filter(|seed| is_at_neck(place(seed))).count();
    let (plain, followed) = (seeds(uniform()), seeds(following(&object)));
    assert_eq!(followed[..plain.len()], plain[..], "the pattern's own seeds stay where they are");
    let (few, many) = (at_neck(&plain), at_neck(&followed));
    assert!(
        3 * few < plain.len() && many >= few + 30,
        "{few} of {}, {many} of {}",
        plain.len(),
        followed.len()
    );
    assert_eq!(seeds(following(&object)), followed);
}

/// The dumbbell, half as large, as a scene that cracks it before the start.
fn opened(follow: Option<Follow>) -> Sandbox {
    let body = SceneBody {
        on_floor: false,
        position: DVec3::Y,
        size: Some(4.0),
        hold: true,
        follow,
        fracture: uniform(),
        ..SceneBody::standing("dumbbell", 6)
    };
    let meshes =
        ReadMeshes::from([("dumbbell".to_owned(), ReadMesh::of_mesh("dumbbell", dumbbell()).unwrap())]);
    let mut sandbox = Sandbox::new(Compute::open(Choice::Cpu).unwrap()).unwrap();
    sandbox.open_scene(ReadScene {
        scene: Scene { bodies: vec![body], ..Scene::default() },
        meshes,
        file: None,
    });
    testing::until(&mut sandbox, Arrived::Opened);
    while sandbox.is_breaking() {
        sandbox.poll().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    sandbox
}

/// Where each bond is, in the units of the mesh, and which share of its strength it has.
fn bonds(sandbox: &Sandbox) -> Vec<(DVec3, f64)> {
    let structure = sandbox.bodies()[0].def.structure.as_ref().expect("it holds");
    structure.bonds.iter().map(|bond| (2.0 * bond.section.centre, bond.share)).collect()
}

/// Planted errors to see this fail: leave the weak dabs out, or do not scale them with the body.
#[test]
fn bonds_at_the_neck_of_a_scene_that_follows_the_weakness_are_the_weakest() {
    let sandbox = opened(Some(Follow::Weakness));
    let found = bonds(&sandbox);
    let weakest = found.iter().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
    assert!(is_at_neck(weakest.0) && weakest.1 < 0.6, "{weakest:?}");
    for (place, share) in &found {
        assert!(*share == 1.0 || (0.8..5.8).contains(&place.x), "{share} at {place}");
    }
    assert!(bonds(&opened(None)).iter().all(|(_, share)| *share == 1.0));
    // What is saved has the paint in place of the word, so that it is not painted twice.
    let paint = &sandbox.tuning().fracture.paint;
    assert!(!paint.is_empty() && paint.iter().all(|dab| is_at_neck(2.0 * dab.at)), "{paint:?}");
    let saved = sandbox.scene(crate::render::Camera::default());
    assert_eq!((saved.bodies[0].follow, &saved.bodies[0].fracture.paint), (None, paint));
    assert_eq!(bonds(&opened(Some(Follow::Weakness))), found, "the same scene, the same bonds");
}

#[test]
fn what_cannot_follow_says_why_in_a_line() {
    let by = |method: &str| FractureParams {
        method: crate::fracture::MethodId::named(method).unwrap(),
        ..FractureParams::default()
    };
    let from_file = FractureParams { seeds_file: Some("seeds.txt".into()), ..FractureParams::default() };
    for (params, says) in [(by("parts"), "method octree"), (from_file, "leave one of them out")] {
        let problem = Follow::Weakness.problem(&params).unwrap();
        assert!(problem.contains(says) && !problem.contains('\n'), "{problem}");
    }
    assert_eq!(Follow::Weakness.problem(&uniform()), None);
}

/// Planted error to see this fail: look the cell up by the voxel's place without the levels of both.
#[test]
fn voxels_at_the_neck_have_the_colour_of_its_weakness() {
    let object = object();
    let shape = Arc::clone(&object.shape);
    let octree = shape.as_octree().unwrap();
    let fields = BodyFields::default();
    let field = fields.of(&shape, FieldKind::Weakness).unwrap();
    let body = BodyPlace { field: Some(&field), ..BodyPlace::of(&shape) };
    let value = |centre: DVec3| {
        let voxel = VoxelPlace { octree, leaf: None, level: octree.level(), centre };
        (Quantity::Weakness.of)(&Place { body: &body, voxel: Some(voxel) })
    };
    let mut most = 0.0f64;
    for key in octree.forest.leaves.keys.iter() {
        let centre = DVec3::from_array(crate::svo::morton::decode(key).map(f64::from)) + 0.5;
        let Some(weakness) = value(centre) else { continue };
        let place = octree.grid.origin + octree.grid.h * centre;
        assert!(
            (0.0..=1.0).contains(&weakness) && (weakness < 0.5 || is_at_neck(place)),
            "{weakness} at {place}"
        );
        most = most.max(weakness);
    }
    assert_eq!(most, 1.0);
    assert_eq!(value(DVec3::splat(-3.0)), None, "there is no cell");
    assert!(field.at(DVec3::splat(20.0)).is_none(), "it has no distances");
    // The legend reaches from what is held together well to the weakest place.
    let bodies = std::iter::once((BodyPlace::of(&shape), vec![Arc::clone(&shape)]));
    let legend = LeafColors::new(Quantity::Weakness, Scale::default(), &fields, bodies).legend().unwrap();
    assert_eq!((legend.title.as_str(), legend.unit.as_str()), ("Weakness", ""));
    let Key::Numbers(range) = legend.key else { panic!("{legend:?}") };
    assert_eq!((range.low, range.high), (0.0, 1.0));
}
