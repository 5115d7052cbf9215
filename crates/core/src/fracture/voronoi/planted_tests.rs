//! Errors planted in the kernels that a fracture with flat cracks runs, one at a time: the descent, which objects hold
//! anything, pruning, splitting into islands, and the copies with their planes. Each has to show beside the plain
//! reference, or where that has nothing to say of it, as of planes and colours, beside the cores.

use std::sync::Arc;

use super::{
    testing::{Bench, alone, ball, cavity, comb, difference, seeds, shell},
    whole_tests,
};
use crate::{
    fracture::{Fracturer, Pattern, Recipe},
    gpu::{GpuError, shaders::planting::with_error},
    svo::Forest,
};

/// What is broken: islands, a cavity, objects of several cells, seeds equally far from whole planes of corners, and a
/// piece of a piece.
fn cases() -> Vec<(Arc<Forest>, Pattern)> {
    let mut merged = seeds(6, 30, 9);
    merged.objects = (0..30).map(|s| s - s % 3).collect();
    let points = [[8, 8, 8], [24, 8, 8], [8, 24, 8], [24, 24, 24], [24, 24, 24], [8, 8, 24]];
    let points = points.map(|p: [i32; 3]| glam::IVec3::from_array(p).as_dvec3());
    let pieces = Bench::get().run(&Arc::new(shell(6)), 0, &seeds(6, 14, 3), None).forest;
    vec![
        (Arc::new(shell(6)), seeds(6, 30, 9)),
        (Arc::new(comb(6)), seeds(6, 20, 4)),
        (Arc::new(cavity(6)), merged),
        (Arc::new(ball(5)), Pattern::from_points(&points, 5).unwrap()),
        (Arc::new(alone(&pieces, 0)), seeds(6, 14, 44)),
    ]
}

/// How a fracturer's results differ from the reference's, and from those of the cores.
fn found(fracturer: &Fracturer, cases: &[(Arc<Forest>, Pattern)]) -> [Option<String>; 2] {
    let recipe = Recipe::default();
    let cores = whole_tests::on_cores();
    let beside_cores = |(forest, pattern): &(Arc<Forest>, Pattern)| {
        Bench::get().with_source(forest, 0, |source| {
            let by_cores = cores.fracture(source, pattern, &recipe).unwrap();
            match fracturer.fracture(source, pattern, &recipe) {
                Ok(fracture) => whole_tests::difference(&fracture, &by_cores),
                Err(error) => Some(error.to_string()),
            }
        })
    };
    let beside_reference = |(forest, pattern)| difference(fracturer, forest, pattern, &recipe);
    [
        cases.iter().map(|(forest, pattern)| (forest, pattern)).find_map(beside_reference),
        cases.iter().find_map(beside_cores),
    ]
}

/// Kernel, the text that is replaced, by which, and whether the reference says something of it.
const ERRORS: [(&str, &str, &str, bool); 20] = [
    ("descent/count", "live & internal & ~rivals", "live & internal", true),
    ("descent/count", "alive & rivals;", "alive & rivals & 0xfeu;", true),
    ("descent/emit", "upper_count, c >= 4u)[c & 3u];", "upper_count, c >= 4u)[c & 3u] - u32(c == 7u);", true),
    ("descent/emit", "(pair.key << 3u) | c, 0u", "(pair.key << 3u) | (c ^ 1u), 0u", true),
    ("descent/emit", "Pair(source_below(pair, c)", "Pair(source_below(pair, firstTrailingBit(alive))", true),
    ("descent/leaves_count", "vec3<i32>(vec3<u32>(seed) < own[row])", "vec3<i32>(0i)", true),
    ("descent/leaves_count", "(owned & corners) == corners", "(owned & corners) != 0u", true),
    ("descent/leaves_count", "lead < own_lead[row];", "vec3<bool>(false);", true),
    ("octrees/prune_keep", "mask &= ~bit;", "", true),
    ("octrees/prune_keep", "(masks_below[child] & 0xffffu) == WHOLE", "false", true),
    ("octrees/prune_keep", "octants != 0u && (", "(", false),
    ("octrees/prune_write", "masks[i] & 0xffffu", "masks[i] & 0x7fffu", true),
    ("octrees/split_range", "max(range.y, below.y)", "range.y", true),
    ("octrees/split_range", "min(range.x, below.x)", "range.x", true),
    ("octrees/split_count", "label <= range.y", "label < range.y", true),
    ("surface/place", "key | firstTrailingBit(rest)", "key | (firstTrailingBit(rest) ^ 1u)", true),
    ("surface/planar/leaves_emit", "other_objects += (uncounted >> k) & 1u;", "", true),
    ("surface/planar/leaves_emit", "step.x + step.y", "step.x", false),
    ("surface/planar/leaves_emit", "near_face > farthest", "near_face < farthest", false),
    ("surface/planar/leaves_emit", "cuts_add(&cuts, plane_of_cut(cut));", "", false),
];

#[test]
fn errors_planted_in_the_kernels_are_found() {
    let (bench, cases) = (Bench::get(), cases());
    assert_eq!(found(&bench.fracturer, &cases), [None, None], "as it is");
    let mut unnoticed = Vec::new();
    for (name, from, to, by_reference) in ERRORS {
        let path: &'static str = format!("fracture/voronoi/{name}").leak();
        let [plain, beside_cores] = with_error(path, (from, to), || {
            let fracturer = Fracturer::new(&bench.gpu)?;
            Ok::<_, GpuError>(found(&fracturer, &cases))
        })
        .unwrap();
        println!("{name} with '{to}': {plain:?}; {beside_cores:?}");
        if beside_cores.is_none() || (by_reference && plain.is_none()) {
            unnoticed.push((name, to));
        }
    }
    assert!(unnoticed.is_empty(), "{unnoticed:?}");
}
