// Brings contacts up to date with how their bodies lie: arms, distances and masses. One thread: one manifold.
//#include shared/thread
//#include bodies/solver/wide/passes/data

@group(0) @binding(0) var<uniform> params: SolverParams;
@group(0) @binding(1) var<storage, read> poses: array<SolverPose>;
@group(0) @binding(2) var<storage, read> bodies: array<SolverBody>;
@group(0) @binding(3) var<storage, read_write> manifolds: array<SolverManifold>;
@group(0) @binding(4) var<storage, read_write> contacts: array<SolverContact>;
@group(0) @binding(5) var<storage, read_write> geometry: array<ContactGeometry>;

// Determinants below this share of the cube of the trace count as zero.
const SOUND: f32 = 1.0e-9;

struct Turning {
    diagonal: vec3<f32>,
    rest: vec3<f32>,
}

// The inverse of a symmetric matrix; zero where there is none, as for two bodies that cannot turn. By the trace, since determinants
// of small bodies' inertia leave the range of single precision.
fn inverse(m: Turning) -> Turning {
    let trace = m.diagonal.x + m.diagonal.y + m.diagonal.z;
    if trace <= 0.0 {
        return Turning(vec3<f32>(0.0), vec3<f32>(0.0));
    }
    let scale = 1.0 / trace;
    let d = m.diagonal * scale;
    let r = m.rest * scale;
    let a = d.y * d.z - r.z * r.z;
    let b = r.y * r.z - r.x * d.z;
    let c = r.x * r.z - r.y * d.y;
    let determinant = d.x * a + r.x * b + r.y * c;
    if determinant <= SOUND {
        return Turning(vec3<f32>(0.0), vec3<f32>(0.0));
    }
    let share = scale / determinant;
    return Turning(
        vec3<f32>(a, d.x * d.z - r.y * r.y, d.x * d.y - r.x * r.x) * share,
        vec3<f32>(b, c, r.x * r.y - d.x * r.z) * share,
    );
}

// Effective mass along a way.
fn mass(way: vec3<f32>, contact: SolverContact, a: SolverBody, b: SolverBody) -> f32 {
    let turn_a = cross(contact.arm_a, way);
    let turn_b = cross(contact.arm_b, way);
    let softness = a.inverse_mass + b.inverse_mass + dot(turn_a, by(a.inverse_diagonal, a.inverse_rest, turn_a))
        + dot(turn_b, by(b.inverse_diagonal, b.inverse_rest, turn_b));
    if softness <= 0.0 {
        return 0.0;
    }
    return 1.0 / softness;
}

fn thread(id: u32) {
    if id >= params.manifolds {
        return;
    }
    let manifold = manifolds[id];
    var a: SolverBody;
    var b: SolverBody;
    var pose_a: SolverPose;
    var pose_b: SolverPose;
    if manifold.bodies.x != STILL {
        a = bodies[manifold.bodies.x];
        pose_a = poses[manifold.bodies.x];
    }
    if manifold.bodies.y != STILL {
        b = bodies[manifold.bodies.y];
        pose_b = poses[manifold.bodies.y];
    }
    let roll = inverse(Turning(a.inverse_diagonal + b.inverse_diagonal, a.inverse_rest + b.inverse_rest));
    manifolds[id].roll_diagonal = roll.diagonal;
    manifolds[id].roll_rest = roll.rest;
    let moved = pose_a.moved - pose_b.moved;
    for (var c = manifold.first; c < manifold.first + manifold.count; c++) {
        var contact = contacts[c];
        let about = geometry[c];
        let other = cross(contact.normal, contact.tangent);
        let arm_a = turned(pose_a.turn, about.anchor_a) + about.offset;
        let arm_b = turned(pose_b.turn, about.anchor_b);
        let apart = moved + arm_a - arm_b + about.apart;
        let gap = about.adjusted + dot(apart, contact.normal);
        contact.arm_a = arm_a - apart * about.middle;
        contact.arm_b = arm_b + apart * (1.0 - about.middle);
        contact.drift = (about.slip + vec2<f32>(dot(apart, contact.tangent), dot(apart, other))) * (about.sticks * manifold.stick);
        let free = max(gap, 0.0) / params.h;
        let spring = min(max(manifold.bias_rate * gap, -manifold.push_out), 0.0);
        contact.bias_springs = free + spring;
        contact.bias_rigid = free;
        contact.masses = vec3<f32>(
            mass(contact.normal, contact, a, b),
            mass(contact.tangent, contact, a, b),
            mass(other, contact, a, b),
        );
        contacts[c] = contact;
        geometry[c].gap = gap;
    }
}
