// Which candidates can own a point of each of a pair's eight octants: the test of one box (duel in
// fracture/voronoi/exact) for all of them, whose centres are the corners of a box. Written out, not looped over, as
// in fracture/voronoi/descent/corner_owners and for its reasons.
//#include fracture/voronoi/descent/candidates
//#include fracture/voronoi/descent/corner_owners

// One answer an octant: 0 to 3 and 4 to 7.
struct Answers {
    lower: vec4<bool>,
    upper: vec4<bool>,
}

fn bits_of(answers: Answers) -> u32 {
    let bits = select(vec4<u32>(0u), vec4<u32>(1u, 2u, 4u, 8u), answers.lower)
        | select(vec4<u32>(0u), vec4<u32>(16u, 32u, 64u, 128u), answers.upper);
    return bits.x | bits.y | bits.z | bits.w;
}

// The seeds that the candidates are measured against: what one beats at every corner of its octant is no candidate
// there. An object's only candidate is its own judge, so that it is dropped where it is beaten; of several, the one
// nearest to the octant's centre is, or a rival that is nearer still. Fills in `owners` and leads; `centre` is that
// of octant 0, `edge` an octant's.
fn find_judges(pair: Pair, centre: vec3<i32>, edge: i32) {
    if merged && pair.list_count > 0u {
        if is_own(pair, candidates[pair.list_first + 1u]) {
            find_owners(pair, centre, edge);
        } else {
            let own = own_seed(pair);
            owners = array<u32, 8>(own, own, own, own, own, own, own, own);
            lower_leads = vec4<i32>(0i);
            upper_leads = vec4<i32>(0i);
        }
    }
}

fn reach_to(judge: u32, r: vec3<i32>, edge: i32) -> i32 {
    let apart = abs(seeds[judge].xyz - r);
    return edge * (apart.x + apart.y + apart.z);
}

// Candidate r against the judges: whether it owns all of an octant against its judge, and whether it may own some.
struct Duels {
    lost: Answers,
    contested: Answers,
}

fn duels(pair: Pair, r: u32, centre: vec3<i32>, edge: i32) -> Duels {
    let first = own_seed(pair);
    let s = seeds[first].xyz;
    let p = seeds[r].xyz;
    let step = 2i * edge * (s - p);
    let at = distance2(centre, p) - distance2(centre, s);
    var lower = vec4<i32>(at) + vec4<i32>(0i, step.x, step.y, step.x + step.y);
    var upper = lower + step.z;
    var lower_reach = vec4<i32>(reach_to(first, p, edge));
    var upper_reach = lower_reach;
    var lower_judges = vec4<u32>(first);
    var upper_judges = lower_judges;
    if merged {
        lower -= lower_leads;
        upper -= upper_leads;
        lower_judges = vec4<u32>(owners[0], owners[1], owners[2], owners[3]);
        upper_judges = vec4<u32>(owners[4], owners[5], owners[6], owners[7]);
        lower_reach = vec4<i32>(
            reach_to(owners[0], p, edge), reach_to(owners[1], p, edge), reach_to(owners[2], p, edge), reach_to(owners[3], p, edge),
        );
        upper_reach = vec4<i32>(
            reach_to(owners[4], p, edge), reach_to(owners[5], p, edge), reach_to(owners[6], p, edge), reach_to(owners[7], p, edge),
        );
    }
    let lower_bias = vec4<i32>(vec4<u32>(r) < lower_judges);
    let upper_bias = vec4<i32>(vec4<u32>(r) < upper_judges);
    return Duels(
        Answers(lower < lower_bias - lower_reach, upper < upper_bias - upper_reach),
        // A judge is no rival of itself, and stays.
        Answers(
            (lower < lower_bias + lower_reach) | (vec4<u32>(r) == lower_judges),
            (upper < upper_bias + upper_reach) | (vec4<u32>(r) == upper_judges),
        ),
    );
}
