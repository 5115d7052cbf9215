// At which levels two solids meet: crates/physics/src/collide/octree/levels.rs. Needs bindings `params` and `tables` of the
// including file.
//
// tables: for each pair of families that was given a level three words (the smaller family, the larger, level); then
// the samples, see sample_of.
//#include bodies/collide/octree/passes/solid

const NONE: u32 = 0xffffffffu;
// Levels of a forest in the table of samples.
const LEVELS: u32 = 13u;

fn wanted_level(s: Solid, given: u32) -> u32 {
    return clamp(select(given, s.own, given == NONE), 1u, max(s.leaf, 1u));
}

fn level_of_size(s: Solid, cell: f32) -> u32 {
    let up = u32(clamp(round(log2(cell / s.voxel)), 0.0, 31.0));
    return max(s.leaf - min(up, s.leaf), 1u);
}

fn meeting_levels(a: Solid, b: Solid) -> vec2<u32> {
    var given = NONE;
    for (var k = 0u; k < params.given; k += 3u) {
        if tables[k] == min(a.family, b.family) && tables[k + 1u] == max(a.family, b.family) {
            given = tables[k + 2u];
        }
    }
    var cell = max(cell_of(a, wanted_level(a, given)), cell_of(b, wanted_level(b, given)));
    cell = min(cell, min(cell_of(a, a.shape), cell_of(b, b.shape)));
    cell = max(cell, max(a.voxel, b.voxel));
    return vec2<u32>(level_of_size(a, cell), level_of_size(b, cell));
}

// Where the samples of a forest's level begin (NONE: there are none yet), and the first node of that level.
fn sample_of(forest: u32, level: u32) -> vec2<u32> {
    let at = params.given + 2u * (forest * LEVELS + level);
    return vec2<u32>(tables[at], tables[at + 1u]);
}
