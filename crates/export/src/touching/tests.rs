//! Pieces beyond crack faces, against a search through all faces, against their other sides, and against bonds.

use std::collections::BTreeMap;

use glam::DVec3;

use super::*;
use crate::{
    MeshKind, Meshes, Placing,
    compute::Compute,
    fracture::{
        FractureParams, MethodId, Passes, SmallRule, Smallest, Surface,
        generations::{Plan, break_object, default_impact},
    },
    geometry::{Aabb, triangle::distance},
    import::import,
    svo::Arena,
    voxelize::Progress,
};

fn watch() -> Watch {
    Watch::whole(&Progress::default())
}

/// A built-in shape, broken, with meshes of `kind`; by seeds at these shares of its bounds where there are some.
fn broken(
    (name, level): (&str, u32),
    params: FractureParams,
    seeds: Option<&[DVec3]>,
    kind: MeshKind,
) -> Assembly {
    let object = import(&format!("builtin:{name}"), level, &Progress::default()).unwrap();
    let mut arena = Arena::new(Compute::Cpu).unwrap();
    arena.insert(&object.forest).unwrap();
    let impact = default_impact(&object.shape, object.bounds);
    let place = |share: &DVec3| object.bounds.low + object.bounds.size() * *share;
    let seeds = seeds.map(|all| all.iter().map(place).collect::<Vec<_>>().into());
    let plan = Plan { impact, params, seeds, bounds: Some(object.bounds), generations: 1 };
    let broken = break_object(&mut arena, &Passes::default(), &object.shape, &plan, &mut |_, _| {}).unwrap();
    let mut what = Assembly::of_break(&broken);
    match kind {
        MeshKind::Original => what.cut_original(&object.mesh, 1.0, &broken, &Progress::default()).unwrap(),
        kind => what.meshes = Meshes::asked(kind),
    }
    what.prepare(&watch()).unwrap();
    what
}

fn params(surface: Surface, seeds: u32) -> FractureParams {
    FractureParams { surface, seeds, ..FractureParams::default() }
}

fn smallest(rule: SmallRule) -> Option<Smallest> {
    Some(Smallest { voxels: 8, fraction: 0.004, rule })
}

fn box_cut(seeds: u32) -> FractureParams {
    FractureParams { method: MethodId::named("box-cut").unwrap(), ..params(Surface::Planar, seeds) }
}

/// A triangle on a crack.
struct Crack {
    piece: usize,
    triangle: usize,
    corners: [DVec3; 3],
    bounds: Aabb,
    normal: DVec3,
    area: f64,
}

fn cracks(what: &Assembly) -> Vec<Crack> {
    let mut all = Vec::new();
    for piece in 0..what.pieces.len() {
        let mesh = what.mesh(piece);
        for (triangle, corners) in mesh.corners_of_triangles().enumerate() {
            if mesh.faces[triangle].side == Side::Inside {
                let [a, b, c] = corners;
                let doubled = (b - a).cross(c - a);
                let (normal, area) = (doubled.normalize_or_zero(), 0.5 * doubled.length());
                all.push(Crack { piece, triangle, corners, bounds: Aabb::of(corners), normal, area });
            }
        }
    }
    all
}

/// The centres of the parts of a triangle whose edges are halved so many times.
fn parts([a, b, c]: [DVec3; 3], times: u32) -> Vec<DVec3> {
    if times == 0 {
        return vec![(a + b + c) / 3.0];
    }
    let [ab, bc, ca] = [(a + b) * 0.5, (b + c) * 0.5, (c + a) * 0.5];
    let quarters = [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]];
    quarters.into_iter().flat_map(|quarter| parts(quarter, times - 1)).collect()
}

