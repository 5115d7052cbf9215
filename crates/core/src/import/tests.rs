//! What an import tells of, and what it refuses.

use super::*;

#[test]
fn what_is_thinner_than_a_voxel_is_told_of() {
    // A plate of one by one unit.
    let plate = |thick: f64| {
        let corner = |i: u32| {
            let [x, y, z] = [i & 1, i >> 1 & 1, i >> 2].map(f64::from);
            format!("v {x} {} {z}\n", y * thick)
        };
        let faces = "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";
        let text = (0..8).map(corner).collect::<String>() + faces;
        let (mesh, _) = mesh::load_bytes(text.as_bytes(), "obj").unwrap();
        let read = ReadMesh::again("plate".into(), Arc::new(mesh), Arc::default(), Up::Y, Vec::new());
        let imported = read.voxelise(5, &Progress::default()).unwrap();
        // A mesh in memory is imported again at other levels, of which the note is no longer true.
        assert!(imported.warnings.is_empty());
        imported.health.notes
    };
    assert!(plate(0.2).is_empty(), "{:?}", plate(0.2));
    let thin = plate(1e-6);
    assert!(thin.len() == 1 && thin[0].contains("choose a higher level"), "{thin:?}");
}

/// A hollow house whose walls are one voxel thick, with every second voxel of its roof: at each level that has room
/// for them the octree has the voxels of the file, and no others.
#[test]
fn a_voxel_model_keeps_its_own_voxels() {
    let size = [20u32, 12, 9];
    let is_wall = |at: [u32; 3]| (0..3).any(|k| at[k] == 0 || at[k] + 1 == size[k]);
    let is_there = |at: [u32; 3]| is_wall(at) && (at[2] + 1 < size[2] || (at[0] + at[1]).is_multiple_of(2));
    let cells = |x: u32| (0..size[1]).flat_map(move |y| (0..size[2]).map(move |z| [x, y, z]));
    let mut wanted: Vec<[u32; 3]> = (0..size[0]).flat_map(cells).filter(|at| is_there(*at)).collect();
    // The faces that the reader would make, with z already upright.
    let mut mesh = Mesh::default();
    for at in &wanted {
        for (axis, high) in (0..3).flat_map(|axis| [(axis, false), (axis, true)]) {
            let beside = [0, 1, 2].map(|k| match (k == axis, high) {
                (false, _) => Some(at[k]),
                (true, true) => Some(at[k] + 1),
                (true, false) => at[k].checked_sub(1),
            });
            let covered = match beside {
                [Some(x), Some(y), Some(z)] => (0..3).all(|k| [x, y, z][k] < size[k]) && is_there([x, y, z]),
                _ => false,
            };
            if covered {
                continue;
            }
            let mut quad = [[0, 0], [1, 0], [1, 1], [0, 1]].map(|[a, b]| {
                let mut corner = *at;
                corner[axis] += u32::from(high);
                corner[(axis + 1) % 3] += a;
                corner[(axis + 2) % 3] += b;
                mesh.positions.push(corner.map(|v| v as f32));
                mesh.positions.len() as u32 - 1
            });
            if !high {
                quad.reverse();
            }
            mesh.triangles.extend([[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]]);
        }
    }
    let named =
        |name: &str| ReadMesh::again(name.into(), Arc::new(mesh.clone()), Arc::default(), Up::Y, Vec::new());
    wanted.sort_unstable();
    for level in [5, 6] {
        let imported = named("house.vox").voxelise(level, &Progress::default()).unwrap();
        assert_eq!((imported.grid.h, imported.grid.origin), (1.0, DVec3::splat(-1.0)));
        let mut found = Vec::new();
        imported.forest.for_each_internal(|_, low, size| {
            let cube = (0..size).flat_map(|x| (0..size).flat_map(move |y| (0..size).map(move |z| [x, y, z])));
            found.extend(cube.map(|at| [0, 1, 2].map(|k| low[k] + at[k] - 1)));
        });
        let keys = &imported.forest.leaves.keys;
        found.extend((0..keys.len()).map(|i| crate::svo::morton::decode(keys.at(i)).map(|v| v - 1)));
        found.sort_unstable();
        assert_eq!(found, wanted, "level {level}");
    }
    // Where there is no room, and for triangles of another file, voxels are as wide as the level says.
    for (name, level, h) in [("house.vox", 4, 20.0 / 14.0), ("house.obj", 6, 20.0 / 62.0)] {
        assert_eq!(named(name).voxelise(level, &Progress::default()).unwrap().grid.h, h);
    }
    let levels = [1.0, 0.7, 20.0, 1e9, 1e-3].map(|edge| named("house.obj").level_for(edge));
    assert_eq!(levels, [Some(5), Some(5), Some(1), Some(1), None]);
}

