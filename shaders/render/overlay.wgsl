//#include render/frame
// Lines, discs and triangles over the picture, in world space. One instance is one of them; the fragment shader
// dims what lies behind the first hit of its pixel. Colours come out linear and multiplied by alpha. The same
// layout as Line, Point, Triangle and Layer in crates/render/src/overlay.rs.

struct Layer {
    // Nearest depth that is drawn, m.
    near: f32,
    // This far behind a surface still counts as on it, m.
    lift: f32,
    // Opacity of what is hidden.
    through: f32,
    pad: f32,
}

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var<storage, read> hits: array<PixelHit>;
@group(0) @binding(2) var<uniform> layer: Layer;

struct Shown {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(flat) color: vec4<f32>,
    // Along the view, m.
    @location(1) depth: f32,
}

// Points stand a hair before lines, lines before triangles, so that a triangle's own edges and corners are not lost
// in it.
const LINE_PULL = 0.9992;
const POINT_PULL = 0.9984;
// A polygon of 12 corners with the area of a circle of radius 1.
const CORNERS = 12u;
const CORNER_RADIUS = 1.02339;

fn linear_from_srgb(c: vec3<f32>) -> vec3<f32> {
    return select(pow((c + 0.055) / 1.055, vec3<f32>(2.4)), c / 12.92, c <= vec3<f32>(0.04045));
}

// In halves of the picture's width and height at depth 1 times depth, and depth.
fn in_view(point: vec3<f32>) -> vec3<f32> {
    let from_eye = point - frame.eye;
    let depth = dot(from_eye, frame.ahead);
    // Relative to the picture's middle, which a lens shifts.
    let p = from_eye - (frame.forward - frame.ahead) * depth;
    return vec3<f32>(
        dot(p, frame.right) / dot(frame.right, frame.right),
        dot(p, frame.up) / dot(frame.up, frame.up),
        depth,
    );
}

// The vertex, `away` pixels (right, down) beside a point. Depth in the buffer is near / depth: larger is nearer.
fn shown(point: vec3<f32>, away: vec2<f32>, pull: f32, color: vec4<f32>) -> Shown {
    let pixel = 2.0 / vec2<f32>(frame.size);
    let moved = (away - frame.jitter) * pixel * vec2<f32>(1.0, -1.0);
    let linear = vec4<f32>(linear_from_srgb(color.xyz), color.w);
    return Shown(vec4<f32>(point.xy + moved * point.z, layer.near / pull, point.z), linear, point.z);
}

// Outside the picture, whatever it is.
fn nowhere() -> Shown {
    return Shown(vec4<f32>(2.0, 2.0, 0.0, 1.0), vec4<f32>(0.0), 1.0);
}

@vertex
fn line(
    @builtin(vertex_index) corner: u32,
    @location(0) start: vec3<f32>,
    @location(1) color: vec4<f32>,
    @location(2) end: vec3<f32>,
    @location(3) width: f32,
) -> Shown {
    var a = in_view(start);
    var b = in_view(end);
    let near = layer.near;
    if a.z < near && b.z < near {
        return nowhere();
    }
    // What reaches behind the eye is cut there: behind it, the picture is upside down.
    let run = b.z - a.z;
    if a.z < near {
        a += (b - a) * ((near - a.z) / run);
    } else if b.z < near {
        b += (a - b) * ((near - b.z) / -run);
    }
    let pixels = vec2<f32>(frame.size) * vec2<f32>(0.5, -0.5);
    let across = (b.xy / b.z - a.xy / a.z) * pixels;
    let long = length(across);
    let along = select(vec2<f32>(1.0, 0.0), across / max(long, 1e-12), long > 1e-6);
    let side = select(-0.5, 0.5, (corner & 1u) == 1u);
    let ends = select(-0.5, 0.5, corner >= 2u);
    let away = (vec2<f32>(-along.y, along.x) * side + along * ends) * width;
    if corner >= 2u {
        return shown(b, away, LINE_PULL, color);
    }
    return shown(a, away, LINE_PULL, color);
}

@vertex
fn point(
    @builtin(vertex_index) corner: u32,
    @location(0) at: vec3<f32>,
    @location(1) color: vec4<f32>,
    @location(2) radius: vec2<f32>,
    @location(3) back: f32,
) -> Shown {
    let p = in_view(at);
    if p.z < layer.near {
        return nowhere();
    }
    // A strip that zigzags from one side of the polygon to the other: 0, 1, 11, 2, 10 and so on.
    let step = (corner + 1u) / 2u;
    let place = select(CORNERS - step, step, (corner & 1u) == 1u) % CORNERS;
    let angle = f32(place) * (6.28318531 / f32(CORNERS));
    let pixels = max(radius.x, radius.y / (frame.pixel_cone * p.z));
    let away = vec2<f32>(cos(angle), sin(angle)) * pixels * CORNER_RADIUS;
    // By its radius too: what passes through its centre at a slant would cut it in half.
    return shown(p, away, max(POINT_PULL - (pixels - back) * frame.pixel_cone, 0.5), color);
}

@vertex
fn triangle(
    @builtin(vertex_index) corner: u32,
    @location(0) a: vec3<f32>,
    @location(1) color: vec4<f32>,
    @location(2) b: vec3<f32>,
    @location(3) c: vec3<f32>,
) -> Shown {
    // Seen at a slant it is darker, or a folded surface would look flat.
    let n = cross(b - a, c - a);
    let d = (a + b + c) / 3.0 - frame.eye;
    let facing = abs(dot(n, d)) / max(length(n) * length(d), 1e-20);
    var at = a;
    if corner == 1u {
        at = b;
    } else if corner == 2u {
        at = c;
    }
    var vertex = shown(in_view(at), vec2<f32>(0.0), 1.0, color);
    vertex.color = vec4<f32>(vertex.color.xyz * (0.4 + 0.6 * facing), color.w);
    return vertex;
}

@fragment
fn pixel(vertex: Shown) -> @location(0) vec4<f32> {
    let at = min(vec2<u32>(vertex.position.xy), frame.size - 1u);
    let hit = hits[at.y * frame.size.x + at.x];
    let uv = (vec2<f32>(at) + 0.5 + frame.jitter) / vec2<f32>(frame.size);
    let direction = pixel_ray(frame.right, frame.up, frame.forward, uv);
    let surface = hit.distance * dot(direction, frame.ahead);
    let hidden = hit.body != BODY_SKY && vertex.depth - layer.lift > surface * 1.0001;
    let alpha = vertex.color.w * select(1.0, layer.through, hidden);
    if alpha <= 0.0 {
        discard;
    }
    return vec4<f32>(vertex.color.xyz * alpha, alpha);
}
