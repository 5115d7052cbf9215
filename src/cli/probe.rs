//! `kintsugi probe`: breaks a mesh as `kintsugi fracture` does, and prints everything about single voxels as JSON.
//!
//! In: a mesh, the options of a break, places. Out: an array with a [`Probe`] for each place, in the order given; ids
//! are those of `report.json` and `voxels.npz`. `docs/files.md` describes the fields.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    path::PathBuf,
};

use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Args, Command, Error, FromArgMatches};
use glam::DVec3;

use super::{
    CliError, fracture::PatternArgs, input::Object, progress::Reporter, stress_load::StressLoadArgs,
};
use crate::{
    compute::Compute,
    elastic::Settings,
    export::{BreakStep, BrokenObject, PieceRef, report::put_json},
    facade::{Engine, inside::look_inside},
    fracture::{
        generations::{Plan, impact_on_piece},
        middle_of, nearest_seed,
    },
    mesh::Objects,
    scene::{
        BodyStress, Probe, ProbeBreak, ProbeCopy,
        overlays::{Inside, Reading},
    },
    svo::Grid,
};

/// Default leaf level.
const LEVEL: u32 = 8;

#[derive(Args)]
pub struct ProbeArgs {
    #[command(flatten)]
    compute: super::ComputeArgs,
    /// Mesh file, or builtin:NAME
    file: PathBuf,
    /// Octree level: 2^N voxels along the longest side; 11 and 12 on the cores alone [default: 8; of a VOX file the lowest
    /// that holds its own voxels]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(super::LEVELS))]
    level: Option<u32>,
    #[command(flatten)]
    places: Places,
    #[command(flatten)]
    pattern: PatternArgs,
    /// Leave out the history of the labels, which takes most of the time and memory at fine levels
    #[arg(long)]
    no_labels: bool,
    #[command(flatten)]
    load: StressLoadArgs,
    /// A file for the JSON [default: it is printed]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print progress as lines of JSON on stderr
    #[arg(long)]
    json_progress: bool,
}

/// A place to probe.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    /// Coordinates of a voxel, leaf units.
    Voxel([i64; 3]),
    /// A point, mesh units.
    At(DVec3),
}

impl Place {
    /// The voxel.
    ///
    /// # Errors
    /// [`CliError::Input`] for a place outside of the grid.
    fn voxel(self, grid: &Grid) -> Result<[u32; 3], CliError> {
        let side = grid.side();
        let within = |v: i64| u32::try_from(v).ok().filter(|v| *v < side);
        let cell = match self {
            Self::Voxel(cell) => cell,
            // The cast keeps infinities and what is too large within the range of the type, outside of the grid.
            Self::At(point) => grid.from_mesh(point).floor().to_array().map(|v| v as i64),
        };
        match cell.map(within) {
            [Some(x), Some(y), Some(z)] => Ok([x, y, z]),
            _ => Err(CliError::Input(self.outside(grid))),
        }
    }

    /// The message about a place outside of the grid.
    fn outside(self, grid: &Grid) -> String {
        let high = grid.origin + grid.h * f64::from(grid.side());
        let text = |p: DVec3| format!("{},{},{}", p.x, p.y, p.z);
        match self {
            Self::Voxel([x, y, z]) => format!(
                "--voxel {x},{y},{z} lies outside of the grid; at level {} coordinates go from 0 to {}",
                grid.level,
                grid.side() - 1
            ),
            Self::At(point) => format!(
                "--at {} lies outside of the grid, which goes from {} to {} in the mesh's units",
                text(point),
                text(grid.origin),
                text(high)
            ),
        }
    }
}

const VOXEL: &str = "voxel";
const AT: &str = "at";

/// The places of both options, in the order of the command line.
#[derive(Clone, Debug, Default)]
struct Places(Vec<Place>);

impl Places {
    /// The places of one option with their positions on the command line.
    fn given<T: Clone + Send + Sync + 'static>(
        matches: &ArgMatches,
        option: &str,
        place: fn(T) -> Place,
    ) -> Vec<(usize, Place)> {
        let values = matches.try_get_many::<T>(option).ok().flatten().into_iter().flatten().cloned();
        let positions = matches.indices_of(option).into_iter().flatten();
        positions.zip(values.map(place)).collect()
    }
}

