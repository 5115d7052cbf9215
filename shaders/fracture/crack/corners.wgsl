// Owners of a transition voxel's corners: the nearest of a pair's candidates. Included by kernels that declare `seeds` and `candidates`.
//#include fracture/crack/points

fn crack_owner(x: vec3<i32>, pair: Pair) -> u32 {
    var owner = candidates[pair.list_first];
    var best = distance2(x, seeds[owner].xyz);
    for (var k = 1u; k < pair.list_count; k++) {
        let r = candidates[pair.list_first + k];
        let d = distance2(x, seeds[r].xyz);
        if d < best || (d == best && r < owner) {
            best = d;
            owner = r;
        }
    }
    return owner;
}

// Whether a crack passes through the pair's node; fills in owners and objects.
fn pair_crossed(pair: Pair, low: vec3<i32>, size: i32) -> bool {
    for (var c = 0u; c < 8u; c++) {
        owners[c] = crack_owner(low + size * crack_corner(c), pair);
    }
    return crack_crossed();
}
