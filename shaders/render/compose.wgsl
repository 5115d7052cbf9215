//#include shared/octree
//#include render/frame
//#include render/surroundings
// Hits and light to colour: edge-aware light filter, shading, tone curve, overlay, history, sRGB, dither. One
// thread is one pixel.

// Bound as storage and copied by every kernel as its first deed: Mesa's software driver compiles a kernel anew
// whenever a value of a uniform buffer has changed that decides a branch or a loop, some 30 ms for every picture.
@group(0) @binding(0) var<storage, read> frame_words: Frame;
var<private> frame: Frame;

@group(0) @binding(1) var<storage, read> hits: array<PixelHit>;
@group(0) @binding(2) var<storage, read> looks: array<u32>;
@group(0) @binding(3) var<storage, read> lights: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> history: array<vec4<f32>>;
@group(0) @binding(5) var picture: texture_storage_2d<rgba8unorm, write>;
// Lines, discs and triangles over the picture: linear, times alpha.
@group(0) @binding(6) var overlay: texture_2d<f32>;
// Of which object each body is a piece.
@group(0) @binding(7) var<storage, read> objects: array<u32>;

const SUN_COLOR = vec3<f32>(2.55, 2.3, 1.98);
const SKY_COLOR = vec3<f32>(0.60, 0.68, 0.80);
const GROUND_COLOR = vec3<f32>(0.36, 0.31, 0.27);
const LAMP_COLOR = vec3<f32>(0.20, 0.19, 0.2);
// Of the studio backdrop: warm grey at the floor's horizon, cooler and darker above.
const HORIZON = vec3<f32>(0.44, 0.42, 0.40);
const ZENITH = vec3<f32>(0.13, 0.155, 0.20);
// Shares of linear red, green and blue in brightness.
const LUMA = vec3<f32>(0.2126, 0.7152, 0.0722);
const GOLD = vec3<f32>(1.0, 0.66, 0.16);

fn linear_from_srgb(c: vec3<f32>) -> vec3<f32> {
    return select(pow((c + 0.055) / 1.055, vec3<f32>(2.4)), c / 12.92, c <= vec3<f32>(0.04045));
}

fn srgb_from_linear(c: vec3<f32>) -> vec3<f32> {
    return select(1.055 * pow(max(c, vec3<f32>(1e-8)), vec3<f32>(1.0 / 2.4)) - 0.055, 12.92 * c, c <= vec3<f32>(0.0031308));
}

// x^a / (b x^a + c) with a chosen for contrast, b and c so that 0.18 -> 0.19 and 6 -> 1. Bright colours lose some
// saturation on the way. The curve is that of the strongest and the weakest channel, and the third keeps its place
// between them: each by itself would move nearer to the strongest one, and orange would turn yellow. The weakest channel
// of a strong colour keeps its share of the strongest.
const TONE_A = 1.22;
const TONE_B = 0.940039;
const TONE_C = 0.533599;

fn tone(color: vec3<f32>) -> vec3<f32> {
    let peak = max(color.x, max(color.y, color.z));
    let paler = mix(color, vec3<f32>(peak), smoothstep(0.8, 6.0, peak) * 0.5);
    let least = min(paler.x, min(paler.y, paler.z));
    let x = pow(max(vec2<f32>(least, peak), vec2<f32>(0.0)), vec2<f32>(TONE_A));
    let ends = clamp(x / (TONE_B * x + TONE_C), vec2<f32>(0.0), vec2<f32>(1.0));
    let share = least / max(peak, 1e-6);
    let vivid = (1.0 - share) * (1.0 - share);
    let dark = mix(ends.x, min(ends.x, ends.y * share), vivid);
    return dark + (ends.y - dark) * clamp((paler - least) / max(peak - least, 1e-6), vec3<f32>(0.0), vec3<f32>(1.0));
}

fn is_pictured() -> bool {
    return (frame.flags & FLAG_SURROUNDINGS) != 0u;
}

fn backdrop(direction: vec3<f32>) -> vec3<f32> {
    if is_pictured() {
        return surroundings_light(direction);
    }
    let h = clamp(direction.y * 1.6 + 0.08, 0.0, 1.0);
    if (frame.flags & FLAG_BACKGROUND) != 0u {
        return mix(frame.horizon, frame.zenith, smoothstep(0.0, 1.0, h));
    }
    return mix(HORIZON, ZENITH, smoothstep(0.0, 1.0, h));
}

