//! Checks of a mesh before it is broken, and the repair that voxelisation needs.
//!
//! In: a mesh as read. Out: the same surface without useless triangles, with seams that nearly met closed, consistently
//! oriented if possible, with outermost parts facing outward, and the findings. Vertices keep their own colours and
//! texture coordinates.

use std::borrow::Cow;

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
    /// Whether the surface has no boundary, counted with orientation: inside and outside are well defined everywhere.
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
    /// Parts that overlap and could not be united, since they do not meet in whole lines: what overlaps counts twice.
    pub left_parts: usize,
    /// Parts that passed through themselves, and are one surface round all that they enclose now.
    pub united_alone: usize,
    /// Parts that pass through themselves and could not be united: what they enclose twice counts twice.
    pub left_alone: usize,
    /// Triangles of the whole mesh before.
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
    let Some((mut out, mut report, outward)) = healed(mesh, progress).filter(|_| !progress.is_cancelled())
    else {
        return Checked::default();
    };
    if report.closed && (report.components > 1 || report.non_manifold_edges + report.crossing_pairs > 0) {
        out = with_parts_united(out, &mut report, progress);
    }
    write_notes(&mut report, &outward);
    (out, report)
}

/// The mesh of [`check`], but with parts that pass through each other as they are.
#[must_use]
pub(crate) fn check_apart(mesh: &Mesh) -> Mesh {
    healed(mesh, &Progress::default()).map_or_else(Mesh::default, |healed| healed.0)
}

/// What [`check_while`] does to each part by itself, the findings, and those about parts within parts; nothing where
/// `progress` is cancelled.
fn healed(mesh: &Mesh, progress: &Progress) -> Option<(Mesh, HealthReport, orient::Outward)> {
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
    let part_of = parts.numbers();
    let part_of = |t: u32| part_of.get(t as usize).copied().unwrap_or_default();
    report.crossing_pairs = crossing_pairs(&triangles, &points, &part_of, progress);
    progress.go_on()?;
    report.voids = outward.voids;
    report.flipped_triangles = triangles.iter().zip(&as_read).filter(|(a, b)| !same_turn(**a, **b)).count();
    count_edges(&mut report, &edges, &as_read, &triangles, repair.weld.welded_count);

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
    if !report.closed
        && report.unorientable_components == 0
        && !progress.is_cancelled()
        && let Some((whole, holes)) = capped(&out)
    {
        let corner = |i: u32| DVec3::from_array(whole.positions[i as usize].map(f64::from)) - centre;
        report.volume = whole.triangles.iter().map(|t| orient::cone_volume(t.map(corner))).sum();
        (report.cap_holes, report.volume_of) = (holes, "mesh with caps".into());
    }
    Some((out, report, outward))
}