#[test]
fn parts_that_overlap_or_lie_far_apart_are_told_of() {
    let block = mesh::builtin("box").unwrap();
    let warnings = |shift: f32, size: f32, level: u32| {
        let mut both = block.clone();
        let first = both.positions.len() as u32;
        both.positions.extend(block.positions.iter().map(|p| p.map(|x| x * size + shift)));
        both.colors.extend(&block.colors);
        both.triangles.extend(block.triangles.iter().map(|t| t.map(|i| i + first)));
        let read = ReadMesh::again("two".into(), Arc::new(both), Arc::default(), Up::Y, Vec::new());
        read.voxelise(level, &Progress::default()).unwrap().health.notes
    };
    // Two boxes that share a corner are one; two that are apart, and a crumb at three hundred times the size. At a shift of
    // a half the lines of both grids coincide, and edges of four triangles would be left.
    let overlap = warnings(0.437, 1.0, 7);
    assert!(overlap.len() == 1 && overlap[0].contains("pass through each other are united"), "{overlap:?}");
    assert!(warnings(1.5, 1.0, 7).is_empty(), "{:?}", warnings(1.5, 1.0, 7));
    let far = warnings(300.0, 0.01, 6);
    assert!(far.iter().any(|warning| warning.contains("hardly anything can break")), "{far:?}");
}

#[test]
fn what_was_read_becomes_the_same_object_as_the_file_itself() {
    let read = read("builtin:box").unwrap();
    let (a, b) = (
        read.voxelise(4, &Progress::default()).unwrap(),
        import("builtin:box", 4, &Progress::default()).unwrap(),
    );
    assert_eq!(
        (a.forest.leaves.keys.clone(), a.grid, a.mass),
        (b.forest.leaves.keys.clone(), b.grid, b.mass)
    );
    assert!(Arc::ptr_eq(&a.mesh, &read.mesh), "the mesh is kept, not copied");
    assert_eq!((a.triangles, a.vertices), (read.mesh.triangles.len(), read.mesh.positions.len()));
    let doubled = a.shape_at(a.grid_in_metres(2.0), 3.0);
    let single = a.shape_at(a.grid, 3.0);
    assert!((doubled.mass_kg() / single.mass_kg() - 8.0).abs() < 1e-12);
}

#[test]
fn an_outside_is_bare_where_its_file_has_neither_materials_nor_colours() {
    let is_bare = |file: &str, change: fn(&mut Mesh)| {
        let mut mesh = Mesh::clone(&read("builtin:box").unwrap().mesh);
        change(&mut mesh);
        let read = ReadMesh::again(file.into(), Arc::new(mesh), Arc::default(), Up::Y, Vec::new());
        let made = read.voxelise(3, &Progress::default()).unwrap();
        made.shape_at(made.grid, 1.0).look().is_bare
    };
    assert!(is_bare("builtin:box", |_| {}), "its colours are nobody's");
    assert!(is_bare("a.stl", |mesh| mesh.colors.clear()));
    assert!(!is_bare("a.ply", |_| {}), "the file has colours");
    let with_material = |mesh: &mut Mesh| {
        mesh.colors.clear();
        mesh.materials.push(mesh::Material::default());
        mesh.triangle_material = vec![0; mesh.triangles.len()];
    };
    assert!(!is_bare("a.glb", with_material));
}

#[test]
fn a_wish_to_stop_is_told_from_a_failure() {
    let progress = Progress::default();
    progress.cancel();
    assert!(import("builtin:box", 6, &progress).is_err_and(|e| e.is_cancelled()));
    let missing = import("no-such-file.obj", 6, &Progress::default()).unwrap_err();
    assert!(!missing.is_cancelled() && missing.to_string().contains("no-such-file.obj"));
}

#[test]
fn names_are_for_people() {
    assert_eq!(display_name("builtin:vase"), "vase");
    assert_eq!(display_name("/a/b/the cup.obj"), "the cup");
}
