// The octree's word layout for kernels. The same bits as crates/core/src/svo/format.rs, which draws them.

struct Node {
    child_base: u32,
    masks: u32,
}

fn node_valid(node: Node) -> u32 {
    return node.masks & 0xffu;
}

fn node_internal(node: Node) -> u32 {
    return (node.masks >> 8u) & 0xffu;
}

// Index of octant c's child; meaningful only where c is valid.
fn node_child(node: Node, c: u32) -> u32 {
    return node.child_base + countOneBits(node.masks & 0xffu & ((1u << c) - 1u));
}

fn morton_spread(value: u32) -> u32 {
    var v = value & 0x3ffu;
    v = (v | (v << 16u)) & 0x030000ffu;
    v = (v | (v << 8u)) & 0x0300f00fu;
    v = (v | (v << 4u)) & 0x030c30c3u;
    return (v | (v << 2u)) & 0x09249249u;
}

fn morton_gather(value: u32) -> u32 {
    var v = value & 0x09249249u;
    v = (v | (v >> 2u)) & 0x030c30c3u;
    v = (v | (v >> 4u)) & 0x0300f00fu;
    v = (v | (v >> 8u)) & 0x030000ffu;
    return (v | (v >> 16u)) & 0x3ffu;
}

fn morton_encode(p: vec3<u32>) -> u32 {
    return morton_spread(p.x) | (morton_spread(p.y) << 1u) | (morton_spread(p.z) << 2u);
}

fn morton_decode(key: u32) -> vec3<u32> {
    return vec3<u32>(morton_gather(key), morton_gather(key >> 1u), morton_gather(key >> 2u));
}

fn leaf_rgb(word: u32) -> vec3<f32> {
    return unpack4x8unorm(word).xyz;
}

fn leaf_is_crack(word: u32) -> bool {
    return ((word >> 24u) & 1u) == 1u;
}

// Signed distance from the voxel's centre to its surface along the normal, voxels.
fn leaf_offset(word: u32) -> f32 {
    return f32(bitcast<i32>(word) >> 25u) / 64.0;
}

fn normal_unpack(word: u32) -> vec3<f32> {
    let xy = max(vec2<f32>(f32(bitcast<i32>(word << 16u) >> 16u), f32(bitcast<i32>(word) >> 16u)) / 32767.0, vec2<f32>(-1.0));
    let z = 1.0 - abs(xy.x) - abs(xy.y);
    let t = max(-z, 0.0);
    let n = vec3<f32>(xy.x - select(-t, t, xy.x >= 0.0), xy.y - select(-t, t, xy.y >= 0.0), z);
    return normalize(n);
}

// A leaf's second plane: normal and signed distance from the voxel's centre (voxels). Only where cut_is_there.
fn cut_is_there(word: u32) -> bool {
    return (word >> 24u) != 0u;
}

fn cut_normal(word: u32) -> vec3<f32> {
    let xy = vec2<f32>(f32(bitcast<i32>(word << 20u) >> 20u), f32(bitcast<i32>(word << 8u) >> 20u)) / 2047.0;
    let z = 1.0 - abs(xy.x) - abs(xy.y);
    let t = max(-z, 0.0);
    return normalize(vec3<f32>(xy.x - select(-t, t, xy.x >= 0.0), xy.y - select(-t, t, xy.y >= 0.0), z));
}

fn cut_offset(word: u32) -> f32 {
    return f32(i32(word >> 24u) - 128i) / 128.0;
}

fn cut_pack(n: vec3<f32>, offset: f32) -> u32 {
    let q = vec2<i32>(round(normal_to_octahedral(n) * 2047.0));
    let o = u32(i32(clamp(round(offset * 128.0), -127.0, 127.0)) + 128i);
    return (bitcast<u32>(q.x) & 0xfffu) | ((bitcast<u32>(q.y) & 0xfffu) << 12u) | (o << 24u);
}

fn normal_to_octahedral(n: vec3<f32>) -> vec2<f32> {
    let sum = abs(n.x) + abs(n.y) + abs(n.z);
    let p = n / max(sum, 1e-20);
    var xy = p.xy;
    if p.z < 0.0 {
        xy = (vec2<f32>(1.0) - abs(p.yx)) * vec2<f32>(select(-1.0, 1.0, p.x >= 0.0), select(-1.0, 1.0, p.y >= 0.0));
    }
    return clamp(xy, vec2<f32>(-1.0), vec2<f32>(1.0));
}

fn normal_pack(n: vec3<f32>) -> u32 {
    let q = vec2<i32>(round(normal_to_octahedral(n) * 32767.0));
    return (bitcast<u32>(q.x) & 0xffffu) | (bitcast<u32>(q.y) << 16u);
}
