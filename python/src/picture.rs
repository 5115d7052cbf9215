//! Pictures of objects, pieces and worlds as arrays.
//!
//! In: something to draw, and options by name. Out: an array (height, width, 4) of uint8, rows from the top, sRGB with
//! alpha. Colours show what the renderer shows by itself (material, piece, normal, crack, level), or a quantity of the
//! bodies, as in `kintsugi render --color-by`.

use std::collections::BTreeMap;

use kintsugi::{
    Engine, Error, Matter, Object, Picture, Pieces, Subject, Viewpoint, World, WorldSettings,
    bodies::BodyId,
    glam::DVec3,
    gpu::GpuError,
    render::{Pixels, RenderBody},
    scene::{BodyPlace, BodyStress, Coloring, Painter, Place, Quantity, Scale},
    shape::Shape,
    svo::Arena,
};
use pyo3::prelude::*;

use crate::{arrays, errors, running};

/// Sides to look from, by name.
const VIEWS: [(&str, Viewpoint); 6] = [
    ("three-quarter", Viewpoint::ThreeQuarter),
    ("front", Viewpoint::Front),
    ("back", Viewpoint::Back),
    ("left", Viewpoint::Left),
    ("right", Viewpoint::Right),
    ("top", Viewpoint::Top),
];

/// How far pieces can be moved apart, in distances from the middle.
const APART: std::ops::RangeInclusive<f64> = 0.0..=100.0;

/// A picture, as Python describes it.
pub struct Settings {
    /// Pixels across and down, 1 to 8192.
    pub size: [u32; 2],
    /// Side to look from, by name; without one the three-quarter view.
    pub view: Option<String>,
    /// What colours show, by name; without one the material.
    pub color_by: Option<String>,
    /// Pieces are moved apart by this times their distance from the middle of the object.
    pub apart: f64,
    /// Whether background and floor are left out.
    pub transparent: bool,
    /// Where the picture is drawn.
    pub engine: Engine,
}

impl Settings {
    /// The picture.
    ///
    /// # Errors
    /// `ParameterError` for a name that does not exist, with those that do, and for a number out of range.
    fn ordered(&self) -> PyResult<Ordered> {
        let side = self.view.as_deref().unwrap_or("three-quarter");
        let view = VIEWS.iter().find(|(name, _)| *name == side).map(|(_, view)| *view);
        let view = view.ok_or_else(|| {
            let names = VIEWS.map(|(name, _)| name).join(", ");
            errors::parameter(format!("view: there is no `{side}`; there are {names}"))
        })?;
        let coloring = self.color_by.as_deref().unwrap_or("material").parse::<Coloring>();
        let coloring = coloring.map_err(|why| errors::parameter(format!("color_by: {why}")))?;
        if !APART.contains(&self.apart) {
            let (low, high) = (APART.start(), APART.end());
            let text = format!("apart is {}; it must be a number from {low} to {high}", self.apart);
            return Err(errors::parameter(text));
        }
        let [width, height] = self.size;
        let picture =
            Picture::new(width, height).seen_from(view).color_by(coloring.rendered()).apart(self.apart);
        let picture = if self.transparent { picture.transparent() } else { picture };
        Ok(Ordered { picture, coloring })
    }
}

/// A picture that can be drawn.
pub struct Ordered {
    picture: Picture,
    coloring: Coloring,
}

impl Ordered {
    /// Draws `subject` where the stages of `engine` run.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a size out of range, [`Error::Gpu`].
    pub fn draw_on<S: Valued>(&self, engine: &Engine, subject: &S) -> Result<Pixels, Error> {
        match self.coloring {
            Coloring::Look(_) => self.picture.draw_on(engine, subject),
            Coloring::Value(quantity) => {
                let painted = Painted { subject, quantity, values: subject.values(quantity) };
                self.picture.draw_on(engine, &painted)
            }
        }
    }
}

/// Draws a picture, which `work` calls [`Ordered::draw_on`] for, as an array (height, width, 4) of uint8.
///
/// # Errors
/// `ParameterError`, `DeviceError`, KeyboardInterrupt.
pub fn draw<'py>(
    py: Python<'py>,
    settings: Settings,
    work: impl FnOnce(&Ordered, &Engine) -> Result<Pixels, Error> + Send + 'static,
) -> PyResult<Bound<'py, PyAny>> {
    let ordered = settings.ordered()?;
    let engine = settings.engine;
    let pixels = running::run(py, None, move |_| work(&ordered, &engine).map_err(errors::of))?;
    let [width, height] = pixels.size.map(|side| side as usize);
    arrays::array(py, pixels.rgba, &[height, width, 4])
}

