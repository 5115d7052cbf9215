// The last step of the descent: which cells own the corners of a leaf voxel (2016, eq. 1 and 2).
//#include fracture/voronoi

// Whether the list of rivals of a pair leaves the corner at `x` to the pair's own cell.
fn owner_of(x: vec3<i32>, pair: Pair) -> u32 {
    var best = distance2(x, seeds[pair.cell].xyz);
    var owner = pair.cell;
    for (var k = 0u; k < pair.rival_count; k++) {
        let r = rivals[pair.rival_first + k];
        let d = distance2(x, seeds[r].xyz);
        if d < best || (d == best && r < owner) {
            best = d;
            owner = r;
        }
    }
    return owner;
}

fn corner(low: vec3<i32>, edge: i32, c: u32) -> vec3<i32> {
    return low + edge * vec3<i32>(vec3<u32>(c & 1u, (c >> 1u) & 1u, c >> 2u));
}
