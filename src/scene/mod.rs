//! The document, from which everything else can be rebuilt, and the engine that plays it.
//!
//! In: scene files and mesh files. Out: a [`Sandbox`], which both the window and the commands drive. Nothing here
//! depends on the window or the panels.

mod beside;
mod body_stress;
mod break_log;
pub mod breaking;
mod chart;
mod coarser;
mod coloring;
mod contact_options;
mod cutting;
mod debris;
mod debris_view;
mod description;
mod difference_view;
mod document;
mod error;
mod exporting;
mod field_view;
mod figure_file;
mod file;
mod ghost;
mod history;
mod home;
mod import;
mod insides;
mod jobs;
mod layer;
mod leaf_view;
mod looking;
mod lumps;
mod moment;
mod numbering;
mod pieces;
pub mod overlays;
pub mod parameters;
pub mod presets;
mod painted;
mod parting;
mod pinned;
mod placement;
mod preview;
mod probe;
mod resting;
mod sandbox;
mod shipped;
mod strength;
mod stress;
mod scene_view;
mod seeds_file;
mod shot;
mod slices;
mod stage;
mod step_trace;
pub mod svg;
mod timeline;
mod touching;
mod tuning;
pub mod variants;
mod weakness;

pub use crate::{
    fracture::{Cells, KeptCells, nearest_seed},
    import::{ImportError, Imported, display_name, import},
};
pub use beside::{Broken, ColumnState, ColumnView, Differing, MOST as MOST_BESIDE, Way};
pub use body_stress::{BodyStress, Loading, StressFigures, StressLoad};
pub use break_log::{BreakLog, BreakRecord};
pub use breaking::{Blow, BreakJob, BreakSummary, KeptSummary};
pub use chart::{Chart, ChartAxis, ChartForm, ChartSeries, cell_as_it_was, cell_not_run};
pub use coloring::{
    BodyColors, BodyField, BodyFields, BodyPlace, ColorMap, Coloring, FieldKind, Fill, Key, Kind, LeafColors,
    Legend, Painter, Place, Plate, Quantity, QuantityEntry, Range, Scale, SeedSet, Text as PlateText,
    metres_per_pixel, scale_bar,
};
pub use contact_options::{FIELD_LEVEL, FieldSelection, MAX_FIELD_LEVEL, PairLevel, Penalty};
pub use debris::BondFailure;
pub use debris_view::DebrisReel;
pub use description::{
    BondDamage, Event, PartName, Pinned, SavedView, Scene, SceneBody, SceneBreak, ScenePair, ScenePose,
};
pub use document::ObjectInfo;
pub use error::SandboxError;
pub use exporting::{ExportJob, ExportKind, ExportOrder, ExportPlan, Exported, FilmOrder, MotionPlan};
pub use figure_file::WindowFigure;
pub(crate) use file::is_below;
pub use file::{
    SavedScene, SceneError, fracture_problem, load_scene, load_scene_file, load_scene_with_outside,
    make_own_folder, parse_scene, parse_scene_from, save_scene, shipped_scenes, state_folder,
    write_atomically,
};
pub use history::History;
#[cfg(test)]
pub use home::testing_homes;
pub use home::{DocumentId, SceneFile, StateId};
pub use import::{ImportJob, ReadMeshes, ReadScene};
pub use insides::BodyInsides;
pub use looking::{LabelReport, LookingReport, Subject};
pub use moment::Moment;
pub use painted::paint_color;
pub use pieces::{Histogram, PieceRow, Selection, SizeRange, SizeUnit, SortBy, SortOrder, listed, unit_of};
pub use presets::MaterialPreset;
pub use preview::{LevelControl, PreviewReport};
pub use probe::{
    Probe, ProbeBoundary, ProbeBreak, ProbeCopy, ProbeFace, ProbeKind, ProbeLabel, ProbeMesh, ProbeNode,
    ProbePlane, ProbeSeed, ProbeTransition, ProbeTriangle, Probed,
};
pub use sandbox::{Arrived, Foot, HardPush, LoadedBond, NotedImpact, PieceEdit, Pose, Sandbox, WhyItFell};
pub use scene_view::SceneView;
pub use seeds_file::{PICTURES, is_cutter, parse_seeds, read_seeds};
pub use shipped::{SHIPPED_SCENES, ShippedScene};
pub use shot::{Shot, ShotLook};
pub use slices::{MOST_OPENING, Slice, SliceOrder, SlicePlace, Sliced, Swing, draw_slices};
pub use stage::{Aim, BodyInfo, Origin, ScenePick, Status};
pub use step_trace::StepFigures;
pub use strength::{BodyStrength, BondStrength, MOST_LUMPS};
pub use stress::StressReport;
pub use timeline::{TakeInfo, Timeline};
pub use tuning::{
    Brush, InsideView, LabelView, Missile, Pin, PreviewMode, Throw, Touching, Tuning, ViewTuning,
};
pub use weakness::Follow;
