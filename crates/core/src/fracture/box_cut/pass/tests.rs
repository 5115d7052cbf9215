//! The cells of the compute passes beside those of the twin, byte for byte; errors planted in the kernels.

use std::sync::OnceLock;

use super::{
    super::{
        breaker,
        cell::cells,
        complex::{Complex, Point},
        testing::{HIGH, LOW, Random, grid, on_a_sphere, shapes},
    },
    *,
};
use crate::{
    compute::Compute,
    fracture::Passes,
    gpu::{Layout, Shared, shaders::planting::with_error},
};

/// All that the kernels share with Rust.
pub(crate) fn layouts() -> Vec<Layout> {
    vec![CellParams::LAYOUT, GatherParams::LAYOUT]
}

/// Dispatches every kernel of this folder.
pub(crate) fn run_every_kernel() {
    let Some(bench) = Bench::get() else { return };
    bench.passes.run(&bench.gpu, &grid(2), LOW, HIGH).expect("cells");
}

/// One device for all tests here.
struct Bench {
    gpu: Gpu,
    passes: CellPasses,
}

impl Bench {
    fn get() -> Option<&'static Self> {
        static BENCH: OnceLock<Option<Bench>> = OnceLock::new();
        let made = || {
            let gpu = Gpu::for_test()?;
            let passes = CellPasses::new(&gpu).expect("the passes compile");
            Some(Bench { gpu, passes })
        };
        BENCH.get_or_init(made).as_ref()
    }
}

/// Sites, and the box that they are cut out of.
type Case = (String, Vec<Point>, [Point; 2]);

fn in_the_box(name: impl Into<String>, sites: Vec<Point>) -> Case {
    (name.into(), sites, [LOW, HIGH])
}

const WIDE: i32 = 1 << 15;

/// What is hard: everything that the tests of the cells have, sizes around those of a workgroup and of the single bin,
/// far-off boxes, and walls and planes so close to each other that floats cannot tell.
fn cases() -> Vec<Case> {
    let mut random = Random::new(8);
    let mut cases: Vec<Case> = shapes().into_iter().map(|(name, sites)| in_the_box(name, sites)).collect();
    for count in [0, 1, 2, 7, 8, 9, 63, 64, 65, 90, 127, 128, 129, 300, 1000] {
        cases.push(in_the_box(format!("random {count}"), random.points(count, LOW, HIGH)));
    }
    let far = random.points(150, [-WIDE; 3], [WIDE; 3]);
    cases.push(("far away, in the widest box".into(), far.clone(), [[-WIDE; 3], [WIDE; 3]]));
    cases.push(("a far-off box".into(), far, [[WIDE - 900; 3], [WIDE; 3]]));
    cases.push(("a box without a volume".into(), grid(2), [LOW, [HIGH[0], LOW[1], HIGH[2]]]));
    // Half the sites in one of a thousand parts of the box.
    let mut uneven = random.points(200, LOW, HIGH);
    uneven.extend(random.points(200, LOW.map(|v| v + 2000), LOW.map(|v| v + 2040)));
    cases.push(in_the_box("uneven", uneven));
    cases.extend(close_to_a_corner());
    cases
}

/// A plane that goes by a corner of the box, 2^16 units away, on it or a fraction of a unit beside it: floats cannot
/// tell.
fn close_to_a_corner() -> [Case; 3] {
    [-WIDE, 1 - WIDE, 2 - WIDE].map(|low| {
        let sites = vec![[-WIDE, 0, 0], [WIDE - 1, 1, 0]];
        (format!("a corner at {low}"), sites, [[-WIDE, low, -WIDE], [0, WIDE, WIDE]])
    })
}

/// One site with some hundred neighbours, all as far away.
fn many_facets() -> Vec<Point> {
    let mut sites = vec![[1000, 2000, 2200]];
    for (k, point) in Random::new(4).points(250, [-1000; 3], [1000; 3]).iter().enumerate() {
        let length = point.iter().map(|v| f64::from(v * v)).sum::<f64>().sqrt().max(1.0);
        let on = |axis: usize| sites[0][axis] + (1500.0 * f64::from(point[axis]) / length) as i32;
        // The farthest come first, so that the order of the sites is not that of the neighbours.
        let at = [on(0), on(1), on(2)];
        sites.insert(1 + k / 2, at);
    }
    sites
}

/// The first case whose cells are not those of the twin, or which needs the twin though there is room for all planes.
fn difference(gpu: &Gpu, passes: &CellPasses, cases: &[Case]) -> Option<String> {
    cases.iter().find_map(|(name, sites, [low, high])| {
        let made = match passes.run(gpu, sites, *low, *high) {
            Ok(made) => made,
            Err(error) => return Some(format!("{name}: {error}")),
        };
        let wanted = cells(sites, *low, *high);
        let odd = made.cells.iter().zip(&wanted).find(|(made, wanted)| made != wanted);
        if let Some((made, wanted)) = odd {
            return Some(format!("{name}: {made:?}\nis not\n{wanted:?}"));
        }
        let without_room = wanted.iter().filter(|cell| cell.planes.len() > 64).count();
        (made.by_twin != without_room).then(|| format!("{name}: {} cells by the twin", made.by_twin))
    })
}

#[test]
fn cells_are_those_of_the_twin() {
    let Some(Bench { gpu, passes }) = Bench::get() else { return };
    assert_eq!(difference(gpu, passes, &cases()), None);
}

#[test]
fn bins_and_scan_find_the_same_neighbours() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut passes = CellPasses::new(&gpu).unwrap();
    let mut random = Random::new(7);
    let kinds = [random.points(400, LOW, HIGH), grid(5), random.points(9, LOW, HIGH), grid(2)];
    let cases: Vec<Case> = kinds.into_iter().map(|sites| in_the_box("", sites)).collect();
    for single_bin in [0, usize::MAX] {
        passes.single_bin = single_bin;
        assert_eq!(difference(&gpu, &passes, &cases), None, "{single_bin}");
    }
}

