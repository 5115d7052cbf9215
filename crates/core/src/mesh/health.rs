//! Checks of a mesh before it is broken, and the repair that voxelisation needs.
//!
//! In: a mesh as read. Out: the same surface without useless triangles, with seams that nearly met closed, consistently
//! oriented if possible, with outermost parts facing outward, and the findings. Vertices keep their own colours and
//! texture coordinates.

use std::{borrow::Cow, sync::atomic::AtomicBool};

use super::{
    Mesh,
    heal::{Repair, capped},
    itself::crossing_pairs,
    orient::{self, Parts},
    topology::{Edges, topology},
    unite::unite,
};
use crate::{geometry::UnionFind, voxelize::Progress};
use glam::DVec3;
use rayon::prelude::*;

/// Findings about a mesh. Counts are of the mesh as returned by [`check`] unless said otherwise.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct HealthReport {
    /// Triangles as read.
    pub triangles: usize,
    /// Vertices as read.
    pub vertices: usize,
    /// Triangles without area that were dropped.
    pub dropped_degenerate: usize,
    /// Duplicate triangles that were dropped.
    pub dropped_duplicate: usize,
    /// Triangles with a NaN or infinite vertex, or an index out of range, that were dropped.
    pub dropped_non_finite: usize,
    /// Corners on open edges, or of another part of the file, that were moved to another one within two millionths of the
    /// mesh's diagonal.
    pub welded_corners: usize,
    /// Triangles of walls between parts of the file that touch, which were left out.
    pub inner_walls: usize,
    /// Quads on the same corners as another one that were given its diagonal, to find the two sides of a sheet.
    pub turned_diagonals: usize,
    /// Triangles without area, of [`HealthReport::dropped_degenerate`], at whose corner the triangle beyond was divided.
    pub divided_slivers: usize,
    /// Edges with one triangle.
    pub open_edges: usize,
    /// Connected runs of open edges: about the number of holes.
    pub boundary_loops: usize,
    /// Edges with three triangles or more.
    pub non_manifold_edges: usize,
    /// Edges, as read, whose two triangles face opposite ways.
    pub inconsistent_edges: usize,
    /// Parts connected by edges.
    pub components: usize,
    /// Triangles reversed to agree with their neighbours or to face outward.
    pub flipped_triangles: usize,
    /// Connected parts, by edges with two triangles, that have no consistent orientation (a Moebius strip).
    pub unorientable_components: usize,
    /// Parts inside another part that enclose space in the opposite orientation: voids.
    pub voids: usize,
    /// Whether the surface has no boundary, counted with orientation: inside and outside are well defined everywhere. Caps
    /// do not count, even where parts were united with them.
    pub closed: bool,
    /// Holes that meshes cut from the object's own triangles have closed by caps: all of them, or none, if a hole is
    /// neither flat nor small.
    pub cap_holes: usize,
    /// Pairs of triangles of one part, without a common vertex, that pass through each other, as read.
    pub crossing_pairs: usize,
    /// What became of parts that pass through each other or themselves; `None` where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub union: Option<UnionReport>,
    /// Signed volume in cubic mesh units, of `volume_of`. Parts that pass through each other count twice where they were
    /// not united.
    pub volume: f64,
    /// What `volume` is measured of: "closed mesh"; "mesh with caps" on its holes; or "open mesh", where it is an
    /// estimate from the middle of the bounds.
    pub volume_of: String,
    /// Area in square mesh units.
    pub area: f64,
    /// Low corner of the bounding box, mesh units.
    pub bounds_low: [f32; 3],
    /// High corner of the bounding box, mesh units.
    pub bounds_high: [f32; 3],
    /// Which test told inside from outside: "none", "winding number" or "parity". Set by the voxeliser.
    pub inside_test: String,
    /// Holes that were closed to tell inside from outside. Set by the voxeliser.
    pub capped_holes: usize,
    /// Leaves added to close those holes. Set by the voxeliser.
    pub closing_leaves: usize,
    /// Messages for the user.
    pub notes: Vec<String>,
}

