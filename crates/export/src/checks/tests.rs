//! A break made by hand, small enough to see: the checks hold on it, and each planted error fails the check
//! that is its own.

use std::sync::OnceLock;

use glam::DVec3;

use super::*;
use crate::{
    compute::Compute,
    fracture::{
        Break, Dropped, Fracture, FractureCounts, FractureParams, Fracturer, Merge, MissedFragments, Pattern,
        Piece, Recipe, Source, Volume, crack::CrackShape, parts_of,
    },
    shape::{Look, Octree, Shape, grid_mass},
    svo::{
        Arena, Forest, Grid, LeafColor, Leaves, Node, build, gather,
        morton::{Key, decode, encode},
        pack_normal,
    },
};

const LEVEL: u32 = 3;

/// A solid box 1..7 in all axes: its outermost voxels are leaves, the 4-cube within is inside.
fn solid() -> Forest {
    let on_edge = |v: u32| v == 1 || v == 6;
    let within = |v: u32| (1..=6).contains(&v);
    let mut leaves = Leaves::default();
    for key in 0..512 {
        let cell = decode(key);
        if cell.iter().all(|v| within(*v)) && cell.iter().any(|v| on_edge(*v)) {
            push(&mut leaves, key, false, 1.0);
        }
    }
    build(LEVEL, leaves, &|key: Key, level: u32| {
        let low = decode(key).map(|v| v << (LEVEL - level));
        low.iter().all(|v| (2..=5).contains(v))
    })
}

fn push(leaves: &mut Leaves, key: Key, crack: bool, coverage: f32) {
    leaves.keys.push(key);
    leaves.normals.push(pack_normal(glam::Vec3::Y));
    leaves.colors.push(LeafColor::new([100; 3], crack, 0.0));
    leaves.coverage.push(coverage);
    leaves.cuts.push(0);
}

/// Two trees, cut by the plane x = 3.5: voxels of the layer x = 3 have corners on both sides.
fn halves(source: &Forest) -> Forest {
    let mut halves = [Leaves::default(), Leaves::default()];
    for key in 0..512 {
        let cell = decode(key);
        let leaf = source.leaves.keys.binary_search(key).is_ok();
        let solid = cell.iter().all(|v| (1..=6).contains(v));
        let split = cell[0] == 3;
        if !solid || !(leaf || split) {
            continue;
        }
        for (half, leaves) in halves.iter_mut().enumerate() {
            if split || (cell[0] > 3) == (half == 1) {
                push(leaves, key, !leaf, if split { 0.5 } else { 1.0 });
            }
        }
    }
    let [low, high] = halves;
    let inside = |range: std::ops::RangeInclusive<u32>| {
        move |key: Key, level: u32| {
            let low = decode(key).map(|v| v << (LEVEL - level));
            range.contains(&low[0]) && low.iter().all(|v| (2..=5).contains(v))
        }
    };
    join([build(LEVEL, low, &inside(2..=2)), build(LEVEL, high, &inside(4..=5))])
}

/// Two forests of one tree as one forest of two.
fn join([a, b]: [Forest; 2]) -> Forest {
    let level = a.level as usize;
    let mut out = Forest { level: a.level, level_start: vec![0], ..Forest::default() };
    for l in 0..level {
        let part = |f: &Forest| f.nodes[f.level_start[l] as usize..f.level_start[l + 1] as usize].to_vec();
        let (first, second) = (part(&a), part(&b));
        let here = out.nodes.len() + first.len() + second.len();
        let counts = [&a, &b].map(|f| {
            if l + 1 < level { f.level_start[l + 2] - f.level_start[l + 1] } else { f.leaves.len() as u32 }
        });
        for (forest, nodes, shift) in [(&a, first, 0), (&b, second, counts[0])] {
            let old = if l + 1 < level { forest.level_start[l + 1] } else { 0 };
            let new = if l + 1 < level { here as u32 } else { 0 };
            out.nodes.extend(
                nodes
                    .into_iter()
                    .map(|n| Node { child_base: n.child_base - old + new + shift, masks: n.masks }),
            );
        }
        out.level_start.push(out.nodes.len() as u32);
    }
    out.tree_start = vec![0, a.leaves.len() as u32, (a.leaves.len() + b.leaves.len()) as u32];
    out.leaves = a.leaves;
    out.leaves.keys.extend(&b.leaves.keys);
    out.leaves.normals.extend(b.leaves.normals);
    out.leaves.colors.extend(b.leaves.colors);
    out.leaves.coverage.extend(b.leaves.coverage);
    out.leaves.cuts.extend(b.leaves.cuts);
    out
}

