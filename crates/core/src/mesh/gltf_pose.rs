//! Where a glTF file puts vertices beyond the transforms of nodes: copies of a node's mesh, skins in their resting pose, and
//! morph targets by their default weights; and what else vertices have that is left out.

use glam::DMat4;

use super::{
    gltf::Reader,
    gltf_json::{MaterialJson, Node, Primitive},
    gltf_nodes::{PART_LIMIT, composed, instance_count},
    unchecked::Problem,
};

/// Most sets of four joints of a vertex.
const MOST_JOINT_SETS: usize = 4;

/// Attributes of files that Kintsugi writes, which the next break makes anew.
const OWN: [&str; 5] = ["_BEYOND", "_CELL", "_CELL_BEYOND", "_CRACK_DISTANCE", "_PIECE"];

/// What a skin in its resting pose does to the vertices of a part.
pub(super) struct Skinned<'p> {
    /// By joint the transform from the mesh to the scene.
    pose: &'p [DMat4],
    /// Joints and their weights, four a vertex and set.
    sets: Vec<[Vec<[f32; 4]>; 2]>,
}

impl Skinned<'_> {
    /// The transform of a vertex to the scene.
    pub fn at(&self, vertex: usize) -> DMat4 {
        let mut sum = DMat4::ZERO;
        for [joints, weights] in &self.sets {
            let of = |all: &[[f32; 4]]| all.get(vertex).copied().unwrap_or_default();
            for (joint, weight) in of(joints).into_iter().zip(of(weights)) {
                sum += self.pose.get(joint as usize).map_or(DMat4::ZERO, |pose| *pose * f64::from(weight));
            }
        }
        // The sum of the weights; rounding and packing move it off 1.
        let whole = sum.w_axis.w;
        if whole > 0.0 { sum * whole.recip() } else { self.pose.first().copied().unwrap_or(DMat4::IDENTITY) }
    }
}