/// The union of parts that pass through each other or themselves. Volumes are in cubic mesh units.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct UnionReport {
    /// Parts that another one cut, or that lay inside another, and are one with it now.
    pub united_parts: usize,
    /// Parts that overlap and could not be united, since they do not meet in whole lines, or since the mesh has holes that
    /// caps do not close: what overlaps counts twice.
    pub left_parts: usize,
    /// Parts that passed through themselves, and are one surface round all that they enclose now.
    pub united_alone: usize,
    /// Parts that pass through themselves and could not be united: what they enclose twice counts twice.
    pub left_alone: usize,
    /// Triangles of the whole mesh before, with caps on its holes.
    pub triangles_before: usize,
    /// Triangles of the whole mesh after.
    pub triangles_after: usize,
    /// Volume before, with what overlaps counted once for each part.
    pub volume_before: f64,
    /// Volume after.
    pub volume_after: f64,
}

/// A checked mesh, and the findings.
pub type Checked = (Mesh, HealthReport);

/// Drops triangles without area and duplicates, closes seams that nearly meet, makes each part's orientation consistent,
/// turns outermost parts outward, unites those that pass through each other, and removes vertices that no triangle uses.
/// Returns the mesh to voxelise and the findings.
#[must_use]
pub fn check(mesh: &Mesh) -> Checked {
    check_while(mesh, &Progress::default())
}

/// Like [`check`], unless `progress` is cancelled: what it answers then means nothing.
#[must_use]
pub fn check_while(mesh: &Mesh, progress: &Progress) -> Checked {
    let Some(healed) = healed(mesh, progress).filter(|_| !progress.is_cancelled()) else {
        return Checked::default();
    };
    let Healed { mesh: mut out, with_caps, mut report, outward } = healed;
    let may_overlap = report.components > 1 || report.non_manifold_edges + report.crossing_pairs > 0;
    let closed = if report.closed { Some(&out) } else { with_caps.as_ref() };
    // Where nothing is united, the voxels and the meshes close the holes on their own.
    if may_overlap && let Some(united) = closed.and_then(|whole| united(whole, &mut report, progress)) {
        out = united;
    }
    write_notes(&mut report, &outward);
    (out, report)
}

/// The mesh of [`check`], but with parts that pass through each other as they are.
#[must_use]
pub(crate) fn check_apart(mesh: &Mesh) -> Mesh {
    healed(mesh, &Progress::default()).map_or_else(Mesh::default, |healed| healed.mesh)
}

/// A mesh of which each part was healed by itself.
struct Healed {
    mesh: Mesh,
    /// The same with caps, where those close all its holes.
    with_caps: Option<Mesh>,
    report: HealthReport,
    /// Findings about parts within parts.
    outward: orient::Outward,
}

