//! What a comparison view changes of the document's blows: the method, all settings, the octree level, or whether the
//! last blow falls at all.
//!
//! In: the parameters of a blow of the document. Out: those of the same blow in the view, and texts for panel and
//! caption.

use std::sync::Arc;

use crate::{
    fracture::{FractureParams, Interior, MethodId, Surface, by_any_blow},
    parameter::Row,
};

/// Most parameters that a caption names; the others are counted.
const MOST_NAMED: usize = 3;
/// Most characters of a value that a caption shows.
const LONGEST: usize = 20;

/// What a comparison view changes. Cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub enum Way {
    /// The method, with one of the crack surfaces that it supports; planar if the method has no others.
    Method(MethodId, Surface),
    /// All settings of the fracture; made by [`Way::kept`].
    Kept(Arc<FractureParams>),
    /// The octree level of the struck objects, which are voxelised again.
    Level(u32),
    /// Nothing but the last blow, which does not fall.
    Before,
}

impl Way {
    /// All methods that need only a blow with their crack surfaces, in the order of the method registry.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for method in by_any_blow() {
            let surfaces: &[Surface] = match method.of_voxels {
                true => &[Surface::Planar, Surface::Rough, Surface::Dusty],
                false => &[Surface::Planar],
            };
            all.extend(surfaces.iter().map(|&surface| Self::Method(method.id(), surface)));
        }
        all
    }

    /// The method and the crack surface in these parameters.
    #[must_use]
    pub fn of(params: &FractureParams) -> Self {
        Self::Method(params.method, params.surface)
    }

    /// These settings, kept. Dabs, cells that stay and the inside belong to the body and are not kept.
    #[must_use]
    pub fn kept(params: FractureParams) -> Self {
        let (keep, paint, interior) = (Vec::new(), Vec::new(), Interior::default());
        Self::Kept(Arc::new(FractureParams { keep, paint, interior, ..params }))
    }

    /// The default for a second view beside these parameters: the first combination of another method.
    #[must_use]
    pub fn other_than(params: &FractureParams) -> Option<Self> {
        let is_other = |way: &Self| matches!(way, Self::Method(method, _) if *method != params.method);
        Self::all().into_iter().find(is_other)
    }

    /// The parameters in this view of a blow that has the parameters `document` in the document. Kept settings take the
    /// dabs and the inside of the body, and the list of cells that stay if they have as many seeds.
    #[must_use]
    pub fn params(&self, document: &FractureParams) -> FractureParams {
        match self {
            Self::Method(method, surface) => document.by(*method, *surface),
            Self::Kept(kept) => {
                let has_these_cells = kept.seed_count() == document.seed_count();
                FractureParams {
                    keep: if has_these_cells { document.keep.clone() } else { Vec::new() },
                    paint: document.paint.clone(),
                    interior: document.interior,
                    ..FractureParams::clone(kept)
                }
            }
            Self::Level(_) | Self::Before => document.clone(),
        }
    }

    /// Display name, such as `Voronoi cells, rough`.
    #[must_use]
    pub fn label(&self) -> String {
        match self {
            Self::Method(method, surface) => match surface_name(*method, *surface) {
                Some(surface) => format!("{}, {surface}", method.entry().label),
                None => method.entry().label.to_owned(),
            },
            Self::Kept(_) => "Kept settings".to_owned(),
            Self::Level(level) => format!("At level {level}"),
            Self::Before => "Before the last blow".to_owned(),
        }
    }

    /// Title of its caption; `document`: the parameters of the document's blow, from which kept settings name what
    /// differs.
    #[must_use]
    pub fn title(&self, document: &FractureParams) -> String {
        match self {
            Self::Kept(_) => format!("{}: {}", self.label(), self.unlike(document)),
            _ => self.label(),
        }
    }

    /// Name for tests, such as `octree-rough`.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Method(method, surface) => match surface_name(*method, *surface) {
                Some(surface) => format!("{method}-{surface}"),
                None => method.to_string(),
            },
            Self::Kept(_) => "kept".to_owned(),
            Self::Level(level) => format!("level-{level}"),
            Self::Before => "before".to_owned(),
        }
    }

    /// The parameters that differ from the document's and have an effect in one of the two views.
    fn unlike(&self, document: &FractureParams) -> String {
        let own = self.params(document);
        let mut told: Vec<String> = FractureParams::rows()
            // Cells that stay are found by their places, whatever numbers they have here.
            .filter(|row| row.of.path != "keep")
            .filter(|row| (row.applies)(&own) || (row.applies)(document))
            .filter(|row| row.differs(&own, document))
            .map(|row| both(row, &own, document))
            .collect();
        if told.is_empty() {
            return "the same settings".to_owned();
        }
        let more = told.len().saturating_sub(MOST_NAMED);
        told.truncate(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        told.join(", ") + &more
    }
}

/// A parameter with its value here and in the document's view, which is the left one.
fn both(row: &Row<FractureParams>, own: &FractureParams, document: &FractureParams) -> String {
    let [here, left] = [own, document].map(|params| row.of.shown(&(row.read)(params)).replace('"', ""));
    let label = row.of.label.to_lowercase();
    match here.chars().count().max(left.chars().count()) > LONGEST {
        true => format!("other {label}"),
        false => format!("{label} {here} (left: {left})"),
    }
}

fn surface_name(method: MethodId, surface: Surface) -> Option<&'static str> {
    let name = match surface {
        Surface::Planar => "planar",
        Surface::Rough => "rough",
        Surface::Dusty => "dusty",
    };
    method.entry().of_voxels.then_some(name)
}
