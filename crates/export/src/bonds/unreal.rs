//! `bonds_unreal.json`: what a Geometry Collection has of a break, as a table for scripts and tools of the engine.
//!
//! In: joints. Out: bones with parent and level, the root first, pieces that broke again as clusters of their pieces, lumps
//! as clusters, level in level; and the connections between pieces. Units are the engine's: cm, kg, forces in kg cm/s^2,
//! torques in kg cm^2/s^2; axes are left-handed, z up. Each bone and each connection has a line of its own.

use std::collections::BTreeSet;

use glam::DVec3;
use serde_json::{Value, json};

use super::{Joint, lump_level};
use crate::{Assembly, formats::usd};

/// Name of the root cluster.
const ROOT: &str = "kintsugi";

/// The table's text.
pub fn text(what: &Assembly, joints: &[Joint]) -> String {
    let space = what.handover.table_space();
    let mut bones = vec![json!({ "name": ROOT, "parent": null, "level": 0 })];
    let mut tree = usd::tree(what);
    let mut open = vec![(None, ROOT.to_owned(), 1)];
    let mut lumps = BTreeSet::new();
    while let Some((group, parent, level)) = open.pop() {
        let (pieces, groups) = tree.remove(&group).unwrap_or_default();
        for id in pieces {
            let (piece, solid) = (&what.pieces[id], what.solid(id));
            let centre = space.point(piece.placing.point(solid.centre));
            let (parent, level) = under_lumps((what, id), (parent.as_str(), level), &mut lumps, &mut bones);
            bones.push(json!({
                "name": piece.name(), "parent": parent, "level": level, "mass": solid.kg, "centre": centre.to_array(),
            }));
        }
        for id in groups.into_iter().rev() {
            let name = what.group_name(id);
            bones.push(json!({ "name": name, "parent": parent, "level": level }));
            open.push((Some(id), name, level + 1));
        }
    }
    let (force, torque) = (space.per_metre, space.per_metre * space.per_metre);
    let connection = |Joint { bond, holds }: &Joint| {
        let [a, b] = bond.pieces.map(|piece| &what.pieces[piece]);
        let units = a.placing.scale * space.per_metre;
        let normal: DVec3 = space.direction(a.placing.rotation * bond.normal);
        let mut row = json!({
            "a": a.name(), "b": b.name(), "area": bond.section * units * units,
            "centre": space.point(a.placing.point(bond.centre)).to_array(), "normal": normal.to_array(),
            "force": holds.force() * force, "torque": holds.torque() * torque,
            "pull": holds.pull * force, "press": holds.press * force, "slide": holds.slide * force,
            "bend": holds.bend * torque, "twist": holds.twist * torque,
        });
        if let Some(level) = lump_level(what, bond) {
            row["lump_level"] = json!(level);
        }
        row
    };
    let connections: Vec<Value> = joints.iter().map(connection).collect();
    let lines = |all: &[Value]| all.iter().map(|v| format!("    {v}")).collect::<Vec<_>>().join(",\n");
    format!(
        "{{\n  \"generator\": \"kintsugi {}\",\n  \"units\": {},\n  \"bones\": [\n{}\n  ],\n  \"connections\": [\n{}\n  ]\n}}\n",
        env!("CARGO_PKG_VERSION"),
        json!({ "length": "cm", "mass": "kg", "force": "kg cm/s^2", "torque": "kg cm^2/s^2" }),
        lines(&bones),
        lines(&connections)
    )
}

/// Adds bones for the lumps of a piece that have none yet, below the bone `parent`, whose children are at `level`. Returns the
/// bone that the piece lies under, and the level of the piece.
fn under_lumps(
    (what, id): (&Assembly, usize),
    (parent, level): (&str, usize),
    known: &mut BTreeSet<String>,
    bones: &mut Vec<Value>,
) -> (String, usize) {
    let (mut parent, mut level) = (parent.to_owned(), level);
    for (depth, number) in what.lumps.get(&id).into_iter().flatten().enumerate() {
        let name = format!("{ROOT}_lump_{depth}_{number:03}");
        if known.insert(name.clone()) {
            bones.push(json!({ "name": name, "parent": parent, "level": level }));
        }
        (parent, level) = (name, level + 1);
    }
    (parent, level)
}