fn broken() -> BrokenObject {
    let source = solid();
    let forest = halves(&source);
    let piece = |tree: u32| {
        let mass = grid_mass(&forest, tree as usize);
        Piece { tree, cell: tree, voxels: mass.voxels, mass }
    };
    let counts = FractureCounts {
        source_leaves: source.leaves.len() as u64,
        crack_voxels: 16,
        fbs: forest.leaves.len() as u64,
        cells: 2,
        islands: 0,
        pieces: 2,
        ..FractureCounts::default()
    };
    let mut pieces = vec![piece(0), piece(1)];
    pieces.sort_by_key(|p| std::cmp::Reverse(p.voxels));
    let middle = |x: f64| DVec3::new(x, 4.0, 4.0);
    let pattern = Pattern::from_points(&[middle(1.5), middle(5.5)], LEVEL).unwrap();
    let fracture = Fracture {
        forest: Arc::new(forest),
        pieces,
        counts,
        dust_volume: 0.0,
        volume: Volume::default(),
        timings: Vec::new(),
        dropped: None,
        merges: Vec::new(),
    };
    let detail =
        VoronoiDetail { island_level: LEVEL, recipe: Recipe::default(), hidden: OnceLock::new(), fracture };
    of_detail(source, pattern, detail)
}

/// What `detail` says, as a whole break by `pattern`.
fn of_detail(source: Forest, pattern: Pattern, detail: VoronoiDetail) -> BrokenObject {
    let octree = Octree::new(&Arc::new(source), 0, Grid::around(DVec3::ZERO, DVec3::ONE, LEVEL));
    let shape = Arc::new(Shape::octree(octree.clone(), 1.0, Look::default()));
    let parts = parts_of(&shape, &octree, &detail.fracture.forest, &detail.fracture.pieces);
    let count = parts.len();
    let result = Break {
        parts,
        objects: detail.fracture.objects(&pattern),
        counts: detail.fracture.counts,
        pattern: Some(pattern),
        detail: Some(Arc::new(detail)),
        ..Break::default()
    };
    let step = BreakStep { parent: None, generation: 1, first_cell: 0, result };
    let pieces = (0..count).map(|piece| crate::PieceRef { step: 0, piece }).collect();
    BrokenObject { source: shape, steps: vec![step], pieces, broken_again: Vec::new() }
}

/// The same with another detail.
fn altered(broken: &BrokenObject, change: impl FnOnce(&mut VoronoiDetail)) -> BrokenObject {
    let result = &broken.steps[0].result;
    let mut detail = VoronoiDetail::of(result).unwrap().clone();
    change(&mut detail);
    of_detail((*broken.source_octree().forest).clone(), result.pattern.clone().unwrap(), detail)
}

/// The same as if other cells had been broken by.
fn with_pattern(mut broken: BrokenObject, change: impl FnOnce(&mut Pattern)) -> BrokenObject {
    change(broken.steps[0].result.pattern.as_mut().unwrap());
    broken
}

fn failing(broken: &BrokenObject) -> Vec<String> {
    check(broken).into_iter().filter(|c| !c.ok).map(|c| c.name).collect()
}

fn with_forest(change: impl FnOnce(&mut Forest)) -> BrokenObject {
    altered(&broken(), |detail| {
        let mut forest = (*detail.fracture.forest).clone();
        change(&mut forest);
        detail.fracture.forest = Arc::new(forest);
    })
}

#[test]
fn a_right_break_passes_every_check() {
    let broken = broken();
    let checks = check(&broken);
    assert_eq!(failing(&broken), Vec::<String>::new(), "{checks:#?}");
    assert_eq!(checks.len(), 10);
    let figure = |check: &str, name: &str| {
        checks.iter().find(|c| c.name == check).and_then(|c| c.figures.get(name)).copied()
    };
    assert_eq!(figure("voxels_before_are_voxels_after", "before"), Some(216.0));
    assert_eq!(figure("boundary_is_source_plus_crack", "crack_voxels"), Some(16.0));
    assert_eq!(figure("copies_are_the_corner_cells", "voxels_checked"), Some(168.0));
}

