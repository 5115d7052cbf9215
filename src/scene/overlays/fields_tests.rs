//! What is drawn of distance fields and sphere trees against the field and the trees themselves.

use std::collections::BTreeMap;

use glam::DVec3;

use super::{
    Cut, Part,
    tests::{Bench, drawn},
};
use crate::{bodies::field::distance::Interior as _, fracture::Surface, render::piece_color};

const CUT: Cut = Cut { axis: 1, percent: 45 };

#[test]
fn iso_lines_lie_where_the_field_says_and_pieces_have_their_colours() {
    let Some(bench) = Bench::of("statue") else { return };
    let inside = bench.read(Surface::Planar, &[Part::FieldSlice(CUT)]);
    let fields = inside.fields.as_ref().expect("they were asked for");
    let shown = drawn(&inside, Part::FieldSlice(CUT));
    let field = fields.field();
    let apart = field.lattice().cell / 2.0;
    assert!(shown.lines.len() > 200 && shown.triangles.len() > 400, "{} lines", shown.lines.len());
    let mut farthest = 0.0f64;
    for line in &shown.lines {
        let p = line.start.as_dvec3();
        let id = field.fragment_at(p).expect("a line lies in a fragment");
        let depth = field.fragment(id).and_then(|part| part.penetration(p)).expect("it is inside").distance;
        farthest = farthest.max((depth / apart - (depth / apart).round()).abs() * apart);
    }
    println!("{} lines, off by at most {farthest:.3} voxels; they lie {apart} apart", shown.lines.len());
    assert!(farthest < 0.3, "{farthest}");
    // The area in each colour is that of the samples of its piece.
    let mut areas: BTreeMap<[u8; 3], f32> = BTreeMap::new();
    for t in &shown.triangles {
        let middle = (t.a.as_dvec3() + t.b.as_dvec3() + t.c.as_dvec3()) / 3.0;
        *areas.entry([t.color[0], t.color[1], t.color[2]]).or_default() +=
            (t.b - t.a).cross(t.c - t.a).length() / 2.0;
        let Some(id) = field.fragment_at(middle) else { continue };
        let piece = fields.piece_of(id).expect("it is a piece");
        let own = piece_color(inside.fracture.pieces[piece].cell);
        let shaded = own.map(|c| (f64::from(c) * 0.82) as u8);
        let is_own = |c: [u8; 3]| c == own || c == shaded;
        // A run's middle may lie in the next piece where it is short.
        let run = (t.b - t.a).length().max((t.c - t.b).length());
        assert!(run < 1.5 || is_own([t.color[0], t.color[1], t.color[2]]), "{middle}");
    }
    assert!(areas.len() > 3, "{areas:?}");
}

#[test]
fn fronts_grow_step_by_step_from_what_is_exact() {
    let Some(bench) = Bench::of("statue") else { return };
    let inside = bench.read(Surface::Planar, &[Part::Fronts(CUT, None)]);
    let steps = inside.fields.as_ref().expect("they were asked for").steps();
    assert!(steps >= 2, "{steps} steps");
    let counts: Vec<[usize; 3]> = (0..=steps)
        .map(|step| {
            let points = drawn(&inside, Part::Fronts(CUT, Some(step))).points;
            let of = |color: [u8; 4]| points.iter().filter(|p| p.color == color).count();
            [points.len(), of(super::fields::UNTOUCHED), of(super::fields::NOW)]
        })
        .collect();
    println!("nodes, untouched, red by step: {counts:?}");
    assert!(counts.windows(2).all(|two| two[0][0] == two[1][0] && two[1][1] <= two[0][1]));
    assert_eq!(counts[0][2], 0, "what is exact is no front");
    assert!(counts[1][2] > 0 && counts[1][1] < counts[0][1]);
    let all = drawn(&inside, Part::Fronts(CUT, None));
    assert_eq!(all.points.len(), counts[0][0]);
}

#[test]
fn spheres_of_a_level_hold_the_points_of_their_piece() {
    let Some(bench) = Bench::of("statue") else { return };
    let inside = bench.read(Surface::Planar, &[Part::Spheres(None)]);
    let fields = inside.fields.as_ref().expect("they were asked for");
    let mut before = 0;
    for level in [2, 5, fields.levels()] {
        let mut spheres = 0;
        for forest in fields.forests() {
            let all: Vec<(DVec3, f64)> = forest.spheres_of_level(level).collect();
            spheres += all.len();
            // Roots may come in below the level; those of the last level are all there.
            let held = |p: DVec3| all.iter().any(|(centre, radius)| centre.distance(p) <= radius + 1e-9);
            let count = forest.points().filter(|point| held(point.position)).count();
            assert!(all.is_empty() || 2 * count > forest.len(), "level {level}: {count} of {}", forest.len());
            assert!(level < fields.levels() || count == forest.len());
        }
        assert!(spheres > before, "level {level}");
        before = spheres;
        let shown = drawn(&inside, Part::Spheres(Some(level)));
        assert_eq!(shown.points.len(), spheres.min(super::fields::MOST_SPHERES));
        assert!(shown.lines.len() <= 60 * shown.points.len() && (level > 5 || !shown.lines.is_empty()));
    }
    // A level beyond the last is the last.
    let beyond = drawn(&inside, Part::Spheres(Some(999)));
    assert_eq!(beyond.points.len(), drawn(&inside, Part::Spheres(Some(fields.levels()))).points.len());
}

#[test]
fn cuts_are_read_and_wrong_ones_are_told() {
    assert_eq!("field-slice".parse(), Ok(Part::FieldSlice(Cut::default())));
    assert_eq!("field-slice:x40".parse(), Ok(Part::FieldSlice(Cut { axis: 0, percent: 40 })));
    assert_eq!("fronts:y".parse(), Ok(Part::Fronts(Cut { axis: 1, percent: 50 }, None)));
    assert_eq!("fronts:z0:3".parse(), Ok(Part::Fronts(Cut { axis: 2, percent: 0 }, Some(3))));
    assert_eq!("spheres:4".parse(), Ok(Part::Spheres(Some(4))));
    for (bad, says) in [
        ("field-slice:w40", "as in x40"),
        ("field-slice:x101", "as in x40"),
        ("field-slice:", "as in x40"),
        ("fronts:x40:y", "whole number"),
        ("spheres:x", "whole number"),
    ] {
        let error = bad.parse::<Part>().expect_err(bad);
        assert!(error.contains(says) && !error.contains('\n'), "{bad}: {error}");
    }
}
