//! Island labels (2016, sec. 4.5) as voxel colours: of the union-find, or of the published labelling iteration by
//! iteration.

use glam::{DVec3, Vec3};

use super::{
    Inside, Number, OverlayFileError, OverlayFiles, OverlayMaker, Part, Placing, Reads,
    boundary::RADIUS,
    color_of,
    files::{colors, column},
    lit,
};
use crate::{
    export::{ExportError, PlainPly},
    fracture::{
        Fracture, Fracturer,
        labelling::{Playback, Step, Voxel, Voxels},
    },
    gpu::GpuError,
    render::{Overlay, Point},
    svo::{morton, unpack_normal},
};

/// Iterations are cut off here: a comb at level 7 needs fewer.
pub const MOST_ITERATIONS: usize = 400;

/// The published labelling of a fracture's voxels, boundary and internal, with all iterations.
pub struct LabelSteps {
    /// The labelled voxels, by cell.
    pub voxels: Voxels,
    /// Whether chains are not flattened.
    pub flood: bool,
    playback: Playback,
}

impl LabelSteps {
    /// Computes all labels, or those up to iteration `at`, and shows iteration `at` or the last.
    ///
    /// # Errors
    /// [`GpuError`] if the device fails or cannot hold the voxels.
    pub fn compute(
        fracturer: &Fracturer,
        fracture: &Fracture,
        flood: bool,
        at: Option<u32>,
    ) -> Result<Self, GpuError> {
        let voxels = Voxels::of_fracture(fracture, true);
        let labeller = fracturer.labelling();
        let mut playback = Playback::new(labeller, &voxels, !flood)?;
        while playback.steps().len() < MOST_ITERATIONS && playback.forward(labeller)? {}
        playback.show(at.map_or(usize::MAX, |at| at as usize));
        Ok(Self { voxels, flood, playback })
    }

    /// Shows another iteration; 0 is before the first, and a number beyond the last shows the last.
    pub fn show(&mut self, at: usize) {
        self.playback.show(at);
    }

    /// The iteration shown.
    #[must_use]
    pub fn at(&self) -> usize {
        self.playback.at()
    }

    /// The labels shown, one per voxel.
    #[must_use]
    pub fn labels(&self) -> &[u32] {
        self.playback.labels()
    }

    /// Statistics of every iteration.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        self.playback.steps()
    }

    /// Numbers of voxels that the iteration shown changed, and of cells at rest after it. Before the first no label has
    /// changed, and no cell is at rest.
    #[must_use]
    pub fn changed_and_resting(&self) -> (u64, usize) {
        let did = self.at().checked_sub(1).and_then(|before| self.steps().get(before));
        did.map_or((0, 0), |step| (step.total(), step.done.iter().filter(|done| **done).count()))
    }

    /// Number of different labels shown.
    #[must_use]
    pub fn distinct(&self) -> usize {
        let mut labels = self.labels().to_vec();
        labels.sort_unstable();
        labels.dedup();
        labels.len()
    }

    /// Whether the labels shown equal the union-find's islands up to renaming; those islands are the trees of the
    /// fracture.
    #[must_use]
    pub fn agrees_with_union_find(&self) -> bool {
        let mut pairs: Vec<(u32, u32)> =
            self.voxels.list.iter().map(|v| v.tree).zip(self.labels().iter().copied()).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let trees = pairs.windows(2).all(|w| w[0].0 != w[1].0);
        pairs.sort_unstable_by_key(|pair| pair.1);
        trees && pairs.windows(2).all(|w| w[0].1 != w[1].1)
    }
}

/// The maker.
pub(super) static LABELS: OverlayMaker = OverlayMaker {
    name: "labels",
    label: "published",
    help: "The published labelling, iteration by iteration",
    reads: Reads::Labels,
    has_cut: false,
    number: Some(STEP),
    add: add_labels,
    write: Some(|files| write(files, LABELS.name, false)),
};

/// The maker.
pub(super) static FLOOD: OverlayMaker = OverlayMaker {
    name: "flood",
    label: "flooding",
    help: "The published labelling without the flattening of chains, so that labels flood from voxel to voxel",
    reads: Reads::Labels,
    has_cut: false,
    number: Some(STEP),
    add: add_steps,
    write: Some(|files| write(files, FLOOD.name, true)),
};

const STEP: Number = Number {
    word: "STEP",
    name: "label_step",
    label: "Iteration",
    help: "The iteration that is shown; 0 is before the first, where every voxel has a label of its own",
    least: 0,
    most: |inside| inside.steps.as_ref().map_or(0, |steps| steps.steps().len() as u32),
    first: 0,
    is_octree_level: false,
};

/// Islands, or the published labelling where an iteration is named.
fn add_labels(overlay: &mut Overlay, inside: &Inside, placing: &Placing, part: &Part) {
    match part.number {
        None => add_islands(overlay, inside, placing),
        Some(_) => add_steps(overlay, inside, placing, part),
    }
}

/// Voxels coloured by their island according to the union-find.
fn add_islands(overlay: &mut Overlay, inside: &Inside, placing: &Placing) {
    let voxels = match &inside.steps {
        Some(steps) => &steps.voxels,
        None => &Voxels::of_fracture(&inside.fracture, true),
    };
    add_voxels(overlay, inside, placing, voxels.list.iter().map(|v| (v, v.tree)));
}