/// What can be drawn in colours that show a quantity.
pub trait Valued: Subject {
    /// The value of each body, in the order in which the bodies are drawn; `None` where there is none.
    fn values(&self, quantity: Quantity) -> Vec<Option<f64>>;
}

/// A subject whose bodies have the colours of a quantity's values.
struct Painted<'a, S> {
    subject: &'a S,
    quantity: Quantity,
    /// Of each body; `None` where it has no value.
    values: Vec<Option<f64>>,
}

impl<S: Subject> Subject for Painted<'_, S> {
    fn drawn(&self, arena: &mut Arena, apart: f64) -> Result<Vec<RenderBody>, GpuError> {
        let mut bodies = self.subject.drawn(arena, apart)?;
        let painter = Painter::new(self.quantity, Scale::default(), self.values.iter().flatten().copied());
        for (body, value) in bodies.iter_mut().zip(&self.values) {
            body.color = Some(painter.color(value.unwrap_or(f64::NAN)));
        }
        Ok(bodies)
    }

    fn floor(&self) -> Option<f32> {
        self.subject.floor()
    }
}

fn value(quantity: Quantity, body: &BodyPlace<'_>) -> Option<f64> {
    (quantity.of)(&Place { body, voxel: None })
}

/// The stress of a shape of some density (kg/m^3) that stands under gravity (shape axes, m/s^2), if the quantity needs it and
/// the shape can be solved for.
fn stress_of(quantity: Quantity, shape: &Shape, (density, gravity): (f64, DVec3)) -> Option<BodyStress> {
    if quantity.of_stress { BodyStress::of_weight(shape, density, gravity).ok() } else { None }
}

/// Density and gravity of objects and pieces, which lie in no world.
fn weight() -> (f64, DVec3) {
    (Matter::default().density, WorldSettings::default().gravity)
}

impl Valued for Object {
    fn values(&self, quantity: Quantity) -> Vec<Option<f64>> {
        let stress = stress_of(quantity, &self.shape, weight());
        let stress = stress.as_ref();
        vec![value(quantity, &BodyPlace { unit_m: self.grid.h, stress, ..BodyPlace::of(&self.shape) })]
    }
}

/// Of the pieces of the first break, which are what is drawn.
impl Valued for Pieces {
    fn values(&self, quantity: Quantity) -> Vec<Option<f64>> {
        let Some(step) = self.broken().steps.first() else { return Vec::new() };
        let (unit_m, impact) = (self.object().grid.h, Some(self.plan().impact.point));
        let numbered = (0u32..).zip(&step.result.parts);
        let values = numbered.map(|(number, part)| {
            let (generation, cell) = (1, Some(part.cell));
            let stress = stress_of(quantity, &part.shape, weight());
            let stress = stress.as_ref();
            let place =
                BodyPlace { number, generation, cell, impact, unit_m, stress, ..BodyPlace::of(&part.shape) };
            value(quantity, &place)
        });
        values.collect()
    }
}

impl Valued for World {
    fn values(&self, quantity: Quantity) -> Vec<Option<f64>> {
        let mut pressing: BTreeMap<BodyId, [f64; 2]> = BTreeMap::new();
        for contact in self.contacts() {
            for id in std::iter::once(contact.bodies.0).chain(contact.bodies.1) {
                let [deepest, impulse] = pressing.entry(id).or_default();
                *deepest = deepest.max(-contact.separation);
                *impulse += contact.impulse;
            }
        }
        let values = self.bodies.iter().map(|body| {
            let (state, shape) = (&body.state, &body.def.shape);
            let gravity = state.rotation.inverse() * self.settings.gravity;
            let stress = stress_of(quantity, shape, (shape.density(), gravity));
            let place = BodyPlace {
                number: body.id.0,
                unit_m: body.def.shape.as_octree().map_or(1.0, |octree| octree.grid.h),
                motion: Some([state.linear_velocity.length(), state.angular_velocity.length()]),
                physics_level: Some(body.def.physics_level),
                pressing: Some(pressing.get(&body.id).copied().unwrap_or_default()),
                stress: stress.as_ref(),
                ..BodyPlace::of(&body.def.shape)
            };
            value(quantity, &place)
        });
        values.collect()
    }
}

/// Adds nothing: pictures are methods of what is drawn.
pub fn add_to(_: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
