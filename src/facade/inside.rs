//! What a break does inside the object, read back and as arrays: crack triangles, transition voxels, Voronoi faces, the
//! published labelling, slices of distance fields.
//!
//! In: a break by Voronoi cells. Out: an [`Inside`], which pictures are drawn from, and the arrays of `overlays.npz`, in
//! a file or in memory.

use std::{collections::HashSet, path::PathBuf, sync::Arc};

use super::{Engine, Error, Object, Observer, Pieces};
use crate::{
    compute::Compute,
    export::{BreakStep, BrokenObject, Collected, ExportError, NamedArray, coordinates, internal_rows},
    fracture::{Fracturer, Source, Surface, VoronoiDetail, generations::Plan},
    geometry::Aabb,
    scene::{
        FIELD_LEVEL,
        overlays::{
            ArraySink, Blueprint, Cut, Inside, LabelSteps, Maker, OverlayFileError, OverlayFiles, Part,
            Reading, Reads,
        },
    },
    svo::{
        Arena, Forest, Grid,
        morton::{self, Key},
    },
};

impl Pieces {
    /// What every break of a run does inside, as the arrays of `overlays.npz` and in memory; docs/files.md describes them.
    /// `drawings` are names as `kintsugi fracture --overlays` takes them. The names of arrays of the second break begin with
    /// `001/`, those of the third with `002/`, and so on.
    ///
    /// ```
    /// use kintsugi::{Engine, Fracture, Object, Quiet};
    ///
    /// let pieces = Object::open("builtin:box", 3)?.fracture(&Fracture::new().cells(3))?;
    /// let arrays = pieces.overlays(&Engine::cores(), &["faces"], &Quiet)?;
    /// let seeds = arrays.iter().find(|array| array.name == "face_seeds").unwrap();
    /// assert!(seeds.shape[0] > 0 && seeds.shape[1] == 2);
    /// # Ok::<(), kintsugi::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Parameter`] for a name that does not exist, and for a drawing that the break does not have;
    /// [`Error::Fracture`] and [`Error::Gpu`].
    pub fn overlays(
        &self,
        engine: &Engine,
        drawings: &[impl AsRef<str>],
        observer: &impl Observer,
    ) -> Result<Vec<NamedArray>, Error> {
        let parts: Result<Vec<Part>, String> =
            drawings.iter().map(|name| Part::of_data(name.as_ref())).collect();
        let parts = parts.map_err(Error::Parameter)?;
        self.check_overlays(&parts)?;
        let (makers, cuts) = (makers_of(&parts), cuts_of(&parts));
        let reading = reading_of(&makers);
        let (object, broken) = (self.object(), self.broken());
        let mut all = Vec::new();
        for (number, step) in breaks_of_cells(broken) {
            let (of, source) = ((object, self.plan()), broken.source_of(step));
            let inside = look_inside(engine.compute(), of, (step, source), reading, observer)?;
            let sink = ArraySink::Memory(Collected::default());
            let to = OverlayFiles::of_break(&inside, (engine.compute(), object.grid), (broken, number), sink);
            let written = observer.stage("write overlays", |_| write_break(to, broken, &makers, &cuts))?;
            let ArraySink::Memory(Collected { arrays, .. }) = written else { continue };
            all.extend(arrays.into_iter().map(|array| match number {
                0 => array,
                number => NamedArray { name: format!("{number:03}/{}", array.name), ..array },
            }));
        }
        Ok(all)
    }

    /// The published labelling of the first break's voxels, boundary and internal, with all iterations (2016, sec. 4.5);
    /// where it `floods`, without the flattening of chains.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a break that is not by Voronoi cells of an octree; [`Error::Gpu`].
    pub fn labelling(&self, engine: &Engine, floods: bool) -> Result<LabelSteps, Error> {
        let first = self.broken().steps.first();
        let detail = first.and_then(|step| VoronoiDetail::of(&step.result)).ok_or_else(not_of_cells)?;
        let fracturer = Fracturer::new(engine.compute())?;
        Ok(LabelSteps::compute(&fracturer, &detail.fracture, floods, None)?)
    }

    fn check_overlays(&self, parts: &[Part]) -> Result<(), Error> {
        let params = &self.plan().params;
        if !params.method.entry().of_voxels {
            let method = params.method;
            return Err(Error::Parameter(format!(
                "overlays: what the method {method} does is not made of voxels; break by the method octree"
            )));
        }
        let of_cracks = parts.iter().find(|part| part.maker.reads == Reads::Cracks);
        match of_cracks.map(|part| part.maker.name).filter(|_| params.surface == Surface::Planar) {
            None => Ok(()),
            Some(name) => Err(Error::Parameter(format!(
                "overlays: {name} belongs to cracks that are not flat; break with the surface rough or dusty"
            ))),
        }
    }
}

fn not_of_cells() -> Error {
    Error::Parameter("only cells of seeds can be looked into; break by the method octree".into())
}

/// The chosen kinds of drawings, in the order of `parts`.
pub(crate) fn makers_of(parts: &[Part]) -> Vec<Maker> {
    parts.iter().map(|part| part.maker).collect()
}

