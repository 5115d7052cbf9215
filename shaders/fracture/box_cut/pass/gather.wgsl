// Brings the records of cells together, in the order of the cells: `sizes` says after the prefix sum where each begins.
// 64 threads take one cell, each some of its words.
//#include shared/thread

// `record`: words of room that every record had. `room`: words that there is room for.
struct GatherParams { cells: u32, record: u32, room: u32 }

@group(0) @binding(0) var<uniform> params: GatherParams;
@group(0) @binding(1) var<storage, read> sizes: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> records: array<u32>;
@group(0) @binding(3) var<storage, read_write> packed: array<u32>;

fn thread(t: u32) {
    let cell = t / 64u;
    if cell >= params.cells {
        return;
    }
    let first = sizes[cell].x;
    let end = sizes[cell + 1u].x;
    for (var w = t % 64u; first + w < end; w += 64u) {
        if first + w < params.room {
            packed[first + w] = records[cell * params.record + w];
        }
    }
}
