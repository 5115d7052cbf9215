//#include render/seams
//#include render/mesh_look
//#include shared/volume
//#include shared/relief
// First hit of each pixel's ray: body, leaf, distance, smooth normal, and the colour that the chosen colouring
// gives it. One thread is one pixel.

@group(0) @binding(7) var<storage, read_write> hits: array<PixelHit>;
@group(0) @binding(8) var<storage, read_write> looks: array<u32>;
@group(0) @binding(9) var<storage, read> seams: array<u32>;

// Normal and colour blended over the eight leaves round a grid point.
struct Surface {
    normal: vec3<f32>,
    color: vec3<f32>,
}

fn leaf_color(word: u32) -> vec3<f32> {
    let c = leaf_rgb(word);
    return c * c;
}

// Leaves that face away or lie on the other kind of surface (crack or original) take no part, so edges stay edges.
fn blended(body: Body, own: Surface, own_is_crack: bool, point: vec3<f32>) -> Surface {
    var normal = own.normal * 0.02;
    var color = own.color * 0.02;
    var total = 0.02;
    let side = i32(1u << body.level);
    let base = clamp(vec3<i32>(floor(point - 0.5)), vec3<i32>(0), vec3<i32>(side - 2));
    let part = clamp(point - 0.5 - vec3<f32>(base), vec3<f32>(0.0), vec3<f32>(1.0));
    // One descent to the smallest node that holds all eight cells, then one from there for each.
    let a = vec3<u32>(base);
    let b = a + 1u;
    let differing = (a.x ^ b.x) | (a.y ^ b.y) | (a.z ^ b.z);
    let split = firstLeadingBit(differing);
    var top = body.root;
    var alive = true;
    for (var bit = body.level - 1u; bit > split; bit--) {
        let node = nodes[body.node_base + top];
        let octant = octant_at(a, bit);
        if bit_at(node.masks, octant) == 0u {
            alive = false;
            break;
        }
        top = node_child(node, octant);
    }
    if alive {
        for (var k = 0u; k < 8u; k++) {
            let offset = vec3<u32>(bit_at(k, 0u), bit_at(k, 1u), bit_at(k, 2u));
            let cell = a + offset;
            let weights = mix(1.0 - part, part, vec3<f32>(offset));
            var index = top;
            var found = true;
            for (var bit = i32(split); bit >= 0; bit--) {
                let node = nodes[body.node_base + index];
                let octant = octant_at(cell, u32(bit));
                if bit_at(node.masks, octant) == 0u {
                    found = false;
                    break;
                }
                index = node_child(node, octant);
            }
            if found {
                let word = colors[body.leaf_base + index];
                var n = normal_unpack(normals[body.leaf_base + index]);
                var c = leaf_color(word);
                var same_kind = leaf_is_crack(word) == own_is_crack;
                let cut = cuts[body.leaf_base + index];
                if own_is_crack && cut_is_there(cut) {
                    // A crack goes on in the second plane of the leaves at its rim.
                    let m = cut_normal(cut);
                    if !same_kind {
                        n = m;
                        c = own.color;
                    } else if dot(m, own.normal) > dot(n, own.normal) {
                        n = m;
                    }
                    same_kind = true;
                }
                let alike = select(0.0, smoothstep(0.1, 0.8, dot(n, own.normal)), same_kind);
                let w = weights.x * weights.y * weights.z * alike;
                normal += n * w;
                color += c * w;
                total += w;
            }
        }
    }
    return Surface(normal / total, color / total);
}

// Cosine beyond which a leaf of the original surface is seen from behind. A sheet thinner than a voxel has a normal of
// either side; a closed surface's normals lean away from the eye by less.
const BACK = 0.3;
// Materials with gloss on their crack faces.
const PORCELAIN = 6u;
const GLASS = 7u;
// How far the outside of clear glass is from the colour inside to white, and how bright. Composing dyes by its hue alone, and
// shows a little of the colour as if it were opaque.
const PALE = 0.35;
const FAINT = 0.25;
// Where a body has no inside of its own and no crack leaf is near.
const UNKNOWN_INSIDE = vec3<f32>(0.36, 0.33, 0.29);
// Volumes have grains of this size, units (2^14 a grid side); where a pixel covers more of them, the voxels'
// colours show.
const GRAIN = 75.0;

