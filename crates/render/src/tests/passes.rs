//! The light and compose passes against their references, frame by frame of a refinement, each on what the
//! GPU's pass read.

use std::sync::Arc;

use glam::{DVec3, DVec4, EulerRot, Quat, Vec3};

use super::{
    fixtures::{By, Stage, Taken, altered, ball, rounded_box, torus, with_cut},
    reference::{Inputs, Texel, compose, light},
    surfaces::surfaces,
};
use crate::{
    Background, Camera, Checker, ColorBy, Lens, Lighting, Overlay, RenderBody, RenderOptions, Rgb,
    fracture::{Fracturer, Interior, Material, Pattern},
    gpu::Kernel,
    svo::{Forest, KeyArray},
};

on_both!(light_matches_the_reference, compose_matches_the_reference);

/// Light agrees to this share, depth to this share of itself: f32 with the few digits that a driver owes for
/// sine and cosine.
const LIGHT_TOLERANCE: f64 = 1e-3;
/// Share of texels that may differ more: a ray that grazes an edge meets it on one side of rounding and
/// misses it on the other, which turns a whole sample.
const ODD_TEXELS: f64 = 0.002;
/// Linear colour and alpha agree to this.
const COLOR_TOLERANCE: f64 = 1e-3;
/// Bytes lie this near to the colour before rounding: half a step for the rounding, the rest for a driver's powers.
const BYTE_TOLERANCE: f64 = 0.75;
/// Share of pixels that may differ more: none has been seen to; some driver's power of a dark colour may.
const ODD_PIXELS: f64 = 0.001;

/// One way of looking at a stage.
pub(super) struct View {
    pub camera: Camera,
    pub options: RenderOptions,
    pub size: [u32; 2],
    /// Of the refinement.
    pub frames: u32,
}

/// A stage with what its bodies show.
pub(super) struct Scene {
    pub stage: Stage,
    /// One for each body, or one for all.
    pub forests: Vec<Forest>,
    pub views: Vec<View>,
}

impl Scene {
    fn bodies(&self) -> Vec<(RenderBody, &Forest)> {
        let forests = self.forests.iter().chain(std::iter::repeat(&self.forests[0]));
        self.stage.bodies.iter().cloned().zip(forests).collect()
    }

    /// The largest share of one frame that `odd` finds. No more frames are drawn once it is more than `enough`.
    fn worst(&mut self, odd: fn(&Self, &Taken) -> f64, enough: f64) -> f64 {
        let mut worst = 0.0_f64;
        let views = std::mem::take(&mut self.views);
        'views: for view in &views {
            self.stage.camera = view.camera;
            self.stage.options = view.options.clone();
            self.stage.size = view.size;
            for k in 0..view.frames {
                let taken = self.stage.frame(k);
                worst = worst.max(odd(self, &taken));
                if worst > enough {
                    break 'views;
                }
            }
        }
        self.views = views;
        worst
    }

    fn odd_texels(&self, taken: &Taken) -> f64 {
        let expected = light(&taken.frame, &taken.hits, &self.bodies());
        let lit = expected.iter().filter(|texel| texel.sun < 1.0 || texel.sky < 1.0);
        assert!(lit.count() * 50 > expected.len(), "hardly anything is in shadow");
        let odd = |(texel, words): &(&Texel, &[u32; 4])| {
            let [sun, sky, depth] = [0, 1, 2].map(|k| f64::from(f32::from_bits(words[k])));
            let near = (texel.sun - sun).abs() <= LIGHT_TOLERANCE
                && (texel.sky - sky).abs() <= LIGHT_TOLERANCE
                && (texel.depth - depth).abs() <= LIGHT_TOLERANCE * depth.abs();
            !near || texel.normal != words[3]
        };
        expected.iter().zip(&taken.lights).filter(odd).count() as f64 / expected.len() as f64
    }

    fn odd_pixels(&self, taken: &Taken) -> f64 {
        let Taken { frame, hits, looks, lights, overlay, before, .. } = taken;
        let objects: Vec<u32> = self.stage.bodies.iter().map(|body| body.object).collect();
        let (overlay, objects) = (overlay.as_deref(), objects.as_slice());
        let expected = compose(&Inputs { frame, hits, objects, looks, lights, overlay, history: before });
        let odd = |i: &usize| {
            let mean = DVec4::from(taken.history[*i].map(f64::from)) - expected.history[*i];
            let bytes = std::array::from_fn(|k| f64::from(taken.picture[4 * i + k]));
            let byte = DVec4::from_array(bytes) - expected.picture[*i];
            !(mean.abs().max_element() <= COLOR_TOLERANCE && byte.abs().max_element() <= BYTE_TOLERANCE)
        };
        (0..expected.history.len()).filter(odd).count() as f64 / expected.history.len() as f64
    }
}

