//! Shapes from signed distances, and a scene to draw them in.

use std::sync::Arc;

use crate::geometry::Aabb;
use glam::{DVec3, Mat4, Quat, Vec3};

use crate::{
    BodySeams, Camera, CellMarks, FrameInput, Overlay, PixelHit, RenderBody, RenderOptions,
    compute::Array,
    fracture::{FractureParams, Fracturer, Pattern, Recipe, Seams, Source, Volume},
    frame::{PassRenderer, frame_data},
    gpu::{Gpu, shaders},
    mesh::builtin,
    native::NativeRenderer,
    shape::{GridMass, Look, Octree, Shape},
    surfaces::{HitData, read_texture},
    svo::{Arena, Forest, Grid, LeafColor, Leaves, build, morton, pack_cut, pack_normal},
    tables::FrameData,
    voxelize::{Progress, voxelize},
};

/// An octree of the solid `distance(p) < 0`, p in grid coordinates, distance in voxels.
pub fn solid(
    level: u32,
    distance: impl Fn(Vec3) -> f32 + Sync,
    look: impl Fn(Vec3) -> ([u8; 3], bool),
) -> Forest {
    let mut leaves = Leaves::default();
    for key in 0..1 << (3 * level) {
        let centre = Vec3::from(morton::decode(key).map(|v| v as f32 + 0.5));
        let d = distance(centre);
        if d.abs() > 0.9 {
            continue;
        }
        let slope = |axis: Vec3| distance(centre + axis * 0.25) - distance(centre - axis * 0.25);
        let normal = Vec3::new(slope(Vec3::X), slope(Vec3::Y), slope(Vec3::Z)).normalize_or(Vec3::Y);
        // The plane touches the voxel.
        if d.abs() <= 0.5 * normal.abs().element_sum() {
            let (rgb, crack) = look(centre);
            leaves.keys.push(key);
            leaves.normals.push(pack_normal(normal));
            leaves.colors.push(LeafColor::new(rgb, crack, -d));
            leaves.coverage.push(1.0);
        }
    }
    build(level, leaves, &|key: morton::Key, at: u32| {
        let size = (1u32 << (level - at)) as f32;
        let corner = Vec3::from(morton::decode(key).map(|v| v as f32 * size));
        distance(corner + Vec3::splat(0.5 * size)) < 0.0
    })
}

/// Bounds of a forest's leaves, grid.
pub fn bounds(forest: &Forest) -> (Vec3, Vec3) {
    let mut out = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for key in &forest.leaves.keys {
        let low = Vec3::from(morton::decode(key).map(|v| v as f32));
        out = (out.0.min(low), out.1.max(low + 1.0));
    }
    out
}

/// A ball that fills most of its grid.
pub fn ball(level: u32) -> Forest {
    let side = (1u32 << level) as f32;
    solid(level, |p| (p - Vec3::splat(0.5 * side)).length() - 0.4 * side, |_| ([196, 120, 84], false))
}

/// A torus lying flat.
pub fn torus(level: u32) -> Forest {
    let side = (1u32 << level) as f32;
    let distance = |p: Vec3| {
        let q = p - Vec3::splat(0.5 * side);
        let ring = q.x.hypot(q.z) - 0.3 * side;
        ring.hypot(q.y) - 0.13 * side
    };
    solid(level, distance, |p| {
        if (p.x * 16.0 / side) as i32 & 1 == 0 { ([90, 130, 150], false) } else { ([214, 205, 188], false) }
    })
}

/// A box with rounded edges, its -x half of crack voxels.
pub fn rounded_box(level: u32) -> Forest {
    let side = (1u32 << level) as f32;
    let distance = |p: Vec3| {
        let q = (p - Vec3::splat(0.5 * side)).abs() - Vec3::new(0.36, 0.28, 0.2) * side;
        q.max(Vec3::ZERO).length() + q.max_element().min(0.0) - 0.05 * side
    };
    solid(level, distance, |p| ([188, 150, 112], p.x < 0.5 * side))
}

