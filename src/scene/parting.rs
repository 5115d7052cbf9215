//! Bodies of a file with several objects become several bodies, which stand to each other as in the file.
//!
//! In: a scene, and meshes that were read before. Out: the same scene with a body for each object, named after it.

use std::collections::{BTreeMap, BTreeSet};

use glam::{DQuat, DVec3};

use super::{Event, Scene, SceneBody};
use crate::{
    geometry::Aabb,
    import::{ImportError, ReadMesh, read_while},
    mesh::{Objects, Up, unlike},
    voxelize::Progress,
};

/// An object whose lowest point is no further above that of the whole file stands on the floor as the file does, as a share of
/// the file's longest side.
const ON_FLOOR: f64 = 1e-4;

/// Parts the bodies of `scene` whose objects are not told apart yet. The first object of a file keeps the number of its body;
/// the others come after all bodies, since blows and breaks name bodies by their numbers. Reads what is not in `meshes`, which
/// has whole files by their names and objects by [`SceneBody::mesh_key`].
///
/// # Errors
/// [`ImportError`]; bodies before the one that failed are parted then.
pub(super) fn part(
    scene: &mut Scene,
    meshes: &mut BTreeMap<String, ReadMesh>,
    progress: &Progress,
) -> Result<(), ImportError> {
    let mut taken: BTreeSet<String> = scene.objects().filter_map(|body| body.name.clone()).collect();
    let mut more = Vec::new();
    for number in 0..scene.bodies.len() {
        let body = scene.bodies[number].clone();
        if body.objects.are_together() || body.object.is_some() {
            continue;
        }
        if !meshes.contains_key(&body.file) {
            meshes.insert(body.file.clone(), read_while(&body.file, progress)?);
        }
        let whole = meshes[&body.file].stood_up(body.up);
        let objects = match whole.objects(body.objects, progress) {
            Ok(objects) => objects,
            Err(warning) => {
                meshes.entry(body.file.clone()).and_modify(|mesh| mesh.warnings.push(warning));
                Vec::new()
            }
        };
        if objects.is_empty() {
            scene.bodies[number].objects = Objects::Together;
            continue;
        }
        let place = Place::of(bounds_of(&whole), &body, scene);
        let body = body_of_many(body, objects.len());
        for (object, (name, read)) in (0..).zip(objects) {
            let name = match &body.name {
                Some(own) => format!("{own} {name}"),
                None => name,
            };
            let name = unlike(&name, |name| taken.contains(name));
            taken.insert(name.clone());
            let one = SceneBody { name: Some(name), object: Some(object), ..body.clone() };
            let one = place.body(bounds_of(&read), one);
            meshes.insert(one.mesh_key(), read);
            if object == 0 { scene.bodies[number] = one } else { more.push(one) }
        }
    }
    // What events bring is numbered after the bodies.
    let (first, added) = (scene.bodies.len() as u32, more.len() as u32);
    for event in &mut scene.events {
        let number = match event {
            Event::Projectile { object, .. } => object.as_mut(),
            Event::Impact { body, .. } => body.as_mut(),
            Event::Hand { body, .. } | Event::Move { body, .. } => Some(body),
        };
        if let Some(number) = number.filter(|number| **number >= first) {
            *number += added;
        }
    }
    scene.bodies.extend(more);
    Ok(())
}

/// Most objects of a file that all have the level of the file; four times as many have one less, since their leaves would be
/// four times as many.
const AT_FULL_LEVEL: usize = 8;
/// The lowest level that many objects get.
const LOWEST: u32 = 4;

/// A body with the level that each of `count` objects gets.
fn body_of_many(mut body: SceneBody, count: usize) -> SceneBody {
    let less = (count / AT_FULL_LEVEL).max(1).ilog(4);
    let level = body.level.saturating_sub(less).max(LOWEST.min(body.level));
    if level < body.level {
        body.physics_level = body.physics_level.map(|own| own.clamp(1, level));
        body.level = level;
        body.fracture.fit(level);
    }
    body
}

impl SceneBody {
    /// Whether it is one of several objects of its file, which are apart.
    pub(crate) fn is_one_of_several(&self) -> bool {
        self.object.is_some() && !self.objects.are_together()
    }

    /// What tells its mesh from others: the file, and which object of it.
    pub(super) fn mesh_key(&self) -> String {
        match self.object.filter(|_| !self.objects.are_together()) {
            Some(object) => object_key(&self.file, self.objects, object),
            None => self.file.clone(),
        }
    }
}

/// What tells the mesh of an object of a file from others.
pub(super) fn object_key(file: &str, objects: Objects, object: u32) -> String {
    format!("{file}#{objects:?} {object}")
}

