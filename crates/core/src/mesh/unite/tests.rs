use super::*;
use crate::{
    mesh::{HealthReport, Part, builtin, check},
    shape::PieceMesh,
};

/// A box with a vertex for each corner.
fn block(low: [f64; 3], high: [f64; 3]) -> Mesh {
    let corner = |c: usize| {
        [0, 1, 2].map(|k| {
            let v = if c >> k & 1 == 0 { low[k] } else { high[k] };
            v as f32
        })
    };
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = quads.into_iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    Mesh { positions: (0..8).map(corner).collect(), triangles, ..Mesh::default() }
}

/// The same without its face at the high end of x.
fn open_block(low: [f64; 3], high: [f64; 3]) -> Mesh {
    let mut mesh = block(low, high);
    mesh.triangles.truncate(10);
    mesh
}

/// A ball of `rows` times `2 rows` quads.
fn ball(middle: [f64; 3], radius: f64, rows: u32) -> Mesh {
    let (mut mesh, columns) = (Mesh::default(), 2 * rows);
    for row in 0..=rows {
        for column in 0..columns {
            let (up, round) = (
                f64::from(row) / f64::from(rows) * std::f64::consts::PI,
                f64::from(column) / f64::from(columns) * std::f64::consts::TAU,
            );
            // All vertices at a pole have one place.
            let ring = if row == 0 || row == rows { 0.0 } else { up.sin() };
            let p = [ring * round.cos(), up.cos(), ring * round.sin()];
            mesh.positions.push([0, 1, 2].map(|k| (middle[k] + radius * p[k]) as f32));
        }
    }
    for row in 0..rows {
        for column in 0..columns {
            let next = (column + 1) % columns;
            let [a, b] = [row * columns + column, row * columns + next];
            let [c, d] = [a + columns, b + columns];
            mesh.triangles.extend((row > 0).then_some([a, b, d]));
            mesh.triangles.extend((row + 1 < rows).then_some([a, d, c]));
        }
    }
    mesh
}

fn joined(all: &[Mesh]) -> Mesh {
    let mut out = Mesh::default();
    for mesh in all {
        let first = out.positions.len() as u32;
        out.positions.extend(&mesh.positions);
        out.triangles.extend(mesh.triangles.iter().map(|t| t.map(|v| v + first)));
    }
    out
}

/// The checked mesh and its report; the surface is closed and has no edge of more than two triangles.
fn united(all: &[Mesh]) -> (Mesh, HealthReport) {
    let (out, report) = check(&joined(all));
    let triangles = topology(&out).triangles(&out);
    for (ends, group) in Edges::of(&triangles).groups() {
        let forth =
            group.iter().filter(|side| triangles[side.1 as usize / 3][side.1 as usize % 3] == ends[0]);
        assert_eq!((group.len(), forth.count()), (2, 1), "an edge at {:?}", ends);
    }
    let union = report.union.clone().unwrap_or_default();
    assert_eq!(union.left_parts, 0, "{:?}", report.notes);
    assert_eq!((union.triangles_after, union.volume_after), (out.triangles.len(), report.volume));
    (out, report)
}

fn volume_of(mesh: &Mesh) -> f64 {
    let corner = |i: u32| DVec3::from_array(mesh.positions[i as usize].map(f64::from));
    mesh.triangles.iter().map(|t| cone_volume(t.map(corner))).sum()
}

#[test]
fn two_boxes_pushed_into_each_other_are_one() {
    // Corner in corner, a bar through a block, and one that shares planes of four sides with the other.
    let first = block([0.0; 3], [1.0; 3]);
    for (low, high, wanted) in [
        ([0.5; 3], [1.5; 3], 2.0 - 0.125),
        ([-0.5, 0.25, 0.3], [1.5, 0.5, 0.6], 1.0 + 0.25 * 0.3),
        ([0.5, 0.0, 0.0], [1.75, 1.0, 1.0], 1.75),
        ([0.25; 3], [0.5; 3], 1.0),
    ] {
        let (out, report) = united(&[first.clone(), block(low, high)]);
        let union = report.union.unwrap();
        assert!((report.volume - wanted).abs() < 1e-5, "{} of {wanted}", report.volume);
        assert!((volume_of(&out) - wanted).abs() < 1e-5);
        assert_eq!(union.triangles_before, 24);
        assert!(union.united_parts > 0 && union.volume_before > wanted + 0.01, "{union:?}");
    }
}