fn sun_light() -> vec3<f32> {
    return SUN_COLOR * frame.sun_tint;
}

fn sky_light(n: vec3<f32>) -> vec3<f32> {
    if is_pictured() {
        return surroundings_diffuse(n) * frame.sky_tint;
    }
    return mix(GROUND_COLOR, SKY_COLOR, smoothstep(-1.0, 1.0, n.y)) * frame.sky_tint;
}

// What surfaces mirror of the sky: glass a clear picture, others a blurred one.
fn mirrored_sky(direction: vec3<f32>, is_clear: bool) -> vec3<f32> {
    if !is_pictured() {
        return sky_light(direction);
    }
    if is_clear {
        return surroundings_light(direction) * frame.sky_tint;
    }
    return surroundings_blurred(direction) * frame.sky_tint;
}

// A painted floor's colour at a point. Squares of which a pixel covers several fade into their mean.
fn painted_floor(point: vec2<f32>, distance: f32, slope: f32) -> vec3<f32> {
    var paint = frame.floor_color;
    if frame.checker_size > 0.0 {
        let square = floor(point / frame.checker_size);
        let is_other = fract(0.5 * (square.x + square.y)) > 0.25;
        let covers = frame.pixel_cone * distance / (max(abs(slope), 1e-3) * frame.checker_size);
        let mean = 0.5 * (frame.floor_color + frame.checker);
        paint = mix(select(paint, frame.checker, is_other), mean, smoothstep(0.25, 1.0, covers));
    }
    return paint;
}

// Towards a weak lamp that keeps the shadow side round: behind the camera's right shoulder, if it has no place of its
// own.
fn towards_lamp() -> vec3<f32> {
    if (frame.flags & FLAG_LAMP) != 0u {
        return frame.lamp;
    }
    return normalize(normalize(frame.right) * 0.8 - frame.ahead * 0.6 + vec3<f32>(0.0, 0.25, 0.0));
}

// Which of the pixels under a light texel has its turn in this frame.
fn light_turn() -> vec2<u32> {
    return vec2<u32>(frame.accumulated, frame.accumulated >> 1u) % frame.light_step;
}

struct Lit {
    sun: f32,
    sky: f32,
}

// Weighs light texels by distance from the pixel's tangent plane, by normal and by kind. Radius 2 averages a whole
// tile of strata; radius 1 interpolates; radius 0 takes the pixel's own.
fn filtered(at: vec2<u32>, hit: PixelHit, n: vec3<f32>, direction: vec3<f32>) -> Lit {
    let own_texel = min(at / frame.light_step, frame.light_size - 1u);
    let own = bitcast<vec2<f32>>(lights[own_texel.y * frame.light_size.x + own_texel.x].xy);
    let radius = i32(frame.filter_radius);
    if radius == 0 {
        return Lit(own.x, own.y);
    }
    let turn = light_turn();
    let place = (vec2<f32>(at) - vec2<f32>(turn)) / f32(frame.light_step);
    let base = vec2<i32>(floor(place));
    let depth = hit.distance * dot(direction, frame.ahead);
    // Height over the pixel's tangent plane of a texel at depth z: z * (corner + x * across + y * down) . n - plane.
    let plane = hit.distance * dot(direction, n);
    let pixel = 2.0 / vec2<f32>(frame.size);
    let across = dot(frame.right, n) * pixel.x * f32(frame.light_step);
    let down = -dot(frame.up, n) * pixel.y * f32(frame.light_step);
    let offset = (vec2<f32>(turn) + 0.5 + frame.jitter) * pixel - 1.0;
    let corner = dot(frame.forward, n) + dot(frame.right, n) * offset.x - dot(frame.up, n) * offset.y;
    let sharp = 4.0 / (3.0 * frame.pixel_cone * depth * f32(frame.light_step) + 0.004 * frame.ao_reach);
    let kind = select(1.0, -1.0, hit.body == BODY_FLOOR);
    var sum = own * 1e-6;
    var total = 1e-6;
    for (var dy = 1 - radius; dy <= radius; dy++) {
        for (var dx = 1 - radius; dx <= radius; dx++) {
            let texel = base + vec2<i32>(dx, dy);
            if any(texel < vec2<i32>(0)) || any(texel >= vec2<i32>(frame.light_size)) {
                continue;
            }
            let light = lights[u32(texel.y) * frame.light_size.x + u32(texel.x)];
            let z = bitcast<f32>(light.z) * kind;
            let off_plane = abs(z * (corner + f32(texel.x) * across + f32(texel.y) * down) - plane);
            let alike = max(dot(normal_unpack(light.w), n), 0.0);
            let tent = clamp(vec2<f32>(f32(radius)) - abs(place - vec2<f32>(texel)), vec2<f32>(0.0), vec2<f32>(1.0));
            let alike2 = alike * alike;
            let w = select(0.0, tent.x * tent.y * exp2(-sharp * off_plane) * alike2 * alike2, z > 0.0);
            sum += bitcast<vec2<f32>>(light.xy) * w;
            total += w;
        }
    }
    return Lit(sum.x / total, sum.y / total);
}