/// Where a whole file stands.
struct Place {
    /// Longest side of the file, mesh units.
    side: f64,
    /// Metres per mesh unit.
    scale: f64,
    rotation: DQuat,
    /// World position of the file's origin, m.
    origin: DVec3,
    /// Height of the floor that the file stands on, if it does.
    floor: Option<f64>,
}

impl Place {
    /// The place of a file whose triangles have these bounds, in the file's coordinates.
    fn of(whole: Aabb, body: &SceneBody, scene: &Scene) -> Self {
        let side = longest(whole);
        let scale = body
            .size
            .filter(|_| side > 0.0)
            .map_or_else(|| body.metres_of_unit(scene.meters_per_unit), |size| size / side);
        let rotation =
            if body.rotation.length() > 1e-9 { body.rotation.normalize() } else { DQuat::IDENTITY };
        let floor = body.on_floor.then_some(scene.floor_height);
        let mut place = Self { side, scale, rotation, origin: body.position, floor };
        if let Some(floor) = floor {
            place.origin = DVec3::ZERO;
            let bounds = place.in_world(whole);
            let middle = bounds.middle();
            place.origin =
                DVec3::new(body.position.x - middle.x, floor - bounds.low.y, body.position.z - middle.z);
        }
        place
    }

    /// The world bounds, m, of a box in the file's coordinates: those of the turned box, which is what stands on the floor.
    fn in_world(&self, own: Aabb) -> Aabb {
        Aabb::of(own.corners().map(|corner| self.origin + self.rotation * (corner * self.scale)))
    }

    /// The body of one object, whose triangles have the bounds `own`; `body` has the size of the whole file.
    fn body(&self, own: Aabb, body: SceneBody) -> SceneBody {
        let size = body.size.filter(|_| self.side > 0.0);
        let size = size.map(|size| size * longest(own) / self.side).filter(|size| *size > 0.0);
        let (bounds, hair) = (self.in_world(own), ON_FLOOR * self.side * self.scale);
        let stands = self.floor.is_some_and(|floor| bounds.low.y - floor <= hair);
        let middle = bounds.middle();
        let position = if stands { DVec3::new(middle.x, 0.0, middle.z) } else { self.origin };
        SceneBody { size: size.or(body.size), position, on_floor: stands, ..body }
    }
}

/// The bounds of a mesh's triangles, mesh units.
fn bounds_of(read: &ReadMesh) -> Aabb {
    Aabb::of(read.mesh.corners().flatten())
}

/// Length of the longest side of a box.
fn longest(bounds: Aabb) -> f64 {
    bounds.size().max_element().max(0.0)
}