/// Fails where parts are looked at without their caps, or where what was united has none.
#[test]
fn an_open_box_and_what_passes_through_it_are_one_with_its_cap() {
    let open = open_block([0.0; 3], [1.0; 3]);
    // A bar through two walls, one through the cap, an open one through both, a box inside, and an open one through a wall.
    for (other, holes, wanted) in [
        (block([0.3, -0.5, 0.35], [0.6, 1.5, 0.55]), 1, 1.0 + 0.3 * 0.2),
        (block([0.5, 0.3, 0.35], [1.5, 0.6, 0.55]), 1, 1.0 + 0.5 * 0.3 * 0.2),
        (open_block([-0.5, 0.25, 0.3], [1.5, 0.5, 0.6]), 2, 1.0 + 0.25 * 0.3),
        (block([0.25; 3], [0.5; 3]), 1, 1.0),
        (open_block([0.35, 0.3, -0.5], [0.6, 0.75, 0.5]), 2, 1.0 + 0.25 * 0.45 * 0.5),
    ] {
        let all = [open.clone(), other];
        let (out, report) = united(&all);
        let union = report.union.clone().unwrap();
        assert!((report.volume - wanted).abs() < 1e-5, "{} of {wanted}", report.volume);
        assert!((volume_of(&out) - wanted).abs() < 1e-5);
        assert_eq!(
            (report.cap_holes, report.volume_of.as_str(), report.closed),
            (holes, "mesh with caps", false)
        );
        assert!(union.united_parts > 0 && union.triangles_before == 24, "{union:?}");
        assert!(union.volume_before > wanted + 0.01, "{union:?}");
        assert!(report.notes.iter().any(|note| note.contains("pass")), "{:?}", report.notes);
        // What is cut into pieces.
        let surface = PieceMesh::imported(&joined(&all), 1.0).unwrap();
        let pieces: f64 = surface.corners_of_triangles().map(cone_volume).sum();
        assert!((pieces - wanted).abs() < 1e-5, "{pieces} of {wanted}");
    }
}

#[test]
fn an_open_box_beside_another_one_stays_as_it_was_read() {
    // Apart, and with a whole shared face, the second time with the cap in it.
    for (low, high) in
        [([2.0; 3], [3.0; 3]), ([0.0, 1.0, 0.0], [1.0, 2.0, 1.0]), ([1.0, 0.0, 0.0], [2.0, 1.0, 1.0])]
    {
        let both = joined(&[open_block([0.0; 3], [1.0; 3]), block(low, high)]);
        let (out, report) = check(&both);
        assert_eq!((out.triangles, &report.union), (both.triangles.clone(), &None), "{:?}", report.notes);
    }
}

/// A hole that is neither flat nor small has no cap, so that nothing is united.
#[test]
fn overlaps_of_a_mesh_that_stays_open_are_told_of() {
    let mut open = open_block([0.0; 3], [1.0; 3]);
    open.positions[7][0] = 1.3;
    let passing = block([0.3, -0.5, 0.35], [0.6, 1.5, 0.55]);
    for (other, left) in
        [(passing, Some(2)), (block([0.3; 3], [0.6, 0.5, 0.55]), None), (block([2.0; 3], [3.0; 3]), None)]
    {
        let both = joined(&[open.clone(), other]);
        let (out, report) = check(&both);
        assert_eq!((out.triangles.len(), report.cap_holes), (both.triangles.len(), 0));
        assert_eq!(report.union.map(|union| union.left_parts), left, "{:?}", report.notes);
        let told = |note: &String| note.contains("caps do not close it: what overlaps counts twice");
        assert_eq!(report.notes.iter().any(told), left.is_some(), "{:?}", report.notes);
    }
}

