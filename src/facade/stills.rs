//! Pictures without a window: a mesh standing on a floor, whole or broken, and its cameras.
//!
//! In: octrees on the backend and their positions. Out: RGBA8 rows. The world is in metres with y up; a mesh is scaled
//! to 1 m along its longest side and stands on the floor at the origin. The commands use it too.

use std::sync::Arc;

use crate::geometry::Aabb;
use glam::{DMat4, DVec3, Mat4, Vec3};

use crate::{
    compute::Compute,
    export::BrokenObject,
    fracture::Volume,
    gpu::GpuError,
    render::{Camera, ColorBy, RenderBody, RenderOptions, Renderer},
    shape::{Geometry, GridMass, Look, Octree, Shape},
    svo::{Arena, Forest, Grid},
};

use super::Object;

/// Refinement passes of a still; fewer if the CPU draws it.
const PASSES: u32 = 32;
const PASSES_SOFTWARE: u32 = 12;

/// Sides to look from. Front looks along -z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Viewpoint {
    /// Along -z.
    Front,
    /// Along +z.
    Back,
    /// From -x.
    Left,
    /// From +x.
    Right,
    /// From above.
    Top,
    /// From above one corner.
    ThreeQuarter,
}

impl Viewpoint {
    /// Yaw and pitch, radians.
    fn angles(self) -> (f32, f32) {
        use std::f32::consts::{FRAC_PI_2, PI};
        match self {
            Self::Front => (0.0, 0.0),
            Self::Back => (PI, 0.0),
            Self::Left => (-FRAC_PI_2, 0.0),
            Self::Right => (FRAC_PI_2, 0.0),
            Self::Top => (0.0, FRAC_PI_2),
            Self::ThreeQuarter => (0.6, 0.35),
        }
    }

    /// A camera that shows the whole of a world-space box.
    #[must_use]
    pub fn camera(self, (low, high): (Vec3, Vec3), size: [u32; 2]) -> Camera {
        let corner = |c: u32| {
            let pick = |k: usize| if c >> k & 1 == 0 { low[k] } else { high[k] };
            Vec3::new(pick(0), pick(1), pick(2))
        };
        self.camera_on(&(0..8).map(corner).collect::<Vec<_>>(), size)
    }

    /// A camera that shows all given points, in world space.
    #[must_use]
    pub fn camera_on(self, points: &[Vec3], [width, height]: [u32; 2]) -> Camera {
        let (yaw, pitch) = self.angles();
        let mut camera = Camera { yaw, pitch, ..Camera::default() };
        camera.frame_points(points, width as f32 / height.max(1) as f32);
        camera
    }
}

/// Placement of an object's grid in the world: a scale to metres, then a translation.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Metres per voxel.
    pub h: f64,
    /// World position of grid point 0, m.
    pub origin: DVec3,
}

impl Place {
    /// On the floor at the origin, 1 m along the longest side of its voxels.
    #[must_use]
    pub fn standing(mass: &GridMass) -> Self {
        let Aabb { low, high } = mass.bounds;
        let h = 1.0 / (high - low).max_element().max(1.0);
        let middle = low.midpoint(high);
        Self { h, origin: -h * DVec3::new(middle.x, low.y, middle.z) }
    }

    /// The transform from grid to world, translated by `offset` metres.
    #[must_use]
    pub fn matrix(&self, offset: Vec3) -> Mat4 {
        Mat4::from_translation(self.origin.as_vec3() + offset) * Mat4::from_scale(Vec3::splat(self.h as f32))
    }

    /// The grid of `level` in world coordinates.
    #[must_use]
    pub fn grid(&self, level: u32) -> Grid {
        Grid { level, origin: self.origin, h: self.h }
    }

    /// A piece of the object as a shape of `density`, kg/m^3.
    #[must_use]
    pub fn piece(&self, forest: &Arc<Forest>, (tree, mass): (u32, GridMass), density: f64) -> Arc<Shape> {
        let (forest, grid) = (Arc::clone(forest), self.grid(forest.level));
        Arc::new(Shape::octree(Octree { forest, tree, grid, mass }, density, Look::default()))
    }

    /// The renderer's body for a shape in this placement, translated by `offset` metres.
    #[must_use]
    pub fn body(&self, shape: Arc<Shape>, id: u32, offset: Vec3) -> RenderBody {
        RenderBody {
            shape,
            world_from_local: self.matrix(offset),
            id,
            object: 0,
            color: None,
            selected: false,
            mark: None,
            interior: Volume::default(),
            later: Default::default(),
        }
    }
}

/// World bounds of bodies.
#[must_use]
pub fn world_bounds(bodies: &[RenderBody]) -> (Vec3, Vec3) {
    let corners = bodies.iter().flat_map(|body| {
        let (low, high) = body.bounds();
        (0..8).map(move |c| {
            let pick = |k: usize| if c >> k & 1 == 0 { low[k] } else { high[k] };
            body.world_from_local.transform_point3(Vec3::new(pick(0), pick(1), pick(2)))
        })
    });
    let (low, high) =
        corners.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), p| (low.min(p), high.max(p)));
    if low.cmple(high).all() { (low, high) } else { (Vec3::ZERO, Vec3::ONE) }
}