// Occlusion with the light that bounces inside a coloured corner: pale surfaces darken less, and nothing goes quite
// black.
fn bounced(occluded: f32, albedo: vec3<f32>) -> vec3<f32> {
    let sky = mix(0.06, 1.0, occluded);
    return vec3<f32>(sky) / max(vec3<f32>(1.0) - 0.75 * albedo * (1.0 - sky), vec3<f32>(0.05));
}

fn gloss(n: vec3<f32>, v: vec3<f32>, l: vec3<f32>, roughness: f32) -> f32 {
    let h = normalize(v + l);
    let nl = max(dot(n, l), 0.0);
    let nv = max(dot(n, v), 0.02);
    let nh = max(dot(n, h), 0.0);
    let a2 = roughness * roughness * roughness * roughness;
    let d = nh * nh * (a2 - 1.0) + 1.0;
    let k = roughness * roughness * 0.5;
    let visible = 0.25 / ((nv * (1.0 - k) + k) * (nl * (1.0 - k) + k));
    let f = 0.04 + 0.96 * pow(1.0 - max(dot(v, h), 0.0), 5.0);
    return a2 / (3.14159265 * d * d) * visible * f * nl;
}

// Glass without what is behind it: the backdrop in the direction in which a ray is bent, dyed by the way through, with the
// reflections of a smooth surface, also of a round lamp over the camera's left shoulder. `color` is what it would have if it
// were opaque.
fn glass(color: vec3<f32>, albedo: vec3<f32>, n: vec3<f32>, direction: vec3<f32>, lit: Lit) -> vec3<f32> {
    let v = -direction;
    let slant = 1.0 - max(dot(n, v), 0.0);
    let mirrored = 0.04 + 0.96 * pow(slant, 5.0);
    let dye = albedo / max(max(albedo.x, max(albedo.y, albedo.z)), 1e-3);
    // At a slant the way through is long.
    let way = mix(vec3<f32>(1.0), dye, slant) * (1.0 - 0.5 * slant * slant);
    let through = backdrop(normalize(direction - n * 0.45)) * dye * way;
    let seen = reflect(direction, n);
    let lamp = normalize(normalize(frame.right) * -0.55 + normalize(frame.up) * 0.6 - frame.ahead * 0.58);
    let glare = smoothstep(0.90, 0.93, dot(seen, lamp)) * 6.0;
    return color * 0.12 + through * (1.0 - mirrored) * (0.45 + 0.55 * lit.sky)
        + (mirrored_sky(seen, true) + glare) * mirrored * lit.sky
        + sun_light() * gloss(n, v, frame.sun, 0.18) * lit.sun;
}

fn shade_body(hit: PixelHit, look: u32, n: vec3<f32>, direction: vec3<f32>, lit: Lit) -> vec3<f32> {
    let albedo = linear_from_srgb(unpack4x8unorm(look).xyz);
    let v = -direction;
    if frame.color_by == 2u {
        return albedo * (0.35 + 0.65 * lit.sky) * 1.2;
    }
    let matt = (look & MARK_MATT) != 0u || frame.color_by != 0u;
    let nl = max(dot(n, frame.sun), 0.0);
    let sun = sun_light() * nl * lit.sun;
    let lamp = towards_lamp();
    let fill = LAMP_COLOR * frame.lamp_tint * pow(0.5 + 0.5 * dot(n, lamp), 2.0) * lit.sky;
    var color = albedo * (sun + (sky_light(n) + fill) * bounced(lit.sky, albedo));
    if !matt {
        let edge = pow(1.0 - max(dot(n, v), 0.0), 5.0);
        let mirror = reflect(direction, n);
        color += sun_light() * gloss(n, v, frame.sun, 0.42) * lit.sun;
        color += mirrored_sky(mirror, false) * (0.025 + 0.3 * edge) * lit.sky;
    }
    if (look & MARK_GLASS) != 0u && frame.color_by == 0u {
        color = glass(color, albedo, n, direction, lit);
    }
    if (look & MARK_SELECTED) != 0u {
        let rim = pow(1.0 - max(dot(n, v), 0.0), 2.5);
        color = mix(color, GOLD * 1.6, 0.08 + 0.55 * rim);
    }
    return color;
}