impl Reader<'_> {
    /// Transforms of the copies of a node's mesh, or the one that leaves it where it is.
    pub(super) fn instances(&mut self, node: &Node) -> Result<Vec<DMat4>, Problem> {
        let Some(instances) = &node.extensions.instances else { return Ok(vec![DMat4::IDENTITY]) };
        self.unchecked.pace.go_on_now()?;
        let count = instance_count(self.root, node).unwrap_or(0).min(PART_LIMIT);
        let number = |name: &str| instances.attributes.get(name).copied();
        let [translation, rotation, scale] = ["TRANSLATION", "ROTATION", "SCALE"].map(number);
        let translations = translation.map(|n| self.values::<3>(n, count).unwrap_or_default());
        let rotations = rotation.map(|n| self.values::<4>(n, count).unwrap_or_default());
        let scales = scale.map(|n| self.values::<3>(n, count).unwrap_or_default());
        let found = [
            translations.as_ref().map(Vec::len),
            rotations.as_ref().map(Vec::len),
            scales.as_ref().map(Vec::len),
        ];
        if found.iter().flatten().any(|length| *length != count) {
            self.unchecked.warn("the places of a part's copies cannot be read; one copy is read");
            return Ok(vec![DMat4::IDENTITY]);
        }
        let at = |k: usize| {
            let translation = translations.as_ref().and_then(|all| Some(all.get(k)?.map(f64::from)));
            let rotation = rotations.as_ref().and_then(|all| Some(all.get(k)?.map(f64::from)));
            composed(translation, rotation, scales.as_ref().and_then(|all| Some(all.get(k)?.map(f64::from))))
        };
        Ok((0..count).map(at).collect())
    }

    /// By joint of a node's skin, the transform from the mesh to the scene; `None` for a node without a skin. `places`: the
    /// transforms of all nodes.
    pub(super) fn pose(&mut self, node: &Node, places: &[Option<DMat4>]) -> Option<Vec<DMat4>> {
        let skin = self.root.skins.get(node.skin?)?;
        let inverse = match skin.inverse_bind_matrices {
            Some(number) => self.values::<16>(number, skin.joints.len()).unwrap_or_default(),
            None => Vec::new(),
        };
        if skin.inverse_bind_matrices.is_some() && inverse.len() != skin.joints.len() {
            self.unchecked.warn("a skin's matrices cannot be read; its part is read where its node is");
            return None;
        }
        let of = |(k, joint): (usize, &usize)| {
            let bind =
                inverse.get(k).map_or(DMat4::IDENTITY, |bind| DMat4::from_cols_array(&bind.map(f64::from)));
            Some(places.get(*joint).copied().flatten()? * bind)
        };
        let pose: Option<Vec<DMat4>> = skin.joints.iter().enumerate().map(of).collect();
        if pose.is_none() {
            self.unchecked.warn("a skin has a joint outside the scene; its part is read where its node is");
        }
        if pose.iter().flatten().any(|to_scene| !to_scene.as_mat4().is_finite()) {
            self.unchecked.warn("a skin's matrices are not finite; its part is read where its node is");
            return None;
        }
        pose.filter(|pose| !pose.is_empty())
    }

    /// The joints of a part's vertices; `None` where it has none, or they cannot be read.
    pub(super) fn skinned<'p>(
        &mut self,
        primitive: &Primitive,
        pose: &'p [DMat4],
        count: usize,
    ) -> Option<Skinned<'p>> {
        let mut sets = Vec::new();
        for set in 0..MOST_JOINT_SETS {
            let Some(joints) = self.attribute::<4>(primitive, &format!("JOINTS_{set}"), count) else { break };
            let weights = self.attribute::<4>(primitive, &format!("WEIGHTS_{set}"), count);
            let Some(weights) = weights.filter(|weights| weights.len() == count) else {
                self.unchecked.warn("a skin's weights cannot be read; its part is read where its node is");
                return None;
            };
            sets.push([joints, weights]);
        }
        (!sets.is_empty()).then_some(Skinned { pose, sets })
    }

    /// Adds to vertices what the morph targets of these weights move them by.
    pub(super) fn morph(
        &mut self,
        primitive: &Primitive,
        weights: &[f32],
        name: &str,
        values: &mut [[f32; 3]],
    ) {
        for (target, &weight) in primitive.targets.iter().zip(weights).filter(|(_, weight)| **weight != 0.0) {
            let Some(&number) = target.get(name) else { continue };
            match self.values::<3>(number, values.len()) {
                Some(moved) => {
                    for (value, by) in values.iter_mut().zip(moved) {
                        *value = std::array::from_fn(|k| value[k] + weight * by[k]);
                    }
                }
                None => self.unchecked.warn("a morph target cannot be read and is left out"),
            }
        }
    }

    /// Notes the attributes of a part that pieces do not have.
    pub(super) fn look_at_attributes(&mut self, primitive: &Primitive, weights: &[f32]) {
        let material = primitive.material.and_then(|m| self.root.materials.get(m));
        // Pieces have their own, made anew.
        let has_tangents = material.is_some_and(MaterialJson::has_tangents);
        let is_joint = |name: &str| {
            let set = name.strip_prefix("JOINTS_").or_else(|| name.strip_prefix("WEIGHTS_"));
            set.and_then(|set| set.parse().ok()).is_some_and(|set: usize| set < MOST_JOINT_SETS)
        };
        let is_read = |name: &str| match name {
            "POSITION" | "NORMAL" | "COLOR_0" => true,
            "TANGENT" => has_tangents,
            // Sets of coordinates have a warning of their own.
            _ => name.starts_with("TEXCOORD_") || OWN.contains(&name) || is_joint(name),
        };
        for name in primitive.attributes.keys().filter(|name| !is_read(name)) {
            self.unchecked.left_out.note("attributes of vertices", name);
        }
        let targets = primitive.targets.iter().zip(weights).filter(|(_, weight)| **weight != 0.0);
        let is_moved = |name: &&String| !["POSITION", "NORMAL", "TANGENT"].contains(&name.as_str());
        for name in targets.flat_map(|(target, _)| target.keys()).filter(is_moved) {
            self.unchecked.left_out.note("attributes of morph targets", name);
        }
    }
}
