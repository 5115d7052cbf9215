// What every pass of a frame is told. The same layout as FrameData and BodyData in crates/render/src/tables.rs.

struct Frame {
    eye: vec3<f32>,
    // World width of a pixel at distance 1.
    pixel_cone: f32,
    // The picture's middle at depth 1, seen from the eye. A lens shears it away from `ahead`.
    forward: vec3<f32>,
    ao_reach: f32,
    // Half the picture's width and height at distance 1, as vectors.
    right: vec3<f32>,
    floor_y: f32,
    up: vec3<f32>,
    fade: f32,
    sun: vec3<f32>,
    sun_radius: f32,
    target_point: vec3<f32>,
    flags: u32,
    // Along the view, unit: depths are measured along it.
    ahead: vec3<f32>,
    // Pixels a light texel covers, each way.
    light_step: u32,
    // Factors of the lights' own colours.
    sun_tint: vec3<f32>,
    samples: u32,
    sky_tint: vec3<f32>,
    // Taps each way of the light filter.
    filter_radius: u32,
    // Towards the weak lamp, unit, with FLAG_LAMP.
    lamp: vec3<f32>,
    color_by: u32,
    lamp_tint: vec3<f32>,
    body_count: u32,
    // Colours of the backdrop, linear, with FLAG_BACKGROUND.
    horizon: vec3<f32>,
    // Frames already in the history.
    accumulated: u32,
    zenith: vec3<f32>,
    // Width of the lines between pieces that lie together, pixels; 0 without.
    hairline: f32,
    // Linear, with FLAG_FLOOR_COLOR.
    floor_color: vec3<f32>,
    // How far round a line its surroundings are looked at for more pieces, pixels.
    hairline_reach: u32,
    // Colour of every other square of the floor, linear, with FLAG_FLOOR_COLOR; edge of a square, m, 0 without squares.
    checker: vec3<f32>,
    checker_size: f32,
    size: vec2<u32>,
    light_size: vec2<u32>,
    jitter: vec2<f32>,
    // Body that shows where it would crack, SEAM_NONE when none does; level of the preview; its first voxel; its seeds.
    seam_body: u32,
    seam_level: u32,
    seam_first: u32,
    seam_seeds: u32,
    // Object id of the cells that stay and the cell under the pointer, which are tinted; CELL_NONE without.
    kept_object: u32,
    hovered_cell: u32,
    // Planes beyond which no body is drawn: unit normal, and distance along it. Their number is in the flags.
    clips: array<vec4<f32>, 6>,
}

// With FLAG_TRANSPARENT, the floor is there for its shadows only.
const FLAG_FLOOR = 1u;
const FLAG_TRANSPARENT = 2u;
// Some body is selected.
const FLAG_SELECTION = 4u;
// There is an overlay.
const FLAG_OVERLAY = 8u;
// The backdrop, the floor and the weak lamp's direction are given; without, they are a studio's.
const FLAG_BACKGROUND = 16u;
const FLAG_FLOOR_COLOR = 32u;
const FLAG_LAMP = 64u;
// Some surface emits light. The second half of the words beside the hits holds it.
const FLAG_EMITS = 128u;
// First of the three bits with the number of clipping planes.
const CLIPS_SHIFT = 8u;
// A picture of all directions lies behind the scene and lights it.
const FLAG_SURROUNDINGS = 2048u;

const BODY_SKY = 0xffffffffu;
const BODY_FLOOR = 0xfffffffeu;
const NO_LEAF = 0xffffffffu;

// Word beside a hit: sRGB colour in bits 0..24, then these.
// A crack face of a material without gloss.
const MARK_MATT = 0x01000000u;
const MARK_SELECTED = 0x02000000u;
const MARK_GLASS = 0x04000000u;
// Gold of a seam in bits 27..32.
const GOLD_SHIFT = 27u;
const GOLD_MOST = 31.0;
const SEAM_NONE = 0xffffffffu;
const CELL_NONE = 0xffffffffu;
// Marks of a body, beside MARK_SELECTED: it stays, it is under the pointer.
const BODY_KEPT = 0x04000000u;
const BODY_HOVERED = 0x08000000u;
// A body that is a surface.
const BODY_MESH = 0x10000000u;
// A body whose file says nothing of its outside, which is glass where the inside is.
const BODY_BARE = 0x20000000u;

// First body of a pixel.
struct PixelHit {
    // Index into the frame's bodies, BODY_SKY or BODY_FLOOR.
    body: u32,
    // Leaf relative to the body's slot, NO_LEAF in an internal octant; a surface's triangle.
    leaf: u32,
    // Distance from the eye along the unit ray, m.
    distance: f32,
    // World normal, packed.
    normal: u32,
}

fn pixel_ray(frame_right: vec3<f32>, frame_up: vec3<f32>, frame_forward: vec3<f32>, uv: vec2<f32>) -> vec3<f32> {
    return normalize(frame_forward + frame_right * (2.0 * uv.x - 1.0) + frame_up * (1.0 - 2.0 * uv.y));
}

// Brightest light that a surface emits in a picture.
const GLOW_MOST = 64.0;

// A pixel's emitted light, linear: square roots of its channels' shares, and of how bright it is.
fn glow_pack(light: vec3<f32>) -> u32 {
    let peak = clamp(max(light.x, max(light.y, light.z)), 0.0, GLOW_MOST);
    let scale = ceil(sqrt(peak / GLOW_MOST) * 255.0);
    let full = max(scale * scale * (GLOW_MOST / 65025.0), 1e-9);
    return pack4x8unorm(vec4<f32>(sqrt(clamp(light / full, vec3<f32>(0.0), vec3<f32>(1.0))), scale / 255.0));
}

fn glow_unpack(word: u32) -> vec3<f32> {
    let parts = unpack4x8unorm(word);
    return parts.xyz * parts.xyz * (parts.w * parts.w * GLOW_MOST);
}

fn hash_u32(value: u32) -> u32 {
    var v = value * 0x9e3779b1u;
    v = (v ^ (v >> 15u)) * 0x85ebca77u;
    v = (v ^ (v >> 13u)) * 0xc2b2ae3du;
    return v ^ (v >> 16u);
}

fn unit_from_hash(value: u32) -> f32 {
    return f32(hash_u32(value) >> 8u) / 16777216.0;
}

fn bit_at(word: u32, index: u32) -> u32 {
    return (word >> index) & 1u;
}