// How far below a hit the cell of its voxel is looked up, voxels: a hit may lie on the cell's side.
const INWARD = 1e-3;

// What a volume shows at a point of a crack face, as leaf_color gives it.
fn inside_color(words: vec4<u32>, relief: Relief) -> vec3<f32> {
    if (words.x >> 24u) == 0u {
        return UNKNOWN_INSIDE;
    }
    return leaf_color(volume_color(words, relief.place, relief.is_hollow));
}

// A crack voxel: its colour's word, and its cell.
struct Painted {
    word: u32,
    cell: vec3<i32>,
}

// Of the crack leaves in the eight cells round a point, the one that faces most as `facing`; `other` where there is none.
fn crack_near(body: Body, facing: vec3<f32>, point: vec3<f32>, other: Painted) -> Painted {
    let side = i32(1u << body.level);
    let base = clamp(vec3<i32>(floor(point - 0.5)), vec3<i32>(0), vec3<i32>(side - 2));
    var painted = other;
    var best = -1e9;
    for (var k = 0u; k < 8u; k++) {
        let cell = vec3<u32>(base) + vec3<u32>(bit_at(k, 0u), bit_at(k, 1u), bit_at(k, 2u));
        var index = body.root;
        var found = true;
        for (var bit = i32(body.level) - 1; bit >= 0; bit--) {
            let node = nodes[body.node_base + index];
            let octant = octant_at(cell, u32(bit));
            if bit_at(node.masks, octant) == 0u {
                found = false;
                break;
            }
            index = node_child(node, octant);
        }
        if found {
            let word = colors[body.leaf_base + index];
            let along = dot(normal_unpack(normals[body.leaf_base + index]), facing);
            if leaf_is_crack(word) && along > best {
                best = along;
                painted = Painted(word, vec3<i32>(cell));
            }
        }
    }
    return painted;
}

// The volume of a body that painted a crack voxel, like Insides::painter_of in crates/core/src/fracture/interior/insides.rs.
fn painter_of(body: Body, painted: Painted) -> vec4<u32> {
    let edge = i32(1u << (14u - body.level));
    let centre = painted.cell * edge + edge / 2;
    var volumes = array<vec4<u32>, 4>(body.interior, body.later[0], body.later[1], body.later[2]);
    var shown = volumes[0];
    var least = 0x7fffffff;
    for (var k = 0u; k < 4u; k++) {
        let words = volumes[k];
        if words.x == 0u {
            break;
        }
        let off = (volume_rgb(volume_color(words, centre, false)) - volume_rgb(painted.word)) / 256;
        let squared = dot(off, off);
        if squared < least {
            least = squared;
            shown = words;
        }
    }
    return shown;
}

// Cells that stay are glazed in this, and the one under the pointer is lit; sRGB.
const KEPT_TINT = vec3<f32>(0.16, 0.50, 0.56);
const KEPT_SHARE = 0.62;
const HOVER_TINT = vec3<f32>(1.0, 0.97, 0.88);
const HOVER_SHARE = 0.34;

fn glazed(rgb: vec3<f32>, stays: bool, pointed: bool) -> vec3<f32> {
    let kept = mix(rgb, KEPT_TINT, select(0.0, KEPT_SHARE, stays));
    return mix(kept, HOVER_TINT, select(0.0, HOVER_SHARE, pointed));
}

// A cut face, where crack faces and the original surface have colours of their own; sRGB.
const CAP_COLOR = vec3<f32>(0.34, 0.36, 0.40);

