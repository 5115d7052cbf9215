//! `bonds.usda`: a layer over `pieces.usda` or `pieces.usdc` with a fixed joint that breaks for every bond (UsdPhysics).
//!
//! In: joints. Out: the layer's text. It adds a physics scene and the joints, and gives the bodies masses in kg where those
//! of `pieces.usda` are at density 1. A stage has its own unit of length, so a force of 1 N is `per_metre` of the stage's
//! units of force, and a torque of 1 N m the square of that.

use std::fmt::Write as _;

use glam::{DQuat, DVec3};

use super::{Joint, lump_level};
use crate::{Assembly, ExportPiece, FileSpace, Format, formats::usd};

/// Standard gravity, m/s^2.
const GRAVITY: f64 = 9.806_65;

/// The layer's text.
pub fn text(what: &Assembly, joints: &[Joint]) -> String {
    let space = what.handover.space(&Format::Usda);
    let mut out = String::new();
    let down = if space.is_z_up() { "(0, 0, -1)" } else { "(0, -1, 0)" };
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(
        out,
        "#usda 1.0\n(\n    defaultPrim = \"{root}\"\n    doc = \"kintsugi {}\"\n    kilogramsPerUnit = 1\n    \
         metersPerUnit = {}\n    subLayers = [@./{}@]\n    upAxis = \"{}\"\n)\n\nover \"{root}\"\n{{\n    \
         def PhysicsScene \"physics\"\n    {{\n        vector3f physics:gravityDirection = {down}\n        \
         float physics:gravityMagnitude = {}\n    }}\n",
        env!("CARGO_PKG_VERSION"),
        space.per_metre.recip(),
        Format::Usda.file,
        if space.is_z_up() { "Z" } else { "Y" },
        (GRAVITY * space.per_metre) as f32,
        root = usd::ROOT,
    );
    if what.relative_masses {
        masses(&mut out, what, &space, (&mut usd::tree(what), None, 1));
    }
    out += "    def Scope \"bonds\"\n    {\n";
    joints.iter().for_each(|joint| write_joint(&mut out, what, &space, joint));
    out += "    }\n}\n";
    out
}

/// Masses and moments of inertia in kg, over the bodies below a group.
fn masses(
    out: &mut String,
    what: &Assembly,
    space: &FileSpace,
    (tree, group, depth): (&mut usd::Tree, Option<usize>, usize),
) {
    let indent = "    ".repeat(depth);
    let (pieces, groups) = tree.remove(&group).unwrap_or_default();
    for id in pieces {
        let solid = what.solid(id);
        if solid.kg > 0.0 {
            let scale = what.pieces[id].placing.scale * space.per_metre;
            let (moments, [x, y, z, w]) = usd::principal(&solid, scale);
            let _ = writeln!(
                out,
                "{indent}over \"{}\"\n{indent}{{\n{indent}    float physics:mass = {}\n{indent}    \
                 float3 physics:diagonalInertia = ({}, {}, {})\n{indent}    \
                 quatf physics:principalAxes = ({w}, {x}, {y}, {z})\n{indent}}}\n",
                what.pieces[id].name(),
                solid.kg as f32,
                moments.x,
                moments.y,
                moments.z
            );
        }
    }
    for id in groups {
        let _ = writeln!(out, "{indent}over \"{}\"\n{indent}{{", what.group_name(id));
        masses(out, what, space, (tree, Some(id), depth + 1));
        let _ = writeln!(out, "{indent}}}\n");
    }
}

/// A joint whose x axis is the normal of the crack. The frames in both bodies coincide in the world, since both bodies have
/// the axes and the unit of the same shape space.
fn write_joint(out: &mut String, what: &Assembly, space: &FileSpace, joint: &Joint) {
    let Joint { bond, holds } = joint;
    let [a, b] = bond.pieces.map(|piece| &what.pieces[piece]);
    let frame = |piece: &ExportPiece| {
        let scale = piece.placing.scale * space.per_metre;
        ((bond.centre - piece.pivot(what.handover.pivot)) * scale).as_vec3()
    };
    let [at_a, at_b] = [a, b].map(frame);
    let [x, y, z, w] = usd::unit(DQuat::from_rotation_arc(DVec3::X, bond.normal.normalize_or(DVec3::X)));
    let (force, torque) = (space.per_metre, space.per_metre * space.per_metre);
    let _ = writeln!(
        out,
        "        def PhysicsFixedJoint \"{}_{}\"\n        {{\n            rel physics:body0 = <{}>\n            \
         rel physics:body1 = <{}>\n            point3f physics:localPos0 = ({}, {}, {})\n            \
         quatf physics:localRot0 = ({w}, {x}, {y}, {z})\n            point3f physics:localPos1 = ({}, {}, {})\n            \
         quatf physics:localRot1 = ({w}, {x}, {y}, {z})\n            float physics:breakForce = {}\n            \
         float physics:breakTorque = {}",
        a.name(),
        b.name(),
        usd::path(what, a),
        usd::path(what, b),
        at_a.x,
        at_a.y,
        at_a.z,
        at_b.x,
        at_b.y,
        at_b.z,
        (holds.force() * force) as f32,
        (holds.torque() * torque) as f32,
    );
    let single = [
        ("pullForce", holds.pull * force),
        ("pressForce", holds.press * force),
        ("slideForce", holds.slide * force),
        ("bendTorque", holds.bend * torque),
        ("twistTorque", holds.twist * torque),
    ];
    for (name, value) in single {
        let _ = writeln!(out, "            custom float kintsugi:{name} = {}", value as f32);
    }
    if let Some(level) = lump_level(what, bond) {
        let _ = writeln!(out, "            custom int kintsugi:lumpLevel = {level}");
    }
    *out += "        }\n\n";
}
