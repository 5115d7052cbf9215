// The last step of the descent: which cells own the corners of leaf voxels (2016, eq. 1 and 2). The eight leaves of a node share 27
// corners; corner n is at (n % 3, n / 3 % 3, n / 9) edges from the node's low corner.
//#include fracture/candidates

fn corner_point(low: vec3<i32>, edge: i32, n: u32) -> vec3<i32> {
    return low + edge * vec3<i32>(vec3<u32>(n % 3u, (n / 3u) % 3u, n / 9u));
}

// Number of corner k of octant c among the 27.
fn corner_number(c: u32, k: u32) -> u32 {
    return (c & 1u) + (k & 1u) + 3u * (((c >> 1u) & 1u) + ((k >> 1u) & 1u)) + 9u * ((c >> 2u) + (k >> 2u));
}
