// The same for kernels that count what is below a pair.
//#include fracture/voronoi/descent/frame

@group(0) @binding(5) var<storage, read_write> masks: array<u32>;
@group(0) @binding(6) var<storage, read_write> counts: array<vec2<u32>>;

// `alive` go on, or get a copy; `whole` are inside the solid and inside the object.
fn write_counts(i: u32, alive: u32, whole: u32) {
    masks[i] = alive | (whole << 8u);
    counts[i] = vec2<u32>(countOneBits(alive), 0u);
}
