//! Planes, chamfers and distances of the shaders against those of this folder: the same words for the same numbers.

use glam::IVec3;

use super::{
    boundary_set::PlaceParams,
    planar::chamfer::Cuts,
    plane::{Plane, Scaled, cut_offset, quotient},
    random::Random,
    rough::facets::triangle_distance,
};
use crate::{
    fracture::voronoi::testing::Bench,
    gpu::{Buffer, Kernel, Recorder, bind, shaders},
};

/// Numbers in and words out of a case.
const GIVEN: usize = 31;
const GOT: usize = 20;

const FRAME: &str = "
struct PlaceParams { first: u32, end: u32 }
@group(0) @binding(0) var<uniform> params: PlaceParams;
@group(0) @binding(1) var<storage, read> given: array<i32>;
@group(0) @binding(2) var<storage, read_write> got: array<u32>;

fn number(i: u32, k: u32) -> i32 {
    return given[31u * (i % params.end) + k];
}

fn point(i: u32, k: u32) -> vec3<i32> {
    return vec3<i32>(number(i, k), number(i, k + 1u), number(i, k + 2u));
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = (workgroup.y * groups.x + workgroup.x) * 256u + local;
    if i >= params.end {
        return;
    }
    let bits = u32(number(i, 4u));
    let through = plane_through(point(i, 0u), number(i, 3u), bits);
    let centre = point(i, 11u);
    let d = centre - point(i, 5u);
    let middle = bisector(point(i, 5u), dot(d, d), point(i, 8u), centre, number(i, 14u));
    let surface = plane_of_surface(vec2<u32>(u32(number(i, 15u)), u32(number(i, 16u))));
    let cut = plane_of_cut(u32(number(i, 17u)));
    let vector = scaled(point(i, 0u));
    var cuts: Cuts;
    cuts.count = 0u;
    for (var j = 1u; j <= u32(number(i, 27u)); j++) {
        cuts_add(&cuts, plane_of_cut(u32(number(i + j, 17u))));
    }
    var words = array<u32, 20>(
        plane_normal_word(through), plane_crack_word(through), plane_cut_word(through), bitcast<u32>(through.offset), through.length,
        plane_normal_word(middle), plane_crack_word(middle), plane_cut_word(middle), bitcast<u32>(middle.offset),
        plane_normal_word(surface), plane_crack_word(surface), plane_normal_word(plane_turned(surface)),
        plane_normal_word(cut), plane_cut_word(cut), plane_cut_word(plane_turned(cut)),
        bitcast<u32>(plane_cut_offset(u32(number(i, 17u)))), bitcast<u32>(vector.shift),
        quotient(u32(number(i, 28u)), number(i, 29u), u32(number(i, 30u))),
        triangle_distance(point(i, 18u), point(i, 21u), point(i, 24u), bits),
        cuts_word(&cuts, surface),
    );
    for (var k = 0u; k < 20u; k++) {
        got[20u * i + k] = words[k];
    }
}
";

/// The include files of the surfaces, and a kernel that asks for everything in them.
fn text() -> String {
    let raw = |path: &str| {
        let found = shaders::ALL.iter().find(|(known, _)| *known == path);
        found.map(|(_, text)| *text).expect("an embedded file")
    };
    let folder = "fracture/voronoi/surface";
    let chamfer = shaders::source(&format!("{folder}/planar/chamfer"));
    let [voxel, nearest] = ["voxel", "nearest"].map(|file| raw(&format!("{folder}/rough/{file}")).to_owned());
    [chamfer, voxel, nearest, FRAME.to_owned()].concat()
}

/// A component of any size up to 2^bits, the ends and 0 more often.
fn any_size(rng: &mut Random, bits: u32) -> i32 {
    let end = 1u64 << rng.below(u64::from(bits) + 1);
    match rng.below(8) {
        0 => 0,
        1 => end as i32,
        2 => -(end as i32),
        _ => rng.below(2 * end + 1) as i32 - end as i32,
    }
}

fn vector(rng: &mut Random, bits: u32) -> IVec3 {
    IVec3::new(any_size(rng, bits), any_size(rng, bits), any_size(rng, bits))
}

