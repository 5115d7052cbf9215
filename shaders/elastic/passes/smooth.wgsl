// One smoothing of a level (Adams, Brezina, Hu & Tuminaro 2003): takes the forces of the last change away, smooths what is left, and
// adds that to the displacements. With both factors zero it only takes the forces away. One thread: one node.
//#include elastic/passes/product

@group(0) @binding(0) var<uniform> params: ElasticParams;
@group(0) @binding(5) var<storage, read_write> next: array<f32>;
@group(0) @binding(6) var<storage, read_write> sum: array<f32>;
@group(0) @binding(7) var<storage, read_write> forces: array<f32>;
@group(0) @binding(8) var<storage, read> state: ElasticState;

fn thread(id: u32) {
    let chunk = id / LANES;
    let lane = id % LANES;
    if chunk >= params.chunks || state.done != 0u {
        return;
    }
    let at = chunk * CHUNK + lane;
    let springs = chunk * MATTER + SPRINGS + lane;
    var before = vec3<f32>(0.0);
    var total = vec3<f32>(0.0);
    var left = vec3<f32>(forces[at], forces[at + LANES], forces[at + 2u * LANES]);
    if params.is_first == 0u {
        before = displacement(chunk, lane);
        total = vec3<f32>(sum[at], sum[at + LANES], sum[at + 2u * LANES]);
        let held = vec3<f32>(matter[springs], matter[springs + LANES], matter[springs + 2u * LANES]);
        left -= params.scale * forces_of(chunk, lane) + held * before;
    }
    let inverse = chunk * MATTER + INVERSE + lane;
    let diagonal = vec3<f32>(matter[inverse], matter[inverse + LANES], matter[inverse + 2u * LANES]);
    let yz = matter[inverse + 3u * LANES];
    let zx = matter[inverse + 4u * LANES];
    let xy = matter[inverse + 5u * LANES];
    let smoothed = diagonal * left
        + vec3<f32>(xy * left.y + zx * left.z, xy * left.x + yz * left.z, zx * left.x + yz * left.y);
    let own = params.kept * before + params.added * smoothed;
    for (var axis = 0u; axis < 3u; axis++) {
        let place = at + axis * LANES;
        forces[place] = left[axis];
        next[place] = own[axis];
        sum[place] = total[axis] + own[axis];
    }
}