// Seam gold, #d4a017 in linear light.
const SEAM_GOLD = vec3<f32>(0.658, 0.352, 0.010);
// What it sends out by itself, of the same hue.
const SEAM_SHINE = vec3<f32>(0.70, 0.374, 0.011);

// A line of gold: metal that mirrors sun and sky in its own colour and shines a little by itself; round it, its glow.
fn gilded(color: vec3<f32>, gold: f32, n: vec3<f32>, direction: vec3<f32>, lit: Lit) -> vec3<f32> {
    let v = -direction;
    let sun = sun_light() * lit.sun;
    let mirror = mirrored_sky(reflect(direction, n), false) * mix(0.4, 1.0, lit.sky);
    let metal = SEAM_GOLD * (sun * max(dot(n, frame.sun), 0.0) * 0.35 + mirror * 0.9)
        + vec3<f32>(1.0, 0.72, 0.3) * sun * gloss(n, v, frame.sun, 0.34) * 6.0
        + SEAM_SHINE * 0.55;
    let line = smoothstep(0.5, 0.95, gold);
    return mix(color + SEAM_SHINE * gold * 1.1, metal, line);
}

// A pixel's surface.
struct Seen {
    // Relative to the eye.
    point: vec3<f32>,
    // World width of a pixel there.
    pixel: f32,
    normal: vec3<f32>,
}

fn seen_at(at: vec2<i32>) -> Seen {
    let hit = hits[u32(at.y) * frame.size.x + u32(at.x)];
    let uv = (vec2<f32>(at) + 0.5 + frame.jitter) / vec2<f32>(frame.size);
    let point = pixel_ray(frame.right, frame.up, frame.forward, uv) * hit.distance;
    return Seen(point, frame.pixel_cone * dot(point, frame.ahead), normal_unpack(hit.normal));
}

// Of a pixel that may lie outside of the picture.
fn body_at(at: vec2<i32>) -> u32 {
    if any(at < vec2<i32>(0)) || any(at >= vec2<i32>(frame.size)) {
        return BODY_SKY;
    }
    return hits[u32(at.y) * frame.size.x + u32(at.x)].body;
}

// Whether these are two pieces of one object.
fn are_kin(a: u32, b: u32) -> bool {
    if a == b || max(a, b) >= BODY_FLOOR {
        return false;
    }
    return objects[a] == objects[b];
}

// How much two surfaces go on in each other, `reach` pixels apart: 1 where each lies in the other's tangent plane, to a
// pixel or so; 0 at a silhouette, where one lies behind the other. In a corner that opens towards the eye one piece
// stands on another, which is no crack.
fn continued(a: Seen, b: Seen, reach: f32) -> f32 {
    let chord = (b.point - a.point) / (a.pixel * (0.5 + 0.5 * reach));
    let rise = vec2<f32>(dot(chord, a.normal), -dot(chord, b.normal));
    let even = 1.0 - smoothstep(1.0, 2.0, max(abs(rise.x), abs(rise.y)));
    let corner = smoothstep(0.0, 0.2, rise.x + rise.y) * (1.0 - smoothstep(0.2, 0.6, dot(a.normal, b.normal)));
    return even * (1.0 - corner);
}

// Share of its light that the middle of a line loses.
const HAIRLINE_DARK = 0.75;

