// Voronoi cells, cut out of a box by the bisectors with their neighbours, nearest first (Chlubna sec. 3, algorithm 1).
// One workgroup cuts one cell; a thread does what there is to do of a vertex, an edge, a plane or a site at a time.
//
// In: sites, no two of them equal, in the order of bins. Out: for each cell of the dispatch a record of its own room,
// its lengths, and whether it has to be cut elsewhere.
//
// The cell is done when the next neighbour is farther away than twice the farthest vertex (the paper stops at once the
// distance). Floats measure that, and err towards more neighbours, here and in the twin each in its own way: whoever is
// beyond the exact distance cuts and touches nothing, so it makes no difference how many of them are asked.
//#include fracture/box_cut/pass/neighbours
//#include fracture/box_cut/pass/cut

@group(0) @binding(0) var<uniform> params: CellParams;
// A place, and the index among all sites.
@group(0) @binding(1) var<storage, read> sites: array<vec4<i32>>;
@group(0) @binding(2) var<storage, read> bins: array<u32>;
// Of each cell RECORD words: what lies beyond its planes (but the walls), vertices, edges.
@group(0) @binding(3) var<storage, read_write> records: array<u32>;
// Numbers of planes, vertices, edges, a byte each; 1 if a plane went through a vertex; from bit 28 what became of it.
@group(0) @binding(4) var<storage, read_write> heads: array<u32>;
// Words of the record; 1 where it has to be cut elsewhere.
@group(0) @binding(5) var<storage, read_write> sizes: array<vec2<u32>>;

const RECORD: u32 = PLANES - 6u + VERTICES + EDGES;

// The software driver ends loops after 65,535 rounds of all loops of a thread together. A cell that may come near that
// is cut elsewhere: what is added up below is never less than the rounds that a thread makes.
const MOST_ROUNDS: u32 = 50000u;
const ROUNDS_A_CUT: u32 = 300u;

fn write_out(local: u32, cell_at: u32, cell: Cell, state: u32) {
    let vertices = alive_count();
    let end = alive_end();
    for (var v = local; v < end; v += THREADS) {
        // Vertices are written in the order in which they were made.
        var rank = 0u;
        for (var other = 0u; other < end; other++) {
            rank += u32(is_alive(other) && births[other] < births[v]);
        }
        names[v] = rank;
    }
    workgroupBarrier();
    let is_done = state == DONE;
    let bisectors = cell.planes - 6u;
    let first = cell_at * RECORD;
    if is_done {
        for (var p = local; p < bisectors; p += THREADS) {
            records[first + p] = beyond[p + 6u];
        }
        for (var v = local; v < end; v += THREADS) {
            if is_alive(v) {
                records[first + bisectors + names[v]] = threes[v];
            }
        }
        for (var e = local; e < cell.edges; e += THREADS) {
            let edge = edges[cell.list * EDGES + e];
            let ends = names[edge & 0xffu] | (names[(edge >> 8u) & 0xffu] << 8u);
            records[first + bisectors + vertices + e] = ends | (edge & 0xffff0000u);
        }
    }
    if local == 0u {
        let touched = select(0u, 1u << 24u, cell.touched);
        heads[cell_at] = cell.planes | (vertices << 8u) | (cell.edges << 16u) | touched | (state << 28u);
        let words = select(0u, bisectors + vertices + cell.edges, is_done);
        sizes[cell_at] = vec2<u32>(words, u32(state == NO_ROOM));
    }
}

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let cell_at = workgroup.y * groups.x + workgroup.x;
    if cell_at >= params.count {
        return;
    }
    let own = sites[params.first + cell_at];
    let site = own.xyz;
    let low = vec3<i32>(params.low_x, params.low_y, params.low_z);
    let high = vec3<i32>(params.high_x, params.high_y, params.high_z);
    start_as_box(local, site, low, high);
    var cell = Cell(6u, 12u, 0u, 0u, false);
    var reach = bitcast<f32>(workgroupUniformLoad(&farthest));
    // Only the site itself is not above this.
    var last = vec2<u32>(u32(own.w), 0u);
    var bound = first_bound(site);
    var state = CUTTING;
    var spent = 0u;
    loop {
        let count = collect(local, site, last, bound);
        spent += workgroupUniformLoad(&rounds);
        if spent > MOST_ROUNDS {
            state = NO_ROOM;
            break;
        }
        if count > BATCH {
            bound = middle(last, bound);
            continue;
        }
        sort_batch(local, count);
        spent += (count + THREADS) / THREADS * (count + 1u);
        var k = 0u;
        loop {
            spent += ROUNDS_A_CUT + (count - k + THREADS) / THREADS * (alive_end() + 1u);
            let at = next_in_doubt(local, k, count, site, reach);
            if at == NONE {
                break;
            }
            let word = sorted[at];
            let normal = sites[sorted_places[at]].xyz - site;
            let limit = limit_of(word);
            ask_vertices(local, cell.sets, normal, limit);
            let met = workgroupUniformLoad(&verdict);
            if local == 0u {
                atomicStore(&verdict, 0u);
                atomicStore(&next, NONE);
            }
            if met != 0u {
                if cell.planes == PLANES || spent > MOST_ROUNDS {
                    state = NO_ROOM;
                    break;
                }
                push_plane(local, cell.planes, normal, limit, index_of(word));
                cell.planes += 1u;
                cell.touched |= (met & ON) != 0u;
            }
            if (met & OUT) != 0u {
                if !is_anything_inside(cell.sets) {
                    state = EMPTY;
                    break;
                }
                sort_out(local, cell.sets, cell);
                workgroupBarrier();
                handle_edges(local, cell.sets, cell);
                workgroupBarrier();
                order_ends(local, cell.sets, cell);
                workgroupBarrier();
                join_ends(local, cell.sets, cell);
                cell.edges = count_below(cell.sets + STAYS, EDGES) + count_below(cell.sets + ORDER, 2u * EDGES);
                cell.list = 1u - cell.list;
            }
            cell.sets = SET_WORDS - cell.sets;
            empty_sets(local, cell.sets);
            reach = bitcast<f32>(workgroupUniformLoad(&farthest));
            k = at + 1u;
        }
        if state == CUTTING && (all(bound == ALL) || is_beyond(bound, reach)) {
            state = DONE;
        }
        if state != CUTTING {
            break;
        }
        last = bound;
        bound = wider(bound, reach);
        if !is_less(last, bound) {
            // All within reach have cut.
            state = DONE;
            break;
        }
    }
    write_out(local, cell_at, cell, state);
}