/// What [`check_while`] does to each part by itself; nothing where `progress` is cancelled.
fn healed(mesh: &Mesh, progress: &Progress) -> Option<Healed> {
    let mut report = HealthReport {
        triangles: mesh.triangles.len(),
        vertices: mesh.positions.len(),
        inside_test: "none".into(),
        ..HealthReport::default()
    };
    let usable = |t: &[u32; 3]| {
        t.iter().all(|&i| mesh.positions.get(i as usize).is_some_and(|p| p.iter().all(|x| x.is_finite())))
    };
    let kept: Vec<(u32, [u32; 3])> = (mesh.triangles.par_iter().enumerate())
        .filter(|(_, t)| usable(t))
        .map(|(k, t)| (k as u32, *t))
        .collect();
    report.dropped_non_finite = mesh.triangles.len() - kept.len();
    let mut repair = Repair { mesh: Cow::Borrowed(mesh), weld: topology(mesh), faces: kept };
    progress.go_on()?;
    report.dropped_degenerate = repair.drop_points();
    progress.go_on()?;
    let mut edges = Edges::of(&repair.welded());
    report.welded_corners = repair.weld_near(&edges);
    progress.go_on()?;
    report.welded_corners += repair.weld_walls();
    if report.welded_corners > 0 {
        report.dropped_degenerate += repair.drop_points();
        edges = Edges::of(&repair.welded());
    }
    progress.go_on()?;
    report.turned_diagonals = repair.match_diagonals(&edges);
    progress.go_on()?;

    let usable = repair.welded();
    let mut duplicate = duplicates(&usable, repair.weld.welded_count, false);
    if duplicate.contains(&true) {
        let left = |drop: &[bool]| {
            let rest: Vec<_> = usable.iter().zip(drop).filter(|d| !d.1).map(|d| *d.0).collect();
            Edges::of(&rest).signed_boundary(&rest).len()
        };
        // Surfaces that a scanner's software zipped together use some triangles twice on purpose.
        if left(&duplicate) > left(&vec![false; usable.len()]) {
            duplicate = duplicates(&usable, repair.weld.welded_count, true);
        }
    }
    let mut flags = duplicate.iter();
    repair.faces.retain(|_| !flags.next().is_some_and(|&d| d));
    report.dropped_duplicate = duplicate.len() - repair.faces.len();
    report.inner_walls = repair.drop_walls();
    progress.go_on()?;
    report.divided_slivers = repair.split_slivers();
    report.dropped_degenerate += report.divided_slivers;

    // Slivers that could not be divided still connect their neighbours, so they are removed only after orientation and
    // boundary are known.
    let (mut triangles, points) = (repair.welded(), repair.points());
    progress.go_on()?;
    if report.turned_diagonals + report.dropped_duplicate + report.inner_walls + report.divided_slivers > 0 {
        edges = Edges::of(&triangles);
    }
    let as_read = triangles.clone();
    progress.go_on()?;
    report.unorientable_components = orient::make_consistent(&mut triangles, &edges);
    progress.go_on()?;
    let parts = Parts::of(&triangles, &edges, &points);
    report.components = parts.count();
    progress.go_on()?;
    let outward = orient::face_outward(&mut triangles, &parts, &points);
    progress.go_on()?;
    report.voids = outward.voids;
    report.flipped_triangles = triangles.iter().zip(&as_read).filter(|(a, b)| !same_turn(**a, **b)).count();
    count_edges(&mut report, &edges, &as_read, &triangles, repair.weld.welded_count);
    let part_of = parts.numbers();
    let part_of = |t: u32| part_of.get(t as usize).copied().unwrap_or_default();
    // Of closed parts, the union finds those that pass through others.
    let open_parts = if report.closed { 0 } else { parts.count() };
    let crossed: Vec<AtomicBool> = std::iter::repeat_with(AtomicBool::default).take(open_parts).collect();
    report.crossing_pairs = crossing_pairs(&triangles, &points, &part_of, &crossed, progress);
    progress.go_on()?;

    let areas: Vec<f64> = triangles
        .par_iter()
        .map(|t| {
            let [a, b, c] = t.map(|i| points[i as usize]);
            (b - a).cross(c - a).length() / 2.0
        })
        .collect();
    report.area = areas.iter().sum();
    let (materials, parts_of_file) = (mesh.materials.clone(), mesh.parts.clone());
    let mut out = Mesh { materials, parts: parts_of_file, origin: mesh.origin, ..Mesh::default() };
    for (slot, &(k, [a, b, c])) in repair.faces.iter().enumerate() {
        if areas[slot] == 0.0 {
            report.dropped_degenerate += 1;
            continue;
        }
        out.triangles.push(if same_turn(triangles[slot], as_read[slot]) { [a, b, c] } else { [a, c, b] });
        if let Some(&material) = mesh.triangle_material.get(k as usize) {
            out.triangle_material.push(material);
        }
        out.smoothing.extend(mesh.smoothing.get(k as usize));
        out.triangle_part.extend(mesh.triangle_part.get(k as usize));
    }
    take_used_vertices(&repair.mesh, &mut out);
    let (low, high) = out.positions.iter().fold(([f32::MAX; 3], [f32::MIN; 3]), |(low, high), p| {
        (std::array::from_fn(|k| low[k].min(p[k])), std::array::from_fn(|k| high[k].max(p[k])))
    });
    if !out.positions.is_empty() {
        (report.bounds_low, report.bounds_high) = (low, high);
    }
    let centre = (DVec3::from(report.bounds_low.map(f64::from))
        + DVec3::from(report.bounds_high.map(f64::from)))
        / 2.0;
    report.volume =
        triangles.iter().map(|t| orient::cone_volume(t.map(|i| points[i as usize] - centre))).sum();
    report.volume_of = if report.closed { "closed mesh" } else { "open mesh" }.into();
    let mut with_caps = None;
    if !report.closed
        && report.unorientable_components == 0
        && !progress.is_cancelled()
        && let Some((whole, holes)) = capped(&out)
    {
        let corner = |i: u32| DVec3::from_array(whole.positions[i as usize].map(f64::from)) - centre;
        report.volume = whole.triangles.iter().map(|t| orient::cone_volume(t.map(corner))).sum();
        (report.cap_holes, report.volume_of) = (holes, "mesh with caps".into());
        with_caps = Some(whole);
    }
    let left_parts = crossed.into_iter().map(AtomicBool::into_inner).filter(|crossed| *crossed).count();
    if with_caps.is_none() && left_parts > 0 {
        report.union = Some(UnionReport {
            left_parts,
            triangles_before: out.triangles.len(),
            triangles_after: out.triangles.len(),
            volume_before: report.volume,
            volume_after: report.volume,
            ..UnionReport::default()
        });
    }
    Some(Healed { mesh: out, with_caps, report, outward })
}