/// The cuts of the chosen drawings that lie on one, each once.
pub(crate) fn cuts_of(parts: &[Part]) -> Vec<Cut> {
    let mut cuts = Vec::new();
    for part in parts.iter().filter(|part| part.maker.has_cut) {
        if !cuts.contains(&part.cut) {
            cuts.push(part.cut);
        }
    }
    cuts
}

/// What is to be read back for drawings as data. Labellings are computed while they are written.
pub(crate) fn reading_of(makers: &[Maker]) -> Reading {
    let has_fields = makers.iter().any(|maker| maker.reads == Reads::Fields);
    Reading { fields: has_fields.then_some(FIELD_LEVEL), ..Reading::default() }
}

/// The breaks that can be looked into, with their numbers.
pub(crate) fn breaks_of_cells(broken: &BrokenObject) -> impl Iterator<Item = (usize, &BreakStep)> {
    broken.steps.iter().enumerate().filter(|(_, step)| VoronoiDetail::of(&step.result).is_some())
}

/// Reads back what `reading` says of `step`, a break by Voronoi cells of a tree of a forest, which is `object` or came of it.
/// Where the blow fell, and its spheres, are those of the first break.
///
/// # Errors
/// [`Error::Parameter`] for another method's break; [`Error::Fracture`] and [`Error::Gpu`].
pub(crate) fn look_inside(
    compute: &Compute,
    (object, plan): (&Object, &Plan),
    (step, (forest, tree)): (&BreakStep, (&Arc<Forest>, u32)),
    reading: Reading,
    observer: &impl Observer,
) -> Result<Inside, Error> {
    let known = VoronoiDetail::of(&step.result).zip(step.result.pattern.as_ref());
    let (detail, pattern) = known.ok_or_else(not_of_cells)?;
    let Aabb { low, high } = object.bounds;
    let longest = (high - low).max_element() / object.grid.h;
    let params = &plan.params;
    let has_spheres = plan.seeds.is_none() && params.preset.has_radii();
    let spheres = params.radii.iter().filter(|_| has_spheres).map(|r| r * longest).collect();
    let blueprint = Blueprint {
        pattern: pattern.clone(),
        recipe: detail.recipe.clone(),
        impact: object.grid.from_mesh(plan.impact.point),
        spheres,
        local: params.local.map(|r| r * longest),
    };
    observer.stage("look inside", |_| {
        let (fracturer, mut arena) = (Fracturer::new(compute)?, Arena::new(compute)?);
        arena.insert(forest)?;
        let source = Source::new(&arena, forest, tree)?;
        let fracture = Some(detail.fracture.clone());
        Ok(Inside::read(&fracturer, &source, blueprint, fracture, reading)?)
    })
}

/// Where the data of one break goes.
pub(crate) struct BreakFiles<'a> {
    files: OverlayFiles<'a>,
    grid: Grid,
    number: usize,
}

impl<'a> OverlayFiles<'a> {
    /// Data of break `number`, empty at first; without a folder for PLY files.
    pub(crate) fn of_break(
        inside: &'a Inside,
        (compute, grid): (&'a Compute, Grid),
        (broken, number): (&BrokenObject, usize),
        sink: ArraySink,
    ) -> BreakFiles<'a> {
        let first_seed = broken.steps.get(number).map_or(0, |step| step.first_cell as i32);
        let numbers = (first_seed, ids_of_trees(inside, broken, number));
        BreakFiles { files: Self::new(inside, (compute, grid), numbers, (sink, None)), grid, number }
    }
}

impl BreakFiles<'_> {
    /// The same with PLY files and tables in `folder`.
    pub(crate) fn in_folder(mut self, folder: PathBuf) -> Self {
        self.files.folder = Some(folder);
        self
    }
}

/// Writes the drawings of one break by these makers, in the order of the table, and gives back what took the arrays.
///
/// # Errors
/// [`OverlayFileError`].
pub(crate) fn write_break(
    BreakFiles { mut files, grid, number }: BreakFiles<'_>,
    broken: &BrokenObject,
    makers: &[Maker],
    cuts: &[Cut],
) -> Result<ArraySink, OverlayFileError> {
    files.cuts = cuts.to_vec();
    write_grid(&mut files.npz, grid)?;
    if broken.steps.len() > 1 {
        write_broken(&mut files, broken, number)?;
    }
    for maker in Maker::ALL.into_iter().filter(|maker| makers.contains(maker)) {
        maker.write.map_or(Ok(()), |write| write(&mut files))?;
    }
    Ok(files.npz)
}

/// Piece id of every tree of break `number`; -1 for none. Ids are those of the report: those of the final pieces,
/// then those of pieces that broke again.
fn ids_of_trees(inside: &Inside, broken: &BrokenObject, number: usize) -> Vec<i32> {
    let mut piece_of_tree = vec![-1; inside.fracture.forest.trees()];
    let ids = broken.pieces.iter().chain(&broken.broken_again).zip(0..);
    for (at, id) in ids.filter(|(at, _)| at.step == number) {
        let tree = inside.fracture.pieces.get(at.piece).map(|piece| piece.tree as usize);
        if let Some(slot) = tree.and_then(|tree| piece_of_tree.get_mut(tree)) {
            *slot = id;
        }
    }
    piece_of_tree
}

