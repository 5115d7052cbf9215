// A sweep over manifolds by colours: those of one colour share no body that moves. One thread: one manifold of each colour. A
// dispatch of many workgroups does one colour; a dispatch of one workgroup may do several small colours one after the other. A file
// that includes this one declares `solve`, which gets a manifold.
//#include shared/linear_id
//#include bodies/solver/wide/passes/data

@group(0) @binding(0) var<uniform> params: SolverParams;
// The first manifold of each colour, and their number.
@group(0) @binding(1) var<storage, read> colours: array<u32>;
@group(0) @binding(2) var<storage, read_write> motions: array<SolverMotion>;
@group(0) @binding(3) var<storage, read> bodies: array<SolverBody>;

// Velocities and masses of both bodies of a manifold; zero where one cannot move.
struct Pair {
    linear_a: vec3<f32>,
    linear_b: vec3<f32>,
    angular_a: vec3<f32>,
    angular_b: vec3<f32>,
    mass_a: f32,
    mass_b: f32,
    diagonal_a: vec3<f32>,
    rest_a: vec3<f32>,
    diagonal_b: vec3<f32>,
    rest_b: vec3<f32>,
}

fn gather(who: vec2<u32>) -> Pair {
    var pair: Pair;
    if who.x != STILL {
        pair.linear_a = motions[who.x].linear;
        pair.angular_a = motions[who.x].angular;
        pair.mass_a = bodies[who.x].inverse_mass;
        pair.diagonal_a = bodies[who.x].inverse_diagonal;
        pair.rest_a = bodies[who.x].inverse_rest;
    }
    if who.y != STILL {
        pair.linear_b = motions[who.y].linear;
        pair.angular_b = motions[who.y].angular;
        pair.mass_b = bodies[who.y].inverse_mass;
        pair.diagonal_b = bodies[who.y].inverse_diagonal;
        pair.rest_b = bodies[who.y].inverse_rest;
    }
    return pair;
}

fn scatter(who: vec2<u32>, pair: Pair) {
    if who.x != STILL {
        motions[who.x].linear = pair.linear_a;
        motions[who.x].angular = pair.angular_a;
    }
    if who.y != STILL {
        motions[who.y].linear = pair.linear_b;
        motions[who.y].angular = pair.angular_b;
    }
}

// Turns the first body by an angular impulse, and the second one back.
fn twisted(pair: Pair, impulse_a: vec3<f32>, impulse_b: vec3<f32>) -> Pair {
    var out = pair;
    out.angular_a += by(pair.diagonal_a, pair.rest_a, impulse_a);
    out.angular_b -= by(pair.diagonal_b, pair.rest_b, impulse_b);
    return out;
}

// Pushes the first body at the end of its arm, and the second one back.
fn pushed(pair: Pair, contact: SolverContact, push: vec3<f32>) -> Pair {
    var out = twisted(pair, cross(contact.arm_a, push), cross(contact.arm_b, push));
    out.linear_a += push * pair.mass_a;
    out.linear_b -= push * pair.mass_b;
    return out;
}

// How fast the first body moves against the second where they touch.
fn speed_of(pair: Pair, contact: SolverContact) -> vec3<f32> {
    return pair.linear_a + cross(pair.angular_a, contact.arm_a) - pair.linear_b - cross(pair.angular_b, contact.arm_b);
}

// Friction along both tangents, no more than this.
fn held(wanted: vec2<f32>, most: f32) -> vec2<f32> {
    let square = dot(wanted, wanted);
    if most * most < square {
        return wanted * (most / sqrt(square));
    }
    return wanted;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let id = linear_id(workgroup, groups, local);
    for (var round = 0u; round < params.rounds; round++) {
        for (var colour = params.first; colour < params.end; colour++) {
            let k = colours[colour] + id;
            if k < colours[colour + 1u] {
                solve(k);
            }
            // The next colour has bodies of this one.
            storageBarrier();
        }
    }
}