// 1 where few borders cross a ring round the pixel, 0 where pieces are smaller than the ring: a heap of crumbs would
// turn black.
fn uncrowded(here: vec2<i32>) -> f32 {
    let far = i32(frame.hairline_reach);
    let slant = (3 * far + 2) / 4;
    var ring = array<vec2<i32>, 8>(
        vec2<i32>(far, 0), vec2<i32>(slant, slant), vec2<i32>(0, far), vec2<i32>(-slant, slant),
        vec2<i32>(-far, 0), vec2<i32>(-slant, -slant), vec2<i32>(0, -far), vec2<i32>(slant, -slant));
    let last = vec2<i32>(frame.size) - 1;
    var before = body_at(clamp(here + ring[7], vec2<i32>(0), last));
    var borders = 0.0;
    for (var k = 0; k < 8; k++) {
        let body = body_at(clamp(here + ring[k], vec2<i32>(0), last));
        borders += select(0.0, 1.0, body != before);
        before = body;
    }
    return 1.0 - smoothstep(3.0, 6.0, borders);
}

// Share of a pixel that a line between pieces covers. Where the border runs between two pixels is not known, so a line
// covers both halfway, a second pixel to either side where it is wider than two; three of eight neighbours lie beyond a
// straight border, five of sixteen in the second ring. The refinement's offsets make lines smooth.
fn hairline(at: vec2<u32>) -> f32 {
    let here = vec2<i32>(at);
    let body = body_at(here);
    var beside = 0.0;
    for (var k = 0; k < 9; k++) {
        let near = here + vec2<i32>(k % 3 - 1, k / 3 - 1);
        if are_kin(body, body_at(near)) {
            beside += continued(seen_at(here), seen_at(near), 1.0);
        }
    }
    // A gap narrower than a pixel shows what lies behind: there the surfaces on both sides go on in each other, in
    // one direction.
    var across = 0.0;
    if beside < 1.0 {
        for (var k = 5; k < 9; k++) {
            let step = vec2<i32>(k % 3 - 1, k / 3 - 1);
            if are_kin(body_at(here - step), body_at(here + step)) {
                let a = seen_at(here - step);
                let b = seen_at(here + step);
                across += continued(a, b, 2.0) * smoothstep(0.0, 0.5, dot(a.normal, b.normal));
            }
        }
        across *= 1.0 - beside;
    }
    let half = 0.5 * frame.hairline;
    var cover = min(half * (min(beside, 3.0) + 2.0 * min(across, 3.0)) / 3.0, 1.0);
    if half > 1.0 && cover < 1.0 {
        var outer = 0.0;
        for (var k = 0; k < 25; k++) {
            let step = vec2<i32>(k % 5 - 2, k / 5 - 2);
            if max(abs(step.x), abs(step.y)) == 2 && are_kin(body, body_at(here + step)) {
                outer += continued(seen_at(here), seen_at(here + step), 2.0);
            }
        }
        cover = max(cover, (half - 1.0) * min(outer / 5.0, 1.0));
    }
    if cover == 0.0 {
        return 0.0;
    }
    return cover * uncrowded(here);
}

