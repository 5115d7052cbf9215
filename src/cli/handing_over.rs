//! Options of how pieces are handed to another program.

use clap::Args;

use crate::export::{Collision, Format, Handover, Pivot, Target};

/// What files are like beside their formats.
#[derive(Args, Default)]
pub struct HandoverArgs {
    /// Axes and units of a program's own: blender, houdini, unreal, unity [default: y up, units as they are; GLB is that
    /// way for all]
    #[arg(long, value_name = "PROGRAM", value_enum, hide_possible_values = true)]
    target: Option<Target>,
    #[arg(long, value_name = "WHERE", value_enum, default_value = "mass", hide_possible_values = true)]
    #[arg(help = format!(
        "Origins of nodes in {}: mass, the piece's centre of mass; origin, that of the whole object",
        Format::labels(|format| format.has_nodes)
    ))]
    pivot: Pivot,
    /// Convex shapes for physics, in collision.glb and in USD: none; hull, one a piece; parts, several where a piece is
    /// hollow or bent
    #[arg(long, value_name = "KIND", value_enum, default_value = "none", hide_possible_values = true)]
    collision: Collision,
    /// Fewer triangles, as far as meshes then move by at most so many voxels, 0.02 to 1 as a rule; 0 leaves them
    #[arg(long, value_name = "VOXELS", default_value_t = 0.0, value_parser = parse_simplify)]
    simplify: f64,
    /// Write bonds.csv: which pieces are neighbours, and how much crack they share
    #[arg(long)]
    bonds: bool,
}

impl HandoverArgs {
    /// What they ask for.
    pub fn handover(&self) -> Handover {
        let Self { target, pivot, collision, simplify, bonds } = *self;
        Handover { target, pivot, collision, simplify, bonds }
    }
}

fn parse_simplify(text: &str) -> Result<f64, String> {
    let value = super::parse_not_negative(text)?;
    let most = Handover::SIMPLIFY_MOST;
    if value <= most { Ok(value) } else { Err(format!("it must be from 0 to {most}")) }
}