/// Places the bodies of these numbers, which are the objects of one file, as if the file was opened again: on the floor in the
/// middle, its longest side `size` m long, `up` its axis that points up. Each body comes with the bounds of its mesh,
/// mesh units, as the mesh was imported. The rest of the bodies stays.
pub(super) fn place_again(scene: &mut Scene, objects: &[(usize, Aabb)], up: Up, size: f64) {
    let turned = |body: &SceneBody, own: Aabb| {
        let turn = |corner: DVec3| DVec3::from_array(up.turn(body.up.back().turn(corner.to_array())));
        Aabb::of(own.corners().map(turn))
    };
    let again = |body: &SceneBody| SceneBody {
        up,
        size: Some(size),
        units: None,
        position: DVec3::ZERO,
        rotation: DQuat::IDENTITY,
        on_floor: true,
        ..body.clone()
    };
    let bodies = objects.iter().filter_map(|(number, own)| Some((*number, scene.bodies.get(*number)?, *own)));
    let bodies: Vec<(usize, SceneBody, Aabb)> =
        bodies.map(|(number, body, own)| (number, again(body), turned(body, own))).collect();
    let whole = bodies.iter().map(|(_, _, own)| *own).fold(Aabb::NOTHING, Aabb::joined);
    let Some((_, first, _)) = bodies.first() else { return };
    let place = Place::of(whole, first, scene);
    for (number, body, own) in bodies {
        scene.bodies[number] = place.body(own, body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{ImportJob, placement::placed};

    /// A table of 2 by 1 by 1 with a vase of half a unit that hangs above it.
    fn file(folder: &std::path::Path) -> String {
        std::fs::create_dir_all(folder).unwrap();
        let mut text = String::new();
        let faces = ["1 3 4 2", "5 6 8 7", "1 2 6 5", "3 7 8 4", "1 5 7 3", "2 4 8 6"];
        for (k, (name, low, size)) in
            [("Table", [10.0, 0.0, 0.0], [2.0, 1.0, 1.0]), ("Vase", [11.0, 1.25, 0.25], [0.5, 0.5, 0.5])]
                .into_iter()
                .enumerate()
        {
            text += &format!("o {name}\n");
            for i in 0..8 {
                let at = |axis: usize| low[axis] + if i >> axis & 1 == 1 { size[axis] } else { 0.0 };
                text += &format!("v {} {} {}\n", at(0), at(1), at(2));
            }
            for face in faces {
                let corners = face.split(' ').map(|i| (i.parse::<usize>().unwrap() + 8 * k).to_string());
                text += &format!("f {}\n", corners.collect::<Vec<_>>().join(" "));
            }
        }
        let file = folder.join("set.obj");
        std::fs::write(&file, text).unwrap();
        file.to_string_lossy().into_owned()
    }

    #[test]
    fn many_objects_are_coarser() {
        let level =
            |level: u32, count: usize| body_of_many(SceneBody { level, ..SceneBody::default() }, count).level;
        assert_eq!([2, 31, 32, 100, 512].map(|count| level(7, count)), [7, 7, 6, 6, 4]);
        assert_eq!((level(5, 1000), level(3, 1000)), (4, 3));
    }

    #[test]
    fn objects_that_are_apart_become_bodies_where_they_are() {
        let folder = std::env::temp_dir().join(format!("kintsugi-parting-{}", std::process::id()));
        let mut scene = Scene::of_mesh(&file(&folder), 5);
        scene.bodies[0].size = Some(4.0);
        let wait = |scene: Scene| {
            let job = ImportJob::of_scene(scene, BTreeMap::new(), Default::default());
            loop {
                if let Some(result) = job.poll_scene() {
                    return result.unwrap();
                }
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        };
        let (parted, imported) = wait(scene.clone());
        let names: Vec<_> = parted.bodies.iter().map(|body| body.name.as_deref().unwrap()).collect();
        assert_eq!((names, imported.len()), (vec!["Table", "Vase"], 2));
        assert_eq!(parted.bodies.iter().map(|body| body.size).collect::<Vec<_>>(), [Some(4.0), Some(1.0)]);
        let centres = |scene: &Scene, imported: &[crate::scene::Imported]| {
            let state = |(body, one)| placed(one, body, scene).state.position;
            scene.bodies.iter().zip(imported).map(state).collect::<Vec<DVec3>>()
        };
        // The table stands in the middle; the vase hangs half a metre above it. A voxel of the table is 0.13 m.
        let found = centres(&parted, &imported);
        assert!(found[0].distance(DVec3::new(0.0, 1.0, 0.0)) < 0.15, "{found:?}");
        assert!(found[1].distance(DVec3::new(0.5, 3.0, 0.0)) < 0.15, "{found:?}");
        // Placed again, the objects are as in a file that is opened with that size and that axis; the rest of them stays.
        for (up, size) in [(Up::Y, 0.5), (Up::Z, 8.0), (Up::MinusX, 4.0)] {
            let bounds = imported.iter().map(|one| Aabb::of(one.mesh.corners().flatten()));
            let mut again = parted.clone();
            again.bodies[1].density = 7.0;
            again.bodies[1].rotation = DQuat::from_rotation_y(1.0);
            place_again(&mut again, &bounds.enumerate().collect::<Vec<_>>(), up, size);
            let mut file = scene.clone();
            (file.bodies[0].up, file.bodies[0].size) = (up, Some(size));
            let (opened, _) = wait(file);
            for (again, opened) in again.bodies.iter().zip(&opened.bodies) {
                let off = again.position.distance(opened.position) / size;
                assert!(off < 1e-9 && again.on_floor == opened.on_floor, "{up:?}: {again:?} {opened:?}");
                assert!((again.size.unwrap() / opened.size.unwrap() - 1.0).abs() < 1e-9, "{up:?}");
                assert_eq!((again.up, again.rotation), (up, DQuat::IDENTITY));
            }
            assert_eq!((again.bodies[1].density, again.bodies[1].name.as_deref()), (7.0, Some("Vase")));
        }
        // What is parted stays so, and together is one body at the same place.
        let again = wait(toml::from_str(&toml::to_string(&parted).unwrap()).unwrap());
        assert_eq!((&again.0, centres(&again.0, &again.1)), (&parted, found));
        scene.bodies[0].objects = Objects::Together;
        assert_eq!(wait(scene.clone()).0, scene);
        scene.bodies[0].object = Some(2);
        scene.bodies[0].objects = Objects::Apart;
        let job = ImportJob::of_scene(scene, BTreeMap::new(), Default::default());
        let error = loop {
            if let Some(result) = job.poll_scene() {
                break result.err().unwrap().to_string();
            }
        };
        assert!(error.contains("it has 2 objects, and none of number 2"), "{error}");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
