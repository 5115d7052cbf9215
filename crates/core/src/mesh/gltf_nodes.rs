//! The nodes of a glTF scene: their transforms, the copies of their meshes, and their names.
//!
//! In: the JSON of a file. Out: each node of the scene with its transform, or a refusal of a file that places too much. Transforms
//! are doubles, since a map's models stand millions of units from the origin.

use super::{
    Part,
    gltf_json::{Node, Primitive, Root},
    unchecked::{CORNER_LIMIT, Pace, Problem},
};
use glam::{DMat4, DQuat, DVec3};
use std::collections::HashMap;

/// Limit of the total number of parts that nodes place, whether they have corners or not.
pub(super) const PART_LIMIT: usize = 1 << 20;

/// Refuses a file that places too many parts or corners. A small file can place one mesh any number of times, so they are
/// counted before anything is decoded, by sums per mesh.
pub(super) fn count_parts(root: &Root, pace: &mut Pace) -> Result<(), Problem> {
    let mut known: HashMap<usize, usize> = HashMap::new();
    let (mut parts, mut corners) = (0usize, 0usize);
    each_placed(root, |_, node, _| {
        pace.go_on()?;
        let (of_mesh, copies) = (parts_of(root, node), instance_count(root, node).unwrap_or(1));
        parts = parts.saturating_add(of_mesh.len().saturating_mul(copies));
        if let Some(mesh) = node.mesh {
            let count = || of_mesh.iter().fold(0, |sum: usize, part| sum.saturating_add(root.corners(part)));
            let of_one: usize = *known.entry(mesh).or_insert_with(count);
            corners = corners.saturating_add(of_one.saturating_mul(copies));
        }
        Ok(())
    })?;
    let refuse = |count: usize, what: &str, most: usize| {
        let text =
            format!("its nodes place {count} {what}, and {most} are the most; decimate it or place fewer");
        Err(Problem::whole(text))
    };
    match () {
        () if corners > CORNER_LIMIT => refuse(corners, "corners of triangles", CORNER_LIMIT),
        () if parts > PART_LIMIT => refuse(parts, "parts", PART_LIMIT),
        () => Ok(()),
    }
}

/// Most nodes above a node that its path names.
const MOST_ABOVE: usize = 16;
/// Most characters of a name.
const LONGEST_NAME: usize = 120;

/// The parent of each node.
pub(super) fn parents(root: &Root) -> Vec<Option<usize>> {
    let mut parents = vec![None; root.nodes.len()];
    for (number, node) in root.nodes.iter().enumerate() {
        for child in &node.children {
            if let Some(parent) = parents.get_mut(*child) {
                *parent = Some(number);
            }
        }
    }
    parents
}

/// Where the triangles of a node's mesh come from.
pub(super) fn named(root: &Root, parents: &[Option<usize>], number: usize, instance: Option<u32>) -> Part {
    let shown = |name: &Option<String>| {
        let plain = |c: char| if c.is_control() || c == '/' { ' ' } else { c };
        let name: String = name.as_deref()?.trim().chars().take(LONGEST_NAME).map(plain).collect();
        (!name.is_empty()).then_some(name)
    };
    let own = |number: usize| shown(&root.nodes.get(number)?.name);
    let mesh = || shown(&root.meshes.get(root.nodes.get(number)?.mesh?)?.name);
    let object = own(number).or_else(mesh).unwrap_or_else(|| format!("node_{number}"));
    let above = std::iter::successors(parents[number], |node| parents[*node]).take(MOST_ABOVE);
    let mut path: Vec<String> =
        above.map(|node| own(node).unwrap_or_else(|| format!("node_{node}"))).collect();
    path.reverse();
    path.push(object.clone());
    Part { object, node: path.join("/"), instance }
}

/// The primitives of a node's mesh.
pub(super) fn parts_of<'a>(root: &'a Root, node: &Node) -> &'a [Primitive] {
    node.mesh.and_then(|mesh| root.meshes.get(mesh)).map_or(&[], |mesh| &mesh.primitives)
}

