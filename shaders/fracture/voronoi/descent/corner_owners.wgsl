// The nearest seeds of a box's eight corners. Included by kernels that declare `seeds` and `candidates`.
// |x - r|^2 - |x - s|^2 is linear in x: one product an axis gives it at all corners. The products may wrap, the differences they make up
// fit (fracture/voronoi/exact), and wrapping sums come out right.
// The loop goes round once a candidate. Software drivers end a thread's loops after 65,535 rounds in all, without a
// word, and at the middle of a sphere all its seeds are candidates; so corners are written out instead of looped
// over.
//#include fracture/voronoi/exact

// Corner k is at (k & 1, k >> 1 & 1, k >> 2).
var<private> owners: array<u32, 8>;
// How much farther than the pair's first candidate they are, corners 0 to 3 and 4 to 7.
var<private> lower_leads: vec4<i32>;
var<private> upper_leads: vec4<i32>;

// Fills in `owners`; the lowest index where several seeds are equally near.
fn find_owners(pair: Pair, low: vec3<i32>, edge: i32) {
    let first = candidates[pair.list_first];
    let s = seeds[first].xyz;
    let s_distance2 = distance2(low, s);
    var lower = vec4<u32>(first);
    var upper = vec4<u32>(first);
    lower_leads = vec4<i32>(0i);
    upper_leads = vec4<i32>(0i);
    for (var k = 1u; k < pair.list_count; k++) {
        let r = candidates[pair.list_first + k];
        let p = seeds[r].xyz;
        let step = 2i * edge * (s - p);
        let at_lower = vec4<i32>(distance2(low, p) - s_distance2) + vec4<i32>(0i, step.x, step.y, step.x + step.y);
        let at_upper = at_lower + step.z;
        let lower_is_nearer = at_lower < lower_leads + vec4<i32>(vec4<u32>(r) < lower);
        let upper_is_nearer = at_upper < upper_leads + vec4<i32>(vec4<u32>(r) < upper);
        lower_leads = select(lower_leads, at_lower, lower_is_nearer);
        upper_leads = select(upper_leads, at_upper, upper_is_nearer);
        lower = select(lower, vec4<u32>(r), lower_is_nearer);
        upper = select(upper, vec4<u32>(r), upper_is_nearer);
    }
    owners = array<u32, 8>(lower.x, lower.y, lower.z, lower.w, upper.x, upper.y, upper.z, upper.w);
}