#[test]
fn two_balls_have_the_volume_without_their_lens() {
    let (radius, apart) = (1.0, 1.2);
    let all = [ball([0.0; 3], radius, 48), ball([apart, 0.1, 0.05], radius, 40)];
    let (_, report) = united(&all);
    let far = f64::hypot(f64::hypot(apart, 0.1), 0.05);
    let lens = std::f64::consts::PI * (4.0 * radius + far) * (2.0 * radius - far).powi(2) / 12.0;
    let wanted = 8.0 / 3.0 * std::f64::consts::PI - lens;
    // Polyhedra are smaller than balls.
    assert!((report.volume / wanted - 1.0).abs() < 0.006, "{} of {wanted}", report.volume);
    let union = report.union.unwrap();
    assert!((union.volume_before - union.volume_after - lens).abs() < 0.02 * lens, "{union:?}, lens {lens}");
}

#[test]
fn twelve_boxes_have_the_volume_that_counting_gives() {
    let mut state = 7u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1u64 << 24) as f64
    };
    let boxes: Vec<[[f64; 3]; 2]> = (0..12)
        .map(|_| {
            let low = [random(), random(), random()];
            [low, low.map(|v| v + 0.2 + 0.6 * random())]
        })
        .collect();
    let all: Vec<Mesh> = boxes.iter().map(|[low, high]| block(*low, *high)).collect();
    let (out, report) = check(&joined(&all));
    // The exact volume: all coordinates of corners cut space into cells, which are within some box or not.
    let lines = [0, 1, 2].map(|k| {
        let mut all: Vec<f64> = boxes.iter().flatten().map(|p| p[k]).collect();
        all.sort_by(f64::total_cmp);
        all
    });
    let mut wanted = 0.0;
    for x in lines[0].windows(2) {
        for y in lines[1].windows(2) {
            for z in lines[2].windows(2) {
                let p = [x, y, z].map(|ends| (ends[0] + ends[1]) / 2.0);
                let holds = |[low, high]: &[[f64; 3]; 2]| (0..3).all(|k| low[k] < p[k] && p[k] < high[k]);
                if boxes.iter().any(holds) {
                    wanted += (x[1] - x[0]) * (y[1] - y[0]) * (z[1] - z[0]);
                }
            }
        }
    }
    let union = report.union.clone().unwrap();
    assert_eq!(union.left_parts, 0, "{:?}", report.notes);
    assert!((report.volume - wanted).abs() < 1e-5 * wanted, "{} of {wanted}", report.volume);
    let triangles = topology(&out).triangles(&out);
    assert!(Edges::of(&triangles).signed_boundary(&triangles).is_empty());
}

#[test]
fn what_touches_or_lies_apart_stays_as_it_is() {
    let first = block([0.0; 3], [1.0; 3]);
    // A whole shared face, a part of one, an edge, a gap; with walls they keep both sides.
    for (low, high) in [
        ([1.0, 0.0, 0.0], [2.0, 1.0, 1.0]),
        ([0.25, 1.0, 0.25], [0.75, 2.0, 0.75]),
        ([1.0, 1.0, 0.25], [2.0, 2.0, 0.75]),
        ([1.001, 0.5, 0.5], [2.0, 2.0, 2.0]),
    ] {
        let both = joined(&[first.clone(), block(low, high)]);
        let (out, report) = check(&both);
        assert_eq!((out.triangles.len(), report.union), (24, None), "{low:?}");
    }
    for name in crate::mesh::BUILTIN_NAMES {
        assert!(check(&builtin(name).unwrap()).1.union.is_none(), "{name}");
    }
}

#[test]
fn a_cavity_stays_and_what_lies_in_it_is_not_lost() {
    let mut hollow = block([0.2; 3], [0.8; 3]);
    hollow.triangles.iter_mut().for_each(|t| t.swap(0, 2));
    let all = [block([0.0; 3], [1.0; 3]), hollow, block([0.9, 0.4, 0.4], [1.5, 0.6, 0.6])];
    let (_, report) = united(&all);
    let wanted = 1.0 - 0.216 + 0.5 * 0.04;
    assert!((report.volume - wanted).abs() < 1e-5, "{} of {wanted}", report.volume);
}

