//! Values that the panels tune, and that undo can restore.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    Aim, BodyStrength, Coloring, KeptCells, PairLevel, Penalty, SavedView, Scale, Scene, SceneBody,
    SceneView, Slice, metres_per_pixel,
    overlays::{Cut, Maker, Part},
};
use crate::{
    bodies::{ContactsId, ResponseId, Walls},
    fracture::{FractureParams, Paint},
    render::{Backdrop, Camera, Lens, Lighting, RenderOptions},
};

/// Everything that a slider changes without changing the objects.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Tuning {
    /// Fracture parameters of the next blow.
    pub fracture: FractureParams,
    /// Whether every blow uses the same random seed.
    pub lock_rng: bool,
    /// Number of generations of a user's blow: how many times its largest pieces break.
    pub generations: u32,
    /// Speed given to pieces at the point of the blow, m/s.
    pub blow_speed: f64,
    /// Energy that a user's blow puts into the bonds near it of a body that holds, J; 0: these fail.
    pub knock_energy: f64,
    /// Downward gravity, m/s^2.
    pub gravity: f64,
    /// Density of the scene's bodies, kg/m^3; thrown bodies have their own.
    pub density: f64,
    /// Coulomb friction coefficient of all bodies.
    pub friction: f64,
    /// Restitution of all bodies.
    pub restitution: f64,
    /// Rolling resistance of all bodies.
    pub rolling_resistance: f64,
    /// Change of speed in a step at which bodies of the scene break, m/s; `None`: they do not break on impact.
    pub break_threshold: Option<f64>,
    /// Strength of the bonds of bodies whose pieces hold.
    pub strength: BodyStrength,
    /// Octree level for contacts.
    pub physics_level: u32,
    /// Most levels by which distant bodies are coarsened for contacts; 0: none.
    pub far_levels: u32,
    /// Contact response, by name.
    pub response: ResponseId,
    /// Constants of the penalty response.
    pub penalty: Penalty,
    /// A box that no body leaves; `None`: no walls.
    pub walls: Option<Walls>,
    /// Contact levels of certain pairs of bodies.
    pub pairs: Vec<PairLevel>,
    /// Pieces of this generation and later do not break on impact.
    pub break_generations: u32,
    /// Contact generator, by name.
    pub contacts: ContactsId,
    /// Octree level of the cells of distance fields.
    pub field_level: u32,
    /// The throwing tool's body.
    pub throw: Throw,
    /// The brush.
    pub brush: Brush,
    /// Display settings.
    pub view: ViewTuning,
    /// Cameras to come back to.
    pub saved_views: Vec<SavedView>,
    /// A picture behind the scene; `None`: none.
    pub backdrop: Option<Backdrop>,
    /// Planes that cut the bodies open.
    pub slices: Vec<Slice>,
    /// The pinned impact.
    #[serde(skip)]
    pub pin: Option<Pin>,
    /// The object whose values the panels show and change; `None`: they change those of all objects.
    #[serde(skip)]
    pub focus: Option<usize>,
    /// Objects with other values than the scene gave them: their density, friction, restitution, rolling resistance, break
    /// threshold, strength, physics level, fracture and name. The rest of these descriptions is unused.
    #[serde(skip)]
    pub own: Arc<BTreeMap<usize, Arc<SceneBody>>>,
}

/// A blow that stays in place until it falls or is removed.
#[derive(Clone, Debug, PartialEq)]
pub struct Pin {
    /// The blow.
    pub aim: Aim,
    /// Cells painted to stay.
    pub kept: Option<Arc<KeptCells>>,
}

/// How the preview is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PreviewMode {
    /// Gold lines on the object, which stays whole.
    #[default]
    Seams,
    /// Coarse pieces in the object's place, moved apart by the explode slider.
    Exploded,
    /// No preview.
    Off,
}

/// Shape of thrown bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Missile {
    /// A ball.
    #[default]
    Ball,
    /// A cube.
    Box,
}

impl Missile {
    /// The built-in mesh.
    #[must_use]
    pub fn file(self) -> &'static str {
        match self {
            Self::Ball => "builtin:sphere",
            Self::Box => "builtin:box",
        }
    }
}

/// A thrown body.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Throw {
    /// Shape.
    pub missile: Missile,
    /// Diameter or edge length, m.
    pub size: f64,
    /// Speed, m/s.
    pub speed: f64,
    /// Density, kg/m^3.
    pub density: f64,
}

impl Default for Throw {
    fn default() -> Self {
        Self { missile: Missile::Ball, size: 0.2, speed: 10.0, density: 4000.0 }
    }
}