/// Visits every node of the scene in order, with its number and its transform.
pub(super) fn each_placed(
    root: &Root,
    mut visit: impl FnMut(usize, &Node, DMat4) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let roots: Vec<usize> = match root.scenes.get(root.scene.unwrap_or(0)) {
        Some(scene) => scene.nodes.clone(),
        None => (0..root.nodes.len()).collect(),
    };
    let mut stack: Vec<(usize, DMat4)> = roots.iter().rev().map(|&node| (node, DMat4::IDENTITY)).collect();
    // A node has one parent; a file that violates this could loop or multiply without end.
    let mut visited = vec![false; root.nodes.len()];
    while let Some((number, from_parent)) = stack.pop() {
        let Some(node) = root.nodes.get(number) else { continue };
        if std::mem::replace(&mut visited[number], true) {
            continue;
        }
        let to_scene = from_parent * placement(node);
        visit(number, node, to_scene)?;
        stack.extend(node.children.iter().rev().map(|&child| (child, to_scene)));
    }
    Ok(())
}

fn placement(node: &Node) -> DMat4 {
    match &node.matrix {
        Some(matrix) => DMat4::from_cols_array(matrix),
        None => composed(node.translation, node.rotation, node.scale),
    }
}

/// Number of copies of a node's mesh, if the node has any.
pub(super) fn instance_count(root: &Root, node: &Node) -> Option<usize> {
    let instances = node.extensions.instances.as_ref()?;
    let counts = instances.attributes.values().filter_map(|&number| Some(root.accessors.get(number)?.count));
    Some(counts.max().unwrap_or(0))
}

/// The transform that scales, turns and moves.
pub(super) fn composed(
    translation: Option<[f64; 3]>,
    rotation: Option<[f64; 4]>,
    scale: Option<[f64; 3]>,
) -> DMat4 {
    let rotation = rotation.map_or(DQuat::IDENTITY, DQuat::from_array);
    let is_turned = rotation.length_squared() > 0.0;
    DMat4::from_translation(translation.unwrap_or_default().into())
        * DMat4::from_quat(if is_turned { rotation.normalize() } else { DQuat::IDENTITY })
        * DMat4::from_scale(scale.unwrap_or([1.0; 3]).into())
}

/// Sine below which the axes of a transform lie in one plane, as far as single precision can tell.
const IN_ONE_PLANE: f64 = 1e-7;

/// Whether a transform is finite in single precision and leaves solids their volume, however small.
pub(super) fn keeps_volume(transform: DMat4) -> bool {
    let axes = [transform.x_axis, transform.y_axis, transform.z_axis];
    let [x, y, z] = axes.map(|axis| axis.truncate().normalize_or(DVec3::ZERO));
    transform.as_mat4().is_finite() && x.cross(y).dot(z).abs() > IN_ONE_PLANE
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::gltf_tests::{Glb, volume};

    /// Nodes place their meshes in double precision: a small mesh far away keeps its shape, counted from an origin beside it.
    #[test]
    fn what_a_node_places_far_away_is_moved_before_it_is_rounded() {
        let mut glb = Glb::of_box();
        glb.document["nodes"] = json!([{"children": [1], "translation": [500_123.25, 0.0, 4_649_776.75]},
            {"mesh": 0, "translation": [0.0, 0.125, 0.1]}]);
        glb.document["scenes"] = json!([{"nodes": [0]}]);
        let (mesh, warnings) = glb.load().unwrap();
        assert!((volume(&mesh) - 1.0).abs() < 1e-5, "{}", volume(&mesh));
        for (k, wanted) in [500_123.25, 0.125, 4_649_776.85].into_iter().enumerate() {
            let low = mesh.positions.iter().map(|p| p[k]).fold(f32::MAX, f32::min);
            let there = f64::from(low) + mesh.origin[k];
            // Planted error to see this fail: round the sum of the translations.
            assert!((there - wanted).abs() < 1e-6, "{there} for {wanted}");
        }
        assert!(warnings.len() == 1 && warnings[0].0.contains("positions are counted from"), "{warnings:?}");
        // The warning about what the file itself has rounded stays as before, though nodes turn or scale it.
        let mut glb = Glb::of_box();
        let corner = |c: u32| [c & 1, c >> 1 & 1, c >> 2].map(|v| 500_000.25 + v as f32);
        let rounded = glb.floats(&[0, 1, 2, 3, 4, 5, 6, 7].map(corner), "VEC3");
        glb.part()["attributes"]["POSITION"] = json!(rounded);
        glb.document["nodes"][0]["scale"] = json!([0.1, 0.1, 0.1]);
        let (_, warnings) = glb.load().unwrap();
        assert!(warnings.iter().any(|told| told.0.contains("are rounded to steps")), "{warnings:?}");
    }
}
