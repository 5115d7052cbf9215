//! Sections of an export's `report.json`: objects, breaks, and pieces that broke again.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{ExportOrder, Lines};
use crate::{
    bodies::Body,
    export::{
        Assembly, ExportPiece, Figures, Format, InputReport, Lying, ParameterReport, PieceReport,
        scene_report::{BreakReport, ObjectReport},
        to_nanoseconds,
    },
    fracture::Impact,
    mesh::digest::NamedByDigest,
    scene::{Sandbox, break_log::BreakRecord},
};

/// Units of the file per metre, for the pieces of each object.
struct Units(BTreeMap<usize, f64>);

impl Units {
    fn of(sandbox: &Sandbox, lying: Lying) -> Self {
        let metres = |body: &Body| match lying {
            Lying::AsTheyLie => 1.0,
            Lying::AsTheyFittedTogether => body.def.meters_per_unit,
        };
        let bodies = sandbox.bodies().iter();
        let units = bodies.filter_map(|body| Some((sandbox.info(body.id)?.object, metres(body).recip())));
        Self(units.collect())
    }

    fn per_metre(&self, object: usize) -> f64 {
        self.0.get(&object).copied().unwrap_or(1.0)
    }
}

/// Objects with breaks some of whose parts are not exported, because they are not selected or were deleted.
pub(super) fn incomplete(sandbox: &Sandbox, lines: &Lines<'_>, order: &ExportOrder) -> BTreeSet<usize> {
    let log = sandbox.breaks();
    let own = order.pieces(sandbox).map(|piece| (piece.info.origin, piece.info.joined));
    let broken = lines.breaks.values().map(|record| (record.broken, record.joined));
    let mut there: BTreeMap<usize, usize> = BTreeMap::new();
    for (origin, joined) in own.chain(broken) {
        let Some(origin) = origin else { continue };
        *there.entry(origin.record).or_default() += log.parts(Some(origin), joined).len();
    }
    let lacks =
        |(at, record): &(&usize, &&BreakRecord)| there.get(at).copied().unwrap_or(0) < record.cells.len();
    lines.breaks.iter().filter(lacks).map(|(_, record)| record.object).collect()
}

/// The report's entries of the objects, and their volumes as in [`ExportPlan::volumes`].
pub(super) fn objects(
    sandbox: &Sandbox,
    lines: &Lines<'_>,
    what: &Assembly,
    order: &ExportOrder,
) -> (Vec<ObjectReport>, Vec<[f64; 4]>) {
    let incomplete = incomplete(sandbox, lines, order);
    let units = Units::of(sandbox, order.lying);
    let mut pieces: BTreeMap<usize, Vec<&ExportPiece>> = BTreeMap::new();
    for piece in &what.pieces {
        if let Some(object) = piece.object {
            pieces.entry(object).or_default().push(piece);
        }
    }
    let (mut reports, mut volumes) = (Vec::new(), Vec::new());
    for (number, object) in sandbox.objects().iter().enumerate() {
        let Some(own) = pieces.get(&number) else { continue };
        let breaks = || lines.breaks.values().filter(|record| record.object == number);
        let after = own.iter().map(|piece| piece.shape.mass().volume_m3).sum::<f64>();
        let whole = breaks().find(|record| record.broken.is_none()).map(|record| record.whole.volume);
        let dust = breaks().map(|record| record.dust).fold(0.0, |a, b| a + b);
        let dropped = breaks().map(|record| record.dropped).fold(0.0, |a, b| a + b);
        // Volumes of an incomplete object do not add up.
        let is_whole = !incomplete.contains(&number);
        volumes.extend(whole.filter(|_| is_whole).map(|whole| [whole, after, dust, dropped]));
        let units = units.per_metre(number);
        let cubic = units.powi(3);
        reports.push(ObjectReport {
            object: number,
            name: object.name.clone(),
            mesh_sha256: NamedByDigest(Arc::clone(&object.mesh)),
            input: InputReport {
                file: object.scene.file.clone(),
                vertices: object.mesh.positions.len(),
                triangles: object.triangles,
                warnings: object.warnings.clone(),
            },
            health: object.health.clone(),
            level: object.scene.level,
            voxel: object.voxel_m * units,
            density: own.first().map_or(object.scene.density, |piece| piece.shape.density()),
            pieces: own.len(),
            source_volume: whole.unwrap_or(after) * cubic,
            dust_volume: dust * cubic,
            dropped_volume: dropped * cubic,
        });
    }
    (reports, volumes)
}

/// The report's entries of the breaks, in the order in which they happened.
pub(super) fn breaks(
    sandbox: &Sandbox,
    lines: &Lines<'_>,
    what: &Assembly,
    formats: &[Format],
) -> Vec<BreakReport> {
    let units = Units::of(sandbox, Lying::AsTheyFittedTogether);
    let report = |(at, record): (&usize, &&BreakRecord)| {
        let level = record.grid.map_or(0, |grid| grid.level);
        let units = units.per_metre(record.object);
        BreakReport {
            object: record.object,
            piece: lines.again.get(at).map(|i| what.pieces.len() + i),
            generation: record.generation,
            time: to_nanoseconds(record.time),
            parameters: ParameterReport {
                impact: Impact { point: record.impact.point * units, ..record.impact },
                seeds: record.cell_count,
                interior: record.interior.clone(),
                formats: formats.iter().map(|format| format.name.to_owned()).collect(),
                ..ParameterReport::of(&record.params, level)
            },
            counts: record.counts,
            solved: record.solved,
        }
    };
    lines.breaks.iter().map(report).collect()
}

/// Pieces that broke again, with ids that follow those of the final pieces. They have no place in the world any more.
pub(super) fn broken_again(
    sandbox: &Sandbox,
    lines: &Lines<'_>,
    what: &Assembly,
    lying: Lying,
) -> Vec<PieceReport> {
    let units = Units::of(sandbox, lying);
    let again = lines.again.iter().filter_map(|(at, i)| {
        let record = lines.breaks.get(at)?;
        let origin = record.broken?;
        let units = units.per_metre(record.object);
        let Figures { voxels, volume, mass, centre, bounds } = record.whole;
        let figures = Figures {
            voxels,
            mass,
            volume: volume * units.powi(3),
            centre: centre * units,
            bounds: bounds.placed(|p| p * units),
        };
        let id = what.pieces.len() + i;
        let parent = lines.parent(origin, what.pieces.len());
        let numbers = (id, Some(record.object), lines.cell(origin), parent, record.generation - 1);
        let report = PieceReport::new(numbers, &figures);
        Some(if lying == Lying::AsTheyLie { report.without_place() } else { report })
    });
    again.collect()
}
