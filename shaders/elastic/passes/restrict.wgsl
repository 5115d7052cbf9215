// Adds up at a coarse node the forces that the fine nodes round it hand to it: the transpose of `prolong`. One thread: one coarse node.
//#include shared/thread
//#include elastic/passes/data

@group(0) @binding(0) var<uniform> params: ElasticParams;
// Of each coarse chunk and each of the nine rows of fine nodes round it: the fine chunk before, and the two that begin where it does.
@group(0) @binding(1) var<storage, read> children: array<u32>;
@group(0) @binding(2) var<storage, read> fine: array<f32>;
@group(0) @binding(3) var<storage, read_write> forces: array<f32>;
@group(0) @binding(4) var<storage, read> state: ElasticState;

// The force at fine node `x` of a row, counted from the coarse chunk; -1 lies in the chunk before.
fn force(first: u32, x: i32) -> vec3<f32> {
    let at = u32(x + i32(LANES));
    let place = children[first + at / LANES] * CHUNK + at % LANES;
    return vec3<f32>(fine[place], fine[place + LANES], fine[place + 2u * LANES]);
}

fn thread(id: u32) {
    let chunk = id / LANES;
    let lane = id % LANES;
    if chunk >= params.chunks || state.done != 0u {
        return;
    }
    let x = 2 * i32(lane);
    var total = vec3<f32>(0.0);
    for (var row = 0u; row < 9u; row++) {
        let share = select(0.5, 1.0, row % 3u == 1u) * select(0.5, 1.0, row / 3u == 1u);
        let first = chunk * 27u + 3u * row;
        total += share * (force(first, x) + 0.5 * (force(first, x - 1) + force(first, x + 1)));
    }
    for (var axis = 0u; axis < 3u; axis++) {
        forces[chunk * CHUNK + axis * LANES + lane] = total[axis];
    }
}