/// A broken vase, some pieces turned and drawn away, one selected: as the window draws it, from two sides,
/// and as a still.
pub(super) fn vase(by: By) -> Option<Scene> {
    let mut stage = Stage::drawn_by(by)?;
    let forest = (*stage.add_broken_vase(6)).clone();
    let camera = Camera { target: Vec3::new(0.0, 0.75, 0.0), distance: 3.2, ..Camera::default() };
    let options = RenderOptions { floor: Some(0.0), hairline: 1.2, ..RenderOptions::default() };
    let views = vec![
        View { camera, options: options.clone(), size: [64, 48], frames: 4 },
        // Low from the other side, nearer, in a size that tiles of texels and workgroups do not divide.
        View {
            camera: Camera { yaw: 3.7, pitch: 0.1, distance: 2.2, ..camera },
            options: RenderOptions { hairline: 3.4, ..options.clone() },
            size: [61, 47],
            frames: 2,
        },
        // Sixteen samples a frame: the filter narrows from frame to frame, and in the fourth there is none.
        View {
            camera,
            options: RenderOptions { samples: 16, hairline: 0.5, ..options },
            size: [64, 48],
            frames: 4,
        },
    ];
    Some(Scene { stage, forests: vec![forest], views })
}

/// Fine solids without a floor, of which far octants count as blocks: clear behind in every colouring, and from below.
pub(super) fn solids(by: By) -> Option<Scene> {
    let mut stage = Stage::drawn_by(by)?;
    let tilted = Vec3::new(0.5, 0.7, 0.3).normalize();
    let forests = vec![
        ball(7),
        with_cut(torus(7), tilted, Vec3::splat(63.8)),
        with_cut(rounded_box(7), tilted, Vec3::splat(64.4)),
    ];
    for (i, forest) in forests.iter().enumerate() {
        let centre = Vec3::new(i as f32 * 0.6 - 0.6, 0.1 * i as f32, -0.4 * i as f32);
        stage.add(forest, 1.2, Quat::from_euler(EulerRot::XYZ, 0.4 + i as f32, -1.1, 2.0), centre);
    }
    stage.bodies[2].selected = true;
    let glass = Interior { material: Material::Glass, ..Interior::default() };
    stage.bodies[1].interior = glass.volume([150, 190, 180]);
    // Gold on the ball, where two planes would cut it.
    let cells = [Vec3::new(20.0, 60.0, 60.0), Vec3::new(90.0, 40.0, 80.0), Vec3::new(70.0, 100.0, 50.0)];
    let pattern = Pattern::from_points(&cells.map(Vec3::as_dvec3), 7).expect("good seeds");
    let keys = KeyArray::new(&stage.gpu, "keys", forests[0].leaves.keys.as_slice(), 7).expect("keys");
    let fracturer = Fracturer::new(&stage.gpu).expect("the passes compile");
    let seams = fracturer.seams(&keys, 7, &pattern).expect("seams");
    stage.seams = Some((0, seams, 0));
    // Something to lay over the picture, clear here and there.
    let mut overlay = Overlay { through: 0.5, ..Overlay::default() };
    overlay.wire_box(
        Vec3::splat(-0.7),
        [Vec3::X, Vec3::Y, Vec3::Z].map(|a| a * 1.3),
        [40, 160, 255, 170],
        3.0,
    );
    stage.overlay = Some(Arc::new(overlay));
    // From afar through a long lens: the sky's rays reach the farther, the farther the eye.
    let camera = Camera { distance: 6.0, fov_y: 0.28, ..Camera::default() };
    let colourings = [ColorBy::Material, ColorBy::Piece, ColorBy::Normal, ColorBy::Crack, ColorBy::Level];
    let mut views: Vec<View> = colourings
        .map(|color_by| View {
            camera,
            options: RenderOptions { color_by, transparent: true, ..RenderOptions::default() },
            size: [64, 48],
            frames: 2,
        })
        .into();
    views.push(View {
        camera: Camera { pitch: -0.4, yaw: -1.0, ..camera },
        options: RenderOptions { floor: None, samples: 4, ..RenderOptions::default() },
        size: [48, 40],
        frames: 1,
    });
    // Near enough to the ball to see lines and their glow.
    views.push(View {
        camera: Camera { target: Vec3::new(-0.6, 0.0, 0.0), distance: 1.9, yaw: 1.4, ..camera },
        options: RenderOptions { floor: None, ..RenderOptions::default() },
        size: [64, 48],
        frames: 2,
    });
    Some(Scene { stage, forests, views })
}