#[test]
fn a_wrong_seed_is_seen() {
    let seeds = [DVec3::new(1.5, 4.0, 4.0), DVec3::new(6.5, 4.0, 4.0)];
    let broken = with_pattern(broken(), |pattern| *pattern = Pattern::from_points(&seeds, LEVEL).unwrap());
    assert_eq!(failing(&broken), ["copies_are_the_corner_cells"]);
}

#[test]
fn a_face_inside_one_object_is_seen() {
    let broken = with_pattern(broken(), |pattern| pattern.objects = vec![0, 0]);
    let broken = altered(&broken, |detail| {
        detail.fracture.pieces.iter_mut().for_each(|piece| piece.cell = 0);
    });
    assert_eq!(failing(&broken), ["copies_are_the_corner_cells"]);
    let inner: Vec<f64> =
        check(&broken).iter().filter_map(|c| c.figures.get("inner_faces").copied()).collect();
    assert_eq!(inner, [16.0]);
}

#[test]
fn a_lost_inside_is_seen() {
    let broken = with_forest(|forest| {
        let internal = forest.nodes.iter_mut().find(|n| n.internal() != 0).unwrap();
        internal.masks &= 0xff;
    });
    let failed = failing(&broken);
    assert!(failed.contains(&"voxels_before_are_voxels_after".to_owned()), "{failed:?}");
    assert!(failed.contains(&"pieces_by_descending_size".to_owned()), "{failed:?}");
}

#[test]
fn a_wrong_crack_flag_is_seen() {
    let broken = with_forest(|forest| forest.leaves.colors[5].0 ^= 1 << 24);
    assert_eq!(failing(&broken), ["crack_flags"]);
}

#[test]
fn lost_mass_is_seen() {
    let broken = altered(&broken(), |detail| detail.fracture.pieces[1].mass.volume *= 1.0 - 1e-4);
    assert_eq!(failing(&broken), ["mass_before_is_mass_after"]);
}

#[test]
fn a_piece_in_two_parts_is_seen() {
    // The layer x = 2 and 3 of the low half is taken away: what is left of it is the shell at x = 1 and
    // nothing that joins it to a voxel planted at the far side.
    let mut leaves = Leaves::default();
    push(&mut leaves, encode([1, 1, 1]), false, 1.0);
    push(&mut leaves, encode([6, 6, 6]), false, 1.0);
    let two = build(LEVEL, leaves, &|_: Key, _: u32| false);
    assert!(!connected(&[(&two, 0)], LEVEL).ok);
}

#[test]
fn pieces_out_of_order_are_seen() {
    let mut broken = broken();
    broken.pieces.reverse();
    assert_eq!(failing(&broken), ["pieces_by_descending_size"]);
}

#[test]
fn a_hidden_part_that_has_a_copy_is_seen() {
    let with_part = |voxel: [u32; 3]| {
        let hidden = MissedFragments { parts: vec![(encode(voxel), 0)] };
        altered(&broken(), |detail| detail.hidden = hidden.into())
    };
    assert_eq!(failing(&with_part([3, 4, 4])), ["hidden_parts_are_counted"]);
    // A voxel of the other half only.
    let other = with_part([6, 4, 4]);
    assert_eq!(failing(&other), Vec::<String>::new());
}

#[test]
fn what_was_dropped_counts_and_what_was_lost_is_seen() {
    let broken = altered(&broken(), |detail| {
        let fracture = &mut detail.fracture;
        let pick = |piece: &Piece| {
            let forest = Arc::new(gather(LEVEL, &[(&fracture.forest, piece.tree as usize)]));
            (forest, vec![Piece { tree: 0, ..piece.clone() }])
        };
        let (kept, dropped) = (pick(&fracture.pieces[0]), pick(&fracture.pieces[1]));
        fracture.counts.fbs = kept.0.leaves.len() as u64;
        (fracture.forest, fracture.pieces) = kept;
        fracture.dropped = Some(Dropped { forest: dropped.0, pieces: dropped.1 });
    });
    assert_eq!(failing(&broken), Vec::<String>::new());
    let lost = |checks: &[Check]| checks.iter().find_map(|c| c.figures.get("dropped").copied());
    assert!(lost(&check(&broken)).is_some_and(|lost| lost > 0.0));
    let broken = altered(&broken, |detail| detail.fracture.dropped = None);
    let failed = failing(&broken);
    assert!(failed.contains(&"mass_before_is_mass_after".to_owned()), "{failed:?}");
    assert!(failed.contains(&"voxels_before_are_voxels_after".to_owned()), "{failed:?}");
}

