//! What is drawn of distance fields and sphere trees against the field and the trees themselves.

use std::collections::BTreeMap;

use glam::DVec3;

use super::{
    Cut, Maker, Part,
    field_slice::{SliceArrays, apart_on},
    tests::{Bench, drawn},
};
use crate::{fracture::Surface, papers::field::distance::Interior as _, render::piece_color};

const CUT: Cut = Cut { axis: 1, percent: 45 };

fn on_cut(maker: Maker) -> Part {
    Part { cut: CUT, ..maker.into() }
}

#[test]
fn iso_lines_lie_where_the_field_says_and_pieces_have_their_colours() {
    let Some(bench) = Bench::of("statue") else { return };
    let inside = bench.read(Surface::Planar, &[on_cut(Maker::FieldSlice)]);
    let fields = inside.fields.as_ref().expect("they were asked for");
    let shown = drawn(&inside, on_cut(Maker::FieldSlice));
    let field = fields.field();
    let apart = apart_on(fields, CUT);
    assert!(shown.lines.len() > 200 && shown.triangles.len() > 400, "{} lines", shown.lines.len());
    let mut off = Vec::new();
    for line in &shown.lines {
        let p = line.start.as_dvec3();
        let id = field.fragment_at(p).expect("a line lies in a fragment");
        let depth = field.fragment(id).and_then(|part| part.penetration(p)).expect("it is inside").distance;
        off.push((depth - (depth / apart).round() * apart).abs());
    }
    // Between samples a depth jumps where what is exact ends, a cell deep.
    off.sort_by(f64::total_cmp);
    let [median, most] = [off[off.len() / 2], off[off.len() - 1]];
    println!(
        "{} lines, off by {median:.3} voxels in the median, {most:.3} at most; they lie {apart} apart",
        off.len()
    );
    // By chance it would be a quarter.
    assert!(median < 0.15 * apart, "{median}");
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
fn a_written_slice_has_the_field_at_its_points() {
    let Some(bench) = Bench::of("statue") else { return };
    let inside = bench.read(Surface::Planar, &[on_cut(Maker::FieldSlice)]);
    let fields = inside.fields.as_ref().expect("they were asked for");
    let ids: Vec<i32> = (0..inside.fracture.forest.trees() as i32).map(|tree| 1000 + tree).collect();
    let slice = SliceArrays::of(&inside, CUT, 5, &ids).expect("it has a field");
    assert_eq!(slice.points.len(), slice.rows * slice.columns);
    let mut inside_one = 0;
    for (k, at) in slice.points.iter().enumerate() {
        let p = DVec3::from_array(*at);
        let id = fields.field().fragment_at(p);
        let depth = id.and_then(|id| fields.field().fragment(id)).and_then(|part| part.penetration(p));
        let Some((id, depth)) = id.zip(depth) else {
            assert_eq!((slice.distances[k], slice.cells[k], slice.pieces[k]), (0.0, -1, -1), "{p}");
            continue;
        };
        let piece = &inside.fracture.pieces[fields.piece_of(id).expect("it is a piece")];
        assert_eq!((slice.distances[k], slice.directions[k]), (depth.distance, depth.direction.to_array()));
        let wanted = (5 + piece.cell as i32, 1000 + piece.tree as i32);
        assert_eq!((slice.cells[k], slice.pieces[k]), wanted, "{p}");
        inside_one += 1;
    }
    assert!(inside_one > 500, "{inside_one} samples lie in a piece");
}

#[test]
fn fronts_grow_step_by_step_from_what_is_exact() {
    let Some(bench) = Bench::of("statue") else { return };
    let inside = bench.read(Surface::Planar, &[on_cut(Maker::Fronts)]);
    let steps = inside.fields.as_ref().expect("they were asked for").steps();
    assert!(steps >= 2, "{steps} steps");
    let counts: Vec<[usize; 3]> = (0..=steps)
        .map(|step| {
            let points = drawn(&inside, on_cut(Maker::Fronts).at(step)).points;
            let of = |color: [u8; 4]| points.iter().filter(|p| p.color == color).count();
            [points.len(), of(super::fields::UNTOUCHED), of(super::fields::NOW)]
        })
        .collect();
    println!("nodes, untouched, red by step: {counts:?}");
    assert!(counts.windows(2).all(|two| two[0][0] == two[1][0] && two[1][1] <= two[0][1]));
    assert_eq!(counts[0][2], 0, "what is exact is no front");
    assert!(counts[1][2] > 0 && counts[0][1] < counts[0][0], "a front sets out from what is exact");
    let all = drawn(&inside, on_cut(Maker::Fronts));
    assert_eq!(all.points.len(), counts[0][0]);
}

#[test]
fn spheres_are_those_of_the_trees_level_by_level() {
    let Some(bench) = Bench::of("statue") else { return };
    let inside = bench.read(Surface::Planar, &[Maker::Spheres.into()]);
    let fields = inside.fields.as_ref().expect("they were asked for");
    let mut before = 0;
    for level in [2, 5, fields.levels()] {
        let shown = drawn(&inside, Part::from(Maker::Spheres).at(level));
        let all: Vec<(usize, (DVec3, f64))> = fields
            .forests()
            .iter()
            .enumerate()
            .flat_map(|(piece, forest)| forest.spheres_of_level(level).map(move |sphere| (piece, sphere)))
            .take(super::fields::MOST_SPHERES)
            .collect();
        assert!(
            all.len() == shown.points.len() && all.len() > before,
            "level {level}: {} spheres",
            all.len()
        );
        before = all.len();
        let mut lines = shown.lines.iter();
        for ((piece, (centre, radius)), point) in all.iter().zip(&shown.points) {
            assert!(point.at.as_dvec3().distance(*centre) < 1e-4);
            assert_eq!(point.color[..3], piece_color(inside.fracture.pieces[*piece].cell));
            // Three circles, none for a point alone.
            for line in lines.by_ref().take(if *radius > 0.0 { 60 } else { 0 }) {
                let reach = line.start.as_dvec3().distance(*centre);
                assert!((reach - radius).abs() < 1e-3, "level {level}: {reach}, not {radius}");
            }
        }
        assert!(lines.next().is_none());
    }
    // A level beyond the last is the last.
    assert_eq!(drawn(&inside, Part::from(Maker::Spheres).at(999)).points.len(), before);
}

#[test]
fn cuts_are_read_and_wrong_ones_are_told() {
    let cut = |maker: Maker, axis, percent| Part { cut: Cut { axis, percent }, ..maker.into() };
    assert_eq!("field-slice".parse(), Ok(Part::from(Maker::FieldSlice)));
    assert_eq!("field-slice:x40".parse(), Ok(cut(Maker::FieldSlice, 0, 40)));
    assert_eq!("fronts:y".parse(), Ok(cut(Maker::Fronts, 1, 50)));
    assert_eq!("fronts:z0:3".parse(), Ok(cut(Maker::Fronts, 2, 0).at(3)));
    assert_eq!("spheres:4".parse(), Ok(Part::from(Maker::Spheres).at(4)));
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