#[test]
fn new_corners_show_what_their_triangle_shows() {
    let both = joined(&[block([0.0; 3], [1.0; 3]), block([0.5, 0.3, 0.4], [1.5, 1.3, 1.4])]);
    let mut mesh = both;
    // Coordinates, the light of colours, material and part say where a point is and which part it is of.
    mesh.uvs = mesh.positions.iter().map(|p| [p[0] + 2.0 * p[2], p[1]]).collect();
    mesh.uvs2 = mesh.positions.iter().map(|p| [p[2] - p[1], p[0]]).collect();
    mesh.colors = mesh.positions.iter().map(|p| p.map(|v| srgb::byte(0.1 + 0.5 * v))).collect();
    mesh.triangle_material = (0..24).map(|t| u32::from(t >= 12)).collect();
    mesh.triangle_part = mesh.triangle_material.iter().map(|part| 1 - part).collect();
    let part = |name: &str| Part { object: name.into(), ..Part::default() };
    (mesh.parts, mesh.origin) = (vec![part("second"), part("first")], [7.0, 0.0, 0.0]);
    let (out, report) = check(&mesh);
    assert!(report.union.is_some_and(|union| union.united_parts == 2));
    assert_eq!((out.triangle_material.len(), out.uvs.len()), (out.triangles.len(), out.positions.len()));
    assert_eq!((out.triangle_part.len(), out.uvs2.len()), (out.triangles.len(), out.positions.len()));
    assert_eq!((&out.parts, out.origin), (&mesh.parts, mesh.origin));
    for (t, corners) in out.triangles.iter().enumerate() {
        assert_eq!(out.triangle_part[t], 1 - out.triangle_material[t]);
        for v in corners {
            let (p, uv) = (out.positions[*v as usize], out.uvs2[*v as usize]);
            assert!((uv[0] - p[2] + p[1]).abs() < 1e-4 && (uv[1] - p[0]).abs() < 1e-4, "{p:?} {uv:?}");
            let (p, uv, color) = (out.positions[*v as usize], out.uvs[*v as usize], out.colors[*v as usize]);
            assert!((uv[0] - p[0] - 2.0 * p[2]).abs() < 1e-4 && (uv[1] - p[1]).abs() < 1e-4, "{p:?} {uv:?}");
            let light = color.map(srgb::linear);
            assert!((0..3).all(|k| (light[k] - 0.1 - 0.5 * p[k]).abs() < 0.01), "{p:?} {color:?}");
            let low = if out.triangle_material[t] == 0 { [0.0; 3] } else { [0.5, 0.3, 0.4] };
            assert!(
                (0..3).all(|k| p[k] > low[k] - 1e-5 && p[k] < low[k] + 1.0 + 1e-5),
                "of another part: {p:?}"
            );
        }
    }
}

#[test]
fn a_part_that_passes_through_itself_is_left_and_told_of() {
    // A ball of which one half was pushed through the other, with a box across the fold, closed by itself or by a cap.
    let mut folded = ball([0.0; 3], 1.0, 12);
    folded.positions.iter_mut().for_each(|p| p[1] = if p[1] > 0.5 { 0.5 - 4.5 * (p[1] - 0.5) } else { p[1] });
    for across in [block, open_block] {
        let both = joined(&[folded.clone(), across([-0.3, -2.0, -0.2], [0.35, 2.0, 0.25])]);
        let (out, report) = check(&both);
        assert_eq!(out.triangles.len(), both.triangles.len());
        assert_eq!(report.union.map(|union| union.left_parts), Some(2), "{:?}", report.notes);
        let told =
            |note: &String| note.contains("cannot be united: what overlaps counts twice, also in meshes");
        assert!(report.notes.iter().any(told), "{:?}", report.notes);
    }
}

