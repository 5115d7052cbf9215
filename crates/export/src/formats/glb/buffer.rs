//! The binary buffer of a file, with its views and accessors.

use serde_json::{Value, json};

/// Component type: 32-bit floats.
pub const FLOAT: u32 = 5126;
/// Component type: unsigned 16-bit integers.
pub const U16: u32 = 5123;
const U32: u32 = 5125;

/// The binary buffer with its views and accessors.
#[derive(Default)]
pub struct Buffer {
    /// Contents of the file's binary chunk.
    pub bytes: Vec<u8>,
    /// `bufferViews`.
    pub views: Vec<Value>,
    /// `accessors`.
    pub accessors: Vec<Value>,
}

impl Buffer {
    /// Adds points, with their bounding box as glTF requires.
    pub fn points(&mut self, data: &[[f32; 3]]) -> usize {
        let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
        for p in data {
            low = std::array::from_fn(|k| low[k].min(p[k]));
            high = std::array::from_fn(|k| high[k].max(p[k]));
        }
        let accessor = self.add(data, FLOAT, "VEC3", false);
        self.accessors[accessor]["min"] = json!(low);
        self.accessors[accessor]["max"] = json!(high);
        accessor
    }

    /// Adds vertex attributes.
    pub fn add<T: bytemuck::Pod>(
        &mut self,
        data: &[T],
        component: u32,
        kind: &str,
        normalized: bool,
    ) -> usize {
        const VERTICES: u32 = 34962;
        self.push(bytemuck::cast_slice(data), data.len(), component, kind, normalized, VERTICES)
    }

    /// Adds vertex indices.
    pub fn add_flat(&mut self, data: &[u32]) -> usize {
        const INDICES: u32 = 34963;
        self.push(bytemuck::cast_slice(data), data.len(), U32, "SCALAR", false, INDICES)
    }

    fn push(
        &mut self,
        bytes: &[u8],
        count: usize,
        component: u32,
        kind: &str,
        normalized: bool,
        target: u32,
    ) -> usize {
        let view = self.view(bytes, Some(target));
        let mut accessor =
            json!({ "bufferView": view, "componentType": component, "count": count, "type": kind });
        if normalized {
            accessor["normalized"] = true.into();
        }
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// Adds values of an animation, whose views have no target.
    pub fn keys<T: bytemuck::Pod>(&mut self, data: &[T], kind: &str) -> usize {
        let view = self.view(bytemuck::cast_slice(data), None);
        self.accessors
            .push(json!({ "bufferView": view, "componentType": FLOAT, "count": data.len(), "type": kind }));
        self.accessors.len() - 1
    }

    /// Adds ascending times of an animation.
    pub fn times(&mut self, times: &[f32]) -> usize {
        let accessor = self.keys(times, "SCALAR");
        self.accessors[accessor]["min"] = json!([times.first()]);
        self.accessors[accessor]["max"] = json!([times.last()]);
        accessor
    }

    /// Adds bytes to the buffer, aligned for any type of number.
    pub fn view(&mut self, bytes: &[u8], target: Option<u32>) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let mut view = json!({ "buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len() });
        if let Some(target) = target {
            view["target"] = target.into();
        }
        self.views.push(view);
        self.bytes.extend(bytes);
        self.views.len() - 1
    }
}
