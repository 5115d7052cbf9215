//! `report.json` of an export from the window. The fields are described in `docs/files.md`.

use serde::Serialize;

use crate::{
    compute::RanOn,
    fracture::{FractureCounts, Solved},
    mesh::HealthReport,
    mesh::digest::NamedByDigest,
    provenance::{Provenance, VERSION},
};

use super::{
    Assembly, InputReport, Lying, MeshReport, ParameterReport, PieceReport, checks::Check,
    piece_report::PieceMeshReport,
};

/// An object with exported pieces. Lengths in units of the files beside it.
#[derive(Clone, Debug, Serialize)]
pub struct ObjectReport {
    /// Its number, to which pieces refer.
    pub object: usize,
    /// Its name.
    pub name: String,
    /// The input mesh.
    pub input: InputReport,
    /// Digest of the imported mesh.
    pub mesh_sha256: NamedByDigest,
    /// Results of the mesh checks.
    pub health: HealthReport,
    /// Leaf level.
    pub level: u32,
    /// Edge length of a voxel.
    pub voxel: f64,
    /// Density, kg/m^3.
    pub density: f64,
    /// Number of its exported pieces.
    pub pieces: usize,
    /// Its volume before the first break.
    pub source_volume: f64,
    /// Volume that became dust.
    pub dust_volume: f64,
    /// Volume of dropped small pieces.
    pub dropped_volume: f64,
}

/// A break in the ancestry of the pieces.
#[derive(Clone, Debug, Serialize)]
pub struct BreakReport {
    /// Number of the object.
    pub object: usize,
    /// Id in `broken_again` of the piece that broke; `None` for the whole object.
    pub piece: Option<usize>,
    /// Generation of its pieces.
    pub generation: u32,
    /// Simulated time, s.
    pub time: f64,
    /// Parameters; the blow in the object's own units.
    pub parameters: ParameterReport,
    /// What was counted.
    pub counts: FractureCounts,
    /// How a number of pieces was solved for.
    pub solved: Option<Solved>,
}

/// The report of one export.
#[derive(Clone, Debug, Serialize)]
pub struct SceneReport {
    /// Version of Kintsugi.
    pub version: &'static str,
    /// Provenance of the result.
    pub provenance: Provenance,
    /// Backend of the breaks.
    #[serde(flatten)]
    pub ran_on: RanOn,
    /// Coordinates of the pieces.
    pub placed: Lying,
    /// Simulated time of the export, s.
    pub time: f64,
    /// Objects.
    pub objects: Vec<ObjectReport>,
    /// Breaks, in the order in which they happened.
    pub breaks: Vec<BreakReport>,
    /// Pieces, by id.
    pub pieces: Vec<PieceReport>,
    /// Pieces that broke again.
    pub broken_again: Vec<PieceReport>,
    /// Formats written.
    pub formats: Vec<String>,
    /// Statistics of the meshes, if any were written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meshes: Option<MeshReport>,
    /// Checks.
    pub checks: Vec<Check>,
    /// Files written beside the report.
    pub files: Vec<String>,
}

impl SceneReport {
    /// Adds statistics of the meshes of `what`.
    pub fn tell_of_meshes(&mut self, what: &Assembly, meshes: MeshReport) {
        self.meshes = Some(meshes);
        PieceReport::tell_origins(&mut self.pieces, what);
        for (piece, mesh) in self.pieces.iter_mut().zip(PieceMeshReport::of_all(what)) {
            piece.mesh = Some(mesh);
        }
    }
}

impl Default for SceneReport {
    fn default() -> Self {
        Self {
            version: VERSION,
            provenance: Provenance::default(),
            ran_on: RanOn::default(),
            placed: Lying::default(),
            time: 0.0,
            objects: Vec::new(),
            breaks: Vec::new(),
            pieces: Vec::new(),
            broken_again: Vec::new(),
            formats: Vec::new(),
            meshes: None,
            checks: Vec::new(),
            files: Vec::new(),
        }
    }
}
