//! `fracture --overlays`: what `render --show` draws, as `overlays.npz` and PLY files, for every break of a run.
//!
//! In: what came of a break. Out: crack triangles with the objects beside them, separation points, transition voxels,
//! Voronoi faces, and the labels of every iteration of the published labelling. The files of the first break have no
//! number; those of later ones that of the break, and say what was broken by what. `docs/files.md` describes them.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
    str::FromStr,
};

use clap::Args;
use glam::DVec3;

use crate::{
    compute::Compute,
    export::{BreakStep, BrokenObject, ExportError, Npz, PlainPly, coordinates, internal_rows},
    fracture::{FractureParams, Fracturer, generations::Plan, labelling::Step},
    render::piece_color,
    scene::overlays::{CrackArrays, FaceArrays, Inside, LabelSteps, POINT_COLORS, TRANSITION_COLORS},
    svo::{
        Forest, Grid,
        morton::{self, Key},
    },
};

use super::{CliError, input::Object, progress::Reporter, showing};

/// Where PLY files lie.
pub const FOLDER: &str = "overlays";
/// The arrays.
pub const FILE: &str = "overlays.npz";

/// What to write.
#[derive(Args, Clone, Debug, Default)]
pub struct OverlayArgs {
    /// Write what each break does inside as overlays.npz and overlays/*.ply (overlays_001.npz and overlays/001/ for the
    /// second break, and so on); a list of transition, triangles, points, faces, labels, flood
    #[arg(long = "overlays", value_name = "LIST", value_delimiter = ',')]
    parts: Vec<OverlayPart>,
}

/// One kind of overlay that can be had as data. Seeds and the boundary set are in `voxels.npz`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverlayPart {
    Transition,
    Triangles,
    Points,
    Faces,
    /// The published labelling, every iteration.
    Labels,
    /// The same without the flattening of chains.
    Flood,
}

impl OverlayPart {
    const ALL: [(&str, Self); 6] = [
        ("transition", Self::Transition),
        ("triangles", Self::Triangles),
        ("points", Self::Points),
        ("faces", Self::Faces),
        ("labels", Self::Labels),
        ("flood", Self::Flood),
    ];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, part)| *part == self).map_or("", |(name, _)| name)
    }

    fn is_of_cracks(self) -> bool {
        matches!(self, Self::Transition | Self::Triangles | Self::Points)
    }
}

impl FromStr for OverlayPart {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(name, _)| *name == text.trim());
        let names = Self::ALL.map(|(name, _)| name).join(", ");
        found.map(|(_, part)| *part).ok_or_else(|| format!("there is no `{text}`; there are {names}"))
    }
}

impl OverlayArgs {
    fn has(&self, part: OverlayPart) -> bool {
        self.parts.contains(&part)
    }

    /// Whether any are wanted.
    pub fn given(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Refuses what a fracture by `params` at `level` has not got.
    pub fn check(&self, level: u32, params: &FractureParams) -> Result<(), CliError> {
        if !params.method.of_voxels && self.given() {
            let method = params.method.name;
            return Err(CliError::Input(format!(
                "--overlays: what the method {method} does is not made of voxels; leave it out, or take the method octree"
            )));
        }
        match self.parts.iter().find(|part| part.is_of_cracks()) {
            Some(part) => showing::check_cracks("--overlays", part.name(), level, params),
            None => Ok(()),
        }
    }

    /// Reads back and writes.
    ///
    /// # Errors
    /// [`CliError`].
    pub fn write(
        &self,
        compute: &Compute,
        (object, plan): (&Object, &Plan),
        broken: &BrokenObject,
        folder: &Path,
        reporter: &Reporter,
    ) -> Result<(), CliError> {
        if !self.given() {
            return Ok(());
        }
        for (number, step) in broken.steps.iter().enumerate().filter(|(_, step)| step.voronoi().is_some()) {
            let source = broken.source_of(step);
            let inside = showing::look_inside(compute, (object, plan), (step, source), &[], reporter)?;
            let there = folder.join(ply_folder(number));
            fs::create_dir_all(&there).map_err(|e| ExportError::write(&there, e))?;
            let files = Files { inside: &inside, broken, step, number, grid: object.grid, folder: there };
            let npz = Npz::create(&folder.join(npz_name(number)))?;
            reporter.stage("write overlays", |_| files.write(self, compute, npz))?;
        }
        Ok(())
    }
}

/// The arrays of a break, `overlays.npz` of the first, `overlays_001.npz` of the next.
fn npz_name(number: usize) -> String {
    if number == 0 { FILE.to_owned() } else { FILE.replace('.', &format!("_{number:03}.")) }
}

/// Where the PLY files of a break lie.
fn ply_folder(number: usize) -> PathBuf {
    let folder = PathBuf::from(FOLDER);
    if number == 0 { folder } else { folder.join(format!("{number:03}")) }
}

struct Files<'a> {
    inside: &'a Inside,
    broken: &'a BrokenObject,
    step: &'a BreakStep,
    /// Index of the step: the row of the arrays of breaks in `voxels.npz`.
    number: usize,
    grid: Grid,
    folder: PathBuf,
}

