//! A digest that identifies the mesh of a result.

use std::{fmt::Write as _, sync::Arc};

use serde::{Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use super::Mesh;

impl Mesh {
    /// SHA-256, in hexadecimal digits, of the positions (x y z as float32) and then the triangles (three uint32 each),
    /// little-endian and in order: only the shape counts, whatever file it came from. Colours and normals are not
    /// included.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        for position in &self.positions {
            position.iter().for_each(|v| hash.update(v.to_le_bytes()));
        }
        for triangle in &self.triangles {
            triangle.iter().for_each(|i| hash.update(i.to_le_bytes()));
        }
        hexadecimal(&hash.finalize())
    }
}

/// A mesh that a report identifies by its digest, computed when the report is written.
#[derive(Clone, Debug)]
pub struct NamedByDigest(pub Arc<Mesh>);

impl Serialize for NamedByDigest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.digest())
    }
}

/// SHA-256 of bytes, in hexadecimal digits.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// Bytes as hexadecimal digits.
#[must_use]
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_the_one_that_numpy_computes_and_every_vertex_counts() {
        let mut mesh = Mesh {
            positions: vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.5]],
            triangles: vec![[0, 1, 2]],
            ..Mesh::default()
        };
        // hashlib.sha256(np.array([[0,0,0],[1,0,0],[0,1,.5]],'<f4').tobytes() + np.array([[0,1,2]],'<u4').tobytes())
        let digest = mesh.digest();
        assert_eq!(digest, DIGEST);
        mesh.colors = vec![[1, 2, 3]; 3];
        assert_eq!(mesh.digest(), digest, "colours are not the shape");
        mesh.positions[2][2] = 0.25;
        assert_ne!(mesh.digest(), digest);
        mesh.positions[2][2] = 0.5;
        mesh.triangles[0] = [0, 2, 1];
        assert_ne!(mesh.digest(), digest);
    }

    const DIGEST: &str = "d4d12f54a6605acd238b94e5bdd514beea1ef441c3c6494cb44892015805fb3d";
}
