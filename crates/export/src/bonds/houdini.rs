//! `bonds_houdini.geo`: a constraint network for Houdini's Bullet solver, as geometry in Houdini's JSON.
//!
//! In: joints. Out: two points and an open polyline for each. A point is an anchor: `P`, and in `name` the piece that it
//! belongs to. Both anchors of a joint lie in the middle of its crack. A primitive says in `constraint_name` and
//! `constraint_type` which constraint it is, and in `strength` what its glue bears (SideFX, *Constraint Network DOP* and
//! *Glue Constraint Relationship DOP*).
//!
//! Glue breaks once the impulses of collisions on it exceed its strength, so `strength` is the impulse of the break force
//! over a frame. `break_force` and `break_torque` are what a SOP solver compares the `force` and the `torque` of hard
//! constraints with. Where pieces are in lumps, points say in `cluster_0`, `cluster_1` ... in which at each level, and
//! primitives in `cluster_level` which is the first level at which their ends are in different ones.

use serde_json::{Value, json};

use super::{Joint, lump_level};
use crate::Assembly;

/// Length of a frame, s: Houdini's default.
pub const FRAME: f64 = 1.0 / 24.0;

/// The geometry's text.
pub fn text(what: &Assembly, joints: &[Joint]) -> String {
    let space = what.handover.table_space();
    let mut names: Vec<String> = Vec::new();
    let mut number = vec![usize::MAX; what.pieces.len()];
    let (mut places, mut owners, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for Joint { bond, .. } in joints {
        for piece in bond.pieces {
            if number[piece] == usize::MAX {
                number[piece] = names.len();
                names.push(what.pieces[piece].name());
            }
            let at = space.point(what.pieces[piece].placing.point(bond.centre));
            places.push(at.to_array());
            owners.push(number[piece]);
            ends.push(piece);
        }
    }
    let each = |value: fn(&Joint) -> f64| joints.iter().map(value).collect::<Vec<f64>>();
    let (points, lines) = (places.len(), joints.len());
    let runs = json!([[
        ["type", "PolygonCurve_run"],
        ["startvertex", 0, "nprimitives", lines, "nvertices_rle", [2, lines]]
    ]]);
    let mut of_points = vec![vectors("P", &places), strings("name", &names, &owners)];
    let mut of_lines = vec![
        strings("constraint_name", &["Glue".to_owned()], &vec![0; lines]),
        strings("constraint_type", &["all".to_owned()], &vec![0; lines]),
        numbers("strength", &each(|joint| joint.holds.force() * FRAME)),
        numbers("break_force", &each(|joint| joint.holds.force())),
        numbers("break_torque", &each(|joint| joint.holds.torque())),
        numbers("pull", &each(|joint| joint.holds.pull)),
        numbers("press", &each(|joint| joint.holds.press)),
        numbers("slide", &each(|joint| joint.holds.slide)),
    ];
    // A piece without a lump is in lump -1.
    for level in 0..what.lumps.values().map(Vec::len).max().unwrap_or(0) {
        let lump = |piece: &usize| what.lumps.get(piece).and_then(|own| own.get(level)).copied();
        let lumps: Vec<i64> = ends.iter().map(|piece| lump(piece).map_or(-1, i64::from)).collect();
        of_points.push(integers(&format!("cluster_{level}"), &lumps));
    }
    if !what.lumps.is_empty() {
        let level = |joint: &Joint| lump_level(what, &joint.bond).map_or(-1, |level| level as i64);
        of_lines.push(integers("cluster_level", &joints.iter().map(level).collect::<Vec<_>>()));
    }
    let document = json!([
        "fileversion",
        "18.5.0",
        "hasindex",
        false,
        "pointcount",
        points,
        "vertexcount",
        points,
        "primitivecount",
        lines,
        "info",
        { "software": concat!("kintsugi ", env!("CARGO_PKG_VERSION")) },
        "topology",
        ["pointref", ["indices", (0..points).collect::<Vec<_>>()]],
        "attributes",
        [
            "pointattributes",
            of_points,
            "primitiveattributes",
            of_lines
        ],
        "primitives",
        if lines == 0 { json!([]) } else { runs }
    ]);
    format!("{document}\n")
}

fn numbers(name: &str, values: &[f64]) -> Value {
    scalars(name, ["fpreal32", "fpreal64"], &json!(values))
}

fn integers(name: &str, values: &[i64]) -> Value {
    scalars(name, ["int32", "int64"], &json!(values))
}

/// An attribute of one number an element, stored so, with a default that is stored so.
fn scalars(name: &str, [storage, of_default]: [&str; 2], values: &Value) -> Value {
    json!([
        ["scope", "public", "type", "numeric", "name", name, "options", {}],
        [
            "size",
            1,
            "storage",
            storage,
            "defaults",
            ["size", 1, "storage", of_default, "values", [0]],
            "values",
            ["size", 1, "storage", storage, "arrays", [values]]
        ]
    ])
}

fn vectors(name: &str, values: &[[f64; 3]]) -> Value {
    json!([
        ["scope", "public", "type", "numeric", "name", name, "options",
            { "type": { "type": "string", "value": "point" } }],
        [
            "size",
            3,
            "storage",
            "fpreal32",
            "defaults",
            ["size", 1, "storage", "fpreal64", "values", [0]],
            "values",
            ["size", 3, "storage", "fpreal32", "tuples", values]
        ]
    ])
}

/// An attribute of strings: a list of them, and for each element its place in the list.
fn strings(name: &str, known: &[String], of: &[usize]) -> Value {
    json!([
        ["scope", "public", "type", "string", "name", name, "options", {}],
        [
            "size",
            1,
            "storage",
            "int32",
            "strings",
            known,
            "indices",
            ["size", 1, "storage", "int32", "arrays", [of]]
        ]
    ])
}