/// A mesh that is closed, with parts that pass through each other united, and its figures in the report; `None` where
/// nothing is united.
fn united(mesh: &Mesh, report: &mut HealthReport, progress: &Progress) -> Option<Mesh> {
    let found = unite(mesh, report.crossing_pairs > 0, progress);
    let mut union = UnionReport {
        united_parts: found.parts,
        left_parts: found.left,
        united_alone: found.alone,
        left_alone: found.left_alone,
        triangles_before: mesh.triangles.len(),
        triangles_after: mesh.triangles.len(),
        volume_before: report.volume,
        volume_after: report.volume,
    };
    let Some(mut united) = found.mesh.filter(|mesh| !mesh.triangles.is_empty()) else {
        report.union = (found.left + found.left_alone > 0).then_some(union);
        return None;
    };
    let mut out = Mesh {
        triangles: std::mem::take(&mut united.triangles),
        triangle_material: std::mem::take(&mut united.triangle_material),
        smoothing: std::mem::take(&mut united.smoothing),
        triangle_part: std::mem::take(&mut united.triangle_part),
        materials: std::mem::take(&mut united.materials),
        parts: std::mem::take(&mut united.parts),
        origin: united.origin,
        ..Mesh::default()
    };
    take_used_vertices(&united, &mut out);
    let corners = |t: &[u32; 3]| t.map(|i| DVec3::from_array(out.positions[i as usize].map(f64::from)));
    let middle = corners(&out.triangles[0])[0];
    let area = |[a, b, c]: [DVec3; 3]| (b - a).cross(c - a).length() / 2.0;
    report.volume = out.triangles.iter().map(|t| orient::cone_volume(corners(t).map(|p| p - middle))).sum();
    report.area = out.triangles.iter().map(|t| area(corners(t))).sum();
    (union.triangles_after, union.volume_after) = (out.triangles.len(), report.volume);
    report.union = Some(union);
    Some(out)
}

/// Whether two triangles of the same vertices have the same orientation.
fn same_turn(a: [u32; 3], b: [u32; 3]) -> bool {
    a == b || a == [b[1], b[2], b[0]] || a == [b[2], b[0], b[1]]
}

