//! Colours for what is measured: a map from shares to colours, a scale from values to shares, and the legend that says
//! which value has which colour.
//!
//! In: values, and the `[view.scale]` of a scene file. Out: sRGB colours, and a legend as rectangles and lines of text,
//! which the window paints and picture files are stamped with. Nothing here draws.

mod choice;
mod decimal;
mod field;
mod leaves;
mod legend;
mod map;
mod plate;
mod quantity;
mod scale;
mod scale_bar;
mod ticks;
mod values;

pub use choice::Coloring;
pub use field::{BodyField, BodyFields, FieldKind};
pub use leaves::LeafColors;
pub(super) use leaves::LeafValues;
pub use legend::{Key, Legend, MOST_ROWS};
pub use map::{ColorMap, NO_VALUE};
pub use plate::{Fill, Plate, Text};
pub use quantity::{BodyPlace, Kind, Place, Quantity, QuantityEntry, SeedSet, VoxelPlace};
pub use scale::{Range, Scale};
pub use scale_bar::{metres_per_pixel, scale_bar};
pub use values::{BodyColors, Painter};
pub(super) use values::{Pressing, body_place};