/// Every field unlike the default.
pub(super) fn other_lighting() -> Lighting {
    Lighting {
        sun_direction: DVec3::new(0.9, 0.8, 0.7),
        sun_strength: 1.6,
        sun_color: Rgb([255, 214, 170]),
        // So wide that rays to the sun are narrower than its share.
        sun_softness: 0.25,
        sky_strength: 0.7,
        sky_color: Rgb([150, 190, 255]),
        lamp_strength: 3.0,
        lamp_color: Rgb([255, 120, 90]),
        lamp_direction: Some(DVec3::new(-0.6, 0.4, -2.0)),
        background: Some(Background { horizon: Rgb([190, 120, 90]), zenith: Rgb([30, 40, 80]) }),
        floor_color: Some(Rgb([90, 130, 80])),
        floor_checker: Some(Checker { color: Rgb([200, 60, 40]), size: 0.3 }),
    }
}

/// Gives some of a scene's views another lighting and a lens.
fn relit(mut scene: Scene, views: &[usize]) -> Scene {
    let all = std::mem::take(&mut scene.views);
    for (k, mut view) in all.into_iter().enumerate().filter(|(k, _)| views.contains(k)) {
        view.options.lighting = other_lighting();
        view.options.lens = Some(Lens { f_stop: 0.5, focus: (k == 0).then_some(2.5) });
        // The first frame looks through the middle of the lens.
        view.frames = 3;
        scene.views.push(view);
    }
    scene
}

/// The vase in another light through a lens, once with only the shadows of its floor.
pub(super) fn relit_vase(by: By) -> Option<Scene> {
    let mut scene = relit(vase(by)?, &[0, 1]);
    let View { camera, options, size, .. } = &scene.views[0];
    let options = RenderOptions { transparent: true, catches_shadows: true, ..options.clone() };
    scene.views.push(View { camera: *camera, options, size: *size, frames: 2 });
    Some(scene)
}

/// Clear behind with glass and gold, and with the gold near.
pub(super) fn relit_solids(by: By) -> Option<Scene> {
    solids(by).map(|scene| relit(scene, &[0, 6]))
}

fn light_matches_the_reference(by: By) {
    for open in [vase, solids, surfaces, relit_vase, relit_solids] {
        let Some(mut scene) = open(by) else { return };
        let worst = scene.worst(Scene::odd_texels, f64::INFINITY);
        println!("at most {:.2} % of a frame's texels differ", worst * 100.0);
        assert!(worst <= ODD_TEXELS, "{:.2} % of a frame's texels differ", worst * 100.0);
    }
}

fn compose_matches_the_reference(by: By) {
    for open in [vase, solids, surfaces, relit_vase, relit_solids] {
        let Some(mut scene) = open(by) else { return };
        let worst = scene.worst(Scene::odd_pixels, f64::INFINITY);
        println!("at most {:.2} % of a frame's pixels differ", worst * 100.0);
        assert!(worst <= ODD_PIXELS, "{:.2} % of a frame's pixels differ", worst * 100.0);
    }
}

/// What measures the difference of a frame, and how much of it is found.
type Found = (fn(&Scene, &Taken) -> f64, f64);

const IN_LIGHT: Found = (Scene::odd_texels, 2.0 * ODD_TEXELS);
const IN_COMPOSE: Found = (Scene::odd_pixels, 4.0 * ODD_PIXELS);

/// Plants errors in a kernel; asserts that each is found in a frame of some scene.
fn assert_found(path: &'static str, errors: &[(&str, &str)], scenes: &mut [Scene], (odd, least): Found) {
    let mut unnoticed = Vec::new();
    for (from, to) in errors {
        let mut share = 0.0_f64;
        for scene in &mut *scenes {
            let kernel = Kernel::from_text(&scene.stage.gpu, path, altered(path, from, to));
            let passes = &mut scene.stage.renderer;
            *(if path == "render/light" { &mut passes.light } else { &mut passes.compose }) = kernel;
            share = share.max(scene.worst(odd, least));
            if share > least {
                break;
            }
        }
        println!("`{to}` for `{from}`: {share:.3} of a frame differ");
        if share <= least {
            unnoticed.push(to);
        }
    }
    assert!(unnoticed.is_empty(), "{unnoticed:?} go unnoticed");
}