/// Marks superfluous copies of triangles. Copies with the same orientation leave one. Of copies with opposite
/// orientations, one each stays, since they may be an inner wall that cancels; but a part consisting only of such pairs
/// is a sheet painted on both sides (double-sided exports), and keeps one side. With `keep_surplus`, the number of
/// copies that remain is the difference between the two orientations, which preserves the boundary.
fn duplicates(triangles: &[[u32; 3]], welded_count: u32, keep_surplus: bool) -> Vec<bool> {
    let mut order: Vec<([u32; 3], u32)> = triangles
        .par_iter()
        .enumerate()
        .map(|(k, t)| {
            let mut sorted = *t;
            sorted.sort_unstable();
            (sorted, k as u32)
        })
        .collect();
    order.par_sort_unstable();
    let mut drop = vec![false; triangles.len()];
    let mut opposite: Vec<(u32, u32)> = Vec::new();
    let mut single: Vec<u32> = Vec::new();
    for group in order.chunk_by(|a, b| a.0 == b.0) {
        let first = group[0].1;
        if group.len() == 1 {
            single.push(first);
            continue;
        }
        let same = |k: u32| same_turn(triangles[first as usize], triangles[k as usize]);
        let along = group.iter().filter(|g| same(g.1)).count();
        let against = group.len() - along;
        let other = group.iter().map(|g| g.1).find(|&k| !same(k));
        group.iter().for_each(|g| drop[g.1 as usize] = true);
        match other {
            Some(other) if along == against => {
                (drop[first as usize], drop[other as usize]) = (false, false);
                opposite.push((first, other));
            }
            Some(other) if against > along => drop[other as usize] = false,
            _ => drop[first as usize] = false,
        }
        if along != against {
            single.push(first);
        }
        if keep_surplus && along != against {
            let majority = group.iter().map(|g| g.1).filter(|&k| same(k) == (along > against));
            majority.take(along.abs_diff(against)).for_each(|k| drop[k as usize] = false);
        }
    }
    if opposite.is_empty() {
        return drop;
    }
    let mut sets = UnionFind::new(welded_count as usize);
    for t in triangles {
        sets.join(t[0], t[1]);
        sets.join(t[1], t[2]);
    }
    let mut has_single = vec![false; welded_count as usize];
    for &k in &single {
        has_single[sets.find(triangles[k as usize][0]) as usize] = true;
    }
    for &(_, other) in &opposite {
        if !has_single[sets.find(triangles[other as usize][0]) as usize] {
            drop[other as usize] = true;
        }
    }
    drop
}

fn count_edges(
    report: &mut HealthReport,
    edges: &Edges,
    as_read: &[[u32; 3]],
    oriented: &[[u32; 3]],
    welded_count: u32,
) {
    let turned: Vec<bool> = as_read.iter().zip(oriented).map(|(a, b)| !same_turn(*a, *b)).collect();
    // Half edges are numbered by the original triangles.
    let start = |half: u32| as_read[half as usize / 3][half as usize % 3];
    report.closed = !oriented.is_empty();
    let mut sets = UnionFind::new(welded_count as usize);
    let mut open_ends = Vec::new();
    for ([low, high], group) in edges.groups() {
        let along = group.iter().filter(|g| (start(g.1) == low) != turned[g.1 as usize / 3]).count();
        report.closed &= along * 2 == group.len();
        match group {
            [_] => {
                report.open_edges += 1;
                sets.join(low, high);
                open_ends.push(low);
            }
            [a, b] => report.inconsistent_edges += usize::from(start(a.1) == start(b.1)),
            _ => report.non_manifold_edges += 1,
        }
    }
    let mut roots: Vec<u32> = open_ends.iter().map(|&v| sets.find(v)).collect();
    roots.sort_unstable();
    roots.dedup();
    report.boundary_loops = roots.len();
}

/// Copies the vertices that `out.triangles` (in `mesh` numbers) use, and renumbers.
fn take_used_vertices(mesh: &Mesh, out: &mut Mesh) {
    let mut number = vec![u32::MAX; mesh.positions.len()];
    for t in &out.triangles {
        t.iter().for_each(|&i| number[i as usize] = 0);
    }
    for (next, (vertex, number)) in number.iter_mut().enumerate().filter(|(_, n)| **n == 0).enumerate() {
        *number = next as u32;
        out.positions.push(mesh.positions[vertex]);
        out.colors.extend(mesh.colors.get(vertex));
        out.uvs.extend(mesh.uvs.get(vertex));
        out.uvs2.extend(mesh.uvs2.get(vertex));
        out.normals.extend(mesh.normals.get(vertex));
    }
    for t in &mut out.triangles {
        *t = t.map(|i| number[i as usize]);
    }
}