#[test]
fn a_face_inside_a_joined_piece_is_seen() {
    let joined = |inner: bool| {
        let broken = broken();
        let source = Arc::clone(&broken.source_octree().forest);
        let mut forest = (*source).clone();
        if inner {
            let mut leaves = Leaves::default();
            for key in 0..512 {
                let leaf = source.leaves.keys.binary_search(key).is_ok();
                let crack = decode(key)[0] == 3 && source.is_internal(0, decode(key));
                if leaf || crack {
                    push(&mut leaves, key, crack, 1.0);
                }
            }
            forest = build(LEVEL, leaves, &|key: Key, level: u32| {
                let low = decode(key).map(|v| v << (LEVEL - level));
                low.iter().all(|v| (2..=5).contains(v)) && low[0] != 3
            });
        }
        let mass = grid_mass(&forest, 0);
        altered(&broken, |detail| {
            let fracture = &mut detail.fracture;
            fracture.counts.fbs = forest.leaves.len() as u64;
            fracture.counts.crack_voxels = if inner { 16 } else { 0 };
            fracture.pieces = vec![Piece { tree: 0, cell: 0, voxels: mass.voxels, mass }];
            fracture.forest = Arc::new(forest);
            fracture.merges = vec![Merge { piece: 0, cells: vec![0, 1] }];
        })
    };
    assert_eq!(failing(&joined(false)), Vec::<String>::new());
    assert_eq!(failing(&joined(true)), ["copies_are_the_corner_cells"]);
    let unsaid = altered(&joined(false), |detail| detail.fracture.merges.clear());
    assert_eq!(failing(&unsaid), ["copies_are_the_corner_cells"]);
}

#[test]
fn voxels_that_were_not_counted_are_seen() {
    let changes: [fn(&mut FractureCounts); 3] =
        [|counts| counts.crack_voxels -= 1, |counts| counts.fbs += 1, |counts| counts.source_leaves += 1];
    for change in changes {
        let broken = altered(&broken(), |detail| change(&mut detail.fracture.counts));
        assert_eq!(failing(&broken), ["boundary_is_source_plus_crack"]);
    }
}

#[test]
fn a_voxel_that_is_elsewhere_is_seen() {
    // The last leaf of either half, which lies in another block then.
    for half in [1, 2] {
        let broken = with_forest(|forest| {
            let last = forest.tree_start[half] as usize - 1;
            let keys: Vec<Key> = forest.leaves.keys.iter().collect();
            let moved = |(i, key)| if i == last { encode([7, 7, 7]) } else { key };
            forest.leaves.keys = keys.into_iter().enumerate().map(moved).collect();
        });
        let failed = failing(&broken);
        assert!(failed.contains(&"boundary_is_source_plus_crack".to_owned()), "{failed:?}");
        // Of the low half no node leads there.
        let outside = check(&broken).iter().find_map(|c| c.figures.get("outside").copied());
        assert_eq!(outside, Some(if half == 1 { 0.0 } else { 1.0 }));
    }
}

#[test]
fn a_share_that_is_too_small_or_too_large_is_seen() {
    for factor in [0.5, 1.5] {
        let broken = with_forest(|forest| {
            let shared = forest.leaves.coverage.iter().position(|coverage| *coverage < 1.0).unwrap();
            forest.leaves.coverage[shared] *= factor;
        });
        assert_eq!(failing(&broken), ["dust_is_what_is_gone"]);
    }
}

#[test]
fn a_damaged_octree_is_seen() {
    let broken = with_forest(|forest| forest.nodes[0].masks |= 1 << 16);
    assert_eq!(failing(&broken), ["octrees_are_valid"]);
}

/// A break on the cores.
fn broken_on_cores(surface: Surface) -> BrokenObject {
    broken_at(&[1.5, 5.5], surface)
}

