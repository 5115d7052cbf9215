// What the passes of the solver read and write. The same words as in crates/physics/src/solver/wide/passes/data.rs, where units
// are. Symmetric matrices are a diagonal (xx, yy, zz) and the rest (xy, xz, yz). "At the start" is the start of the step; axes are
// the world's.

struct SolverParams {
    gravity: vec3<f32>,
    h: f32,
    bodies: u32,
    manifolds: u32,
    contacts: u32,
    // Colours that a dispatch does, and how many times over.
    first: u32,
    end: u32,
    rounds: u32,
    // Whether contacts are springs.
    springs: u32,
    stick: f32,
    threshold: f32,
    per_weight: f32,
    warm_speed: f32,
    most_speed: f32,
    most_spin: f32,
    most_arc: f32,
    most_arcs: f32,
}

struct SolverMotion {
    linear: vec3<f32>,
    angular: vec3<f32>,
}

struct SolverPose {
    moved: vec3<f32>,
    turn: vec4<f32>,
}

struct SolverBody {
    inverse_diagonal: vec3<f32>,
    inverse_mass: f32,
    inverse_rest: vec3<f32>,
    start_inverse_diagonal: vec3<f32>,
    start_inverse_rest: vec3<f32>,
    start_inertia_diagonal: vec3<f32>,
    start_inertia_rest: vec3<f32>,
}

struct SolverManifold {
    bodies: vec2<u32>,
    first: u32,
    count: u32,
    roll: vec3<f32>,
    roll_arm: f32,
    roll_diagonal: vec3<f32>,
    bias_rate: f32,
    roll_rest: vec3<f32>,
    softness: f32,
    push_out: f32,
    stick: f32,
    speed: f32,
    linear_mass: f32,
}

struct SolverContact {
    normal: vec3<f32>,
    friction: f32,
    tangent: vec3<f32>,
    softness: f32,
    arm_a: vec3<f32>,
    bias_springs: f32,
    arm_b: vec3<f32>,
    bias_rigid: f32,
    masses: vec3<f32>,
    soft_mass: f32,
    drift: vec2<f32>,
}

struct ContactGeometry {
    anchor_a: vec3<f32>,
    adjusted: f32,
    anchor_b: vec3<f32>,
    middle: f32,
    offset: vec3<f32>,
    sticks: f32,
    apart: vec3<f32>,
    gap: f32,
    slip: vec2<f32>,
    struck: f32,
    rebound: f32,
}

struct ContactAnswer {
    impulse: vec3<f32>,
    slid: u32,
    total: vec3<f32>,
    most: f32,
}

// In the place of a body that cannot move.
const STILL: u32 = 0xffffffffu;

// A symmetric matrix times a vector.
fn by(diagonal: vec3<f32>, rest: vec3<f32>, v: vec3<f32>) -> vec3<f32> {
    return diagonal * v + vec3<f32>(
        rest.x * v.y + rest.y * v.z,
        rest.x * v.x + rest.z * v.z,
        rest.y * v.x + rest.z * v.y,
    );
}

// The vector, no longer than that.
fn limited(v: vec3<f32>, most: f32) -> vec3<f32> {
    let square = dot(v, v);
    if most * most < square {
        return v * (most / sqrt(square));
    }
    return v;
}

// A vector turned by a unit quaternion.
fn turned(turn: vec4<f32>, v: vec3<f32>) -> vec3<f32> {
    let twice = 2.0 * cross(turn.xyz, v);
    return v + turn.w * twice + cross(turn.xyz, twice);
}