impl Files<'_> {
    fn write(&self, wanted: &OverlayArgs, compute: &Compute, mut npz: Npz) -> Result<(), CliError> {
        npz.array("level", &[], &[self.grid.level as i32])?;
        npz.array("grid_to_mesh", &[4, 4], &self.grid.to_mesh().transpose().to_cols_array())?;
        if self.broken.steps.len() > 1 {
            self.what_broke(&mut npz)?;
        }
        if wanted.parts.iter().any(|part| part.is_of_cracks()) {
            self.cracks(wanted, &mut npz)?;
        }
        if wanted.has(OverlayPart::Faces) {
            self.faces(&mut npz)?;
        }
        if wanted.has(OverlayPart::Labels) || wanted.has(OverlayPart::Flood) {
            self.labels(wanted, compute, &mut npz)?;
        }
        Ok(npz.finish()?)
    }

    /// Objects and seeds are numbered on over all breaks, as in `voxels.npz`.
    fn first_seed(&self) -> i32 {
        self.step.first_cell as i32
    }

    /// What broke, what came of it, and by which seeds: of several breaks `voxels.npz` holds only what is left.
    fn what_broke(&self, npz: &mut Npz) -> Result<(), CliError> {
        let (forest, tree) = self.broken.source_of(self.step);
        let piece = self.step.parent.and_then(|at| self.broken.broken_again.iter().position(|p| *p == at));
        let piece = piece.map_or(-1, |at| (self.broken.pieces.len() + at) as i32);
        npz.array("break", &[], &[self.number as i32])?;
        npz.array("broken_piece", &[], &[piece])?;
        npz.array("first_seed", &[], &[self.first_seed()])?;
        let source = forest.leaves.keys.slice(leaves_of(forest, tree));
        npz.array("source", &[source.len(), 3], &coordinates(source))?;
        let inside = internal_rows(forest, tree as usize, None);
        npz.array("source_inside", &[inside.len() / 4, 4], &inside)?;

        let uncracked: HashSet<Key> = source.iter().collect();
        let (mut voxels, mut cells) = (Vec::new(), Vec::new());
        let made = &self.inside.fracture;
        for piece in &made.pieces {
            let keys = made.forest.leaves.keys.slice(leaves_of(&made.forest, piece.tree));
            for key in keys.iter().filter(|key| !uncracked.contains(key)) {
                voxels.push(morton::decode(key).map(|v| v as i32));
                cells.push(self.first_seed() + piece.cell as i32);
            }
        }
        npz.array("crack_voxels", &[voxels.len(), 3], voxels.as_flattened())?;
        Ok(npz.array("crack_cells", &[cells.len()], &cells)?)
    }

    fn in_mesh(&self, points: &[[f64; 3]]) -> Vec<[f64; 3]> {
        let (origin, h) = (self.grid.origin, self.grid.h);
        points.iter().map(|p| (origin + h * DVec3::from(*p)).to_array()).collect()
    }

    fn cracks(&self, wanted: &OverlayArgs, npz: &mut Npz) -> Result<(), CliError> {
        let all = CrackArrays::of(self.inside).numbered_from(self.first_seed());
        // Others refer to its rows.
        npz.array("transition_voxels", &[all.voxels.len(), 4], all.voxels.as_flattened())?;
        npz.array("transition_objects", &[all.objects.len(), 8], all.objects.as_flattened())?;
        if wanted.has(OverlayPart::Transition) {
            self.boxes(&all)?;
        }
        if wanted.has(OverlayPart::Triangles) {
            let count = all.triangles.len();
            npz.array("triangles", &[count, 3, 3], all.triangles.as_flattened().as_flattened())?;
            npz.array("triangle_cells", &[count, 2], all.triangle_cells.as_flattened())?;
            npz.array("triangle_voxel", &[count], &all.triangle_voxels)?;
            // Corners are each triangle's own.
            let thrice = |numbers: Vec<i32>| numbers.into_iter().flat_map(|number| [number; 3]).collect();
            let cells: Vec<i32> = thrice(column(&all.triangle_cells, 0));
            let ply = PlainPly {
                points: self.in_mesh(all.triangles.as_flattened()),
                colors: colors(&cells),
                columns: vec![
                    ("cell", cells),
                    ("beyond", thrice(column(&all.triangle_cells, 1))),
                    ("voxel", thrice(all.triangle_voxels.clone())),
                ],
                polygons: (0..count as u32).map(|k| vec![3 * k, 3 * k + 1, 3 * k + 2]).collect(),
            };
            ply.write(&self.folder.join("triangles.ply"))?;
        }
        if wanted.has(OverlayPart::Points) {
            npz.array("points", &[all.points.len(), 3], all.points.as_flattened())?;
            npz.array("point_kind", &[all.points.len()], &all.point_kinds)?;
            npz.array("point_voxel", &[all.points.len()], &all.point_voxels)?;
            let kind = |kind: &i32| POINT_COLORS.get(*kind as usize).copied().unwrap_or_default();
            let ply = PlainPly {
                points: self.in_mesh(&all.points),
                colors: all.point_kinds.iter().map(|k| rgb(kind(k))).collect(),
                columns: vec![("kind", all.point_kinds.clone()), ("voxel", all.point_voxels.clone())],
                polygons: Vec::new(),
            };
            ply.write(&self.folder.join("points.ply"))?;
        }
        Ok(())
    }

    /// Transition voxels as six squares each.
    fn boxes(&self, all: &CrackArrays) -> Result<(), CliError> {
        /// Corners of the faces of a cube, counter-clockwise as seen from outside.
        const FACES: [[u32; 4]; 6] =
            [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        let mut ply = PlainPly::default();
        let (mut kinds, mut rows) = (Vec::new(), Vec::new());
        for (row, ([x, y, z, edge], objects)) in all.voxels.iter().zip(&all.objects).enumerate() {
            let first = 8 * row as u32;
            let corner = |c: i32| [x + (c & 1) * edge, y + (c >> 1 & 1) * edge, z + (c >> 2) * edge];
            let corners: Vec<[f64; 3]> = (0..8).map(|c| corner(c).map(f64::from)).collect();
            ply.points.extend(self.in_mesh(&corners));
            ply.polygons.extend(FACES.iter().map(|face| face.iter().map(|c| first + c).collect()));
            let mut objects = objects.to_vec();
            objects.sort_unstable();
            objects.dedup();
            let count = objects.len();
            ply.colors.extend([rgb(TRANSITION_COLORS[count.saturating_sub(2).min(3)]); 8]);
            kinds.extend([count as i32; 8]);
            rows.extend([row as i32; 8]);
        }
        ply.columns = vec![("objects", kinds), ("voxel", rows)];
        Ok(ply.write(&self.folder.join("transition.ply"))?)
    }

    fn faces(&self, npz: &mut Npz) -> Result<(), CliError> {
        let FaceArrays { corners, starts, seeds } =
            FaceArrays::of(self.inside).numbered_from(self.first_seed());
        npz.array("face_corners", &[corners.len(), 3], corners.as_flattened())?;
        npz.array("face_start", &[starts.len()], &starts)?;
        npz.array("face_seeds", &[seeds.len(), 2], seeds.as_flattened())?;
        let polygons: Vec<Vec<u32>> =
            starts.windows(2).map(|pair| (pair[0] as u32..pair[1] as u32).collect()).collect();
        // Corners are each face's own.
        let of_corners = |at: usize| -> Vec<i32> {
            seeds.iter().zip(&polygons).flat_map(|(pair, face)| face.iter().map(move |_| pair[at])).collect()
        };
        let cells = of_corners(0);
        let ply = PlainPly {
            points: self.in_mesh(&corners),
            colors: colors(&cells),
            columns: vec![("cell", cells), ("beyond", of_corners(1))],
            polygons,
        };
        Ok(ply.write(&self.folder.join("faces.ply"))?)
    }

    /// Labels before the first and after every iteration.
    fn labels(&self, wanted: &OverlayArgs, compute: &Compute, npz: &mut Npz) -> Result<(), CliError> {
        let fracturer = Fracturer::new(compute)?;
        let mut is_first = true;
        for (part, flood) in [(OverlayPart::Labels, false), (OverlayPart::Flood, true)] {
            if !wanted.has(part) {
                continue;
            }
            let mut steps = LabelSteps::compute(&fracturer, &self.inside.fracture, flood, None)?;
            if std::mem::take(&mut is_first) {
                self.label_voxels(&steps, npz)?;
            }
            let (name, iterations) = (part.name(), steps.steps().len());
            let changes: Vec<i32> = steps.steps().iter().map(|step| Step::total(step) as i32).collect();
            npz.array(&format!("{name}_changes"), &[iterations], &changes)?;
            let shape = [iterations + 1, steps.voxels.len()];
            // An iteration at a time: at level 10 all of them take gigabytes.
            let rows = (0..=iterations).map(|at| {
                steps.show(at);
                Ok(steps.labels().iter().map(|label| *label as i32).collect())
            });
            npz.array_of_parts(name, &shape, rows)?;
        }
        Ok(())
    }

    /// What is labelled: boundary voxels of all pieces, and their internal nodes.
    fn label_voxels(&self, steps: &LabelSteps, npz: &mut Npz) -> Result<(), CliError> {
        let voxels = &steps.voxels;
        let place = |key| morton::decode(key).map(|v| v as i32);
        let rows: Vec<[i32; 4]> = voxels
            .list
            .iter()
            .map(|voxel| {
                let [x, y, z] = place(voxel.key);
                [x, y, z, 1 << voxel.size_log2]
            })
            .collect();
        let cells: Vec<i32> = voxels
            .list
            .iter()
            .map(|v| voxels.cells.get(v.group as usize).map_or(-1, |cell| self.first_seed() + *cell as i32))
            .collect();
        // Ids as in the report: those of pieces that broke again follow.
        let mut piece_of_tree = vec![-1; self.inside.fracture.forest.trees()];
        let ids = self.broken.pieces.iter().chain(&self.broken.broken_again).zip(0..);
        for (at, id) in ids.filter(|(at, _)| at.step == self.number) {
            let tree = self.inside.fracture.pieces.get(at.piece).map(|piece| piece.tree as usize);
            if let Some(slot) = tree.and_then(|tree| piece_of_tree.get_mut(tree)) {
                *slot = id;
            }
        }
        let pieces: Vec<i32> =
            voxels.list.iter().map(|v| piece_of_tree.get(v.tree as usize).copied().unwrap_or(-1)).collect();
        npz.array("label_voxels", &[rows.len(), 4], rows.as_flattened())?;
        npz.array("label_cell", &[rows.len()], &cells)?;
        npz.array("label_piece", &[rows.len()], &pieces)?;
        let middles: Vec<[f64; 3]> = rows
            .iter()
            .map(|[x, y, z, edge]| [x, y, z].map(|v| f64::from(*v) + 0.5 * f64::from(*edge)))
            .collect();
        let ply = PlainPly {
            points: self.in_mesh(&middles),
            colors: colors(&pieces),
            columns: vec![
                ("size", column(&rows, 3)),
                ("cell", cells),
                ("piece", pieces),
                ("label", steps.labels().iter().map(|label| *label as i32).collect()),
            ],
            polygons: Vec::new(),
        };
        Ok(ply.write(&self.folder.join("labels.ply"))?)
    }
}