/// The same with a second plane in every leaf that the plane through `point` meets; the solid is where
/// `normal` points from.
pub fn with_cut(mut forest: Forest, normal: Vec3, point: Vec3) -> Forest {
    for (key, cut) in forest.leaves.keys.iter().zip(&mut forest.leaves.cuts) {
        let centre = Vec3::from(morton::decode(key).map(|v| v as f32 + 0.5));
        let offset = (point - centre).dot(normal);
        if offset.abs() < 0.5 * normal.abs().element_sum() {
            *cut = pack_cut(normal, offset);
        }
    }
    forest
}

fn body_seams(seams: Option<&(usize, Seams, u32)>, marks: CellMarks) -> Option<BodySeams<'_>> {
    seams.map(|(body, seams, first)| BodySeams { body: *body, seams, first: *first, marks })
}

/// Who draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Passes,
    Native,
}

/// Octrees on a device with bodies that show them.
pub struct Stage {
    pub gpu: Gpu,
    pub arena: Arena,
    pub by: By,
    pub renderer: PassRenderer,
    pub native: NativeRenderer,
    pub bodies: Vec<RenderBody>,
    pub camera: Camera,
    pub options: RenderOptions,
    pub size: [u32; 2],
    /// Body, cracks to show on it, its first voxel.
    pub seams: Option<(usize, Seams, u32)>,
    pub overlay: Option<Arc<Overlay>>,
    /// Cells of it to mark.
    pub marks: CellMarks,
}

/// The shape of a tree; only its bounds count here.
pub fn shape(forest: &Arc<Forest>, tree: u32, mass: GridMass) -> Arc<Shape> {
    let grid = Grid { level: forest.level, origin: DVec3::ZERO, h: 1.0 };
    let octree = Octree { forest: Arc::clone(forest), tree, grid, mass };
    Arc::new(Shape::octree(octree, 1.0, Look::default()))
}

/// Leaf level of a body.
pub fn level(body: &RenderBody) -> u32 {
    body.shape.as_octree().map_or(0, Octree::level)
}

/// Tree of a body.
pub fn root(body: &RenderBody) -> u32 {
    body.shape.as_octree().map_or(0, |octree| octree.tree)
}

impl Stage {
    /// An empty stage that the passes draw, or `None` where there is no adapter.
    pub fn open() -> Option<Self> {
        Self::drawn_by(By::Passes)
    }

    /// An empty stage, or `None` where there is no adapter: cracks are made in passes, whoever draws.
    pub fn drawn_by(by: By) -> Option<Self> {
        let gpu = Gpu::for_test()?;
        let arena = Arena::new(&gpu).expect("arena");
        let renderer = PassRenderer::new(&gpu).expect("renderer");
        Some(Self {
            gpu,
            arena,
            by,
            renderer,
            native: NativeRenderer::default(),
            bodies: Vec::new(),
            camera: Camera { distance: 4.0, ..Camera::default() },
            options: RenderOptions { floor: None, ..RenderOptions::default() },
            size: [96, 64],
            seams: None,
            overlay: None,
            marks: CellMarks::default(),
        })
    }

    /// Adds a body whose grid has an edge of `edge` metres and whose grid centre lies at `centre`.
    pub fn add(&mut self, forest: &Forest, edge: f32, rotation: Quat, centre: Vec3) -> usize {
        let forest = Arc::new(forest.clone());
        self.arena.insert(&forest).expect("insert");
        let side = (1u32 << forest.level) as f32;
        let pose = Mat4::from_rotation_translation(rotation, centre)
            * Mat4::from_scale(Vec3::splat(edge / side))
            * Mat4::from_translation(Vec3::splat(-0.5 * side));
        let id = self.bodies.len() as u32;
        let (low, high) = bounds(&forest);
        let mass = GridMass { bounds: Aabb::new(low.as_dvec3(), high.as_dvec3()), ..GridMass::default() };
        self.bodies.push(RenderBody {
            shape: shape(&forest, 0, mass),
            world_from_local: pose,
            id,
            object: 0,
            color: None,
            selected: false,
            mark: None,
            interior: Volume::default(),
            later: Default::default(),
        });
        self.bodies.len() - 1
    }

