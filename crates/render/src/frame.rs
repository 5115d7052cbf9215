//! The passes of a picture in order: first hits, light, overlay, composition.
//!
//! In: octrees in the arena, bodies with their surfaces, camera, options, an overlay. Out: an RGBA8 picture on the GPU
//! or in memory.

use std::sync::Arc;

use crate::geometry::Aabb;
use glam::{Mat4, Vec3};

use super::{
    Backdrop, Camera, Clips, Lens, Lighting, Overlay, Rgb,
    backdrop::SurroundingsOnDevice,
    effects::emits,
    overlay::OverlayPass,
    surfaces::{Surfaces, Targets},
    tables::{BodyData, BoxData, FrameData, tables},
};
use crate::{
    fracture::{Insides, LATER, Seams, Volume},
    gpu::{Buffer, Gpu, GpuError, Kernel, Recorder, StageTiming, Stopwatch, Uniform, bind},
    shape::{Shape, SolidMesh},
    svo::{Arena, ArenaBuffers},
};

/// Two rings of neighbours cannot tell how far off a border lies that is farther away.
const WIDEST_HAIRLINE: f32 = 4.0;

/// The number of clipping planes is in the flags of a frame from this bit on.
pub(super) const CLIPS_SHIFT: u32 = 8;
/// `FLAG_SURROUNDINGS` in `shaders/render/frame.wgsl`.
const SURROUNDINGS_SHIFT: u32 = 11;

/// Meaning of a voxel's colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ColorBy {
    /// The material's own colour.
    #[default]
    Material,
    /// One colour per body.
    Piece,
    /// Surface normals.
    Normal,
    /// Crack faces in another colour than the original surface.
    Crack,
    /// Octree level at which the ray stopped.
    Level,
}
/// One body to draw.
#[derive(Clone, Debug)]
pub struct RenderBody {
    /// Its shape. An octree is drawn from the frame's arena; one that is not uploaded is not drawn. A mesh or a convex
    /// polyhedron is drawn as its surface, even if it has voxels; compute passes skip a surface that exceeds the
    /// adapter's buffer limit (128 MiB on some: about a million triangles).
    pub shape: Arc<Shape>,
    /// Affine with uniform scale: the shape's local space (voxels) to world metres.
    pub world_from_local: Mat4,
    /// Number for colouring by piece and for highlighting.
    pub id: u32,
    /// Number of the object that it is a piece of. Hairlines are drawn between pieces of one object.
    pub object: u32,
    /// Colour of [`ColorBy::Piece`], sRGB; `None`: that of its number.
    pub color: Option<[u8; 3]>,
    /// Whether it is highlighted.
    pub selected: bool,
    /// How a preview marks it.
    pub mark: Option<PieceMark>,
    /// Material volume on crack faces, finer than their voxels; zero for the voxels' own colours or those of a
    /// surface's vertices. Volumes are in voxel coordinates, so a surface without voxels shows its vertices' colours.
    pub interior: Volume,
    /// Other volumes that later breaks gave to their crack faces, then zeros ([`Insides`]). A voxel's
    /// colour says which of all it shows. A surface with any shows its vertices' colours.
    pub later: [Volume; LATER],
}

impl RenderBody {
    /// Bounds (low, high) of its shape, local space.
    #[must_use]
    pub fn bounds(&self) -> (Vec3, Vec3) {
        let Aabb { low, high } = self.shape.bounds();
        (low.as_vec3(), high.as_vec3())
    }

    /// The same body after one more break, whose crack faces show `inside`.
    #[must_use]
    pub fn opened(self, inside: Volume) -> Self {
        let insides = Insides { first: self.interior, later: self.later }.with(inside);
        Self { later: insides.later, ..self }
    }
}