/// Leaves of a tree.
fn leaves_of(forest: &Forest, tree: u32) -> std::ops::Range<usize> {
    let start = |tree: usize| forest.tree_start[tree] as usize;
    start(tree as usize)..start(tree as usize + 1)
}

fn column<const N: usize>(rows: &[[i32; N]], at: usize) -> Vec<i32> {
    rows.iter().map(|row| row[at]).collect()
}

/// The colours that cells and pieces have in pictures.
fn colors(ids: &[i32]) -> Vec<[u8; 3]> {
    ids.iter().map(|id| piece_color(*id as u32)).collect()
}

fn rgb([r, g, b, _]: [u8; 4]) -> [u8; 3] {
    [r, g, b]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fracture::{Surface, crack::CrackShape};

    #[test]
    fn what_a_fracture_has_not_got_is_refused() {
        let args =
            |list: &str| OverlayArgs { parts: list.split(',').map(|part| part.parse().unwrap()).collect() };
        let planar = FractureParams::default();
        let refused =
            |list: &str, params: &FractureParams| args(list).check(7, params).unwrap_err().to_string();
        assert!(args("faces,labels,flood").check(7, &planar).is_ok());
        for part in ["transition", "triangles", "points"] {
            let said = refused(&format!("faces,{part}"), &planar);
            assert!(said.contains(&format!("--overlays {part} belongs to --surface rough")), "{said}");
        }
        let crack = CrackShape { transition_level: Some(7), ..CrackShape::default() };
        let finest = FractureParams { surface: Surface::Rough, crack, ..planar };
        assert!(refused("points", &finest).contains("below 7"));
        assert!(
            "seeds".parse::<OverlayPart>().is_err_and(|e| e.contains("transition, triangles, points, faces"))
        );
    }
}