/// The same by seeds in the middle of y and z at these x.
fn broken_at(seeds: &[f64], surface: Surface) -> BrokenObject {
    let source = Arc::new(solid());
    let seeds: Vec<DVec3> = seeds.iter().map(|x| DVec3::new(*x, 4.0, 4.0)).collect();
    let pattern = Pattern::from_points(&seeds, LEVEL).unwrap();
    let crack = CrackShape { transition_level: Some(2), ..Default::default() };
    let recipe = Recipe { surface, crack, ..Recipe::default() };
    let mut arena = Arena::new(Compute::Cpu).unwrap();
    arena.insert(&source).unwrap();
    let fracturer = Fracturer::new(Compute::Cpu).unwrap();
    let from = Source::new(&arena, &source, 0).unwrap();
    let fracture = fracturer.fracture(&from, &pattern, &recipe).unwrap();
    let hidden = OnceLock::new();
    of_detail((*source).clone(), pattern, VoronoiDetail { island_level: LEVEL, recipe, hidden, fracture })
}

#[test]
fn the_hidden_parts_of_a_break_are_found_once_they_are_needed() {
    // Cells meet at x = 3.25 and 3.75: the one between them lies inside the layer of voxels at 3.
    let (broken, rough) = (broken_at(&[3.0, 3.5, 4.0], Surface::Planar), broken_on_cores(Surface::Rough));
    let step = &broken.steps[0];
    let detail = VoronoiDetail::of(&step.result).unwrap();
    assert!(detail.hidden.get().is_none(), "a break does not look for them");
    let ((forest, tree), pattern) = (broken.source_of(step), step.result.pattern.as_ref().unwrap());
    let hidden = detail.hidden_in((forest, tree), pattern).unwrap();
    let layer = (0..512).filter(|key| {
        let cell = decode(*key);
        cell[0] == 3 && cell.iter().all(|v| (1..=6).contains(v))
    });
    assert_eq!(hidden.parts, layer.map(|key| (key, 1)).collect::<Vec<(Key, u32)>>());
    assert_eq!(hidden.parts.len(), 36);
    // The list is kept: another pattern would have none.
    let none = rough.steps[0].result.pattern.as_ref().unwrap();
    assert!(std::ptr::eq(hidden, detail.hidden_in((forest, tree), none).unwrap()));
    let found = check(&broken).into_iter().find(|check| check.name == "hidden_parts_are_counted").unwrap();
    assert!(found.ok && found.figures["hidden"] == 36.0, "{found:?}");
    assert_eq!((found.figures["cells"], found.figures["cells_without_a_piece"]), (1.0, 1.0));
    let detail = VoronoiDetail::of(&rough.steps[0].result).unwrap();
    assert!(detail.hidden_in((forest, tree), none).is_none());
}

#[test]
fn another_crack_surface_than_the_seeds_is_seen() {
    for surface in [Surface::Rough, Surface::Dusty] {
        let broken = broken_on_cores(surface);
        assert_eq!(failing(&broken), Vec::<String>::new(), "{surface:?}");
        let seeds = [DVec3::new(1.5, 4.0, 4.0), DVec3::new(6.5, 4.0, 4.0)];
        let broken = with_pattern(broken, |pattern| *pattern = Pattern::from_points(&seeds, LEVEL).unwrap());
        assert_eq!(failing(&broken), ["copies_are_the_sides_of_the_crack"], "{surface:?}");
    }
}

#[test]
fn dust_that_was_not_counted_is_seen() {
    let broken = broken_on_cores(Surface::Dusty);
    let more = altered(&broken, |detail| detail.fracture.counts.dust_voxels += 1);
    assert_eq!(failing(&more), ["voxels_before_are_voxels_after", "dust_is_what_is_gone"]);
    let more = altered(&broken, |detail| detail.fracture.dust_volume += 0.1);
    assert_eq!(failing(&more), ["mass_before_is_mass_after", "dust_is_what_is_gone"]);
}

/// Users look a check up by the name that their report has.
#[test]
fn every_check_is_described() {
    let described = include_str!("../../../../docs/files.md");
    let mut names = 0;
    for source in [include_str!("../checks.rs"), include_str!("cracks.rs"), include_str!("voxels.rs")] {
        for call in source.split("Check::new(").skip(1) {
            let Some(name) = call.trim_start().strip_prefix('"').and_then(|rest| rest.split('"').next())
            else {
                continue;
            };
            names += 1;
            assert!(described.contains(&format!("`{name}`")), "docs/files.md does not describe {name}");
        }
    }
    assert!(names >= 11, "{names} checks");
}

