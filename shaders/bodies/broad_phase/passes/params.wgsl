// What the passes that make the hierarchy take as numbers. The same words as in
// crates/physics/src/broad_phase/passes/hierarchy.rs.

struct HierarchyParams {
    boxes: u32,
    // Words of a box in `boxes`.
    words: u32,
    // Keys that are written: the boxes, for a bitonic sort filled up to a power of two.
    keys: u32,
    // Of one dispatch of the bitonic sort: sizes of the sequences, stride.
    size: u32,
    last: u32,
    stride: u32,
}