fn case(rng: &mut Random) -> Vec<i32> {
    let bits = 1 + rng.below(9) as u32;
    let normal = vector(rng, 19);
    let height = if rng.below(3) == 0 {
        any_size(rng, 30)
    } else {
        let reach = normal.as_dvec3().length() * f64::from(1 << bits) * 1.2;
        ((rng.below(2001) as f64 / 1000.0 - 1.0) * reach) as i32
    };
    let level = 1 + rng.below(10) as u32;
    let edge = 1i32 << (14 - level);
    let centre = IVec3::from_array(std::array::from_fn(|_| rng.below(1 << level) as i32 * edge + edge / 2));
    let spread = if rng.below(2) == 0 { 15 - level } else { 15 };
    let ends = (IVec3::splat(-8192), IVec3::splat(24576));
    let seeds = [(); 2].map(|()| (centre + vector(rng, spread)).clamp(ends.0, ends.1));
    let mut words = [(); 3].map(|()| rng.below(1 << 32) as u32 as i32);
    if rng.below(4) == 0 {
        // A plane square to the z axis, facing up or down, through some of the points of a chamfer.
        let facing = [0, 0x7ff_7ff][rng.below(2) as usize];
        words[2] = (((16 * rng.below(16) as u32) << 24) | facing) as i32;
    }
    if rng.below(16) == 0 {
        // The lowest number, which is no snorm.
        words[0] = words[0] & !0xffff | 0x8000;
    }
    let half = 1 << (bits - 1);
    let leaf = IVec3::from_array(std::array::from_fn(|_| half * (2 * rng.below(512 >> bits) as i32 + 1)));
    let triangle = [(); 3].map(|()| {
        let at = vector(rng, 9).clamp(IVec3::splat(-512), IVec3::splat(512));
        (leaf + at).clamp(IVec3::ZERO, IVec3::splat(512)) - leaf
    });
    let points = |all: &[IVec3]| all.iter().flat_map(|p| p.to_array()).collect::<Vec<i32>>();
    let divided = [
        (rng.below(1 << 32) >> rng.below(33)) as u32 as i32,
        rng.below(46) as i32 - 14,
        1 + (rng.below(56_756) >> rng.below(16)) as i32,
    ];
    [
        points(&[normal]),
        vec![height, bits as i32],
        points(&[seeds[0], seeds[1], centre]),
        vec![edge],
        words.to_vec(),
        points(&triangle),
        vec![rng.below(11) as i32],
        divided.to_vec(),
    ]
    .concat()
}

fn wanted(cases: &[Vec<i32>], i: usize) -> [u32; GOT] {
    let given = &cases[i];
    let point = |k: usize| IVec3::new(given[k], given[k + 1], given[k + 2]);
    let bits = given[4] as u32;
    let through = Plane::through(point(0), given[3], bits);
    let centre = point(11);
    let middle = Plane::bisector(point(5), (centre - point(5)).length_squared(), point(8), centre, given[14]);
    let surface = Plane::of_surface(given[15] as u32, given[16] as u32);
    // The kernel asks whether there is one before.
    let cut_of = |word: i32| {
        let there = word as u32 | if word as u32 >> 24 == 0 { 1 << 24 } else { 0 };
        let plane = Plane::of_cut(there).expect("a cut");
        Plane { offset: cut_offset(word as u32), ..plane }
    };
    let cut = cut_of(given[17]);
    let mut cuts = Cuts::default();
    for j in 1..=given[27] as usize {
        cuts.add(cut_of(cases[(i + j) % cases.len()][17]));
    }
    [
        through.normal_word(),
        through.crack_word(),
        through.cut_word(),
        through.offset as u32,
        through.length,
        middle.normal_word(),
        middle.crack_word(),
        middle.cut_word(),
        middle.offset as u32,
        surface.normal_word(),
        surface.crack_word(),
        surface.turned().normal_word(),
        cut.normal_word(),
        cut.cut_word(),
        cut.turned().cut_word(),
        cut_offset(given[17] as u32) as u32,
        Scaled::new(point(0)).shift as u32,
        quotient(given[28] as u32, given[29], given[30] as u32),
        triangle_distance([point(18), point(21), point(24)], bits),
        cuts.word(&surface),
    ]
}