/// Voxels coloured by their label in the iteration shown.
fn add_steps(overlay: &mut Overlay, inside: &Inside, placing: &Placing, _: &Part) {
    let Some(steps) = &inside.steps else { return };
    let labels = steps.labels().iter().copied();
    add_voxels(overlay, inside, placing, steps.voxels.list.iter().zip(labels));
}

fn add_voxels<'a>(
    overlay: &mut Overlay,
    inside: &Inside,
    placing: &Placing,
    voxels: impl Iterator<Item = (&'a Voxel, u32)>,
) {
    let (pieces, leaves) = (inside.piece_of_tree(), &inside.fracture.forest.leaves);
    for (voxel, label) in voxels {
        let size = f64::from(1u32 << voxel.size_log2);
        let centre = DVec3::from(morton::decode(voxel.key).map(f64::from)) + 0.5 * size;
        let piece = pieces.get(voxel.tree as usize).copied().flatten().unwrap_or(usize::MAX);
        let color = color_of(label, 255);
        let normal = voxel.leaf.and_then(|leaf| leaves.normals.get(leaf as usize)).map(|n| unpack_normal(*n));
        let (color, radius) = match normal {
            Some(normal) => {
                let shown = placing.world_from_grid.transform_vector3(normal).normalize_or(Vec3::Y);
                (lit(color, shown), RADIUS)
            }
            // Internal cells, drawn as large as fits.
            None => (color, 0.5 * size as f32),
        };
        let radius_m = radius * placing.voxel();
        overlay.points.push(Point {
            at: placing.with_piece(centre, piece),
            color,
            radius_pixels: 0.7,
            radius_m,
            back_pixels: 0.0,
        });
    }
}

/// Labels before the first and after every iteration, as an array of that name, and a table of the iterations.
fn write(files: &mut OverlayFiles<'_>, name: &str, flood: bool) -> Result<(), OverlayFileError> {
    let fracturer = Fracturer::new(files.compute)?;
    let mut steps = LabelSteps::compute(&fracturer, &files.inside.fracture, flood, None)?;
    if !std::mem::replace(&mut files.has_label_voxels, true) {
        write_voxels(files, &steps)?;
    }
    let iterations = steps.steps().len();
    let changes: Vec<i32> = steps.steps().iter().map(|step| Step::total(step) as i32).collect();
    files.npz.array(&format!("{name}_changes"), &[iterations], &changes)?;
    let shape = [iterations + 1, steps.voxels.len()];
    let mut table = String::from("iteration,labels_changed,cells_at_rest,distinct_labels\n");
    // An iteration at a time: at level 10 all of them take gigabytes.
    let rows = (0..=iterations).map(|at| {
        steps.show(at);
        table.push_str(&row(&steps));
        Ok(steps.labels().iter().map(|label| *label as i32).collect())
    });
    files.npz.array_of_parts(name, &shape, rows)?;
    let Some(folder) = &files.folder else { return Ok(()) };
    let path = folder.join(format!("{name}.csv"));
    Ok(std::fs::write(&path, table).map_err(|error| ExportError::write(&path, error))?)
}

/// The line of a table for the iteration shown.
fn row(steps: &LabelSteps) -> String {
    let (changed, resting) = steps.changed_and_resting();
    format!("{},{changed},{resting},{}\n", steps.at(), steps.distinct())
}

/// Writes the labelled voxels: boundary voxels of all pieces, and their internal nodes.
fn write_voxels(files: &mut OverlayFiles<'_>, steps: &LabelSteps) -> Result<(), OverlayFileError> {
    let voxels = &steps.voxels;
    let rows: Vec<[i32; 4]> = voxels
        .list
        .iter()
        .map(|voxel| {
            let [x, y, z] = morton::decode(voxel.key).map(|v| v as i32);
            [x, y, z, 1 << voxel.size_log2]
        })
        .collect();
    let cell =
        |v: &Voxel| voxels.cells.get(v.group as usize).map_or(-1, |cell| files.first_seed + *cell as i32);
    let piece = |v: &Voxel| files.piece_of_tree.get(v.tree as usize).copied().unwrap_or(-1);
    let cells: Vec<i32> = voxels.list.iter().map(cell).collect();
    let pieces: Vec<i32> = voxels.list.iter().map(piece).collect();
    files.npz.array("label_voxels", &[rows.len(), 4], rows.as_flattened())?;
    files.npz.array("label_cell", &[rows.len()], &cells)?;
    files.npz.array("label_piece", &[rows.len()], &pieces)?;
    let middles: Vec<[f64; 3]> = rows
        .iter()
        .map(|[x, y, z, edge]| [x, y, z].map(|v| f64::from(*v) + 0.5 * f64::from(*edge)))
        .collect();
    let ply = PlainPly {
        colors: colors(&pieces),
        columns: vec![
            ("size", column(&rows, 3)),
            ("cell", cells),
            ("piece", pieces),
            ("label", steps.labels().iter().map(|label| *label as i32).collect()),
        ],
        ..PlainPly::default()
    };
    Ok(files.ply("labels.ply", &middles, ply)?)
}