#[test]
fn a_cavity_belongs_to_the_solid_round_it_and_not_to_one_whose_box_holds_it() {
    // A sleeve that is open above, round one end of a long block: its box holds the cavity, and is smaller.
    let profile: [[f64; 2]; 8] = [
        [-0.15, -0.15],
        [1.15, -0.15],
        [1.15, 1.15],
        [0.95, 1.15],
        [0.95, 0.05],
        [0.05, 0.05],
        [0.05, 1.15],
        [-0.15, 1.15],
    ];
    let mut sleeve = Mesh::default();
    for x in [0.1, 0.9] {
        sleeve.positions.extend(profile.map(|[y, z]| [x, y as f32, z as f32]));
    }
    for [a, b, c, d] in [[0, 1, 4, 5], [1, 2, 3, 4], [0, 5, 6, 7]] {
        let upper = [a, b, c, d].map(|v: u32| v + 8);
        sleeve.triangles.extend([[a, c, b], [a, d, c]]);
        sleeve.triangles.extend([[upper[0], upper[1], upper[2]], [upper[0], upper[2], upper[3]]]);
    }
    for i in 0..8 {
        let j = (i + 1) % 8;
        sleeve.triangles.extend([[i, j, j + 8], [i, j + 8, i + 8]]);
    }
    let mut hollow = block([0.3; 3], [0.7; 3]);
    hollow.triangles.iter_mut().for_each(|t| t.swap(0, 2));
    let (_, report) = united(&[block([0.0; 3], [3.0, 1.0, 1.0]), hollow, sleeve]);
    let outside = 1.69 - 0.99 - (1.0 - 0.9 * 0.95);
    let wanted = 3.0 - 0.064 + 0.8 * outside;
    assert!((report.volume - wanted).abs() < 1e-4, "{} of {wanted}", report.volume);
}

#[test]
fn thousands_of_parts_are_united_where_they_overlap() {
    // A row of boxes in pairs that overlap by a half, each pair apart from the next.
    let count = 4_200;
    let at = |i: u32| f64::from(i / 2) * 4.0 + f64::from(i % 2) * 0.5;
    let all: Vec<Mesh> = (0..count).map(|i| block([at(i), 0.0, 0.0], [at(i) + 1.0, 1.0, 1.0])).collect();
    let (_, report) = check(&joined(&all));
    let union = report.union.clone().unwrap();
    assert_eq!((union.united_parts, union.left_parts), (count as usize, 0), "{:?}", report.notes);
    // New corners lie on faces that were moved inward by 2^-22 of the file's 8,398, four roundings of its numbers: 0.2 % of a
    // box.
    assert!((report.volume / (1.5 * f64::from(count) / 2.0) - 1.0).abs() < 4e-3, "{}", report.volume);
}

#[test]
fn nothing_is_united_once_it_is_cancelled() {
    let both = joined(&[block([0.0; 3], [1.0; 3]), block([0.5; 3], [1.5; 3])]);
    let progress = Progress::default();
    progress.cancel();
    let found = unite(&both, false, &progress);
    assert!(found.mesh.is_none() && (found.parts, found.left) == (0, 0), "{found:?}");
}

/// A tube of a radius along a closed curve of `steps` places, with `round` corners around; `place` gives the middle.
fn tube(steps: u32, round: u32, radius: f64, place: impl Fn(f64) -> DVec3) -> Mesh {
    let mut mesh = Mesh::default();
    let mut up = DVec3::Z;
    for k in 0..steps {
        let at = |k: f64| place(k / f64::from(steps) * std::f64::consts::TAU);
        let along = (at(f64::from(k) + 0.5) - at(f64::from(k) - 0.5)).normalize();
        up = (up - along * up.dot(along)).normalize();
        let aside = along.cross(up);
        for j in 0..round {
            let turn = f64::from(j) / f64::from(round) * std::f64::consts::TAU;
            let p = at(f64::from(k)) + radius * (up * turn.cos() + aside * turn.sin());
            mesh.positions.push(p.to_array().map(|v| v as f32));
        }
        for j in 0..round {
            let (next, far) = ((j + 1) % round, (k + 1) % steps * round);
            let [a, b, c, d] = [k * round + j, k * round + next, far + j, far + next];
            mesh.triangles.extend([[a, d, b], [a, c, d]]);
        }
    }
    mesh
}