impl Args for Places {
    fn augment_args(command: Command) -> Command {
        let option = |name: &'static str| {
            Arg::new(name).long(name).value_name("X,Y,Z").action(ArgAction::Append).allow_hyphen_values(true)
        };
        let voxel = option(VOXEL)
            .value_parser(parse_voxel)
            .help("A voxel to probe: its coordinates on the grid of the leaves; may be given several times");
        let at = option(AT)
            .value_parser(super::parse_point)
            .help("A point whose voxel to probe, in the mesh's units; may be given several times");
        let group = ArgGroup::new("places").args([VOXEL, AT]).multiple(true).required(true);
        command.arg(voxel).arg(at).group(group)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Places {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut all = Self::given(matches, VOXEL, Place::Voxel);
        all.extend(Self::given(matches, AT, Place::At));
        all.sort_by_key(|(position, _)| *position);
        Ok(Self(all.into_iter().map(|(_, place)| place).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn parse_voxel(text: &str) -> Result<[i64; 3], String> {
    let parts: Vec<i64> = text.split(',').filter_map(|part| part.trim().parse().ok()).collect();
    match *parts.as_slice() {
        [x, y, z] if text.split(',').count() == 3 => Ok([x, y, z]),
        _ => Err("three whole numbers with commas between them are wanted, as in 12,40,33".into()),
    }
}

/// Runs the command.
///
/// # Errors
/// [`CliError`].
pub fn run(args: &ProbeArgs) -> Result<(), CliError> {
    let reporter = Reporter::new(args.json_progress);
    let measured = args.pattern.measures.measure(&args.file, (args.level, LEVEL), &reporter)?;
    let level = measured.level;
    args.compute.takes(level)?;
    args.load.check()?;
    let seeds = args.pattern.check(level)?;
    let method = args.pattern.params().method;
    if !(method.entry().of_voxels && method.entry().by_seeds) {
        return Err(CliError::Input(format!(
            "--method {method}: its pieces are not made of voxels of Voronoi cells, so there is nothing to probe; take \
             the method octree"
        )));
    }
    args.out.iter().try_for_each(|file| super::check_place("--out", file, &[&args.file]))?;
    let (object, _) = args.pattern.object(measured, Objects::Touching, &reporter)?;
    let level = object.grid.level;
    let places = args.places.0.iter();
    let voxels = places.map(|place| place.voxel(&object.grid)).collect::<Result<Vec<_>, _>>()?;
    let plan = object.plan(&args.pattern.fracture(level, seeds))?;
    // Of the object before it breaks, which the blow strikes.
    let blow = (plan.impact, object.bounds.size().max_element());
    let solved =
        || reporter.stage("stress", |_| args.load.stress_of(&object.shape, blow, &Settings::PRECISE));
    let stress = args.load.is_given().then(solved).transpose()?;
    let compute = args.compute.open(&reporter)?;
    let pieces = object.break_by(&Engine::from(compute.clone()), plan, &reporter)?;
    let mut probing = Probing {
        compute: &compute,
        object: &object,
        plan: pieces.plan(),
        broken: pieces.broken(),
        reading: Reading { labels: (!args.no_labels).then_some((false, None)), fields: None },
        reporter: &reporter,
        insides: BTreeMap::new(),
        stress: stress.as_ref(),
    };
    let probes = voxels.into_iter().map(|voxel| probing.probe(voxel)).collect::<Result<Vec<_>, _>>()?;
    match &args.out {
        Some(file) => {
            put_json(file, &probes)?.iter().for_each(|note| reporter.warn(note));
            super::print(&format!("{} voxels probed; written to {}\n", probes.len(), file.display()));
        }
        None => {
            let text = serde_json::to_string_pretty(&probes);
            let text = text.map_err(|error| CliError::Input(format!("the probes are no JSON: {error}")))?;
            super::print(&format!("{text}\n"));
        }
    }
    Ok(())
}

/// A broken object while its voxels are probed.
struct Probing<'a> {
    compute: &'a Compute,
    object: &'a Object,
    plan: &'a Plan,
    broken: &'a BrokenObject,
    reading: Reading,
    reporter: &'a Reporter,
    /// What was read back, by the number of the break.
    insides: BTreeMap<usize, Inside>,
    /// The stress of the object before it broke, if one was asked for.
    stress: Option<&'a BodyStress>,
}

impl Probing<'_> {
    /// Probes a voxel of the grid.
    fn probe(&mut self, voxel: [u32; 3]) -> Result<Probe, CliError> {
        let probe = self.without_stress(voxel)?;
        let Some(stress) = self.stress else { return Ok(probe) };
        let whole = Probe::of_leafs(&self.object.forest, 0, voxel).with_stress(stress);
        Ok(probe.with_stress_of(&whole))
    }

    fn without_stress(&mut self, voxel: [u32; 3]) -> Result<Probe, CliError> {
        let Self { compute, object, plan, broken, reporter, .. } = *self;
        let ids = (0u32..).zip(&broken.pieces);
        let copies: Vec<(PieceRef, ProbeCopy)> =
            ids.filter_map(|(id, at)| Some((*at, copy_in(broken, *at, id, voxel)?))).collect();
        // The piece that has the voxel's centre is the voxel's own; where none has it, the largest.
        let is_of_centre = |(at, _): &&(PieceRef, ProbeCopy)| has_centre(broken, *at, voxel);
        let own = copies.iter().find(is_of_centre).or(copies.first()).copied();
        let number = own.map_or(0, |(at, _)| at.step);
        let bare = Probe::of_leafs(&object.forest, 0, voxel);
        let in_source = Some(bare.kind);
        let Some(step) = broken.steps.get(number) else { return Ok(bare.with_grid(&object.grid)) };
        let inside = match self.insides.entry(number) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let source = broken.source_of(step);
                place.insert(look_inside(compute, (object, plan), (step, source), self.reading, reporter)?)
            }
        };
        let Some((at, copy)) = own else {
            let probe = bare.with_inside(inside).without_piece().with_grid(&object.grid);
            return Ok(Probe { in_source, ..probe });
        };
        let octree = broken.octree(at);
        let probe = Probe::of_leafs(&octree.forest, octree.tree, voxel)
            .with_inside_of(inside, Some(at.piece))
            .numbered_from(step.first_cell)
            .with_grid(&object.grid);
        let several = copies.len() > 1;
        Ok(Probe {
            in_source,
            piece: copy.piece,
            cell: copy.cell,
            generation: Some(step.generation),
            made_by: Some(self.made_by(number, step)),
            copies: copies.into_iter().filter(|_| several).map(|(_, copy)| copy).collect(),
            ..probe
        })
    }