/// The mesh with parts that pass through each other united, and its figures in the report.
fn with_parts_united(mesh: Mesh, report: &mut HealthReport, progress: &Progress) -> Mesh {
    let found = unite(&mesh, report.crossing_pairs > 0, progress);
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
    let Some(mut united) = found.mesh else {
        report.union = (found.left + found.left_alone > 0).then_some(union);
        return mesh;
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
    out
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
    let mut notes = Vec::new();
    let mut note = |count: usize, text: String| {
        if count > 0 {
            notes.push(text);
        }
    };
    let r = &*report;
    let many =
        |count: usize, one: &str, more: &str| format!("{count} {}", if count == 1 { one } else { more });
    let triangles = |count| many(count, "triangle", "triangles");
    note(
        r.dropped_non_finite,
        format!("{} with a missing or non-finite vertex dropped.", triangles(r.dropped_non_finite)),
    );
    note(r.dropped_degenerate, format!("{} without area dropped.", triangles(r.dropped_degenerate)));
    note(r.dropped_duplicate, format!("{} dropped that repeated another.", triangles(r.dropped_duplicate)));
    note(
        r.welded_corners,
        format!(
            "{} moved to another within two millionths of the size, to close seams.",
            many(r.welded_corners, "corner", "corners")
        ),
    );
    note(
        r.inner_walls,
        format!(
            "{} of walls between parts that touch left out: the parts are one.",
            triangles(r.inner_walls)
        ),
    );
    note(
        r.turned_diagonals,
        format!(
            "{} on the same corners as another divided as that one is.",
            many(r.turned_diagonals, "quad", "quads")
        ),
    );
    note(
        r.divided_slivers,
        format!("{} divided where one without area lay along a side.", triangles(r.divided_slivers)),
    );
    note(
        r.open_edges,
        format!(
            "The surface is open: {} in {}. The holes are closed to tell inside from outside.",
            many(r.open_edges, "open edge", "open edges"),
            many(r.boundary_loops, "loop", "loops")
        ),
    );
    note(
        r.cap_holes,
        format!(
            "{} closed by caps in meshes of the object's own triangles.",
            many(r.cap_holes, "hole is", "holes are")
        ),
    );
    note(
        r.non_manifold_edges,
        format!(
            "{} by more than two triangles.",
            many(r.non_manifold_edges, "edge is shared", "edges are shared")
        ),
    );
    note(
        r.flipped_triangles,
        format!("{} turned to agree with the rest or to face outward.", triangles(r.flipped_triangles)),
    );
    note(
        r.unorientable_components,
        format!(
            "{} no consistent inside and outside.",
            many(r.unorientable_components, "part has", "parts have")
        ),
    );
    note(
        r.voids,
        format!("{} facing inward inside another: sealed cavities.", many(r.voids, "part is", "parts are")),
    );
    let union = r.union.clone().unwrap_or_default();
    let became = format!(
        "{} became {}, and the volume {:.4e} became {:.4e} cubic units.",
        triangles(union.triangles_before),
        union.triangles_after,
        union.volume_before,
        union.volume_after
    );
    note(
        union.united_parts,
        format!(
            "{} united: {became}",
            many(
                union.united_parts,
                "part that lies in another or passes through it is",
                "parts that pass through each other are"
            ),
        ),
    );
    note(
        union.united_alone,
        format!(
            "{} united with {}: {became}",
            many(
                union.united_alone,
                "part that passes through itself is",
                "parts that pass through themselves are"
            ),
            if union.united_alone == 1 { "itself" } else { "themselves" },
        ),
    );
    note(
        union.left_alone,
        format!(
            "{} ({}) and cannot be united: what {} twice counts twice, also in meshes cut from it; mend it in a modelling \
             program, or take smooth meshes.",
            many(union.left_alone, "part passes through itself", "parts pass through themselves"),
            many(r.crossing_pairs, "pair of triangles meets", "pairs of triangles meet"),
            if union.left_alone == 1 { "it encloses" } else { "they enclose" },
        ),
    );
    note(
        union.left_parts,
        format!(
            "{} pass through each other and cannot be united: what overlaps counts twice, also in meshes cut from it; unite \
             the parts in a modelling program, or take smooth meshes.",
            many(union.left_parts, "part", "parts")
        ),
    );
    note(
        outward.unexamined,
        format!(
            "{} left as they were read: too many parts to test which lies inside which.",
            many(outward.unexamined, "part that faces inward was", "parts that face inward were")
        ),
    );
    report.notes = notes;
}

#[cfg(test)]
mod tests {
    use super::super::builtin;
    use super::*;

    fn shape(name: &str) -> Mesh {
        builtin(name).unwrap()
    }

    fn join(a: &Mesh, b: &Mesh, shift: f32) -> Mesh {
        let mut out = a.clone();
        let base = a.positions.len() as u32;
        out.positions.extend(b.positions.iter().map(|p| [p[0] + shift, p[1], p[2]]));
        out.colors.extend(&b.colors);
        out.triangles.extend(b.triangles.iter().map(|t| t.map(|i| i + base)));
        out
    }

    fn inverted(mesh: &Mesh) -> Mesh {
        let mut out = mesh.clone();
        out.triangles.iter_mut().for_each(|t| t.swap(0, 2));
        out
    }

    #[test]
    fn built_in_shapes_are_healthy() {
        for name in super::super::BUILTIN_NAMES {
            let mesh = shape(name);
            let started = std::time::Instant::now();
            let (out, report) = check(&mesh);
            println!("{name}: {:?}, volume {:.4}", started.elapsed(), report.volume);
            let hollow = usize::from(["shell", "cavity"].contains(&name));
            assert!(report.closed, "{name}");
            assert_eq!((report.components, report.voids), (1 + hollow, hollow), "{name}");
            assert_eq!(report.notes.len(), hollow, "{name}: {:?}", report.notes);
            assert_eq!(out.triangles.len(), mesh.triangles.len());
            assert_eq!(out, mesh, "{name} was changed");
        }
    }

    #[test]
    fn an_inside_out_mesh_is_turned_with_its_voids() {
        for name in ["box", "shell", "cavity", "statue"] {
            let mesh = shape(name);
            let (out, report) = check(&inverted(&mesh));
            assert_eq!(report.flipped_triangles, mesh.triangles.len(), "{name}");
            assert!((report.volume - check(&mesh).1.volume).abs() < 1e-9, "{name}: {}", report.volume);
            assert_eq!(report.voids, check(&mesh).1.voids);
            assert_eq!(check(&out).1.flipped_triangles, 0);
        }
    }

    #[test]
    fn one_inverted_part_beside_another_is_turned_but_a_void_is_not() {
        let (ball, block) = (shape("sphere"), shape("box"));
        let (_, report) = check(&join(&block, &inverted(&ball), 3.0));
        assert_eq!((report.components, report.voids, report.flipped_triangles), (2, 0, ball.triangles.len()));
        assert!((report.volume - 1.0 - check(&ball).1.volume).abs() < 1e-6);
    }

    #[test]
    fn scattered_wrong_triangles_are_turned_back() {
        let mut mesh = shape("sphere");
        let planted: Vec<usize> = (0..mesh.triangles.len()).filter(|k| k * 7919 % 10 < 3).collect();
        planted.iter().for_each(|&k| mesh.triangles[k].swap(1, 2));
        let (_, report) = check(&mesh);
        assert_eq!(report.flipped_triangles, planted.len());
        assert!(report.inconsistent_edges > planted.len());
        assert!(report.closed && (report.volume - check(&shape("sphere")).1.volume).abs() < 1e-9);
    }

    #[test]
    fn an_open_box_counts_its_hole() {
        let mut mesh = shape("box");
        mesh.triangles.retain(|t| t.iter().any(|&i| mesh.positions[i as usize][1] < 1.0));
        let (_, report) = check(&mesh);
        assert_eq!((report.open_edges, report.boundary_loops, report.closed), (96, 1, false));
        assert_eq!((report.cap_holes, report.volume_of.as_str()), (1, "mesh with caps"));
        assert!((report.volume - 1.0).abs() < 1e-5, "{}", report.volume);
        assert_eq!(report.flipped_triangles, 0);
        assert!((report.area - 5.0).abs() < 1e-5);
        let (_, report) = check(&inverted(&mesh));
        assert_eq!(report.flipped_triangles, mesh.triangles.len());
    }

    #[test]
    fn a_moebius_strip_cannot_be_oriented() {
        let n = 24;
        let mut mesh = Mesh::default();
        for k in 0..n {
            let a = k as f32 / n as f32 * std::f32::consts::TAU;
            for side in [-0.3, 0.3] {
                let r = 1.0 + side * (a / 2.0).cos();
                mesh.positions.push([r * a.cos(), side * (a / 2.0).sin(), r * a.sin()]);
            }
        }
        for k in 0..n {
            let [a, b] = [2 * k, 2 * k + 1];
            let [c, d] = if k + 1 < n { [a + 2, a + 3] } else { [1, 0] };
            mesh.triangles.extend([[a, b, c], [b, d, c]]);
        }
        let (_, report) = check(&mesh);
        assert_eq!((report.unorientable_components, report.components, report.boundary_loops), (1, 1, 1));
        assert!(!report.closed);
    }

    #[test]
    fn copies_are_dropped_and_inner_walls_stay() {
        let block = shape("box");
        let count = block.triangles.len();
        let (out, report) = check(&join(&block, &block, 0.0));
        assert_eq!((report.dropped_duplicate, out.triangles.len()), (count, count));
        // Painted on both sides: one side remains and faces outward.
        let (_, report) = check(&join(&inverted(&block), &block, 0.0));
        assert_eq!((report.dropped_duplicate, report.closed), (count, true));
        assert!((report.volume - 1.0).abs() < 1e-6, "{}", report.volume);
        // Two blocks that share a wall, each with its own side of it.
        let (out, report) = check(&join(&block, &block, 1.0));
        assert_eq!((report.dropped_duplicate, out.triangles.len(), report.closed), (0, 2 * count, true));
        assert!(
            (report.volume - 2.0).abs() < 1e-5 && report.non_manifold_edges > 0 && report.components == 1
        );
    }

    #[test]
    fn a_triangle_used_twice_on_purpose_stays() {
        // Two closed tetrahedra on the same base, one on top of the other.
        let positions = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.2, 1.0, 0.2], [0.2, 2.0, 0.2]];
        let over = |top| [[0, 1, 2], [0, top, 1], [1, top, 2], [2, top, 0]];
        let triangles = over(3).into_iter().chain(over(4)).collect();
        let (out, report) = check(&Mesh { positions, triangles, ..Mesh::default() });
        assert_eq!((out.triangles.len(), report.dropped_duplicate, report.closed), (8, 0, true));
    }

    #[test]
    fn useless_triangles_go_and_attributes_stay_with_their_vertices() {
        let mut mesh = shape("box");
        mesh.uvs = mesh.positions.iter().map(|p| [p[0], p[1]]).collect();
        mesh.normals = mesh.positions.clone();
        mesh.triangle_material = vec![0; mesh.triangles.len()];
        let n = mesh.positions.len() as u32;
        mesh.positions.extend([[f32::NAN; 3], [9.0, 9.0, 9.0], [10.0, 10.0, 10.0], [11.0, 11.0, 11.0]]);
        mesh.colors.extend([[1, 2, 3]; 4]);
        mesh.uvs.extend([[7.0; 2]; 4]);
        mesh.normals.extend([[7.0; 3]; 4]);
        let bad = [[0, 1, n], [0, 1, n + 99], [0, 0, 1], [n + 1, n + 2, n + 3]];
        mesh.triangles.splice(0..0, bad);
        mesh.triangle_material.splice(0..0, [5; 4]);
        let (out, report) = check(&mesh);
        assert_eq!((report.dropped_non_finite, report.dropped_degenerate), (2, 2));
        assert_eq!(out.positions.len(), n as usize);
        assert_eq!(report.bounds_high, [0.5, 1.0, 0.5]);
        assert!(
            out.triangle_material.iter().all(|&m| m == 0)
                && out.triangle_material.len() == out.triangles.len()
        );
        assert!(out.positions.iter().zip(&out.uvs).all(|(p, uv)| *uv == [p[0], p[1]]));
        assert_eq!(out.normals, out.positions);
        assert_eq!((out.colors.len(), report.notes.len() >= 2), (n as usize, true));
    }

    #[test]
    fn a_removed_sliver_does_not_open_a_closed_surface() {
        // A tetrahedron whose bottom edge has a middle vertex on one side only, and a sliver that closes the slit.
        let positions = vec![[0.0; 3], [2.0, 0.0, 0.0], [0.0, 0.0, 2.0], [0.0, 2.0, 0.0], [1.0, 0.0, 0.0]];
        let triangles = vec![[0, 1, 2], [0, 3, 4], [4, 3, 1], [0, 2, 3], [1, 3, 2], [0, 4, 1]];
        let (out, report) = check(&Mesh { positions, triangles, ..Mesh::default() });
        // The sliver went, and the triangle along its longest side became two.
        assert_eq!((out.triangles.len(), report.dropped_degenerate, report.open_edges), (6, 1, 0));
        assert!(report.closed && report.divided_slivers == 1);
        let (again, report) = check(&out);
        assert!(report.closed && report.dropped_degenerate == 0 && again == out, "{report:?}");
    }

    #[test]
    fn corners_that_nearly_meet_are_one_and_others_are_not() {
        let mesh = shape("box");
        let soup = |off: f32| {
            // Every triangle has corners of its own, each moved by up to `off` by a plain congruence.
            let mut state = 1u32;
            let mut jitter = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 8) as f32 / (1 << 23) as f32 - 1.0
            };
            let corners = mesh.triangles.iter().flatten().map(|&i| mesh.positions[i as usize]);
            let positions: Vec<[f32; 3]> = corners.map(|p| p.map(|x| x + off * jitter())).collect();
            let triangles = (0..mesh.triangles.len() as u32).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
            Mesh { positions, triangles, ..Mesh::default() }
        };
        let (out, report) = check(&soup(5e-7));
        assert!(report.closed && report.welded_corners > 0, "{report:?}");
        assert!(
            (report.volume - 1.0).abs() < 1e-4 && topology(&out).welded_count == topology(&mesh).welded_count
        );
        assert!(report.notes[0].contains("to close seams"), "{:?}", report.notes);
        let (_, report) = check(&soup(1e-3));
        assert!(!report.closed && report.welded_corners == 0, "{report:?}");
    }

    #[test]
    fn two_sides_that_are_split_on_other_diagonals_are_one() {
        let corner = |c: u32| [c & 1, c >> 1 & 1, c >> 2].map(|v| v as f32);
        let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let fan = |[a, b, c, d]: [u32; 4]| [[a, b, c], [a, c, d]];
        let back = quads.map(|[a, b, c, d]| [d, c, b, a]);
        let triangles = quads.into_iter().chain(back).flat_map(fan).collect();
        let mesh = Mesh { positions: (0..8).map(corner).collect(), triangles, ..Mesh::default() };
        let (out, report) = check(&mesh);
        assert_eq!((out.triangles.len(), report.dropped_duplicate, report.turned_diagonals), (12, 12, 6));
        assert!(report.closed && (report.volume - 1.0).abs() < 1e-9, "{report:?}");
    }

    #[test]
    fn a_ring_is_closed_between_its_borders_and_a_sheet_is_not() {
        // A pipe with walls, open at its lower end: the cap is a ring.
        let n = 24u32;
        let mut pipe = Mesh::default();
        for (radius, y) in [(1.0f32, 0.0), (1.0, 2.0), (0.5, 2.0), (0.5, 0.0)] {
            pipe.positions.extend((0..n).map(|k| {
                let a = k as f32 / n as f32 * std::f32::consts::TAU;
                [radius * a.cos(), y, radius * a.sin()]
            }));
        }
        for row in 0..3 {
            for k in 0..n {
                let (a, b) = (row * n + k, row * n + (k + 1) % n);
                pipe.triangles.extend([[a, a + n, b], [b, a + n, b + n]]);
            }
        }
        let (out, report) = check(&pipe);
        assert_eq!((report.cap_holes, report.boundary_loops), (2, 2));
        let (whole, _) = capped(&out).unwrap();
        let (_, closed) = check(&whole);
        let side = std::f64::consts::TAU / f64::from(n);
        let expected = 2.0 * f64::from(n) * side.sin() / 2.0 * (1.0 - 0.25);
        assert!(closed.closed && (closed.volume - expected).abs() < 1e-4, "{} of {expected}", closed.volume);
        assert!((report.volume - closed.volume).abs() < 1e-9);
        let mut sheet = pipe;
        sheet.triangles.truncate(8);
        assert!(capped(&check(&sheet).0).is_none());
    }

    #[test]
    fn walls_between_solids_that_touch_cancel() {
        let block = shape("box");
        let both = join(&block, &block, 1.0);
        let one = super::super::without_inner_walls(&check(&both).0).unwrap();
        let (_, report) = check(&one);
        let wall =
            block.triangles.iter().filter(|t| t.iter().all(|&i| block.positions[i as usize][0] == 0.5));
        assert_eq!(one.triangles.len(), both.triangles.len() - 2 * wall.count());
        assert!(report.closed && report.non_manifold_edges == 0 && (report.volume - 2.0).abs() < 1e-5);
        assert!(super::super::without_inner_walls(&block).is_none());
    }

    /// A file that counts each part from the part's own middle rounds the two sides of a wall apart.
    #[test]
    fn walls_that_were_rounded_apart_cancel_between_parts_of_a_file_alone() {
        let block = shape("box");
        let count = block.triangles.len();
        let parted = |mut mesh: Mesh| {
            mesh.parts = vec![super::super::Part::default(); 2];
            mesh.triangle_part = [vec![0; count], vec![1; count]].concat();
            mesh
        };
        let mut both = parted(join(&block, &block, 1.0));
        for p in both.positions.iter_mut().skip(block.positions.len()) {
            *p = [p[0] + 1.5e-7, p[1] + 2e-7 * p[2], p[2] - 2e-7 * p[1]];
        }
        let is_wall = |t: &&[u32; 3]| t.iter().all(|&i| block.positions[i as usize][0] == 0.5);
        let wall = block.triangles.iter().filter(is_wall).count();
        let (out, report) = check(&both);
        assert_eq!((report.inner_walls, report.components, report.non_manifold_edges), (2 * wall, 1, 0));
        assert!(report.welded_corners > 0 && report.closed, "{report:?}");
        assert!((report.volume - 2.0).abs() < 1e-5 && report.union.is_none(), "{report:?}");
        assert_eq!(out.triangles.len(), 2 * (count - wall));
        assert!(report.notes.iter().any(|note| note.contains("the parts are one")), "{:?}", report.notes);
        // Two bodies of one part stay two.
        (both.parts, both.triangle_part) = (Vec::new(), Vec::new());
        let (_, report) = check(&both);
        assert_eq!((report.welded_corners, report.inner_walls, report.components), (0, 0, 2));
        // A part that is thinner than what counts as near keeps its two sides.
        let mut thin = parted(join(&block, &block, 3.0));
        thin.positions.iter_mut().take(block.positions.len()).for_each(|p| p[1] *= 1e-6);
        let (_, report) = check(&thin);
        assert_eq!((report.welded_corners, report.inner_walls), (0, 0));
    }

    #[test]
    fn vertices_split_at_seams_still_connect() {
        let mesh = shape("statue");
        let positions: Vec<[f32; 3]> =
            mesh.triangles.iter().flatten().map(|&i| mesh.positions[i as usize]).collect();
        let triangles = (0..mesh.triangles.len() as u32).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
        let (_, report) = check(&Mesh { positions, triangles, ..Mesh::default() });
        assert_eq!((report.components, report.open_edges, report.closed), (1, 0, true));
    }

    #[test]
    fn nothing_at_all_is_reported_as_such() {
        let (out, report) = check(&Mesh::default());
        assert!(out.triangles.is_empty() && !report.closed && report.components == 0);
    }
}
