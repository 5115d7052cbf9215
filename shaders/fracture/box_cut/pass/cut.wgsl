// One cut of the cell of a workgroup by a plane, one thread a vertex, an edge or a plane (Chlubna sec. 3, fig. 4 to 6).
//#include fracture/box_cut/pass/shape

// Lengths of the lists; the list of edges that is read and the sets that are written, 0 or 1; whether a plane ever
// went through a vertex. The same in every thread.
struct Cell {
    planes: u32,
    edges: u32,
    list: u32,
    sets: u32,
    touched: bool,
}

const OUT: u32 = 1u;
const ON: u32 = 2u;

// What became of a cell.
const CUTTING: u32 = 0u;
const DONE: u32 = 1u;
const EMPTY: u32 = 2u;
const NO_ROOM: u32 = 3u;

// On which side every vertex lies.
fn ask_vertices(local: u32, sets: u32, normal: vec3<i32>, limit: vec2<u32>) {
    let end = alive_end();
    for (var v = local; v < end; v += THREADS) {
        if is_alive(v) {
            let side = side_of(v, normal, limit);
            if side > 0i {
                put(sets + OUTSIDE, v);
                atomicOr(&verdict, OUT);
            } else if side == 0i {
                put(sets + TOUCHING, v);
                atomicOr(&verdict, ON);
            }
        }
    }
}

fn push_plane(local: u32, at: u32, normal: vec3<i32>, limit: vec2<u32>, site: u32) {
    if local == 0u {
        normals[at] = normal;
        limits[at] = limit;
        beyond[at] = site;
    }
}

fn empty_sets(local: u32, sets: u32) {
    for (var m = local; m < SET_WORDS; m += THREADS) {
        atomicStore(&masks[sets + m], 0u);
    }
}

fn is_anything_inside(sets: u32) -> bool {
    var inside = 0u;
    for (var w = 0u; w < 4u; w++) {
        inside |= alive[w] & ~atomicLoad(&masks[sets + OUTSIDE + w]) & ~atomicLoad(&masks[sets + TOUCHING + w]);
    }
    return inside != 0u;
}

fn side_in(sets: u32, v: u32) -> i32 {
    return select(select(-1i, 0i, has(sets + TOUCHING, v)), 1i, has(sets + OUTSIDE, v));
}

// Which edges stay and which are split; which faces have a vertex inside; where new vertices can go.
fn sort_out(local: u32, sets: u32, cell: Cell) {
    for (var v = local; v < VERTICES; v += THREADS) {
        var before = 0u;
        var own = 0u;
        for (var w = 0u; w <= (v >> 5u); w++) {
            let free = ~(alive[w] & ~atomicLoad(&masks[sets + OUTSIDE + w]));
            own = free;
            before += countOneBits(free);
        }
        // The words up to its own were counted; from the own one take what is not below it.
        before -= countOneBits(own >> (v & 31u));
        if ((own >> (v & 31u)) & 1u) != 0u {
            names[before] = v;
        }
    }
    for (var p = local; p < cell.planes; p += THREADS) {
        exits[p] = NONE;
        entries[p] = NONE;
    }
    for (var e = local; e < cell.edges; e += THREADS) {
        let edge = edges[cell.list * EDGES + e];
        let begins = side_in(sets, edge & 0xffu);
        let ends = side_in(sets, (edge >> 8u) & 0xffu);
        if (begins <= 0i && ends <= 0i) || begins * ends < 0i {
            put(sets + STAYS, e);
        }
        if begins * ends < 0i {
            put(sets + SPLITS, e);
        }
        if min(begins, ends) < 0i {
            put(sets + INSIDE, (edge >> 16u) & 0xffu);
            put(sets + INSIDE, edge >> 24u);
        }
    }
}

// Going round the face of `leaving`, the new plane's outside begins at `vertex`; on that of `coming` it ends there.
fn report(e: u32, leaving: u32, coming: u32, vertex: u32) {
    exits[leaving] = vertex | ((2u * e) << 16u);
    entries[coming] = vertex | ((2u * e + 1u) << 16u);
}