// Share of the neighbours two pixels away that are selected: the outline outside a selected body.
fn selected_near(at: vec2<u32>) -> f32 {
    var sum = 0.0;
    for (var dy = -1; dy <= 1; dy++) {
        for (var dx = -1; dx <= 1; dx++) {
            let reach = select(2, 1, dx * dy != 0);
            let p = vec2<i32>(at) + vec2<i32>(dx, dy) * reach;
            if all(p >= vec2<i32>(0)) && all(p < vec2<i32>(frame.size)) {
                let other = u32(p.y) * frame.size.x + u32(p.x);
                sum += select(0.0, 0.125, (looks[other] & MARK_SELECTED) != 0u);
            }
        }
    }
    return sum;
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    frame = frame_words;
    if any(id.xy >= frame.size) {
        return;
    }
    let pixel = id.y * frame.size.x + id.x;
    let hit = hits[pixel];
    let look = looks[pixel];
    let uv = (vec2<f32>(id.xy) + 0.5 + frame.jitter) / vec2<f32>(frame.size);
    let direction = pixel_ray(frame.right, frame.up, frame.forward, uv);
    let n = normal_unpack(hit.normal);
    let transparent = (frame.flags & FLAG_TRANSPARENT) != 0u;
    let away = backdrop(direction);
    var color = away;
    var alpha = select(1.0, 0.0, transparent);
    if hit.body < BODY_FLOOR {
        let lit = filtered(id.xy, hit, n, direction);
        color = shade_body(hit, look, n, direction, lit);
        if (frame.flags & FLAG_EMITS) != 0u {
            color += glow_unpack(looks[frame.size.x * frame.size.y + pixel]);
        }
        if (look >> GOLD_SHIFT) != 0u {
            color = gilded(color, f32(look >> GOLD_SHIFT) / GOLD_MOST, n, direction, lit);
        }
        alpha = 1.0;
    } else if hit.body == BODY_FLOOR {
        let lit = filtered(id.xy, hit, n, direction);
        var base = backdrop(vec3<f32>(direction.x, 0.0, direction.z));
        let point = frame.eye + direction * hit.distance;
        if (frame.flags & FLAG_FLOOR_COLOR) != 0u {
            base = painted_floor(point.xz, hit.distance, direction.y);
        }
        // Relative to open floor under the usual lights, so that the floor runs into the backdrop without a line, and is
        // dark under weak lights. A sun below the horizon does not light it.
        let high = max(frame.sun.y, 0.0);
        let sun = sun_light() * high;
        var sky = SKY_COLOR * frame.sky_tint;
        if is_pictured() {
            sky = sky_light(vec3<f32>(0.0, 1.0, 0.0));
        }
        let open = max(sun + sky, vec3<f32>(1e-6));
        var usual = SUN_COLOR * high + SKY_COLOR;
        let here = sun * lit.sun + sky * lit.sky * lit.sky;
        let flat_offset = point - frame.target_point;
        let far = smoothstep(1.0, 4.0, length(flat_offset.xz) / frame.fade);
        var pool = 1.0 + 0.22 * exp2(-dot(flat_offset.xz, flat_offset.xz) / (frame.fade * frame.fade));
        if is_pictured() && (frame.flags & FLAG_FLOOR_COLOR) == 0u {
            // The picture's own ground, which is as the picture has it where nothing takes its light.
            base = away;
            usual = open;
            pool = 1.0;
        }
        color = mix(base * pool * here / usual, base, far);
        color = mix(color, away, far);
        if transparent {
            // As much as the shadow fades away in a picture with a floor. Programs that lay one picture over another do so in
            // sRGB, where a share of light is about its root.
            let lost = sun * (1.0 - lit.sun) + sky * (1.0 - lit.sky * lit.sky);
            let dark = clamp(dot(lost, LUMA) / dot(open, LUMA), 0.0, 1.0);
            alpha = (1.0 - pow(1.0 - dark, 1.0 / 2.2)) * (1.0 - far) * (1.0 - far);
            color = vec3<f32>(0.0);
        }
    }
    // After the tone curve, so that a line is as clear on a bright surface as on a dark one.
    var line = 1.0;
    if frame.hairline > 0.0 {
        line = 1.0 - HAIRLINE_DARK * hairline(id.xy);
    }
    if (frame.flags & FLAG_SELECTION) != 0u && (look & MARK_SELECTED) == 0u {
        let glow = selected_near(id.xy);
        if glow > 0.0 {
            let strength = smoothstep(0.0, 0.5, glow);
            color = mix(color, GOLD * 1.5, strength * 0.85);
            alpha = max(alpha, strength * 0.85);
            line = mix(line, 1.0, strength);
        }
    }
    // A touch of vignette pulls the eye inwards.
    let off = (uv - 0.5) * 2.0;
    color *= 1.0 - 0.10 * dot(off, off);
    var display = vec4<f32>(tone(color) * line * alpha, alpha);
    // After the tone curve, so that a colour that means something looks the same everywhere.
    if (frame.flags & FLAG_OVERLAY) != 0u {
        let over = textureLoad(overlay, id.xy, 0);
        display = over + display * (1.0 - over.w);
    }
    if frame.accumulated > 0u {
        display = mix(history[pixel], display, 1.0 / f32(frame.accumulated + 1u));
    }
    history[pixel] = display;
    let straight = display.rgb / max(display.a, 1e-4);
    let seed = pixel * 2u;
    let noise = (unit_from_hash(seed) + unit_from_hash(seed + 1u) - 1.0) / 255.0;
    let encoded = srgb_from_linear(clamp(straight, vec3<f32>(0.0), vec3<f32>(1.0))) + noise;
    textureStore(picture, id.xy, vec4<f32>(clamp(encoded, vec3<f32>(0.0), vec3<f32>(1.0)), display.a));
}