/// The first case in which a kernel's words differ, and which of them.
fn difference(text: String, cases: &[Vec<i32>]) -> Option<(usize, usize)> {
    let gpu = &Bench::get().gpu;
    let kernel = Kernel::from_text(gpu, "test/planes", text);
    let given = Buffer::from_slice(gpu, "given", &cases.concat()).unwrap();
    let got = Buffer::<u32>::zeroed(gpu, "got", GOT * cases.len()).unwrap();
    let mut rec = Recorder::new(gpu, "test");
    let params = PlaceParams { first: 0, end: cases.len() as u32 };
    rec.run(&kernel, cases.len(), &params, bind![given, got]).unwrap();
    rec.submit();
    let got = got.read(gpu).unwrap();
    (0..cases.len()).find_map(|i| {
        let wanted = wanted(cases, i);
        (0..GOT).find(|k| got[GOT * i + k] != wanted[*k]).map(|k| (i, k))
    })
}

#[test]
fn the_shaders_words_are_the_same() {
    let mut rng = Random::new(23);
    let cases: Vec<Vec<i32>> = (0..60_000).map(|_| case(&mut rng)).collect();
    assert!(cases.iter().all(|given| given.len() == GIVEN));
    let chamfers = (0..cases.len()).filter(|i| {
        let words = wanted(&cases, *i);
        let alone = cases.iter().cycle().skip(i + 1).take(cases[*i][27] as usize);
        cases[*i][27] > 1 && !alone.map(|c| c[17] as u32).any(|word| word == words[19])
    });
    println!("{} of {} cases have a chamfer", chamfers.count(), cases.len());
    let found = difference(text(), &cases);
    assert_eq!(found, None, "{:?}", found.map(|(i, _)| &cases[i]));
}

#[test]
fn errors_planted_in_the_shaders_are_found() {
    let mut rng = Random::new(29);
    let cases: Vec<Vec<i32>> = (0..20_000).map(|_| case(&mut rng)).collect();
    for (what, from, to) in [
        ("a root rounded down", "square - r * r > r", "false"),
        ("a vector cut off", "vec3<u32>((1u << down) >> 1u)", "vec3<u32>(0u)"),
        ("a quotient cut off", "+ bottom / 2u) / bottom", ") / bottom"),
        ("no farthest offset", "if top > (FARTHEST * bottom) >> left {", "if false {"),
        ("halves rounded up", "* sign(value)", "* 1i"),
        ("no fold", "if normal.z < 0i {", "if false {"),
        ("a sign lost at zero", "normal.xy < vec2<i32>(0i)", "normal.xy <= vec2<i32>(0i)"),
        ("no fold back", "let back = max(-z, 0i);", "let back = 0i;"),
        ("the lowest snorm", "max(xy, vec2<i32>(-32767i))", "xy"),
        ("a bisector of half the edge", "firstTrailingBit(edge)) + 1u", "firstTrailingBit(edge))"),
        ("a cut's range", "-127i, 127i) + 128i", "-128i, 127i) + 128i"),
        ("the first of equal planes", "planes[j].offset < (*cuts)", "planes[j].offset <= (*cuts)"),
        ("a point on a plane", "* i32(plane.length);", "* i32(plane.length) - 1i;"),
        ("points elsewhere", "k >> 4u)) - 3i;", "k >> 4u)) - 2i;"),
        ("normals that do not weigh", "* taken[j];", "* min(taken[j], 1i);"),
        ("a chamfer where they face all ways", "< 2684355i", "< 0i"),
        ("a step of the chamfer less", "step < 8u", "step < 7u"),
        ("a foot beyond the end", "if foot >= dot(along, along) {", "if false {"),
        ("an inside test by the high part alone", "return high + (low >> 10u) >= 0i;", "return high >= 0i;"),
    ] {
        assert!(text().contains(from), "{what}: nothing to replace");
        let found = difference(text().replacen(from, to, 1), &cases);
        println!("{what}: {found:?}");
        assert!(found.is_some(), "{what} went unnoticed");
    }
}