fn write_grid(npz: &mut ArraySink, grid: Grid) -> Result<(), ExportError> {
    npz.array("level", &[], &[grid.level as i32])?;
    npz.array("grid_to_mesh", &[4, 4], &grid.to_mesh().transpose().to_cols_array())
}

/// Writes the broken trees, the pieces and the seeds: for several breaks `voxels.npz` contains only the final pieces.
/// `number` is the row of the arrays of breaks in `voxels.npz`.
fn write_broken(
    files: &mut OverlayFiles<'_>,
    broken: &BrokenObject,
    number: usize,
) -> Result<(), ExportError> {
    let Some(step) = broken.steps.get(number) else { return Ok(()) };
    let (npz, first_seed) = (&mut files.npz, files.first_seed);
    let (forest, tree) = broken.source_of(step);
    let piece = step.parent.and_then(|at| broken.broken_again.iter().position(|p| *p == at));
    let piece = piece.map_or(-1, |at| (broken.pieces.len() + at) as i32);
    npz.array("break", &[], &[number as i32])?;
    npz.array("broken_piece", &[], &[piece])?;
    npz.array("first_seed", &[], &[first_seed])?;
    let source = forest.leaves.keys.slice(leaves_of(forest, tree));
    npz.array("source", &[source.len(), 3], &coordinates(source))?;
    let inside = internal_rows(forest, tree as usize, None);
    npz.array("source_inside", &[inside.len() / 4, 4], &inside)?;

    let uncracked: HashSet<Key> = source.iter().collect();
    let (mut voxels, mut cells) = (Vec::new(), Vec::new());
    let made = &files.inside.fracture;
    for piece in &made.pieces {
        let keys = made.forest.leaves.keys.slice(leaves_of(&made.forest, piece.tree));
        for key in keys.iter().filter(|key| !uncracked.contains(key)) {
            voxels.push(morton::decode(key).map(|v| v as i32));
            cells.push(first_seed + piece.cell as i32);
        }
    }
    npz.array("crack_voxels", &[voxels.len(), 3], voxels.as_flattened())?;
    npz.array("crack_cells", &[cells.len()], &cells)
}

/// Range of a tree's leaves.
fn leaves_of(forest: &Forest, tree: u32) -> std::ops::Range<usize> {
    let start = |tree: usize| forest.tree_start[tree] as usize;
    start(tree as usize)..start(tree as usize + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fracture, Quiet, export::Numbers};

    fn broken(how: &Fracture) -> Pieces {
        Object::open("builtin:box", 4).unwrap().fracture(how).unwrap()
    }

    fn overlays(pieces: &Pieces, drawings: &[&str]) -> Result<Vec<NamedArray>, Error> {
        pieces.overlays(&Engine::cores(), drawings, &Quiet)
    }

    #[test]
    fn labels_step_by_step_are_those_of_the_overlay() {
        let pieces = broken(&Fracture::new().cells(5));
        let arrays = overlays(&pieces, &["labels"]).unwrap();
        let of = |name: &str| arrays.iter().find(|array| array.name == name).unwrap();
        let mut steps = pieces.labelling(&Engine::cores(), false).unwrap();
        let (rows, columns) = (steps.steps().len() + 1, steps.voxels.len());
        assert_eq!(of("labels").shape, [rows, columns]);
        let mut all = Vec::new();
        for at in 0..rows {
            steps.show(at);
            all.extend(steps.labels().iter().map(|label| *label as i32));
        }
        assert_eq!(of("labels").numbers, Numbers::I32(all));
        assert!(steps.agrees_with_union_find());
    }

    #[test]
    fn arrays_of_later_breaks_have_the_number_of_the_break() {
        let pieces = broken(&Fracture::new().cells(9).generations(2));
        let arrays = overlays(&pieces, &["faces"]).unwrap();
        let breaks = pieces.broken().steps.len();
        assert!(breaks > 1);
        for number in 0..breaks {
            let name = if number == 0 { "break".to_owned() } else { format!("{number:03}/break") };
            let array = arrays.iter().find(|array| array.name == name).unwrap();
            assert_eq!(array.numbers, Numbers::I32(vec![number as i32]));
        }
    }

    #[test]
    fn what_a_break_has_not_got_is_refused() {
        let pieces = broken(&Fracture::new().cells(3));
        let refused = |name: &str| overlays(&pieces, &[name]).unwrap_err().to_string();
        assert!(refused("points").contains("rough or dusty"));
        assert!(refused("hue").contains("there is no `hue`; there are transition"));
        let cut = broken(&Fracture::by("box-cut").unwrap().cells(3));
        assert!(overlays(&cut, &["faces"]).unwrap_err().to_string().contains("octree"));
        assert!(cut.labelling(&Engine::cores(), false).is_err());
    }
}