#[test]
fn errors_planted_in_light_are_found() {
    let (Some(vase), Some(solids)) = (vase(By::Passes), solids(By::Passes)) else { return };
    assert_found("render/light", &LIGHT_ERRORS, &mut [vase, solids], IN_LIGHT);
}

#[test]
fn errors_planted_in_compose_are_found() {
    let (Some(vase), Some(solids)) = (vase(By::Passes), solids(By::Passes)) else { return };
    assert_found("render/compose", &COMPOSE_ERRORS, &mut [vase, solids], IN_COMPOSE);
}

#[test]
fn errors_planted_in_lighting_and_lens_are_found() {
    let open = || Some([relit_vase(By::Passes)?, relit_solids(By::Passes)?]);
    let Some(mut scenes) = open() else { return };
    assert_found("render/light", &RELIT_LIGHT_ERRORS, &mut scenes, IN_LIGHT);
    let Some(mut scenes) = open() else { return };
    assert_found("render/compose", &RELIT_COMPOSE_ERRORS, &mut scenes, IN_COMPOSE);
}

/// What is replaced and by what, in the light kernel with its includes.
const LIGHT_ERRORS: [(&str, &str); 17] = [
    // The walk through the octrees.
    ("if cut_is_there(cut) && t_hit <= t_exit {", "if false {"),
    ("select(1e30, t - height / slope, slope < 0.0)", "t"),
    ("ray.cut_base + ray.cut_slope * (start + t)", "ray.cut_base + 4.0 * ray.cut_slope * (start + t)"),
    // Where rays begin and how far they see.
    ("max(1.25 * voxel, ", "max(0.9 * voxel, "),
    ("0.5 * voxel, 1e9", "20.0 * voxel, 1e9"),
    ("0.06, 0.0, reach", "0.24, 0.0, reach"),
    ("max(floor_near, 0.0)", "1e30"),
    // Where they go.
    ("ring * frame.sun_radius", "ring * 0.5 * frame.sun_radius"),
    ("let facing = dot(n, frame.sun) > 0.0;", "let facing = dot(n, frame.sun) > 0.3;"),
    ("* sqrt(u.x);", "* u.x;"),
    ("abs(n.y) < 0.8", "abs(n.y) < 0.6"),
    // The samples.
    (" ^ (order & 15u)", ""),
    ("reverseBits(strata) >> 28u", "reverseBits(strata) >> 29u"),
    ("frame.accumulated * frame.samples + s", "frame.accumulated + s"),
    ("0.5698403", "0.5798403"),
    // What comes of them.
    ("smoothstep(0.0, 1.0, min(distance / reach, 1.0))", "min(distance / reach, 1.0)"),
    ("select(1.0, -1.0, hit.body == BODY_FLOOR)", "1.0"),
];

