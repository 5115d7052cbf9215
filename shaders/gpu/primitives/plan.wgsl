// How long the list is that a scanned one asks for, and whether there is room for it. Only the first thread works. What was
// needed is reported whatever there is; where it does not fit, both lists are empty from here on, so that nothing is
// written beyond a buffer's end, all that follows has nothing to do, and the host can begin anew.
//#include shared/counted

struct PlanParams { at: u32, room_x: u32, room_y: u32 }

@group(0) @binding(0) var<uniform> params: PlanParams;
@group(0) @binding(1) var<storage, read> scanned: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read_write> here: Counted;
@group(0) @binding(3) var<storage, read_write> next: Counted;
@group(0) @binding(4) var<storage, read_write> report: array<vec2<u32>>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(local_invocation_index) local: u32) {
    if local != 0u {
        return;
    }
    let total = scanned[here.count];
    report[params.at] = total;
    let fits = total.x <= params.room_x && total.y <= params.room_y;
    next = counted(select(0u, total.x, fits));
    if !fits {
        here = counted(0u);
    }
}
