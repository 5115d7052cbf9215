//! Objects, pieces and worlds to pictures.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use super::{
    Engine, Error, Object, Pieces, Viewpoint,
    stills::{self, Stage, Still, draw, plain_options, surface_points},
};
use crate::{
    bodies::World,
    export::write_png,
    fracture::Volume,
    gpu::GpuError,
    render::{Camera, ColorBy, Lens, Lighting, Pixels, RenderBody, RenderOptions, Renderer},
    svo::Arena,
};

/// Pixels along a side of a picture.
const SIDES: std::ops::RangeInclusive<u32> = 1..=8192;

/// How a picture is drawn: size, camera, colours. Light, shadows and edges are refined over several passes, and the
/// same picture has the same bytes every time.
///
/// ```
/// use kintsugi::{Fracture, Object, Picture};
///
/// let pieces = Object::open("builtin:sphere", 4)?.fracture(&Fracture::new().cells(6))?;
/// let file = std::env::temp_dir().join("kintsugi-doc-sphere.png");
/// Picture::new(64, 48).apart(0.3).save(&pieces, &file)?;
/// assert!(std::fs::read(&file).unwrap().starts_with(b"\x89PNG"));
/// # std::fs::remove_file(&file).unwrap();
/// # Ok::<(), kintsugi::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Picture {
    /// Pixels across and down, 1 to 8192.
    pub size: [u32; 2],
    /// Side to look from, where there is no camera.
    pub viewpoint: Viewpoint,
    /// The camera; `None`: one that sees all from [`Picture::viewpoint`].
    pub camera: Option<Camera>,
    /// What colours show.
    pub color_by: ColorBy,
    /// Whether background and floor are left out.
    pub transparent: bool,
    /// Whether a transparent picture keeps the shadows on the floor: black, with what they take away as alpha.
    pub catches_shadows: bool,
    /// Light, backdrop and floor.
    pub lighting: Lighting,
    /// Depth of field; `None`: everything is sharp.
    pub lens: Option<Lens>,
    /// Pieces of an object are moved apart by this times their distance from its middle.
    pub apart: f64,
}

impl Picture {
    /// A picture of this many pixels, from above one corner.
    #[must_use]
    pub fn new(width: u32, height: u32) -> Self {
        Self {
            size: [width, height],
            viewpoint: Viewpoint::ThreeQuarter,
            camera: None,
            color_by: ColorBy::Material,
            transparent: false,
            catches_shadows: false,
            lighting: Lighting::default(),
            lens: None,
            apart: 0.0,
        }
    }

    /// Seen from this side.
    #[must_use]
    pub fn seen_from(self, viewpoint: Viewpoint) -> Self {
        Self { viewpoint, ..self }
    }

    /// Seen by this camera.
    #[must_use]
    pub fn camera(self, camera: Camera) -> Self {
        Self { camera: Some(camera), ..self }
    }

    /// In colours that show this.
    #[must_use]
    pub fn color_by(self, color_by: ColorBy) -> Self {
        Self { color_by, ..self }
    }

    /// Without background and floor.
    #[must_use]
    pub fn transparent(self) -> Self {
        Self { transparent: true, ..self }
    }

    /// With the shadows on the floor, if the picture is transparent.
    #[must_use]
    pub fn catching_shadows(self) -> Self {
        Self { catches_shadows: true, ..self }
    }

    /// In this light; values out of range are brought into it.
    #[must_use]
    pub fn lit_by(self, lighting: Lighting) -> Self {
        Self { lighting: lighting.sane(), ..self }
    }

    /// Through this lens; values out of range are brought into it.
    #[must_use]
    pub fn through(self, lens: Lens) -> Self {
        Self { lens: Some(lens.sane()), ..self }
    }

    /// With the pieces of an object moved apart by this times their distance from its middle.
    #[must_use]
    pub fn apart(self, apart: f64) -> Self {
        Self { apart, ..self }
    }

