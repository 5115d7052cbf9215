//! Options that adapt the files to another program.

use std::ops::RangeInclusive;

use clap::Args;

use super::options::choice;
use crate::{
    bodies::structure::StrengthMaterial,
    export::{Collision, Format, Handover, Pivot, Target},
};

/// Properties of the files besides their formats.
#[derive(Args, Default)]
pub struct HandoverArgs {
    /// Axes and units for a program: blender, houdini, unreal, unity [default: y up, units unchanged; GLB is
    /// always so]
    #[arg(long, value_name = "PROGRAM", value_parser = choice::<Target>(), hide_possible_values = true)]
    target: Option<Target>,
    #[arg(long, value_name = "WHERE", value_parser = choice::<Pivot>(), default_value = "mass", hide_possible_values = true)]
    #[arg(help = format!(
        "Origins of nodes in {}: mass, the piece's centre of mass; origin, that of the whole object",
        Format::labels(|format| format.has_nodes)
    ))]
    pivot: Pivot,
    /// Convex shapes for physics, in collision.glb and in USD: none; hull, one per piece; parts, several for a hollow
    /// or bent piece
    #[arg(long, value_name = "KIND", value_parser = choice::<Collision>(), default_value = "none", hide_possible_values = true)]
    collision: Collision,
    /// Simplify meshes: how far their surface may move, in voxels, mostly 0.02 to 1; 0 simplifies the outsides of smooth
    /// meshes alone, by half a voxel
    #[arg(long, value_name = "VOXELS", default_value_t = 0.0, value_parser = parse_simplify)]
    simplify: f64,
    /// Keep all triangles of smooth meshes, too, where --simplify is 0
    #[arg(long)]
    all_triangles: bool,
    /// Give crack faces in meshes the relief of the material inside (--interior) as geometry: the longest edge of their
    /// triangles, in voxels, mostly 0.5 to 2; 0 leaves them smooth
    #[arg(long, value_name = "VOXELS", default_value_t = 0.0, value_parser = parse_relief_edge)]
    relief_edge: f64,
    /// Bake the look of crack faces to textures, in GLB, OBJ, USD and the folder textures: the side of a texel, in voxels,
    /// mostly 0.25 to 1; 0 makes none
    #[arg(long, value_name = "VOXELS", default_value_t = 0.0, value_parser = parse_bake)]
    bake: f64,
    /// Write bonds.csv: which pieces are neighbours, how much crack they share, and which loads break their bond; with
    /// --target blender, houdini or unreal, and with --format usda or usdc, also a file for that program
    #[arg(long)]
    bonds: bool,
    #[arg(long, value_name = "MATERIAL", value_parser = choice::<StrengthMaterial>(), hide_possible_values = true, requires = "bonds")]
    #[arg(help = format!(
        "Material whose strength the bonds have, and of a mesh its pieces' density: {} [default: what the scene says, \
         else {}]",
        StrengthMaterial::ALL.map(StrengthMaterial::name).join(", "),
        StrengthMaterial::default().name()
    ))]
    bond_strength: Option<StrengthMaterial>,
    /// What names of pieces begin with: a letter or an underscore, then letters, digits and underscores [default: piece]
    #[arg(long, value_name = "NAME", value_parser = parse_prefix)]
    prefix: Option<String>,
}

impl HandoverArgs {
    /// The settings that the options give.
    pub fn handover(&self) -> Handover {
        let Self { target, pivot, collision, simplify, all_triangles, .. } = *self;
        let Self { relief_edge, bake, bonds, bond_strength: strength, .. } = *self;
        Handover { target, pivot, collision, simplify, all_triangles, relief_edge, bake, bonds, strength }
    }
}

impl HandoverArgs {
    /// What names of pieces begin with.
    pub fn prefix(&self) -> Option<String> {
        self.prefix.clone()
    }
}

/// A name that is one in every format, as USD has the strictest rule.
pub(super) fn parse_prefix(text: &str) -> Result<String, String> {
    let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if is_plain && begins && text.len() <= 64 {
        Ok(text.to_owned())
    } else {
        Err("at most 64 letters, digits and underscores are wanted, and no digit first, as in wall_2".into())
    }
}

fn parse_simplify(text: &str) -> Result<f64, String> {
    let value = super::parse_not_negative(text)?;
    let most = Handover::SIMPLIFY_MOST;
    if value <= most { Ok(value) } else { Err(format!("it must be from 0 to {most}")) }
}

fn parse_relief_edge(text: &str) -> Result<f64, String> {
    parse_none_or(text, Handover::RELIEF_EDGE_LEAST..=Handover::RELIEF_EDGE_MOST)
}

fn parse_bake(text: &str) -> Result<f64, String> {
    parse_none_or(text, Handover::BAKE_LEAST..=Handover::BAKE_MOST)
}

fn parse_none_or(text: &str, range: RangeInclusive<f64>) -> Result<f64, String> {
    let value = super::parse_not_negative(text)?;
    if value == 0.0 || range.contains(&value) {
        Ok(value)
    } else {
        Err(format!("it must be 0, or from {} to {}", range.start(), range.end()))
    }
}