/// The brush: what its dabs are.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Brush {
    /// What a dab changes.
    pub kind: Paint,
    /// Radius of a dab as a share of the object's longest side.
    pub radius: f64,
    /// Seeds that a dense dab adds.
    pub seeds: u32,
    /// Share of the strength that a weak dab leaves of bonds.
    pub strength: f64,
    /// Whether the brush takes dabs away.
    pub erases: bool,
}

impl Default for Brush {
    fn default() -> Self {
        Self {
            kind: Paint::Dense,
            radius: 0.06,
            seeds: Paint::Dense.usual_amount() as u32,
            strength: Paint::Weak.usual_amount(),
            erases: false,
        }
    }
}

/// Display settings.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ViewTuning {
    /// How far pieces are drawn apart, 0..=1.
    pub explode: f64,
    /// What colours mean.
    pub color_by: Coloring,
    /// Colours of numbers, where colours mean some.
    #[serde(default)]
    pub scale: Scale,
    /// Kind of preview of the aimed blow.
    pub preview: PreviewMode,
    /// Overlays of a fracture's internals.
    #[serde(default)]
    pub inside: InsideView,
    /// Overlay of contacts.
    #[serde(default)]
    pub touching: Touching,
    /// Whether the debris of bonds that failed is drawn.
    #[serde(default = "is_drawn")]
    pub debris: bool,
    /// Whether dots show where a comparison view cracked other voxels.
    #[serde(default)]
    pub differences: bool,
    /// Whether lines show where pieces lie together.
    #[serde(default = "is_drawn")]
    pub hairlines: bool,
    /// Whether a bar shows a round length.
    #[serde(default)]
    pub scale_bar: bool,
    /// Whether slices are drawn without the bodies.
    #[serde(default)]
    pub slices_alone: bool,
    /// Whether the floor is drawn.
    pub floor: bool,
    /// Whether background and floor of picture files are transparent.
    #[serde(default)]
    pub transparent: bool,
    /// Whether the floor of transparent pictures keeps its shadows.
    #[serde(default)]
    pub catches_shadows: bool,
    /// Light, backdrop and floor of the picture.
    #[serde(default)]
    pub lighting: Lighting,
    /// Depth of field; `None`: everything is sharp.
    #[serde(default)]
    pub lens: Option<Lens>,
    /// Frame rate to aim at by lowering the resolution during motion, Hz.
    pub target_fps: f64,
    /// Largest share of the window's resolution along one side, 0.25..=1.
    pub sharpness: f64,
}

/// What views that were kept without a say about debris or hairlines show of them.
fn is_drawn() -> bool {
    true
}

/// Overlay of contacts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Touching {
    /// Nothing.
    #[default]
    Off,
    /// The solver's contacts.
    Contacts,
    /// Averaged collision points and columns of all pairs (2016, sec. 5.1).
    Columns,
    /// Bonds, by their loads.
    Bonds,
    /// Tension of the body under the aimed blow, or under its weight.
    Stress,
    /// Where the body is weak, whatever loads it.
    Weakness,
}

/// Labels that the voxels are coloured by.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum LabelView {
    /// None.
    #[default]
    Off,
    /// Islands according to the union-find.
    UnionFind,
    /// The published labelling, after [`InsideView::step`] iterations.
    Published,
    /// The published labelling without flattening of chains.
    Flood,
}

/// Whether a drawing of the inside is shown, and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Drawing {
    /// Whether it is shown.
    pub on: bool,
    /// Its level or step, where it takes one.
    pub number: u32,
}

/// Overlays of a fracture's internals.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct InsideView {
    /// Each drawing of the table but for labellings, of which one at a time is shown.
    pub drawings: [Drawing; Maker::ALL.len()],
    /// Island labels.
    pub labels: LabelView,
    /// Iteration of the published labelling; 0 is before the first.
    pub step: u32,
    /// Where slices are.
    pub cut: Cut,
    /// Opacity factor of overlays behind the object, 0..=1.
    pub through: f32,
    /// Whether the bodies themselves are hidden.
    pub only: bool,
}

impl Default for InsideView {
    fn default() -> Self {
        Self {
            drawings: Maker::ALL.map(|maker| Drawing {
                on: false,
                number: maker.number.as_ref().map_or(0, |number| number.first),
            }),
            labels: LabelView::Off,
            step: 0,
            cut: Cut::default(),
            through: 0.3,
            only: false,
        }
    }
}

impl InsideView {
    /// The panel's values of a drawing.
    pub fn of(&mut self, maker: Maker) -> &mut Drawing {
        &mut self.drawings[maker as usize]
    }

