//! Meshes of several closed parts, taken apart.

use std::sync::Arc;

use glam::DVec3;

use super::METHOD;
use crate::{
    compute::Compute,
    fracture::{
        Break, BreakContext, Cancel, FractureError, FractureParams, Impact, Passes, Strike, Surface,
        break_shape,
    },
    mesh::Mesh,
    shape::{Look, MeshCheck, Octree, Original, Shape},
    svo::Arena,
    voxelize::{Progress, voxelize},
};

/// Adds a box of one colour.
fn add(mesh: &mut Mesh, low: [f32; 3], high: [f32; 3], color: [u8; 3]) {
    let base = mesh.positions.len() as u32;
    let corner = |c: usize| [0, 1, 2].map(|k| if c >> k & 1 == 0 { low[k] } else { high[k] });
    mesh.positions.extend((0..8).map(corner));
    mesh.colors.extend([color; 8]);
    let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles = quads.into_iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]);
    mesh.triangles.extend(triangles.map(|triangle| triangle.map(|i: u32| base + i)));
}

fn shape(mesh: Mesh) -> Shape {
    let voxels = voxelize(&mesh, 5, &Progress::default()).unwrap();
    let octree = Octree::new(&Arc::new(voxels.forest), 0, voxels.grid);
    Shape::octree(octree, 2.0, Look::default()).with_original(Original::new(Arc::new(mesh), 1.0))
}

fn broken(shape: &Shape) -> Result<Break, FractureError> {
    let params = FractureParams { method: METHOD.id(), ..FractureParams::default() };
    let (arena, passes) = (Arena::new(Compute::Cpu).unwrap(), Passes::default());
    let impact = Impact { point: shape.local_from_shape(DVec3::ZERO), direction: DVec3::NEG_Z };
    let context = BreakContext { arena: &arena, passes: &passes, cancel: Cancel::never() };
    break_shape(&context, shape, &Strike::new(impact, &params))
}

#[test]
fn parts_that_touch_come_off_with_their_own_triangles() {
    let mut mesh = Mesh::default();
    add(&mut mesh, [0.0; 3], [1.0; 3], [10, 0, 0]);
    add(&mut mesh, [1.0, 0.0, 0.0], [3.0, 1.0, 1.0], [20, 0, 0]);
    add(&mut mesh, [0.0, 0.0, 2.0], [3.0, 1.0, 3.0], [30, 0, 0]);
    let whole = shape(mesh);
    let done = broken(&whole).unwrap();
    assert!((done.before_m3.unwrap() - 6.0).abs() < 1e-9 && done.pattern.is_none());
    let found: Vec<(f64, u32, [u8; 3])> = done
        .parts
        .iter()
        .map(|part| {
            let surface = part.shape.as_mesh().unwrap().surface();
            let check = MeshCheck::of(surface);
            assert!(check.is_watertight() && surface.triangles.len() == 12, "{check:?}");
            assert!(
                surface.corners.iter().flatten().all(|corner| corner.color == surface.corners[0][0].color)
            );
            (check.volume, part.cell, surface.corners[0][0].color)
        })
        .collect();
    for ((volume, cell, color), wanted) in
        found.into_iter().zip([(3.0, 2, [30, 0, 0]), (2.0, 1, [20, 0, 0]), (1.0, 0, [10, 0, 0])])
    {
        assert!((volume - wanted.0).abs() < 1e-9, "{volume}");
        assert_eq!((cell, color), (wanted.1, wanted.2));
    }
    assert_eq!(done.parts.len(), 3);
    assert!((done.volume_m3() - 6.0).abs() < 1e-9);
    // A part is one part; with voxels alone there are none.
    let again = broken(&done.parts[0].shape).unwrap();
    assert!(again.stayed_whole());
    let voxels = Shape::octree(whole.as_octree().unwrap().clone(), 1.0, Look::default());
    assert!(broken(&voxels).err().unwrap().to_string().contains("method octree"));
}

#[test]
fn a_part_without_inside_is_named() {
    let mut mesh = Mesh::default();
    add(&mut mesh, [0.0; 3], [1.0; 3], [10, 0, 0]);
    mesh.positions.extend([[2.0, 0.0, 0.0], [3.0, 0.0, 0.0], [2.0, 1.0, 0.0]]);
    mesh.colors.extend([[0; 3]; 3]);
    mesh.triangles.push([8, 9, 10]);
    let said = broken(&shape(mesh)).err().unwrap().to_string();
    assert!(said.contains("part 2") && said.contains("method octree"), "{said}");
    let rough = FractureParams { method: METHOD.id(), surface: Surface::Rough, ..FractureParams::default() };
    assert_eq!(rough.problem().map(|(field, _)| field), Some("surface"));
}