/// How a preview marks a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceMark {
    /// The piece stays with the body. [`CellMarks::hovered`] may name one of its cells.
    Kept,
    /// The piece is under the pointer.
    Hovered,
}
/// Cells marked in a preview.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellMarks {
    /// Object id of the cells that stay with the body.
    pub kept: Option<u32>,
    /// Seed of the cell under the pointer.
    pub hovered: Option<u32>,
}
/// Drawing options.
#[derive(Clone, Debug, PartialEq)]
pub struct RenderOptions {
    /// Colour choice.
    pub color_by: ColorBy,
    /// Floor height (y), or `None` for no floor.
    pub floor: Option<f32>,
    /// Leave the background transparent (alpha 0), and the floor away.
    pub transparent: bool,
    /// In a transparent picture, keep of the floor its shadows: black, with the share of its light that the floor loses
    /// as alpha.
    pub catches_shadows: bool,
    /// Light, backdrop and floor.
    pub lighting: Lighting,
    /// A picture behind the scene, in place of the lighting's background, sky and ground; `None`, or one that was not read:
    /// no picture.
    pub backdrop: Option<Backdrop>,
    /// Planes that cut the bodies open. What they take away throws no shadow.
    pub clips: Clips,
    /// Blurs what is out of focus, in refined pictures; `None`: everything is sharp.
    pub lens: Option<Lens>,
    /// Ambient-occlusion and soft-shadow samples per pixel in this frame; 1 for the live window, more for stills.
    pub samples: u32,
    /// Number of frames accumulated without motion; 0 restarts the refinement.
    pub accumulated: u32,
    /// Width of the dark lines between pieces that lie together, pixels of this picture, up to 4; 0: no lines. Below 1
    /// the lines are fainter and not thinner.
    pub hairline: f32,
}
impl Default for RenderOptions {
    fn default() -> Self {
        Self {
            color_by: ColorBy::Material,
            floor: Some(0.0),
            transparent: false,
            catches_shadows: false,
            lighting: Lighting::default(),
            backdrop: None,
            clips: Clips::default(),
            lens: None,
            samples: 1,
            accumulated: 0,
            hairline: 0.0,
        }
    }
}

impl RenderOptions {
    /// Width of hairlines in a picture of `height` pixels that is looked at as a whole, as pictures in files are: a
    /// pixel, or 1/900 of a large picture's height.
    #[must_use]
    pub fn whole_picture_hairline(height: u32) -> f32 {
        (height as f32 / 900.0).max(1.0)
    }
}

/// Input of a frame.
pub struct FrameInput<'a> {
    /// Octrees.
    pub arena: &'a Arena,
    /// Bodies.
    pub bodies: &'a [RenderBody],
    /// Camera.
    pub camera: Camera,
    /// Options.
    pub options: RenderOptions,
    /// Size at which rays are cast, pixels.
    pub size: [u32; 2],
    /// Cracks to draw on an unbroken body.
    pub seams: Option<BodySeams<'a>>,
    /// Lines, points and triangles over the picture, uploaded when it is not the previous frame's.
    pub overlay: Option<&'a Arc<Overlay>>,
}
/// Preview of a body's cracks, drawn on it in gold.
#[derive(Clone, Copy, Debug)]
pub struct BodySeams<'a> {
    /// Index among the frame's bodies; out of range if only pieces' cells are marked.
    pub body: usize,
    /// Cells near each boundary voxel of the preview's level, which is at most the body's.
    pub seams: &'a Seams,
    /// Index of the tree's first voxel at that level: of a node in the body's slot, or of a leaf at the leaf level.
    pub first: u32,
    /// Cells to mark, on this body and on pieces that stay.
    pub marks: CellMarks,
}
/// First hit of a pixel, from [`Renderer::read_hits`](super::Renderer::read_hits).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PixelHit {
    /// No hit.
    Sky,
    /// The floor, at this distance from the camera, m.
    Floor(f32),
    /// A body.
    Body {
        /// Index into the frame's bodies.
        body: usize,
        /// Leaf relative to the body's slot, `None` in an internal octant; for a surface the index of its triangle.
        leaf: Option<u32>,
        /// Distance from the camera, m.
        distance: f32,
    },
}