/// What lies beyond a crack face by the distances of all faces of all other pieces, if that is clear: of 16 points of a
/// large triangle, or the centre of a small one, three quarters have the same piece nearest by more than a tie.
fn searched(all: &[Crack], own: &Crack, what: &Assembly) -> Option<i32> {
    let voxel = what.pieces[0].voxel();
    let reach = 2.0 * voxel + what.gap;
    let [a, b, c] = own.corners;
    let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
    let points = parts(own.corners, if longest > 2.0 * voxel { 2 } else { 0 });
    let mut votes: BTreeMap<i32, usize> = BTreeMap::new();
    for p in &points {
        let mut nearest = vec![f64::INFINITY; what.pieces.len()];
        for other in all.iter().filter(|other| other.piece != own.piece) {
            let apart = (other.bounds.low - *p).max(*p - other.bounds.high).max_element();
            if apart < 1.1 * reach && other.normal.dot(own.normal) < -0.3 {
                nearest[other.piece] = nearest[other.piece].min(distance(*p, other.corners));
            }
        }
        let mut order: Vec<usize> = (0..nearest.len()).collect();
        order.sort_by(|i, k| nearest[*i].total_cmp(&nearest[*k]));
        let (best, second) = (nearest[order[0]], nearest[order[1]]);
        let is_clear = second - best > 0.06 * voxel || best > reach;
        if (best / reach - 1.0).abs() > 1e-6 && is_clear {
            *votes.entry(if best < reach { order[0] as i32 } else { NO_PIECE }).or_default() += 1;
        }
    }
    let most = votes.into_iter().max_by_key(|(_, count)| *count);
    most.filter(|(_, count)| 4 * count >= 3 * points.len()).map(|(piece, _)| piece)
}

/// How a result compares with [`searched`].
#[derive(Debug, Default)]
struct Compared {
    triangles: usize,
    wrong: usize,
    area: f64,
    unclear_area: f64,
}

fn compared(what: &Assembly, beyond: &[Vec<i32>]) -> Compared {
    let all = cracks(what);
    let wanted: Vec<Option<i32>> = all.par_iter().map(|own| searched(&all, own, what)).collect();
    let mut out = Compared { triangles: all.len(), ..Compared::default() };
    for (own, wanted) in all.iter().zip(wanted) {
        // A triangle without a normal faces nothing.
        let wanted = wanted.filter(|_| own.normal != DVec3::ZERO);
        out.area += own.area;
        match wanted {
            None => out.unclear_area += own.area,
            Some(wanted) => out.wrong += usize::from(beyond[own.piece][own.triangle] != wanted),
        }
    }
    out
}

/// The area of the crack faces of one piece that border on another, by both; what borders on none has [`NO_PIECE`].
fn areas(what: &Assembly, beyond: &[Vec<i32>]) -> BTreeMap<(usize, i32), f64> {
    let mut sums: BTreeMap<(usize, i32), f64> = BTreeMap::new();
    for own in cracks(what) {
        *sums.entry((own.piece, beyond[own.piece][own.triangle])).or_default() += own.area;
    }
    sums
}

#[test]
fn every_triangle_has_what_a_search_through_all_faces_finds() {
    let local = FractureParams { local: Some(0.35), ..params(Surface::Planar, 40) };
    let merged = FractureParams { smallest: smallest(SmallRule::Merge), ..params(Surface::Rough, 24) };
    let dropped = FractureParams { smallest: smallest(SmallRule::Drop), ..params(Surface::Planar, 40) };
    for (case, level, params, kind) in [
        ("planar", 5, params(Surface::Planar, 12), MeshKind::Original),
        ("rough", 5, params(Surface::Rough, 8), MeshKind::Original),
        ("planar, smooth", 4, params(Surface::Planar, 8), MeshKind::Smooth),
        ("rough, smooth", 4, params(Surface::Rough, 8), MeshKind::Smooth),
        ("box-cut", 5, box_cut(16), MeshKind::Original),
        ("local", 5, local, MeshKind::Original),
        ("merged", 5, merged, MeshKind::Original),
        ("dropped", 5, dropped, MeshKind::Original),
    ] {
        let what = broken(("box", level), params, None, kind);
        let beyond = pieces_beyond(&what, &watch()).unwrap();
        for (piece, beyond) in beyond.iter().enumerate() {
            let mesh = what.mesh(piece);
            assert_eq!(beyond.len(), mesh.triangles.len());
            for (face, found) in mesh.faces.iter().zip(beyond) {
                assert_eq!(*found == OUTSIDE, face.side != Side::Inside, "{case}");
                assert!(*found != piece as i32 && *found < what.pieces.len() as i32, "{case}");
            }
        }
        let result = compared(&what, &beyond);
        println!("{case}: {} pieces, {result:?}", what.pieces.len());
        assert!(what.pieces.len() > 1 && result.triangles > 20, "{case}");
        assert!(result.wrong * 300 <= result.triangles, "{case}: {result:?}");
        assert!(result.unclear_area < 0.05 * result.area, "{case}: {result:?}");
        let alone = cracks(&what);
        let alone = alone.iter().filter(|own| beyond[own.piece][own.triangle] == NO_PIECE);
        let alone: f64 = alone.map(|own| own.area).sum::<f64>() / result.area;
        // Where a crack meets the surface, smooth meshes of both sides are rounded.
        let most = if kind == MeshKind::Smooth { 0.05 } else { 0.01 };
        let has_holes = case == "dropped";
        assert!(if has_holes { alone > 0.001 } else { alone < most }, "{case}: {alone} has no piece");
        if case == "planar" {
            // The comparison finds a piece that is taken for another one.
            let taken =
                |of: &Vec<i32>| of.iter().map(|id| if *id == 0 { 1 } else { *id }).collect::<Vec<i32>>();
            let planted = compared(&what, &beyond.iter().map(taken).collect::<Vec<_>>());
            assert!(planted.wrong > result.wrong + 2, "{planted:?}");
        }
    }
}