    /// Draws on the processor's cores.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a size out of range.
    pub fn draw(&self, subject: &impl Subject) -> Result<Pixels, Error> {
        self.draw_on(&Engine::cores(), subject)
    }

    /// Draws where the stages of `engine` run.
    ///
    /// # Errors
    /// As [`Picture::draw`], and [`Error::Gpu`].
    pub fn draw_on(&self, engine: &Engine, subject: &impl Subject) -> Result<Pixels, Error> {
        let [width, height] = self.size;
        if !(SIDES.contains(&width) && SIDES.contains(&height)) {
            let most = SIDES.end();
            let what =
                format!("a picture of {width} by {height} pixels cannot be drawn; a side has 1 to {most}");
            return Err(Error::Parameter(what));
        }
        let compute = engine.compute();
        let mut arena = Arena::new(compute)?;
        let bodies = subject.drawn(&mut arena, self.apart)?;
        let whole = || self.viewpoint.camera_on(&surface_points(&bodies), self.size);
        let still = Still {
            arena: &arena,
            bodies: &bodies,
            camera: self.camera.unwrap_or_else(whole),
            options: RenderOptions {
                floor: subject.floor(),
                transparent: self.transparent,
                catches_shadows: self.catches_shadows,
                lighting: self.lighting,
                lens: self.lens,
                ..plain_options(self.color_by)
            },
            size: self.size,
            seams: None,
            overlay: None,
        };
        let rgba = draw(compute, &mut Renderer::new(compute)?, &still)?;
        Ok(Pixels { size: self.size, rgba })
    }

    /// Draws on the processor's cores into a PNG file.
    ///
    /// # Errors
    /// As [`Picture::draw`], and [`Error::Export`].
    pub fn save(&self, subject: &impl Subject, file: impl AsRef<Path>) -> Result<(), Error> {
        let pixels = self.draw(subject)?;
        Ok(write_png(file.as_ref(), pixels.size, &pixels.rgba).map(drop)?)
    }
}

/// What can be drawn.
pub trait Subject {
    /// Its bodies, whose octrees go into `arena`. Pieces of an object are moved apart by `apart` times their distance
    /// from its middle.
    ///
    /// # Errors
    /// [`GpuError`] where the device has no room.
    fn drawn(&self, arena: &mut Arena, apart: f64) -> Result<Vec<RenderBody>, GpuError>;

    /// Height of the floor, m; `None`: no floor.
    fn floor(&self) -> Option<f32> {
        Some(0.0)
    }
}

/// It stands on the floor, 1 m along its longest side.
impl Subject for Object {
    fn drawn(&self, arena: &mut Arena, _: f64) -> Result<Vec<RenderBody>, GpuError> {
        Stage::standing(self, arena)
    }
}

/// They stand where they were in the object, which is 1 m along its longest side.
impl Subject for Pieces {
    fn drawn(&self, arena: &mut Arena, apart: f64) -> Result<Vec<RenderBody>, GpuError> {
        stills::pieces(arena, self.object(), self.broken(), apart)
    }
}

/// Bodies are where they are; insides show the colours of their voxels.
impl Subject for World {
    fn drawn(&self, arena: &mut Arena, _: f64) -> Result<Vec<RenderBody>, GpuError> {
        let mut bodies = Vec::with_capacity(self.bodies.len());
        let mut families = BTreeMap::new();
        for body in &self.bodies {
            if let Some(octree) = body.def.shape.as_octree() {
                arena.insert(&octree.forest)?;
            }
            let known = families.len() as u32;
            bodies.push(RenderBody {
                shape: Arc::clone(&body.def.shape),
                world_from_local: body.world_from_grid().as_mat4(),
                id: body.id.0,
                object: *families.entry(body.def.family).or_insert(known),
                color: None,
                selected: false,
                mark: None,
                interior: Volume::default(),
                later: Default::default(),
            });
        }
        Ok(bodies)
    }

    fn floor(&self) -> Option<f32> {
        self.settings.floor.map(|height| height as f32)
    }
}