/// The ray caster with compute passes, and its buffers.
pub struct PassRenderer {
    pub(super) primary: Kernel,
    pub(super) light: Kernel,
    pub(super) compose: Kernel,
    pub(super) overlay: OverlayPass,
    stopwatch: Stopwatch,
    frame: Uniform<FrameData>,
    bodies: Buffer<BodyData>,
    boxes: Buffer<BoxData>,
    objects: Buffer<u32>,
    surfaces: Surfaces,
    surroundings: SurroundingsOnDevice,
    no_seams: Buffer<u32>,
    pub(super) targets: Option<Targets>,
    /// Number of frames in the history; the blend weight follows it, so that a resize cannot mix in stale pixels.
    refined: u32,
}

impl PassRenderer {
    /// Compiles the passes.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        let renderer = Self {
            primary: Kernel::new(gpu, "render/primary"),
            light: Kernel::new(gpu, "render/light"),
            compose: Kernel::new(gpu, "render/compose"),
            overlay: OverlayPass::new(gpu)?,
            stopwatch: Stopwatch::default(),
            frame: Uniform::new(gpu, &bytemuck::Zeroable::zeroed()),
            bodies: Buffer::zeroed(gpu, "body table", 64)?,
            boxes: Buffer::zeroed(gpu, "body boxes", 128)?,
            objects: Buffer::zeroed(gpu, "objects of bodies", 64)?,
            surfaces: Surfaces::new(gpu)?,
            surroundings: SurroundingsOnDevice::new(gpu)?,
            no_seams: Buffer::zeroed(gpu, "no seams", 1)?,
            targets: None,
            refined: 0,
        };
        gpu.check()?;
        Ok(renderer)
    }

    /// Draws into an internal texture (Rgba8Unorm, already tone-mapped and sRGB-encoded) and returns a view of it. Does
    /// not wait. A zero size is drawn as one pixel; a size beyond the adapter's texture limit is clamped.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn draw(&mut self, gpu: &Gpu, input: &FrameInput<'_>) -> Result<wgpu::TextureView, GpuError> {
        gpu.check()?;
        self.stopwatch.collect(gpu);
        let limit = gpu.limits.max_texture_dimension_2d;
        let size = input.size.map(|side| side.clamp(1, limit));
        let targets = match self.targets.take() {
            Some(targets) if targets.size == size => targets,
            _ => {
                self.refined = 0;
                Targets::new(gpu, size)?
            }
        };
        let targets = self.targets.insert(targets);
        if input.options.accumulated == 0 {
            self.refined = 0;
        }

        self.surfaces.hold(gpu, input.bodies)?;
        self.surroundings.hold(gpu, input.options.backdrop.as_ref())?;
        let place_of = |solid: &SolidMesh| self.surfaces.place(solid);
        let (rows, boxes) = tables(input.bodies, |forest| input.arena.slot(forest), place_of);
        fill(gpu, &mut self.bodies, "body table", &rows)?;
        fill(gpu, &mut self.boxes, "body boxes", &boxes)?;
        let objects: Vec<u32> = input.bodies.iter().map(|body| body.object).collect();
        fill(gpu, &mut self.objects, "objects of bodies", &objects)?;
        let frame = frame_data(input, size, self.refined, boxes.len().div_ceil(2) as u32);
        self.frame.write(gpu, &frame);

        let ArenaBuffers { nodes, normals, colors, cuts } = input.arena.buffers()?;
        let Targets { hits, looks, lights, history, view: picture, .. } = &*targets;
        let (frame_words, bodies, boxes) = (&self.frame, &self.bodies, &self.boxes);
        let seams = input.seams.map_or(Ok(&self.no_seams), |s| s.seams.words.device())?;
        let mesh_words = self.surfaces.words();
        let scene = bind![frame_words, nodes, normals, colors, cuts, bodies, boxes, mesh_words];
        let passes = if self.stopwatch.has_room() { 3 } else { 0 };
        let mut rec = Recorder::with_room(gpu, "render", passes);
        rec.stage("primary");
        rec.run_pixels(&self.primary, size, &[scene, bind![hits, looks, seams]].concat())?;
        rec.stage("light");
        rec.run_pixels(&self.light, frame.light_size, &[scene, bind![hits, lights]].concat())?;
        // After the first hits, which hide what lies behind them, and before the composition, which blends it over the
        // tone-mapped picture.
        let overlay = match input.overlay.filter(|overlay| !overlay.is_empty()) {
            Some(drawn) => self.overlay.record(gpu, rec.encoder(), drawn, (&frame, &self.frame), hits)?,
            None => self.overlay.nothing(),
        };
        rec.stage("compose");
        let (objects, surroundings) = (&self.objects, self.surroundings.words());
        let given = bind![frame_words, hits, looks, lights, history, picture, overlay, objects, surroundings];
        rec.run_pixels(&self.compose, size, given)?;
        self.stopwatch.submitted(rec.submit_pending());
        gpu.check()?;
        self.refined = self.refined.saturating_add(1);
        Ok(targets.view.clone())
    }

    /// Draws and reads back RGBA8 rows from the top, with `passes` refinement passes.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn still(&mut self, gpu: &Gpu, input: &FrameInput<'_>, passes: u32) -> Result<Vec<u8>, GpuError> {
        for pass in 0..passes.max(1) {
            let mut options = input.options.clone();
            options.accumulated = pass;
            self.draw(gpu, &FrameInput { options, ..*input })?;
            // One pass at a time, since a slow adapter's driver would otherwise get one enormous submission.
            gpu.wait()?;
        }
        // The window's refinement restarts, since its history was overwritten.
        self.refined = 0;
        match &self.targets {
            Some(targets) => targets.read(gpu),
            None => Ok(Vec::new()),
        }
    }

    /// The last picture.
    pub fn view(&self) -> Option<&wgpu::TextureView> {
        self.targets.as_ref().map(|targets| &targets.view)
    }

    /// First hits of the last frame, rows from the top. Waits for the GPU.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn read_hits(&self, gpu: &Gpu) -> Result<Vec<PixelHit>, GpuError> {
        match &self.targets {
            Some(targets) => targets.read_hits(gpu),
            None => Ok(Vec::new()),
        }
    }

    /// GPU time of the last frame whose timings have arrived.
    #[must_use]
    pub fn timings(&self) -> &[StageTiming] {
        self.stopwatch.latest()
    }
}

