// Boxes along the world's axes, in whole numbers of the scene's lattice. Whatever has such a box begins with the same
// words: low corner, whether it moves, high corner. Needs a binding `params` of the including file.

@group(0) @binding(1) var<storage, read> boxes: array<i32>;

fn low_of(id: u32) -> vec3<i32> {
    let at = params.words * id;
    return vec3<i32>(boxes[at], boxes[at + 1u], boxes[at + 2u]);
}

fn high_of(id: u32) -> vec3<i32> {
    let at = params.words * id + 4u;
    return vec3<i32>(boxes[at], boxes[at + 1u], boxes[at + 2u]);
}
