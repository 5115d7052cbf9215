// How many elements a list has where only the device knows it, and the workgroups of dispatches over it: of one thread
// an element, and of blocks of a prefix sum. The same words as crates/gpu/src/device/recorder.rs. Dimensions stay
// below 65,535, or an indirect dispatch would silently do nothing.
//#include shared/linear_id

struct Counted {
    count: u32,
    groups_x: u32,
    groups_y: u32,
    groups_z: u32,
    blocks_x: u32,
    blocks_y: u32,
    blocks_z: u32,
    pad: u32,
}

// Elements of one block of a prefix sum.
const SCAN_BLOCK: u32 = 1024u;
const MOST_GROUPS: u32 = 32768u;

fn spread_x(groups: u32) -> u32 {
    return min(groups, MOST_GROUPS);
}

fn spread_y(groups: u32) -> u32 {
    return (groups + MOST_GROUPS - 1u) / MOST_GROUPS;
}

fn counted(count: u32) -> Counted {
    let groups = (count + WORKGROUP - 1u) / WORKGROUP;
    // One element more than there are: the total.
    let blocks = count / SCAN_BLOCK + 1u;
    return Counted(count, spread_x(groups), spread_y(groups), 1u, spread_x(blocks), spread_y(blocks), 1u, 0u);
}