fn write_notes(report: &mut HealthReport, outward: &orient::Outward) {
    let many =
        |count: usize, one: &str, more: &str| format!("{count} {}", if count == 1 { one } else { more });
    let r = &*report;
    let union = r.union.clone().unwrap_or_default();
    let open = format!(
        "The surface is open: # in {}. The holes are closed to tell inside from outside.",
        many(r.boundary_loops, "loop", "loops")
    );
    let became = format!(
        "{} became {}, and the volume {:.4e} became {:.4e} cubic units.",
        many(union.triangles_before, "triangle", "triangles"),
        union.triangles_after,
        union.volume_before,
        union.volume_after
    );
    let united = format!("# united: {became}");
    let with = if union.united_alone == 1 { "itself" } else { "themselves" };
    let united_alone = format!("# united with {with}: {became}");
    let left_alone = format!(
        "# ({}) and cannot be united: what {} twice counts twice, also in meshes cut from it; mend it in a modelling program, \
         or take smooth meshes.",
        many(r.crossing_pairs, "pair of triangles meets", "pairs of triangles meet"),
        if union.left_alone == 1 { "it encloses" } else { "they enclose" }
    );
    let overlapping = if r.closed || r.cap_holes > 0 {
        "# pass through each other and cannot be united: what overlaps counts twice, also in meshes cut from it; \
         unite the parts in a modelling program, or take smooth meshes."
    } else {
        "# pass through each other and cannot be united, since the mesh is open and caps do not close it: what overlaps \
         counts twice in its volume; close the holes, or unite the parts, in a modelling program."
    };
    let of_parts =
        ["part that lies in another or passes through it is", "parts that pass through each other are"];
    let alone = ["part that passes through itself is", "parts that pass through themselves are"];
    let not_united = ["part passes through itself", "parts pass through themselves"];
    let inward = ["part that faces inward was", "parts that face inward were"];
    // How many, of what, and what is said of them, where `#` stands for both.
    #[rustfmt::skip]
    let found = [
        (r.dropped_non_finite, ["triangle", "triangles"], "# with a missing or non-finite vertex dropped."),
        (r.dropped_degenerate, ["triangle", "triangles"], "# without area dropped."),
        (r.dropped_duplicate, ["triangle", "triangles"], "# dropped that repeated another."),
        (r.welded_corners, ["corner", "corners"],
            "# moved to another within two millionths of the size, to close seams."),
        (r.inner_walls, ["triangle", "triangles"],
            "# of walls between parts that touch left out: the parts are one."),
        (r.turned_diagonals, ["quad", "quads"], "# on the same corners as another divided as that one is."),
        (r.divided_slivers, ["triangle", "triangles"], "# divided where one without area lay along a side."),
        (r.open_edges, ["open edge", "open edges"], open.as_str()),
        (r.cap_holes, ["hole is", "holes are"], "# closed by caps in meshes of the object's own triangles."),
        (r.non_manifold_edges, ["edge is shared", "edges are shared"], "# by more than two triangles."),
        (r.flipped_triangles, ["triangle", "triangles"], "# turned to agree with the rest or to face outward."),
        (r.unorientable_components, ["part has", "parts have"], "# no consistent inside and outside."),
        (r.voids, ["part is", "parts are"], "# facing inward inside another: sealed cavities."),
        (union.united_parts, of_parts, united.as_str()),
        (union.united_alone, alone, united_alone.as_str()),
        (union.left_alone, not_united, left_alone.as_str()),
        (union.left_parts, ["part", "parts"], overlapping),
        (outward.unexamined, inward,
            "# left as they were read: too many parts to test which lies inside which."),
    ];
    let there = found.into_iter().filter(|(count, ..)| *count > 0);
    let notes = there.map(|(count, [one, more], text)| text.replacen('#', &many(count, one, more), 1));
    report.notes = notes.collect();
}

#[cfg(test)]
mod tests;