#[test]
fn both_sides_of_a_crack_say_the_same_and_bonds_agree() {
    for (case, params) in [
        ("planar", params(Surface::Planar, 12)),
        ("rough", params(Surface::Rough, 10)),
        ("box-cut", box_cut(16)),
    ] {
        let what = broken(("box", 6), params, None, MeshKind::Original);
        let sums = areas(&what, &pieces_beyond(&what, &watch()).unwrap());
        let of = |a: usize, b: usize| sums.get(&(a, b as i32)).copied().unwrap_or_default();
        let mut compared = 0;
        // Of a unit cube, whose voxels have faces of 0.00024.
        for bond in crate::bonds(&what, &watch()).unwrap().iter().filter(|bond| bond.area > 0.01) {
            let [a, b] = bond.pieces;
            let (one, other) = (of(a, b), of(b, a));
            assert!((one / other - 1.0).abs() < 0.02, "{case} {a} {b}: {one} and {other}");
            let mean = 0.5 * (one + other);
            assert!((mean / bond.area - 1.0).abs() < 0.04, "{case} {a} {b}: {mean}, bond {}", bond.area);
            compared += 1;
        }
        println!("{case}: {} pieces, {compared} large cracks", what.pieces.len());
        assert!(compared >= 5, "{case}: {compared}");
    }
}

/// The cell of the first seed is a column through a hollow ball that meets its wall above and below: two pieces of one
/// cell, which the number of the cell does not tell apart.
#[test]
fn of_two_pieces_of_one_cell_the_right_one_is_found() {
    let seeds = [[0.5, 0.5], [0.02, 0.5], [0.98, 0.5], [0.5, 0.02], [0.5, 0.98]];
    let seeds = seeds.map(|[x, y]| DVec3::new(x, y, 0.5));
    let what = broken(("shell", 5), params(Surface::Planar, 5), Some(&seeds), MeshKind::Original);
    let of_cell = |cell: Option<u32>| what.pieces.iter().filter(move |piece| piece.cell == cell);
    let cell = what.pieces.iter().map(|piece| piece.cell).find(|cell| of_cell(*cell).count() == 2).unwrap();
    let middle = |id: usize| what.pieces[id].shape.mass().centre.z;
    let mut caps: Vec<usize> = of_cell(cell).map(|piece| piece.id).collect();
    caps.sort_by(|a, b| middle(*a).total_cmp(&middle(*b)));
    let [below, above] = caps[..] else { panic!("{caps:?}") };
    let half = 0.5 * (middle(below) + middle(above));
    let beyond = pieces_beyond(&what, &watch()).unwrap();
    let mut counts = [0, 0];
    for own in cracks(&what) {
        let face = what.mesh(own.piece).faces[own.triangle];
        if face.beyond == cell && own.area > 1e-6 {
            let is_above = own.corners[0].z > half;
            let wanted = if is_above { above } else { below };
            assert_eq!(beyond[own.piece][own.triangle], wanted as i32);
            counts[usize::from(is_above)] += 1;
        }
    }
    assert!(counts.iter().all(|count| *count > 4), "{counts:?}");
}