#[test]
fn a_complex_is_the_same_wherever_its_cells_were_cut() {
    let Some(Bench { gpu, .. }) = Bench::get() else { return };
    let passes = Passes::default();
    let mut random = Random::new(3);
    for sites in [random.points(300, LOW, HIGH), grid(5), on_a_sphere([300, 700, 1100]), many_facets()] {
        let on = |compute: &Compute| breaker::cells(compute, &passes, &sites, LOW, HIGH).unwrap();
        let made: Complex = on(&Compute::Gpu(gpu.clone()));
        assert!(made == on(&Compute::Cpu), "{} sites", sites.len());
    }
    let beyond = breaker::cells(&Compute::Cpu, &passes, &[[WIDE + 1, 0, 0]], LOW, HIGH).unwrap_err();
    assert!(beyond.to_string().contains("outside of its grid"), "{beyond}");
}

#[test]
fn it_waits_once_and_the_same_input_gives_the_same_words() {
    let Some(gpu) = Gpu::for_test() else { return };
    let passes = CellPasses::new(&gpu).unwrap();
    let sites = Random::new(6).points(2500, LOW, HIGH);
    let _ = gpu.take_traffic();
    let words = || {
        let bins = Bins::new(&sites, &distinct(&sites), SINGLE_BIN);
        let batches = passes.batches(&gpu, &bins, LOW, HIGH).unwrap();
        let read = |batch: &Batch| (batch.heads.to_vec().unwrap(), batch.words.to_vec().unwrap());
        batches.iter().map(read).collect::<Vec<_>>()
    };
    let first = words();
    let waits: u64 = gpu.take_traffic().iter().map(|(_, traffic)| traffic.waits).sum();
    assert_eq!((first.len(), waits), (2, 1));
    assert!(first == words());
}

#[test]
fn what_has_no_room_is_not_lost() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut passes = CellPasses::new(&gpu).unwrap();
    let sites = many_facets();
    let wanted = cells(&sites, LOW, HIGH);
    let made = passes.run(&gpu, &sites, LOW, HIGH).unwrap();
    assert!(wanted[0].planes.len() > 64 && made.by_twin > 0 && made.by_twin < 20, "{}", made.by_twin);
    assert!(made.cells == wanted);
    // No room for what is read back: it is run again.
    passes.words_a_cell = 1;
    let made = passes.run(&gpu, &sites, LOW, HIGH).unwrap();
    assert!(made.cells == wanted);
    // A driver that would end loops.
    let rounds = ("MOST_ROUNDS: u32 = 50000u", "MOST_ROUNDS: u32 = 300u");
    let hasty = with_error(KERNEL, rounds, || CellPasses::new(&gpu).unwrap());
    let made = hasty.run(&gpu, &sites, LOW, HIGH).unwrap();
    assert!(made.by_twin > 100, "{}", made.by_twin);
    assert!(made.cells == wanted);
}

const KERNEL: &str = "fracture/box_cut/pass/cells";

/// The text that is replaced, and by which. Not more of them: a software driver takes seconds for each.
const ERRORS: [(&str, &str); 5] = [
    // The distance of the farthest vertex once instead of twice, as the paper has it.
    ("* 0.99999905 > reach", "* 4.0 > reach"),
    // Edges from the new plane outwards are kept.
    ("(begins <= 0i && ends <= 0i)", "(begins + ends <= 1i)"),
    // Of neighbours equally far only the first cuts.
    (
        "if is_beyond(word, reach) {",
        "if k > 0u && sorted[k - 1u].y == word.y && ((sorted[k - 1u].x ^ word.x) >> 30u) == 0u { continue; }
        if is_beyond(word, reach) {",
    ),
    // A word of a sign that is lost.
    ("(a.x | a.y | a.z) == 0u", "(a.y | a.z) == 0u"),
    // Floats decide all.
    ("abs(by.x) > by.y", "abs(by.x) > 0.0 * by.y"),
];

/// What another device may do with floats: divide worse, and fuse products with sums.
const LIBERTIES: [(&str, &str); 2] = [
    ("/ rounded2(at.denominator);", "/ rounded2(at.denominator) * 1.0000014;"),
    (
        "terms.x + terms.y + terms.z - limit,",
        "fma(normal.z, places[v].z, fma(normal.x, places[v].x, fma(normal.y, places[v].y, -limit))),",
    ),
];

fn hard_cases() -> Vec<Case> {
    let mut cases = Vec::from(close_to_a_corner());
    let random = Random::new(9).points(300, LOW, HIGH);
    for sites in [grid(2), grid(3), grid(4), on_a_sphere([300, 700, 1100]), random] {
        cases.push(in_the_box("", sites));
    }
    cases
}

#[test]
fn errors_planted_in_the_kernel_are_found() {
    let Some(Bench { gpu, .. }) = Bench::get() else { return };
    let cases = hard_cases();
    for error in ERRORS {
        let passes = with_error(KERNEL, error, || CellPasses::new(gpu).unwrap());
        assert!(difference(gpu, &passes, &cases).is_some(), "'{}' goes unnoticed", error.1);
    }
}

#[test]
fn floats_may_be_worse_and_change_nothing() {
    let Some(Bench { gpu, .. }) = Bench::get() else { return };
    let cases = hard_cases();
    for liberty in LIBERTIES {
        let passes = with_error(KERNEL, liberty, || CellPasses::new(gpu).unwrap());
        assert_eq!(difference(gpu, &passes, &cases), None, "{}", liberty.1);
    }
}
