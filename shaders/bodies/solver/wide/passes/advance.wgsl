// Moves and turns bodies for a substep, as integrate.rs does on the cores: the spin is that of the middle of each arc, and energy
// that rounding adds is removed. One thread: one body. Rotations count from the start of the step, so that no rotation is lost to
// rounding where a body hardly turns.
//#include shared/thread
//#include bodies/solver/wide/passes/data

@group(0) @binding(0) var<uniform> params: SolverParams;
@group(0) @binding(1) var<storage, read_write> motions: array<SolverMotion>;
@group(0) @binding(2) var<storage, read_write> poses: array<SolverPose>;
@group(0) @binding(3) var<storage, read_write> bodies: array<SolverBody>;

// The longest arc for which the series of `turn_by` hold, radians.
const LONGEST: f32 = 3.0;

// One turn after another.
fn after(b: vec4<f32>, a: vec4<f32>) -> vec4<f32> {
    let axis = b.w * a.xyz + a.w * b.xyz + cross(b.xyz, a.xyz);
    return vec4<f32>(axis, b.w * a.w - dot(b.xyz, a.xyz));
}

// The turn about an axis by its length, radians. By series, since the sines of a device may be off by 5e-4.
fn turn_by(scaled_axis: vec3<f32>) -> vec4<f32> {
    let axis = limited(scaled_axis, LONGEST);
    let s = 0.25 * dot(axis, axis);
    let sine = 1.0 - s / 6.0 * (1.0 - s / 20.0 * (1.0 - s / 42.0 * (1.0 - s / 72.0 * (1.0 - s / 110.0))));
    let cosine = 1.0 - s / 2.0 * (1.0 - s / 12.0 * (1.0 - s / 30.0 * (1.0 - s / 56.0 * (1.0 - s / 90.0))));
    return vec4<f32>(0.5 * sine * axis, cosine);
}

// A vector by a matrix of the start, of a body that has turned since.
fn by_turned(turn: vec4<f32>, diagonal: vec3<f32>, rest: vec3<f32>, v: vec3<f32>) -> vec3<f32> {
    return turned(turn, by(diagonal, rest, turned(vec4<f32>(-turn.xyz, turn.w), v)));
}

fn thread(id: u32) {
    if id >= params.bodies {
        return;
    }
    var body = bodies[id];
    var pose = poses[id];
    var spin = motions[id].angular;
    pose.moved += motions[id].linear * params.h;
    let speed = length(spin);
    if speed == 0.0 {
        poses[id] = pose;
        return;
    }
    let arcs = clamp(ceil(speed * params.h / params.most_arc), 1.0, params.most_arcs);
    let h = params.h / arcs;
    for (var k = 0.0; k < arcs; k += 1.0) {
        let momentum = by_turned(pose.turn, body.start_inertia_diagonal, body.start_inertia_rest, spin);
        let energy = dot(spin, momentum);
        let middle = normalize(after(turn_by(spin * (0.5 * h)), pose.turn));
        let spin_there = by_turned(middle, body.start_inverse_diagonal, body.start_inverse_rest, momentum);
        pose.turn = normalize(after(turn_by(spin_there * h), pose.turn));
        spin = by_turned(pose.turn, body.start_inverse_diagonal, body.start_inverse_rest, momentum);
        let energy_after = dot(spin, momentum);
        if energy_after > energy && energy_after > 0.0 {
            spin *= sqrt(energy / energy_after);
        }
    }
    // Columns of the rotation, and the inverse inertia turned by it.
    let turn = mat3x3<f32>(
        turned(pose.turn, vec3<f32>(1.0, 0.0, 0.0)),
        turned(pose.turn, vec3<f32>(0.0, 1.0, 0.0)),
        turned(pose.turn, vec3<f32>(0.0, 0.0, 1.0)),
    );
    let d = body.start_inverse_diagonal;
    let r = body.start_inverse_rest;
    let start = mat3x3<f32>(vec3<f32>(d.x, r.x, r.y), vec3<f32>(r.x, d.y, r.z), vec3<f32>(r.y, r.z, d.z));
    let now = turn * start * transpose(turn);
    body.inverse_diagonal = vec3<f32>(now[0].x, now[1].y, now[2].z);
    body.inverse_rest = vec3<f32>(now[1].x, now[2].x, now[2].y);
    bodies[id] = body;
    poses[id] = pose;
    motions[id].angular = spin;
}