/// The numbers of `attribute` at the corners of the triangles of each piece's crack faces in a GLB file, in their order,
/// and the numbers of the pieces beyond as [`pieces_beyond`] has them.
fn of_file(what: &Assembly, attribute: &str) -> [Vec<Vec<f32>>; 2] {
    let folder = std::env::temp_dir().join(format!("kintsugi-{attribute}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    crate::write(what, crate::Format::Glb, &folder, &watch()).unwrap();
    let bytes = std::fs::read(folder.join("pieces.glb")).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let document: serde_json::Value = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    let binary = &bytes[28 + length..];
    let number = |value: &serde_json::Value| value.as_u64().unwrap_or(0) as usize;
    let words = |accessor: &serde_json::Value| -> Vec<[u8; 4]> {
        let accessor = &document["accessors"][number(accessor)];
        let view = &document["bufferViews"][number(&accessor["bufferView"])];
        let at = number(&view["byteOffset"]) + number(&accessor["byteOffset"]);
        binary[at..at + 4 * number(&accessor["count"])].as_chunks::<4>().0.to_vec()
    };
    let beyond = pieces_beyond(what, &watch()).unwrap();
    let of_piece = |id: usize| {
        let mesh = &document["meshes"][number(&document["nodes"][id]["mesh"])];
        let inside = mesh["primitives"].as_array().unwrap().last().unwrap();
        let numbers = words(&inside["attributes"][attribute]);
        let corners = words(&inside["indices"]).into_iter().map(|i| numbers[u32::from_le_bytes(i) as usize]);
        let found: Vec<f32> = corners.map(f32::from_le_bytes).collect();
        let mesh = what.mesh(id);
        let cracks = mesh.faces.iter().zip(&beyond[id]).filter(|(face, _)| face.side == Side::Inside);
        let wanted: Vec<f32> = cracks.flat_map(|(_, piece)| [*piece as f32; 3]).collect();
        (found, wanted)
    };
    let (found, wanted) = (0..what.pieces.len()).map(of_piece).unzip();
    [found, wanted]
}

#[test]
fn glb_files_have_the_piece_and_the_cell_beyond_at_each_corner_of_a_crack_face() {
    let seeds = [[0.5, 0.5], [0.02, 0.5], [0.98, 0.5], [0.5, 0.02], [0.5, 0.98]];
    let seeds = seeds.map(|[x, y]| DVec3::new(x, y, 0.5));
    let what = broken(("shell", 5), params(Surface::Planar, 5), Some(&seeds), MeshKind::Original);
    let [pieces, wanted] = of_file(&what, "_BEYOND");
    assert!(pieces == wanted && pieces.iter().all(|corners| corners.len() > 30));
    let [cells, _] = of_file(&what, "_CELL_BEYOND");
    // Two pieces of one cell have numbers of their own, and the cell's number is there, too.
    let mut both: Vec<[i32; 2]> = Vec::new();
    let (mut known, mut agree) = (0, 0);
    for (piece, cell) in pieces.iter().flatten().zip(cells.iter().flatten()) {
        if *piece >= 0.0 && *cell >= 0.0 {
            known += 1;
            agree += usize::from(what.pieces[*piece as usize].cell == Some(*cell as u32));
            both.push([*cell as i32, *piece as i32]);
        }
    }
    assert!(known > 100 && 20 * agree > 19 * known, "{agree} of {known}");
    both.sort_unstable();
    both.dedup();
    assert!(both.windows(2).any(|pair| pair[0][0] == pair[1][0]), "a cell of two pieces: {both:?}");
}

#[test]
fn the_result_does_not_depend_on_threads_and_can_be_cancelled() {
    let what = broken(("box", 5), params(Surface::Rough, 8), None, MeshKind::Original);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| pieces_beyond(&what, &watch()).unwrap())
    };
    assert_eq!(on(1), on(4));
    let progress = Progress::default();
    progress.cancel();
    let cancelled = pieces_beyond(&what, &Watch::whole(&progress));
    assert!(matches!(cancelled, Err(ExportError::Cancelled)));
}

#[test]
fn what_is_whole_or_of_another_object_has_nothing_beyond_it() {
    let object = import("builtin:box", 4, &Progress::default()).unwrap();
    let whole = ExportPiece {
        id: 0,
        shape: Arc::clone(&object.shape),
        placing: Placing::UNMOVED,
        object: None,
        cell: None,
        parent: None,
        generation: 0,
        insides: Default::default(),
        called: None,
    };
    let beyond = pieces_beyond(&Assembly::new(vec![whole], None), &watch()).unwrap();
    assert!(!beyond[0].is_empty() && beyond[0].iter().all(|piece| *piece == OUTSIDE));
    assert!(pieces_beyond(&Assembly::default(), &watch()).unwrap().is_empty());

    let mut what = broken(("box", 5), params(Surface::Planar, 6), None, MeshKind::Original);
    let counts = |what: &Assembly| {
        let beyond = pieces_beyond(what, &watch()).unwrap();
        let with_it = beyond.iter().flatten().filter(|piece| **piece == 0).count();
        [beyond[0].iter().filter(|piece| **piece >= 0).count(), with_it]
    };
    assert!(counts(&what).iter().all(|count| *count > 0));
    what.pieces[0].object = Some(7);
    assert_eq!(counts(&what), [0, 0]);
}
