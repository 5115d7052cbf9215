//! The library in a handful of calls: a mesh becomes an [`Object`], a [`Fracture`] breaks it into [`Pieces`], and these
//! are written to files, moved as bodies of a [`World`](crate::World), or drawn as a [`Picture`].
//!
//! In: a mesh file, a built-in shape, or triangles. Out: pieces with their octrees, meshes and masses; files; PNG
//! pictures. Each call is a thin layer over the rooms below ([`import`](crate::import), [`fracture`](crate::fracture),
//! [`export`](crate::export), [`bodies`](crate::bodies), [`render`](crate::render)), and the commands of the program
//! make the same calls. Everything runs on the processor's cores unless an [`Engine`] on a graphics adapter is handed
//! over; results are the same bytes.
//!
//! Lengths are in the units of the mesh, which physics and pictures of a world take as metres. Axes are right-handed,
//! y up.
//!
//! ```
//! use kintsugi::{Format, Fracture, Object};
//!
//! let vase = Object::open("builtin:vase", 5)?;
//! let pieces = vase.fracture(&Fracture::new().cells(12).random_seed(7))?;
//! assert!(pieces.len() > 1);
//! let folder = std::env::temp_dir().join("kintsugi-doc-broken-vase");
//! pieces.export(&folder, &[Format::Glb])?;
//! assert!(folder.join("pieces.glb").is_file() && folder.join("report.json").is_file());
//! # std::fs::remove_dir_all(&folder).unwrap();
//! # Ok::<(), kintsugi::Error>(())
//! ```

mod engine;
mod export;
mod fracture;
mod matter;
mod object;
mod picture;
mod pieces;
pub(crate) mod stills;

pub use engine::{Engine, Observer, Quiet};
pub use export::Export;
pub(crate) use export::finish;
pub use fracture::Fracture;
pub(crate) use fracture::unit;
pub use matter::Matter;
pub use object::Object;
pub use picture::{Picture, Subject};
pub use pieces::{Piece, Pieces};
pub use stills::Viewpoint;

use crate::{
    export::{ExportError, mesh::original::NotOriginal},
    fracture::{FractureError, PatternError},
    gpu::GpuError,
    import::ImportError,
    mesh::MeshError,
};

/// Why a call of the library failed. Each message is one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The mesh could not be read or voxelised.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A parameter is out of range, or contradicts another.
    #[error("{0}")]
    Parameter(String),
    /// The direction of the blow has no length.
    #[error("the direction of the blow is zero or not finite; say which way it goes")]
    Direction,
    /// The method could not break the object.
    #[error(transparent)]
    Fracture(#[from] FractureError),
    /// The pieces cannot have meshes that are cut from the object's own.
    #[error(transparent)]
    NotOriginal(#[from] NotOriginal),
    /// A file could not be written.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// The graphics adapter failed, or there is none.
    #[error(transparent)]
    Gpu(#[from] GpuError),
}

impl From<MeshError> for Error {
    fn from(error: MeshError) -> Self {
        Self::Import(error.into())
    }
}

impl From<PatternError> for Error {
    fn from(error: PatternError) -> Self {
        Self::Fracture(error.into())
    }
}