    /// Drawings that are on.
    pub fn shown(&self) -> impl Iterator<Item = Part> {
        let (drawings, cut) = (self.drawings, self.cut);
        let part = move |(maker, drawing): (Maker, Drawing)| Part {
            maker,
            cut,
            number: maker.number.as_ref().map(|_| drawing.number),
        };
        Maker::ALL.into_iter().zip(drawings).filter(|(_, drawing)| drawing.on).map(part)
    }

    /// The overlays to draw.
    #[must_use]
    pub fn parts(&self) -> Vec<Part> {
        let labels = match self.labels {
            LabelView::Off => None,
            LabelView::UnionFind => Some(Part::from(Maker::Labels)),
            LabelView::Published => Some(Part::from(Maker::Labels).at(self.step)),
            LabelView::Flood => Some(Part::from(Maker::Flood).at(self.step)),
        };
        self.shown().chain(labels).collect()
    }
}

/// Width of hairlines, pixels of the window.
const HAIRLINE: f32 = 1.2;

impl ViewTuning {
    /// Takes over what a scene says of its look.
    pub(super) fn take_look(&mut self, scene: &Scene) {
        let SceneView { color_by, scale, explode, floor, transparent, catches_shadows } = scene.view;
        (self.color_by, self.scale, self.explode, self.floor) = (color_by, scale, explode, floor);
        (self.transparent, self.catches_shadows) = (transparent, catches_shadows);
        (self.lighting, self.lens) = (scene.light, scene.lens);
    }

    /// Writes the look into a scene.
    pub(super) fn put_look(&self, scene: &mut Scene) {
        let &Self { color_by, scale, explode, floor, transparent, catches_shadows, .. } = self;
        scene.view = SceneView { color_by, scale, explode, floor, transparent, catches_shadows };
        (scene.light, scene.lens) = (self.lighting, self.lens);
    }

    /// Options of pictures, with a floor at `floor` (m) if it is drawn, and hairlines of this width where they are drawn.
    pub(super) fn options(&self, floor: Option<f64>, hairline: f32) -> RenderOptions {
        RenderOptions {
            color_by: self.color_by.rendered(),
            floor: floor.filter(|_| self.floor).map(|y| y as f32),
            transparent: self.transparent,
            catches_shadows: self.catches_shadows,
            hairline,
            lighting: self.lighting,
            lens: self.lens,
            ..RenderOptions::default()
        }
    }

    /// Metres for a pixel of a picture `height` pixels high at the distance of the camera's target, if it has a scale bar.
    #[must_use]
    pub fn bar(&self, camera: &Camera, height: f32) -> Option<f64> {
        self.scale_bar.then(|| metres_per_pixel(camera, height))
    }

    /// Width of hairlines in pixels of a picture that has this share of the window's pixels along a side.
    #[must_use]
    pub fn hairline(&self, share: f32) -> f32 {
        if self.hairlines { HAIRLINE * share } else { 0.0 }
    }
}

impl Default for ViewTuning {
    fn default() -> Self {
        Self {
            explode: 0.0,
            color_by: Coloring::default(),
            scale: Scale::default(),
            preview: PreviewMode::Seams,
            inside: InsideView::default(),
            touching: Touching::Off,
            debris: true,
            differences: false,
            hairlines: true,
            scale_bar: false,
            slices_alone: false,
            floor: true,
            transparent: false,
            catches_shadows: false,
            lighting: Lighting::default(),
            lens: None,
            target_fps: 30.0,
            sharpness: 1.0,
        }
    }
}

impl Default for Tuning {
    fn default() -> Self {
        let (scene, body) = (Scene::default(), SceneBody::default());
        Self {
            fracture: body.fracture,
            lock_rng: false,
            generations: 1,
            blow_speed: 3.0,
            knock_energy: 0.0,
            gravity: -scene.gravity.y,
            density: body.density,
            friction: body.friction,
            restitution: body.restitution,
            rolling_resistance: body.rolling_resistance,
            break_threshold: body.break_threshold,
            strength: BodyStrength::unsaid(),
            physics_level: 6,
            far_levels: 0,
            response: scene.response,
            penalty: scene.penalty,
            walls: scene.walls,
            pairs: Vec::new(),
            break_generations: scene.break_generations,
            contacts: scene.contacts,
            field_level: scene.field_level,
            throw: Throw::default(),
            brush: Brush::default(),
            view: ViewTuning::default(),
            saved_views: Vec::new(),
            backdrop: None,
            slices: Vec::new(),
            pin: None,
            focus: None,
            own: Arc::default(),
        }
    }
}