/// Writes `data` into `buffer`, which is enlarged by half as needed.
fn fill<T: bytemuck::Pod>(
    gpu: &Gpu,
    buffer: &mut Buffer<T>,
    label: &str,
    data: &[T],
) -> Result<(), GpuError> {
    if data.len() > buffer.len() {
        *buffer = Buffer::zeroed(gpu, label, data.len() + data.len() / 2)?;
    }
    buffer.write(gpu, 0, data);
    Ok(())
}

/// Constants of frame number `refined` of a refinement.
pub(super) fn frame_data(input: &FrameInput<'_>, size: [u32; 2], refined: u32, body_count: u32) -> FrameData {
    let camera = input.camera.sane();
    let aspect = size[0] as f32 / size[1] as f32;
    let axes = camera.axes();
    let (tan_x, tan_y) = camera.tangents(aspect);
    let options = &input.options;
    let samples = options.samples.clamp(1, 64);
    // One light texel per 2 x 2 pixels in the live window, one per pixel for stills.
    let light_step = if samples > 1 { 1 } else { 2 };
    let selection = input.bodies.iter().any(|body| body.selected);
    let overlay = input.overlay.is_some_and(|overlay| !overlay.is_empty());
    let has_floor = !options.transparent || options.catches_shadows;
    let floor = options.floor.filter(|y| y.is_finite() && has_floor);
    let mut drawn = input.bodies.iter().filter_map(|body| body.shape.drawn_surface());
    let emits =
        options.color_by == ColorBy::Material && drawn.any(|solid| solid.materials().iter().any(emits));
    let lighting = options.lighting.sane();
    let (eye, forward) =
        options.lens.map_or((camera.eye(), axes.forward), |lens| lens.view(&camera, refined));
    let hairline = hairline_of(input);
    let checker = lighting.floor_checker.filter(|_| lighting.floor_color.is_some());
    // At first the filter is as wide as the noise pattern; later the history averages instead.
    let filter_radius = match refined * samples {
        0..12 => 2,
        12..48 => 1,
        _ => light_step - 1,
    };
    FrameData {
        eye,
        pixel_cone: 2.0 * tan_y / size[1] as f32,
        forward,
        ao_reach: 0.16 * camera.distance,
        right: axes.right * tan_x,
        floor_y: floor.unwrap_or(0.0),
        up: axes.up * tan_y,
        fade: 1.2 * camera.distance,
        sun: lighting.sun_direction.as_vec3().normalize_or(Vec3::Y),
        sun_radius: lighting.sun_softness as f32,
        target: camera.target,
        flags: u32::from(floor.is_some())
            | u32::from(options.transparent) << 1
            | u32::from(selection) << 2
            | u32::from(overlay) << 3
            | u32::from(lighting.background.is_some()) << 4
            | u32::from(lighting.floor_color.is_some()) << 5
            | u32::from(lighting.lamp_direction.is_some()) << 6
            | u32::from(emits) << 7
            | (options.clips.planes().len() as u32) << CLIPS_SHIFT
            | u32::from(options.backdrop.as_ref().is_some_and(|of| of.picture().is_some()))
                << SURROUNDINGS_SHIFT,
        ahead: axes.forward,
        light_step,
        sun_tint: tint(lighting.sun_color, lighting.sun_strength),
        samples,
        sky_tint: tint(lighting.sky_color, lighting.sky_strength),
        filter_radius,
        lamp: lighting.lamp_direction.map_or(Vec3::Y, |lamp| lamp.as_vec3().normalize_or(Vec3::Y)),
        color_by: options.color_by as u32,
        lamp_tint: tint(lighting.lamp_color, lighting.lamp_strength),
        body_count,
        horizon: lighting.background.map_or(Vec3::ZERO, |of| of.horizon.linear()),
        accumulated: refined,
        zenith: lighting.background.map_or(Vec3::ZERO, |of| of.zenith.linear()),
        hairline,
        floor_color: lighting.floor_color.map_or(Vec3::ZERO, Rgb::linear),
        checker: checker.map_or(Vec3::ZERO, |of| of.color.linear()),
        checker_size: checker.map_or(0.0, |of| of.size as f32),
        hairline_reach: (3.0 * hairline.max(1.0)).ceil() as u32,
        size,
        light_size: size.map(|side| side.div_ceil(light_step)),
        jitter: jitter(refined),
        seam_body: input.seams.and_then(|s| seam_body(input, s.body)).unwrap_or(u32::MAX),
        seam_level: input.seams.map_or(0, |s| s.seams.level),
        seam_first: input.seams.map_or(0, |s| s.first),
        seam_seeds: input.seams.map_or(0, |s| s.seams.seeds),
        kept_object: input.seams.and_then(|s| s.marks.kept).unwrap_or(u32::MAX),
        hovered_cell: input.seams.and_then(|s| s.marks.hovered).unwrap_or(u32::MAX),
        clips: options.clips.words(),
    }
}

/// Factor of a light's own colour.
fn tint(color: Rgb, strength: f64) -> Vec3 {
    color.linear() * strength as f32
}

/// Width of lines between pieces: 0 where there are no two.
fn hairline_of(input: &FrameInput<'_>) -> f32 {
    let width = input.options.hairline;
    if width.is_finite() && input.bodies.len() > 1 { width.clamp(0.0, WIDEST_HAIRLINE) } else { 0.0 }
}

/// Index of the body with cracks, if its octree is uploaded, in which their voxels are looked up.
fn seam_body(input: &FrameInput<'_>, body: usize) -> Option<u32> {
    let octree = input.bodies.get(body)?.shape.as_octree()?;
    input.arena.slot(&octree.forest)?;
    u32::try_from(body).ok()
}

/// Sub-pixel offsets: zero in the first frame, so that motion does not shimmer, then an even coverage of a slightly
/// enlarged pixel.
fn jitter(refined: u32) -> [f32; 2] {
    if refined == 0 {
        return [0.0; 2];
    }
    let at = |step: f64| ((f64::from(refined) * step + 0.5).fract() - 0.5) as f32 * 1.2;
    [at(0.754_877_666_246_693), at(0.569_840_290_998_053)]
}