/// What is replaced and by what, in the compose kernel with its includes.
const COMPOSE_ERRORS: [(&str, &str); 43] = [
    // The filter.
    ("alike2 * alike2", "alike2"),
    ("3.0 * frame.pixel_cone", "6.0 * frame.pixel_cone"),
    ("dot(direction, n);\n    let pixel", "dot(direction, n) * 1.01;\n    let pixel"),
    ("- abs(place - vec2<f32>(texel))", "- 1.2 * abs(place - vec2<f32>(texel))"),
    ("let kind = select(1.0, -1.0, hit.body == BODY_FLOOR);", "let kind = 1.0;"),
    (
        "vec2<u32>(frame.accumulated, frame.accumulated >> 1u)",
        "vec2<u32>(frame.accumulated >> 1u, frame.accumulated)",
    ),
    // Bodies.
    ("mix(0.06, 1.0, occluded)", "mix(0.08, 1.0, occluded)"),
    ("0.75 * albedo", "0.65 * albedo"),
    ("pow(0.5 + 0.5 * dot(n, lamp), 2.0)", "(0.5 + 0.5 * dot(n, lamp))"),
    ("roughness * roughness * 0.5", "roughness * 0.5"),
    ("let f = 0.04 + 0.96", "let f = 0.08 + 0.92"),
    ("frame.sun, 0.42)", "frame.sun, 0.40)"),
    ("0.025 + 0.3 * edge", "0.035 + 0.3 * edge"),
    ("(look & MARK_MATT) != 0u ||", "false ||"),
    ("n * 0.45", "n * 0.40"),
    ("0.5 * slant * slant", "0.4 * slant * slant"),
    ("smoothstep(0.90, 0.93, dot(seen, lamp))", "smoothstep(0.80, 0.93, dot(seen, lamp))"),
    ("color * 0.12 + through", "color * 0.15 + through"),
    ("frame.sun, 0.18)", "frame.sun, 0.2)"),
    ("(1.0 - mirrored)", "1.0"),
    ("0.08 + 0.55 * rim", "0.08 + 0.5 * rim"),
    ("(0.35 + 0.65 * lit.sky)", "lit.sky"),
    // Gold.
    ("frame.sun, 0.34) * 6.0", "frame.sun, 0.34) * 60.0"),
    ("SEAM_SHINE * gold * 1.1", "SEAM_SHINE * gold"),
    ("smoothstep(0.5, 0.95, gold)", "smoothstep(0.4, 0.95, gold)"),
    // The floor and what lies behind.
    ("lit.sky * lit.sky;", "lit.sky;"),
    ("1.0 + 0.22 * exp2", "1.0 + 0.2 * exp2"),
    ("direction.y * 1.6 + 0.08", "direction.y * 1.6 + 0.09"),
    // Lines between pieces.
    ("return objects[a] == objects[b];", "return objects[a] == objects[a];"),
    ("(a.pixel * (0.5 + 0.5 * reach))", "(0.5 * a.pixel * (0.5 + 0.5 * reach))"),
    ("max(abs(rise.x), abs(rise.y))", "abs(rise.x)"),
    ("return even * (1.0 - corner);", "return even;"),
    ("k % 3 - 1, k / 3 - 1);\n        if", "k % 3 - 1, 0);\n        if"),
    ("min(beside, 3.0)", "0.9 * min(beside, 3.0)"),
    ("(half - 1.0) * min(outer", "min(outer"),
    ("smoothstep(3.0, 6.0, borders)", "smoothstep(4.0, 6.0, borders)"),
    ("const HAIRLINE_DARK = 0.75;", "const HAIRLINE_DARK = 0.7;"),
    // The outline, the eye and the film.
    ("select(2, 1, dx * dy != 0)", "2"),
    ("1.0 - 0.10 * dot(off, off)", "1.0 - 0.09 * dot(off, off)"),
    ("display * (1.0 - over.w)", "display"),
    ("const TONE_A = 1.22;", "const TONE_A = 1.2;"),
    ("1.0 / f32(frame.accumulated + 1u)", "0.5"),
    ("unit_from_hash(seed + 1u)", "unit_from_hash(seed)"),
];

/// The same, of values that only an own lighting or a lens has.
const RELIT_LIGHT_ERRORS: [(&str, &str); 2] = [
    ("min(0.5 * frame.sun_radius, WIDEST_SLOPE)", "0.5 * frame.sun_radius"),
    ("dot(direction, frame.ahead)", "dot(direction, frame.forward)"),
];

const RELIT_COMPOSE_ERRORS: [(&str, &str); 15] = [
    ("SUN_COLOR * frame.sun_tint", "SUN_COLOR"),
    ("n.y)) * frame.sky_tint", "n.y))"),
    ("SKY_COLOR * frame.sky_tint", "SKY_COLOR"),
    ("LAMP_COLOR * frame.lamp_tint", "LAMP_COLOR"),
    ("return frame.lamp;", "return -frame.lamp;"),
    ("mix(frame.horizon, frame.zenith,", "mix(frame.zenith, frame.horizon,"),
    ("var paint = frame.floor_color;", "var paint = frame.horizon;"),
    ("floor(point / frame.checker_size)", "floor(point / (0.7 * frame.checker_size))"),
    ("smoothstep(0.25, 1.0, covers)", "0.0"),
    ("max(frame.sun.y, 0.0)", "0.5 * frame.sun.y"),
    ("SUN_COLOR * high + SKY_COLOR", "sun + sky"),
    // The shadow catcher.
    ("dot(lost, LUMA) / dot(open, LUMA)", "lost.y / open.y"),
    ("pow(1.0 - dark, 1.0 / 2.2)", "(1.0 - dark)"),
    ("sky * (1.0 - lit.sky * lit.sky);", "0.5 * sky * (1.0 - lit.sky);"),
    ("color = vec3<f32>(0.0);", "color = away;"),
];