#[test]
fn generations_of_box_cutting_pass_all_checks() {
    use crate::{
        fracture::{
            MethodId, Passes,
            generations::{Plan, break_object, default_impact},
        },
        import::import,
        voxelize::Progress,
    };
    let object = import("builtin:statue", 6, &Progress::default()).unwrap();
    let mut arena = Arena::new(Compute::Cpu).unwrap();
    let impact = default_impact(&object.shape, object.bounds);
    let params = FractureParams {
        method: MethodId::named("box-cut").unwrap(),
        seeds: 12,
        rng: 3,
        ..FractureParams::default()
    };
    let plan = Plan { impact, params, seeds: None, bounds: Some(object.bounds), generations: 4 };
    let all = break_object(&mut arena, &Passes::default(), &object.shape, &plan, &mut |_, _| {}).unwrap();
    assert!(all.steps.len() > 3);
    assert!(check(&all).iter().all(|check| check.ok));
}

/// The break by hand with other boundary voxels: `change` gets the tree, and key, crack flag and coverage of its voxels.
fn with_voxels(change: impl Fn(usize, &mut Vec<(Key, bool, f32)>)) -> BrokenObject {
    altered(&broken(), |detail| {
        let old = Arc::clone(&detail.fracture.forest);
        let trees = [0, 1].map(|tree| {
            let range = old.tree_start[tree] as usize..old.tree_start[tree + 1] as usize;
            let own = &old.leaves;
            let mut voxels: Vec<(Key, bool, f32)> =
                range.map(|i| (own.keys.at(i), own.colors[i].crack(), own.coverage[i])).collect();
            change(tree, &mut voxels);
            voxels.sort_unstable_by_key(|voxel| voxel.0);
            let mut leaves = Leaves::default();
            voxels.into_iter().for_each(|(key, crack, coverage)| push(&mut leaves, key, crack, coverage));
            build(LEVEL, leaves, &|key: Key, level: u32| {
                old.is_internal(tree, decode(key).map(|v| v << (LEVEL - level)))
            })
        });
        let forest = join(trees);
        for piece in &mut detail.fracture.pieces {
            piece.mass = grid_mass(&forest, piece.tree as usize);
            piece.voxels = piece.mass.voxels;
        }
        detail.fracture.forest = Arc::new(forest);
    })
}

fn gone(broken: &BrokenObject) -> Vec<String> {
    conserved(broken).into_iter().filter(|check| !check.ok).map(|check| check.name).collect()
}

#[test]
fn each_check_of_the_badge_sees_what_is_planted_for_it() {
    let (voxels, twice, mass, one) = (
        "voxels_before_are_voxels_after",
        "dust_is_what_is_gone",
        "mass_before_is_mass_after",
        "each_piece_is_connected",
    );
    for right in [broken(), with_voxels(|_, _| {})] {
        let checks = conserved(&right);
        assert_eq!(checks.iter().map(|check| &*check.name).collect::<Vec<_>>(), [voxels, twice, mass, one]);
        assert!(checks.iter().all(|check| check.ok), "{checks:#?}");
        assert!(checks.iter().all(|check| super::check(&right).contains(check)), "one figure in both");
    }
    // Hidden parts are counted only on demand.
    assert_eq!(
        gone(&altered(&broken(), |detail| detail.fracture.counts.hidden = None)),
        Vec::<String>::new()
    );
    let lost = with_voxels(|_, own| own.retain(|voxel| voxel.0 != encode([1, 2, 2])));
    assert_eq!(gone(&lost), [voxels, twice, mass]);
    // The voxel of one half a second time, beside the crack, so that both halves stay in one.
    let doubled = with_voxels(|tree, own| {
        if tree == 1 {
            own.push((encode([2, 1, 1]), false, 1.0));
        }
    });
    assert_eq!(gone(&doubled), [twice, mass]);
    assert_eq!(gone(&altered(&broken(), |detail| detail.fracture.pieces[0].mass.volume *= 1.001)), [mass]);
    // A far corner of the one half as part of the other.
    let apart = with_voxels(|tree, own| {
        let corner = encode([6, 6, 6]);
        own.retain(|voxel| voxel.0 != corner);
        if tree == 0 {
            own.push((corner, false, 1.0));
        }
    });
    assert_eq!(gone(&apart), [one]);
}