    /// The break that made a piece. The blow of a later break falls where `fracture::generations` put it.
    fn made_by(&self, number: usize, step: &BreakStep) -> ProbeBreak {
        let Self { object, plan, broken, .. } = self;
        let first = object.grid.from_mesh(plan.impact.point);
        let again = |at| impact_on_piece(&broken.part(at).shape, first, plan.impact.direction).point;
        ProbeBreak {
            number: number as u32,
            impact: step.parent.map_or(first, again).to_array(),
            rng: step.result.params.rng,
        }
    }
}

/// The copy of a voxel in a piece, with the piece's ids over all breaks.
fn copy_in(broken: &BrokenObject, at: PieceRef, id: u32, voxel: [u32; 3]) -> Option<ProbeCopy> {
    let octree = broken.octree(at);
    let copy = ProbeCopy::in_tree(&octree.forest, octree.tree, voxel)?;
    Some(ProbeCopy { piece: Some(id), cell: Some(broken.cell(at)), ..copy })
}

/// Whether the object of a voxel's centre is one of a piece's, in the break that made the piece and in those before.
fn has_centre(broken: &BrokenObject, at: PieceRef, voxel: [u32; 3]) -> bool {
    let Some(step) = broken.steps.get(at.step) else { return false };
    let object = step.result.pattern.as_ref().and_then(|pattern| {
        let seed = nearest_seed(&pattern.seeds, middle_of(voxel, 1, broken.grid().level), |_| true)?;
        pattern.objects.get(seed as usize).copied()
    });
    let own = step.result.objects.get(at.piece);
    own.zip(object).is_some_and(|(own, object)| own.contains(&object))
        && step.parent.is_none_or(|parent| has_centre(broken, parent, voxel))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        places: Places,
    }

    fn read(line: &str) -> Result<Vec<Place>, Error> {
        let words = format!("kintsugi {line}");
        <Line as clap::Parser>::try_parse_from(words.split_whitespace()).map(|line| line.places.0)
    }

    #[test]
    fn places_of_both_options_keep_their_order() {
        let all = read("--at 0,-1.5,2 --voxel 1,2,3 --voxel 4,5,6 --at=-1,0,0 --voxel 7,8,9").unwrap();
        let at = |x, y, z| Place::At(DVec3::new(x, y, z));
        let voxel = |x, y, z| Place::Voxel([x, y, z]);
        let wanted = [at(0.0, -1.5, 2.0), voxel(1, 2, 3), voxel(4, 5, 6), at(-1.0, 0.0, 0.0), voxel(7, 8, 9)];
        assert_eq!(all, wanted);
        for (bad, says) in [
            ("", "--voxel <X,Y,Z>"),
            ("--voxel 1,2", "three whole numbers"),
            ("--voxel 1,2,3.5", "three whole numbers"),
            ("--voxel 1,2,3,4", "three whole numbers"),
            ("--at 1,nan,3", "three finite numbers"),
        ] {
            let error = read(bad).unwrap_err().to_string();
            assert!(error.contains(says), "{bad}: {error}");
        }
    }

    #[test]
    fn a_place_is_a_voxel_of_the_grid_or_refused_in_a_line() {
        let grid = Grid { level: 3, origin: DVec3::new(-1.0, 0.0, 2.0), h: 0.25 };
        let at = |x, y, z| Place::At(DVec3::new(x, y, z)).voxel(&grid);
        assert_eq!(Place::Voxel([7, 0, 3]).voxel(&grid).unwrap(), [7, 0, 3]);
        assert_eq!(at(-1.0, 1.99, 2.25).unwrap(), [0, 7, 1]);
        for (refused, says) in [
            (Place::Voxel([8, 0, 0]).voxel(&grid), "--voxel 8,0,0 lies outside of the grid; at level 3"),
            (Place::Voxel([0, -1, 0]).voxel(&grid), "from 0 to 7"),
            (Place::Voxel([1 << 40, 0, 0]).voxel(&grid), "from 0 to 7"),
            (at(-1.001, 0.0, 2.0), "goes from -1,0,2 to 1,2,4 in the mesh's units"),
            (at(0.0, 2.0, 2.0), "--at 0,2,2 lies outside"),
            (at(1e300, 0.0, 2.0), "lies outside"),
        ] {
            let error = refused.unwrap_err();
            let text = error.to_string();
            assert!(error.exit_code() == 2 && text.contains(says) && text.lines().count() == 1, "{text}");
        }
    }
}