// Drops, keeps or splits every edge; the new plane is the last one.
fn handle_edges(local: u32, sets: u32, cell: Cell) {
    let new_plane = cell.planes - 1u;
    for (var e = local; e < cell.edges; e += THREADS) {
        var edge = edges[cell.list * EDGES + e];
        let first = edge & 0xffu;
        let second = (edge >> 8u) & 0xffu;
        let left = (edge >> 16u) & 0xffu;
        let right = edge >> 24u;
        let begins = side_in(sets, first);
        let ends = side_in(sets, second);
        if begins == 0i && ends == 0i {
            // One of its faces is inside, the other one is gone.
            let is_left = has(sets + INSIDE, left);
            edge = select(insertBits(edge, new_plane, 16u, 8u), insertBits(edge, new_plane, 24u, 8u), is_left);
        } else if begins * ends < 0i {
            let rank = count_below(sets + SPLITS, e);
            let vertex = names[rank];
            threes[vertex] = (edge >> 16u) | (new_plane << 16u);
            births[vertex] = (new_plane << 8u) | rank;
            put(sets + FRESH, vertex);
            if begins < 0i {
                edge = insertBits(edge, vertex, 8u, 8u);
                report(e, left, right, vertex);
            } else {
                edge = insertBits(edge, vertex, 0u, 8u);
                report(e, right, left, vertex);
            }
        } else if begins == 0i && ends > 0i {
            report(e, left, right, first);
        } else if begins > 0i && ends == 0i {
            report(e, right, left, second);
        }
        if has(sets + STAYS, e) {
            edges[(1u - cell.list) * EDGES + count_below(sets + STAYS, e)] = edge;
        }
    }
}

// The report that comes first of the two to a plane that gets a new edge; `NONE` to others. A face with vertices on the
// plane and all others outside is gone.
fn first_report(sets: u32, plane: u32) -> u32 {
    let is_whole = exits[plane] != NONE && entries[plane] != NONE && has(sets + INSIDE, plane);
    return select(NONE, min(exits[plane] >> 16u, entries[plane] >> 16u), is_whole);
}

// Places of the new vertices, and the order of the new edges.
fn order_ends(local: u32, sets: u32, cell: Cell) {
    let splits = count_below(sets + SPLITS, EDGES);
    for (var made = local; made < splits; made += THREADS) {
        place_vertex(names[made]);
    }
    for (var v = local; v < VERTICES; v += THREADS) {
        if has(sets + OUTSIDE, v) && !has(sets + FRESH, v) {
            places[v] = vec4<f32>(0.0);
        }
    }
    for (var p = local; p < cell.planes; p += THREADS) {
        let first = first_report(sets, p);
        if first != NONE {
            put(sets + ORDER, first);
        }
    }
    if local < 4u {
        let outside = atomicLoad(&masks[sets + OUTSIDE + local]);
        alive[local] = (alive[local] & ~outside) | atomicLoad(&masks[sets + FRESH + local]);
    }
    if local == 0u {
        atomicStore(&farthest, 0u);
    }
}

// New edges behind those that stayed, in the order of the reports; the farthest vertex.
fn join_ends(local: u32, sets: u32, cell: Cell) {
    let stayed = count_below(sets + STAYS, EDGES);
    for (var p = local; p < cell.planes; p += THREADS) {
        let first = first_report(sets, p);
        if first != NONE {
            let joined = (exits[p] & 0xffu) | ((entries[p] & 0xffu) << 8u);
            let at = stayed + count_below(sets + ORDER, first);
            edges[(1u - cell.list) * EDGES + at] = joined | (p << 16u) | ((cell.planes - 1u) << 24u);
        }
    }
    let end = alive_end();
    for (var v = local; v < end; v += THREADS) {
        if is_alive(v) {
            atomicMax(&farthest, bitcast<u32>(places[v].w));
        }
    }
}