    /// Breaks the built-in vase and adds its pieces, the vase's grid being 1.6 m wide and on the floor. Every
    /// third piece is turned and drawn away from the axis, the others stay where they were; the second is
    /// selected.
    pub fn add_broken_vase(&mut self, level: u32) -> Arc<Forest> {
        let mesh = builtin("vase").expect("a built-in shape");
        let whole = Arc::new(voxelize(&mesh, level, &Progress::default()).expect("it voxelises").forest);
        let side = f64::from(1u32 << level);
        let params = FractureParams { seeds: 12, radii: vec![0.3, 0.6], rng: 3, ..Default::default() };
        let (low, high) = bounds(&whole);
        let bounds = Aabb::new(low.as_dvec3(), high.as_dvec3());
        let front = DVec3::new(0.5, 0.55, 0.8) * side;
        let pattern = Pattern::near_object(&params, front, bounds, &whole, 0).expect("good parameters");
        self.arena.insert(&whole).expect("insert");
        let source = Source::new(&self.arena, &whole, 0).expect("it is there");
        let fracturer = Fracturer::new(&self.gpu).expect("the passes compile");
        let broken = fracturer.fracture(&source, &pattern, &Recipe::default()).expect("it breaks");

        self.arena.insert(&broken.forest).expect("insert");
        let scale = Mat4::from_scale(Vec3::splat(1.6 / side as f32));
        let to_axis = Mat4::from_translation(Vec3::new(-0.5 * side as f32, -low.y, -0.5 * side as f32));
        for (i, piece) in broken.pieces.iter().enumerate() {
            let mut pose = scale * to_axis;
            if i % 3 == 2 {
                let centre = pose.transform_point3(piece.mass.centre.as_vec3());
                let away = Vec3::new(centre.x, 0.25, centre.z) * 0.5;
                let turn = Mat4::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 0.5 * i as f32);
                pose = Mat4::from_translation(centre + away) * turn * Mat4::from_translation(-centre) * pose;
            }
            self.bodies.push(RenderBody {
                shape: shape(&broken.forest, piece.tree, piece.mass),
                world_from_local: pose,
                id: i as u32,
                // As if there were a second object among the pieces.
                object: u32::from(i % 4 == 3),
                color: None,
                selected: i == 1,
                mark: None,
                interior: Volume::default(),
                later: Default::default(),
            });
        }
        broken.forest
    }

    /// The picture after `passes`.
    pub fn still(&mut self, passes: u32) -> Vec<u8> {
        let seams = self.seams_there();
        let input = FrameInput {
            arena: &self.arena,
            bodies: &self.bodies,
            camera: self.camera,
            options: self.options.clone(),
            size: self.size,
            seams: body_seams(seams.as_ref(), self.marks),
            overlay: self.overlay.as_ref(),
        };
        match self.by {
            By::Passes => self.renderer.still(&self.gpu, &input, passes).expect("still"),
            By::Native => self.native.still(&input, passes).expect("still"),
        }
    }

    /// First hits of the last picture.
    pub fn hits(&self) -> Vec<PixelHit> {
        match self.by {
            By::Passes => self.renderer.read_hits(&self.gpu).expect("hits"),
            By::Native => self.native.read_hits(),
        }
    }

    /// The seams where the stages run.
    fn seams_there(&self) -> Option<(usize, Seams, u32)> {
        let (body, seams, first) = self.seams.clone()?;
        let words = match self.by {
            By::Passes => seams.words.clone(),
            By::Native => Array::Host(Arc::new(seams.words.read(&self.gpu).expect("seams"))),
        };
        Some((body, Seams { words, ..seams }, first))
    }

    fn overlay_pixels(&self) -> Option<Vec<[f32; 4]>> {
        let bytes = read_texture(&self.gpu, self.renderer.overlay.picture()?).expect("overlay");
        let half = |b: &[u8]| from_half(u16::from_le_bytes([b[0], b[1]]));
        let pixel = |p: &[u8]| std::array::from_fn(|k| half(&p[2 * k..2 * k + 2]));
        Some(bytes.chunks_exact(8).map(pixel).collect())
    }

    /// Draws frame number `accumulated` of a refinement and reads back everything that its passes read and wrote.
    pub fn frame(&mut self, accumulated: u32) -> Taken {
        let seams = self.seams_there();
        let input = FrameInput {
            arena: &self.arena,
            bodies: &self.bodies,
            camera: self.camera,
            options: RenderOptions { accumulated, ..self.options.clone() },
            size: self.size,
            seams: body_seams(seams.as_ref(), self.marks),
            overlay: self.overlay.as_ref(),
        };
        let frame = frame_data(&input, self.size, accumulated, self.bodies.len() as u32);
        if self.by == By::Native {
            let nothing = vec![[f32::NAN; 4]; (self.size[0] * self.size[1]) as usize];
            let before = if accumulated > 0 { self.native.targets.history_pixels() } else { nothing };
            self.native.draw(&input).expect("draw");
            let targets = &self.native.targets;
            return Taken {
                frame,
                hits: targets.hits.clone(),
                looks: targets.looks.clone(),
                overlay: self.overlay.as_ref().map(|_| targets.overlay.clone()),
                lights: targets.lights.clone(),
                before,
                history: targets.history_pixels(),
                picture: targets.picture.clone(),
            };
        }
        let before = match (&self.renderer.targets, accumulated) {
            (Some(targets), 1..) => targets.history.read(&self.gpu).expect("history"),
            _ => vec![[f32::NAN; 4]; (self.size[0] * self.size[1]) as usize],
        };
        self.renderer.draw(&self.gpu, &input).expect("draw");
        let targets = self.renderer.targets.as_ref().expect("something was drawn");
        let texels = (frame.light_size[0] * frame.light_size[1]) as usize;
        Taken {
            hits: targets.hits.read(&self.gpu).expect("hits"),
            looks: targets.looks.read(&self.gpu).expect("looks"),
            overlay: self.overlay.as_ref().and_then(|_| self.overlay_pixels()),
            lights: targets.lights.read_range(&self.gpu, 0, texels).expect("lights"),
            history: targets.history.read(&self.gpu).expect("history"),
            picture: targets.read(&self.gpu).expect("picture"),
            before,
            frame,
        }
    }
}

/// A half-precision float.
fn from_half(word: u16) -> f32 {
    let (sign, exponent, fraction) = (word >> 15, word >> 10 & 31, f32::from(word & 1023));
    let size = match exponent {
        0 => fraction * 2f32.powi(-24),
        _ => (1.0 + fraction / 1024.0) * 2f32.powi(i32::from(exponent) - 15),
    };
    if sign == 1 { -size } else { size }
}

/// A frame as it was drawn.
pub struct Taken {
    pub frame: FrameData,
    pub hits: Vec<HitData>,
    pub looks: Vec<u32>,
    /// Linear colour times alpha, where there is an overlay.
    pub overlay: Option<Vec<[f32; 4]>>,
    pub lights: Vec<[u32; 4]>,
    /// Mean over the frames before; not a number in the first.
    pub before: Vec<[f32; 4]>,
    pub history: Vec<[f32; 4]>,
    pub picture: Vec<u8>,
}

/// A shader's text with one place altered.
pub fn altered(path: &str, from: &str, to: &str) -> String {
    let source = shaders::source(path);
    assert_eq!(source.matches(from).count(), 1, "{path} should say `{from}` once");
    source.replace(from, to)
}