fn level_color(level: u32) -> vec3<f32> {
    let x = f32(level) / 10.0;
    return clamp(vec3<f32>(1.6 * x - 0.25, 0.9 - abs(x - 0.55) * 1.7, 1.0 - 1.5 * x), vec3<f32>(0.04), vec3<f32>(1.0));
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    frame = frame_words;
    if any(id.xy >= frame.size) {
        return;
    }
    let pixel = id.y * frame.size.x + id.x;
    let uv = (vec2<f32>(id.xy) + 0.5 + frame.jitter) / vec2<f32>(frame.size);
    let direction = pixel_ray(frame.right, frame.up, frame.forward, uv);
    var last = 1e9;
    if (frame.flags & FLAG_FLOOR) != 0u && direction.y < -1e-6 {
        let t = (frame.floor_y - frame.eye.y) / direction.y;
        last = select(last, min(last, t), t > 0.0);
    }
    shows_caps = true;
    let hit = trace(Ray(frame.eye, direction, 0.0, frame.pixel_cone, 0.0, last), false);
    if hit.body == BODY_SKY {
        let floor_hit = last < 1e9;
        hits[pixel] = PixelHit(select(BODY_SKY, BODY_FLOOR, floor_hit), NO_LEAF, last, normal_pack(vec3<f32>(0.0, 1.0, 0.0)));
        looks[pixel] = 0u;
        return;
    }
    let body = bodies[hit.body];
    let in_grid = apply(body.grid_from_world, vec4<f32>(frame.eye + direction * hit.distance, 1.0));
    let d = apply(body.grid_from_world, vec4<f32>(direction, 0.0));
    let is_mesh = (body.hue_and_marks & BODY_MESH) != 0u;
    var own = MeshLook(vec3<f32>(0.0), vec3<f32>(0.0), false, 0u, vec3<f32>(0.0));
    if is_mesh {
        own = mesh_look(body, hit.leaf, in_grid, d);
    }
    // The face that a clipping plane opens, where the ray comes in inside a body.
    var cap = false;
    var seen = Opening(0.0, 0.0, 0u);
    if ((frame.flags >> CLIPS_SHIFT) & 7u) != 0u {
        seen = opening(frame.eye, direction);
        cap = seen.first > 0.0 && hit.distance <= seen.first * 1.000001;
    }
    let point = in_grid * body.to_voxels.w + body.to_voxels.xyz;
    // Width of a pixel, voxels.
    var pixel_voxels = frame.pixel_cone * hit.distance / body.voxel;
    var leaf = hit.leaf;
    var face = vec3<f32>(0.0);
    face[hit.axis] = select(1.0, -1.0, d[hit.axis] > 0.0);
    var surface = Surface(face, vec3<f32>(0.0));
    var is_crack = true;
    var word = 0u;
    if is_mesh {
        is_crack = own.inside || cap;
        leaf = own.triangle;
        pixel_voxels = frame.pixel_cone * hit.distance * length(body.grid_from_world[0].xyz) * body.to_voxels.w;
    } else if hit.leaf != NO_LEAF && !cap {
        word = colors[body.leaf_base + hit.leaf];
        is_crack = leaf_is_crack(word) || hit.cut;
    }
    if cap {
        surface = Surface(apply(body.grid_from_world, vec4<f32>(frame.clips[seen.plane].xyz, 0.0)), UNKNOWN_INSIDE);
    } else if is_mesh {
        surface = Surface(own.normal, own.color);
    } else if hit.leaf != NO_LEAF {
        if hit.cut {
            surface.normal = cut_normal(cuts[body.leaf_base + hit.leaf]);
        } else {
            surface.normal = normal_unpack(normals[body.leaf_base + hit.leaf]);
            if !leaf_is_crack(word) && dot(surface.normal, d) > BACK * length(d) {
                surface.normal = -surface.normal;
            }
        }
    }
    // What cracks show here: of a piece that broke more than once, the material of the break that made this one.
    var shown = body.interior;
    if is_crack && !cap && body.later[0].x != 0u {
        if is_mesh {
            shown = vec4<u32>(0u);
        } else if hit.leaf != NO_LEAF {
            var painted = Painted(word, vec3<i32>(floor(point + d * (INWARD / length(d)))));
            if !leaf_is_crack(word) {
                painted = crack_near(body, surface.normal, point, painted);
            }
            shown = painter_of(body, painted);
        }
    }
    let material = shown.x >> 24u;
    let units = f32(1u << (14u - body.level));
    // Share of the colours of single grains that pixels of this size can show.
    let fine = 1.0 - smoothstep(0.4, 1.2, pixel_voxels * units / GRAIN);
    let smooth_normal = surface.normal / max(length(surface.normal), 1e-20);
    var relief = Relief(smooth_normal, vec3<i32>(point * units), false);
    var inside = vec3<f32>(0.0);
    if is_crack {
        relief = relief_at(shown, point * units, smooth_normal, pixel_voxels * units);
        inside = inside_color(shown, relief);
        if !is_mesh || (cap && material != 0u) {
            surface.color = inside;
        }
    }
    if !is_mesh && !cap && hit.leaf != NO_LEAF {
        if leaf_is_crack(word) || !hit.cut {
            surface.color = leaf_color(word);
        }
        if body.voxel > 0.7 * frame.pixel_cone * hit.distance {
            surface = blended(body, surface, is_crack, point);
        }
    }
    if is_crack && material != 0u {
        surface.color = mix(surface.color, inside, fine);
        // The voxel's own normal is bent; what the blend with its neighbours adds is added here, too.
        let blended_normal = surface.normal / max(length(surface.normal), 1e-20);
        if !cap {
            surface.normal = blended_normal + relief.normal - smooth_normal;
        }
    }
    if !is_crack && material == GLASS && (body.hue_and_marks & BODY_BARE) != 0u {
        surface.color = mix(leaf_color(body.interior.x & 0xffffffu), vec3<f32>(1.0), PALE) * FAINT;
    }
    var gold = 0.0;
    var stays = (body.hue_and_marks & BODY_KEPT) != 0u;
    var pointed = (body.hue_and_marks & BODY_HOVERED) != 0u;
    if hit.body == frame.seam_body && !cap {
        let seam = seam_at(body, point, normalize(d), surface.normal / max(length(surface.normal), 1e-20), pixel_voxels);
        gold = seam.gold;
        surface.normal += seam.lean * 0.55;
        if seam.cell != CELL_NONE {
            stays = frame.kept_object != CELL_NONE && seams[4u * seam.cell + 3u] == frame.kept_object;
            pointed = seam.cell == frame.hovered_cell;
        }
    } else if stays && frame.hovered_cell != CELL_NONE {
        let p = point * (SEAM_UNITS / f32(1u << body.level));
        pointed = nearest_cell(p, frame.kept_object) == frame.hovered_cell;
    }
    var normal = apply(body.world_from_grid, vec4<f32>(surface.normal, 0.0));
    normal = normal / max(length(normal), 1e-20);
    // A normal that leans away from the eye would be lit from behind: bring it back to the silhouette.
    let away = dot(normal, direction);
    if away > 0.0 {
        normal = normalize(normal - direction * (away + 0.02));
    }
    var rgb = sqrt(clamp(surface.color, vec3<f32>(0.0), vec3<f32>(1.0)));
    switch frame.color_by {
        case 1u: { rgb = unpack4x8unorm(body.hue_and_marks).xyz; }
        case 2u: { rgb = normal * 0.5 + 0.5; }
        case 3u: {
            rgb = select(vec3<f32>(0.62, 0.64, 0.67), vec3<f32>(0.86, 0.42, 0.12), is_crack);
            rgb = select(rgb, CAP_COLOR, cap);
        }
        case 4u: { rgb = level_color(hit.level); }
        default: {}
    }
    rgb = glazed(rgb, stays, pointed);
    hits[pixel] = PixelHit(hit.body, leaf, hit.distance, normal_pack(normal));
    looks[pixel] = (pack4x8unorm(vec4<f32>(rgb, 0.0)) & 0xffffffu)
        | select(0u, MARK_MATT, is_crack && material != GLASS && material != PORCELAIN)
        | select(0u, MARK_GLASS, material == GLASS) | (body.hue_and_marks & MARK_SELECTED)
        | (u32(round(gold * GOLD_MOST)) << GOLD_SHIFT);
    if (frame.flags & FLAG_EMITS) != 0u {
        looks[frame.size.x * frame.size.y + pixel] = glow_pack(select(own.light, vec3<f32>(0.0), cap));
    }
}
