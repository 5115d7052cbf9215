//! The library in a handful of calls: a mesh becomes an [`Object`], a [`Fracture`] breaks it into [`Pieces`], and these
//! are written to files, moved as bodies of a [`World`](crate::World), or drawn as a [`Picture`].
//!
//! In: a mesh file, a built-in shape, or triangles. Out: pieces with their octrees, meshes and masses; files; PNG
//! pictures. Each call is a thin layer over the rooms below ([`import`](crate::import), [`fracture`](crate::fracture),
//! [`export`](crate::export), [`bodies`](crate::bodies), [`render`](crate::render)), and the commands of the program
//! make the same calls. Everything runs on the processor's cores unless an [`Engine`] on a graphics adapter is handed
//! over; results are the same bytes.

mod arrays;
mod breaking;
mod engine;
mod error;
mod export;
mod fracture;
pub(crate) mod inside;
pub(crate) mod lettering;
mod matter;
mod object;
mod picture;
mod pieces;
pub(crate) mod play;
pub(crate) mod stamp;
pub(crate) mod stills;

pub use engine::{Engine, Observer, Quiet};
pub use error::Error;
pub use export::Export;
pub(crate) use export::finish;
pub use fracture::Fracture;
pub(crate) use fracture::unit;
pub use matter::Matter;
pub use object::Object;
pub use picture::{Picture, Subject};
pub use pieces::{Piece, Pieces};
pub use play::Play;
pub use stills::Viewpoint;