#[test]
fn a_tube_along_an_eight_encloses_its_crossing_once() {
    // Both ways cross at right angles, so that what they share is that of two round bars, of 16 r^3 / 3.
    let radius = 0.1;
    let eight = |t: f64| DVec3::new(t.sin(), t.sin() * t.cos(), 0.0);
    for (steps, round) in [(96, 16), (401, 37), (480, 40)] {
        let (out, report) = united(&[tube(steps, round, radius, eight)]);
        let union = report.union.clone().unwrap();
        assert!(report.crossing_pairs > 0 && report.components == 1);
        assert_eq!(
            (union.united_alone, union.left_alone, union.united_parts),
            (1, 0, 0),
            "{:?}",
            report.notes
        );
        let (shared, wanted) = (union.volume_before - union.volume_after, 16.0 / 3.0 * radius.powi(3));
        assert!((shared / wanted - 1.0).abs() < 0.06, "{shared} of {wanted}");
        assert!((volume_of(&out) - union.volume_after).abs() < 1e-6);
        assert!(report.notes.iter().any(|note| note.contains("united with itself")), "{:?}", report.notes);
        // New corners are rounded, after which single slivers may pass through each other; nothing is cut again.
        let (again, second) = check(&out);
        assert!(20 * second.crossing_pairs <= report.crossing_pairs, "{:?}", second.notes);
        assert_eq!((again.triangles.len(), second.union), (out.triangles.len(), None), "{:?}", second.notes);
    }
}

#[test]
fn layers_within_each_other_and_another_part_become_one_surface() {
    // The tube goes round twice, and both turns lie in each other but for a shift: places are enclosed up to twice.
    let twice = |t: f64| {
        let far = 1.0 + 0.05 * t.cos();
        DVec3::new(far * (2.0 * t).cos(), far * (2.0 * t).sin(), 0.02 * t.sin())
    };
    let ring = tube(200, 24, 0.2, twice);
    let (_, report) = united(std::slice::from_ref(&ring));
    let union = report.union.unwrap();
    assert_eq!((union.united_alone, union.left_alone), (1, 0), "{:?}", report.notes);
    assert!(
        union.volume_after > 0.5 * union.volume_before && union.volume_after < 0.75 * union.volume_before
    );
    let alone = union.volume_after;
    // A ball far off stays as it is, and one on the ring becomes a part of it.
    let (_, report) = united(&[ring.clone(), ball([3.0, 0.0, 0.0], 0.3, 16)]);
    let union = report.union.unwrap();
    let apart = volume_of(&ball([3.0, 0.0, 0.0], 0.3, 16));
    assert_eq!((union.united_alone, union.united_parts), (1, 0), "{:?}", report.notes);
    assert!((union.volume_after - alone - apart).abs() < 1e-4, "{union:?}");
    let (_, report) = united(&[ring, ball([1.0, 0.1, 0.0], 0.4, 16)]);
    let union = report.union.unwrap();
    assert_eq!((union.united_alone, union.united_parts), (1, 2), "{:?}", report.notes);
    assert!(union.volume_after > alone && union.volume_after < alone + volume_of(&ball([0.0; 3], 0.4, 16)));
}

#[test]
fn a_part_whose_layers_meet_in_points_says_that_it_passes_through_itself() {
    // Three ways through one middle: three sheets meet in points.
    let knot = |t: f64| DVec3::new((2.0 * t).sin(), (3.0 * t).sin(), 0.0);
    let (out, report) = check(&tube(240, 16, 0.15, knot));
    let union = report.union.clone().unwrap();
    assert_eq!(union.united_alone + union.left_alone, 1, "{:?}", report.notes);
    let (_, again) = check(&out);
    // Whatever cannot be united is said, and what was said to be united is.
    assert_eq!(again.crossing_pairs == 0, union.united_alone == 1, "{:?}", again.notes);
}
