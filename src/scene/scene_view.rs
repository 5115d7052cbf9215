//! How a scene is shown, as its file has it: `[view]`.

use super::{Coloring, Scale};
use crate::parameter::is_default;

fn is_true(flag: &bool) -> bool {
    *flag
}

/// Display settings of a scene.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SceneView {
    /// What colours mean.
    pub color_by: Coloring,
    /// Colours of numbers, where colours mean some.
    #[serde(skip_serializing_if = "is_default")]
    pub scale: Scale,
    /// How far pieces are drawn apart, 0..=1 of their distance from the centre.
    pub explode: f64,
    /// Whether the floor is drawn.
    #[serde(skip_serializing_if = "is_true")]
    pub floor: bool,
    /// Whether background and floor of picture files are transparent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub transparent: bool,
    /// Whether the floor of transparent pictures keeps its shadows.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub catches_shadows: bool,
}

impl Default for SceneView {
    fn default() -> Self {
        Self {
            color_by: Coloring::default(),
            scale: Scale::default(),
            explode: 0.0,
            floor: true,
            transparent: false,
            catches_shadows: false,
        }
    }
}