/// Points on the surfaces of bodies, world space.
#[must_use]
pub fn surface_points(bodies: &[RenderBody]) -> Vec<Vec3> {
    let most = (20_000 / bodies.len().max(1)).max(64);
    let of_body = |body: &RenderBody| -> Vec<Vec3> {
        let points = body.shape.surface_points(most).into_iter();
        points.map(|p| body.world_from_local.transform_point3(p)).collect()
    };
    bodies.iter().flat_map(of_body).collect()
}

/// One object standing on the floor, on the backend.
pub struct Stage {
    /// Its octree.
    pub arena: Arena,
    /// The body.
    pub bodies: Vec<RenderBody>,
}

impl Stage {
    /// Uploads `object`.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn of(compute: &Compute, object: &Object) -> Result<Self, GpuError> {
        let mut arena = Arena::new(compute)?;
        let bodies = Self::standing(object, &mut arena)?;
        Ok(Self { arena, bodies })
    }

    /// The body of `object`, whose octree goes into `arena`.
    pub(super) fn standing(object: &Object, arena: &mut Arena) -> Result<Vec<RenderBody>, GpuError> {
        arena.insert(&object.forest)?;
        let place = Place::standing(&object.mass);
        let shape = object.shape_at(place.grid(object.grid.level), 1.0);
        Ok(vec![place.body(Arc::new(shape), 0, Vec3::ZERO)])
    }
}

/// The pieces in place, moved apart by `explode` times their distance from the centre.
///
/// # Errors
/// [`GpuError`].
pub fn pieces(
    arena: &mut Arena,
    object: &Object,
    broken: &BrokenObject,
    explode: f64,
) -> Result<Vec<RenderBody>, GpuError> {
    let whole = &object.mass;
    let place = Place::standing(whole);
    let Some(step) = broken.steps.first() else { return Ok(Vec::new()) };
    let offset = |centre: DVec3| -> Vec3 {
        let away = (centre - whole.centre) * place.h * explode;
        // No piece sinks into the floor.
        (away + DVec3::Y * (explode * (whole.centre.y - whole.bounds.low.y) * place.h)).as_vec3()
    };
    let color = object.shape.look().surface_color.unwrap_or_default();
    let interior = step.result.params.interior.volume(color);
    let mut bodies = Vec::with_capacity(step.result.parts.len());
    for (id, part) in step.result.parts.iter().enumerate() {
        let body = match part.shape.geometry() {
            Geometry::Octree(octree) => {
                arena.insert(&octree.forest)?;
                let standing = Octree { grid: place.grid(octree.forest.level), ..octree.clone() };
                let shape = Shape::octree(standing, 1.0, *part.shape.look());
                place.body(Arc::new(shape), octree.tree, offset(octree.mass.centre))
            }
            Geometry::Mesh(_) | Geometry::Convex(_) => {
                let centre = object.grid.from_mesh(part.shape.mass().centre);
                let body = place.body(Arc::clone(&part.shape), id as u32, offset(centre));
                let voxels_from_shape = object.grid.to_mesh().inverse();
                let shape_from_local = DMat4::from_scale_rotation_translation(
                    DVec3::splat(part.shape.unit_m()),
                    glam::DQuat::IDENTITY,
                    part.shape.shape_from_local(DVec3::ZERO),
                );
                let here = body.world_from_local.as_dmat4() * voxels_from_shape * shape_from_local;
                RenderBody { world_from_local: here.as_mat4(), ..body }
            }
        };
        bodies.push(RenderBody { interior, ..body });
    }
    Ok(bodies)
}

/// A picture's contents and settings. Where its options have lines between pieces, these are as wide as suits the picture;
/// behind a transparent picture there is a floor only if it catches shadows.
pub use crate::render::FrameInput as Still;

/// Options of the window, or of a scene, as they are in a picture of `height` pixels that is looked at as a whole.
#[must_use]
pub fn as_in_files(options: RenderOptions, height: u32) -> RenderOptions {
    let has_lines = options.hairline > 0.0;
    RenderOptions {
        hairline: if has_lines { RenderOptions::whole_picture_hairline(height) } else { 0.0 },
        // A floor that is seen would fill the part of the picture that is to stay transparent.
        floor: options.floor.filter(|_| !options.transparent || options.catches_shadows),
        ..options
    }
}

/// The options of a picture of things without a scene: lines between pieces, a floor at the origin.
#[must_use]
pub fn plain_options(color_by: ColorBy) -> RenderOptions {
    RenderOptions { color_by, hairline: 1.0, ..RenderOptions::default() }
}

/// Draws one refined picture.
///
/// # Errors
/// [`GpuError`].
pub fn draw(compute: &Compute, renderer: &mut Renderer, still: &Still<'_>) -> Result<Vec<u8>, GpuError> {
    let passes = if compute.is_software() { PASSES_SOFTWARE } else { PASSES };
    draw_with(compute, renderer, still, passes)
}

/// Like [`draw`], with a given number of passes.
///
/// # Errors
/// [`GpuError`].
pub fn draw_with(
    compute: &Compute,
    renderer: &mut Renderer,
    still: &Still<'_>,
    passes: u32,
) -> Result<Vec<u8>, GpuError> {
    let input = Still { options: as_in_files(still.options.clone(), still.size[1]), ..*still };
    let pixels = renderer.still(&input, passes)?;
    compute.check()?;
    Ok(pixels)
}
