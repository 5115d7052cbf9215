// The stiffness matrix times a vector at one node, gathered from its 26 neighbours: crates/elastic/src/product.rs without the blocks
// of full cells. Included by kernels that declare `params`.
//#include shared/thread
//#include elastic/passes/data

@group(0) @binding(1) var<storage, read> chunks: array<u32>;
@group(0) @binding(2) var<storage, read> matter: array<f32>;
// Three rows of each of 27 blocks.
@group(0) @binding(3) var<storage, read> blocks: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> change: array<f32>;

// Fills of the cells that a node shares with a neighbour, from those below and above the node along one axis: their sum, and the same
// with the sign of a displacement across the axis. The neighbour lies at 0, 1, 2 for -1, 0, 1.
fn shared_by(offset: u32) -> vec2<f32> {
    return vec2<f32>(select(1.0, 0.0, offset == 2u), select(1.0, 0.0, offset == 0u));
}

fn signed_by(offset: u32) -> vec2<f32> {
    return vec2<f32>(select(select(1.0, -1.0, offset == 1u), 0.0, offset == 2u), select(1.0, 0.0, offset == 0u));
}

// For the four rows of cells round a node: below, above along y; then both above along z.
fn rows(along_y: vec2<f32>, along_z: vec2<f32>) -> vec4<f32> {
    return vec4<f32>(along_y * along_z.x, along_y * along_z.y);
}

fn displacement(chunk: u32, lane: u32) -> vec3<f32> {
    let at = chunk * CHUNK + lane;
    return vec3<f32>(change[at], change[at + LANES], change[at + 2u * LANES]);
}

struct Rows {
    both: vec4<f32>,
    xy: vec4<f32>,
    yz: vec4<f32>,
    zx: vec4<f32>,
}

// The block of a neighbour, times its displacement. `fill` and `tilt` are the fills of each row along x, without and with the sign.
fn by_block(n: u32, fill: vec4<f32>, tilt: vec4<f32>, rows: Rows, u: vec3<f32>) -> vec3<f32> {
    let both = dot(fill, rows.both);
    let xy = dot(tilt, rows.xy);
    let yz = dot(fill, rows.yz);
    let zx = dot(tilt, rows.zx);
    return vec3<f32>(
        dot(blocks[3u * n].xyz, vec3<f32>(both, xy, zx) * u),
        dot(blocks[3u * n + 1u].xyz, vec3<f32>(xy, both, yz) * u),
        dot(blocks[3u * n + 2u].xyz, vec3<f32>(zx, yz, both) * u),
    );
}

// The free part of a vector at a node.
fn masked(chunk: u32, lane: u32, v: vec3<f32>) -> vec3<f32> {
    let bits = chunks[chunk * WORDS + FREE] >> lane;
    return select(vec3<f32>(0.0), v, vec3<bool>((bits & 1u) != 0u, (bits & 0x100u) != 0u, (bits & 0x10000u) != 0u));
}

// The forces of `change` at a node.
fn forces_of(chunk: u32, lane: u32) -> vec3<f32> {
    let near = chunk * WORDS;
    var below = vec4<f32>(0.0);
    var above = vec4<f32>(0.0);
    for (var row = 0u; row < 4u; row++) {
        // Cells below the node along y and z come first.
        let at = near + 1u + 3u * (row & 1u) + 9u * (row >> 1u);
        let first = chunks[at] * MATTER;
        above[row] = matter[first + lane];
        if lane > 0u {
            below[row] = matter[first + lane - 1u];
        } else {
            below[row] = matter[chunks[at - 1u] * MATTER + LANES - 1u];
        }
    }
    var sum = vec3<f32>(0.0);
    for (var z = 0u; z < 3u; z++) {
        for (var y = 0u; y < 3u; y++) {
            let n = 9u * z + 3u * y;
            let fill_y = shared_by(y);
            let fill_z = shared_by(z);
            let tilt_y = signed_by(y);
            let tilt_z = signed_by(z);
            let tied = Rows(rows(fill_y, fill_z), rows(tilt_y, fill_z), rows(tilt_y, tilt_z), rows(fill_y, tilt_z));
            let middle = chunks[near + n + 1u];
            var last = vec2<u32>(middle, lane - 1u);
            if lane == 0u {
                last = vec2<u32>(chunks[near + n], LANES - 1u);
            }
            var next = vec2<u32>(middle, lane + 1u);
            if lane == LANES - 1u {
                next = vec2<u32>(chunks[near + n + 2u], 0u);
            }
            sum += by_block(n, below, below, tied, displacement(last.x, last.y));
            sum += by_block(n + 1u, below + above, above - below, tied, displacement(middle, lane));
            sum += by_block(n + 2u, above, above, tied, displacement(next.x, next.y));
        }
    }
    return masked(chunk, lane, sum);
}
