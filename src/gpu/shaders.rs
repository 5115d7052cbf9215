//! The embedded WGSL sources and their includes.
//!
//! A line `//#include shared/linear_id` is replaced by that file, once. [`ALL`] lists every file under `shaders/`; a test
//! compares it with the folder, and another parses and validates each kernel with the loader the program uses.

macro_rules! embed {
    ($($path:literal),* $(,)?) => {
        /// Every shader file: path under `shaders/` without its ending, and text.
        pub const ALL: &[(&str, &str)] =
            &[$(($path, include_str!(concat!("../../shaders/", $path, ".wgsl")))),*];
    };
}

embed! {
    "bodies/collide/octree/cell",
    "bodies/collide/octree/descend",
    "bodies/collide/octree/hits",
    "bodies/collide/octree/overlap/column",
    "bodies/collide/octree/overlap/gather",
    "bodies/collide/octree/overlap/lead",
    "bodies/collide/octree/overlap/link",
    "bodies/collide/octree/overlap/mean",
    "bodies/collide/octree/overlap/meet",
    "bodies/collide/octree/overlap/meeting",
    "bodies/collide/octree/overlap/sum",
    "bodies/collide/octree/pair",
    "bodies/collide/octree/surfel",
    "fracture/bricks",
    "fracture/candidates",
    "fracture/copy",
    "fracture/crack/attributes",
    "fracture/crack/corners",
    "fracture/crack/descent",
    "fracture/crack/descent_count",
    "fracture/crack/descent_emit",
    "fracture/crack/leaf_voxels_emit",
    "fracture/crack/nearest",
    "fracture/crack/node",
    "fracture/crack/noise",
    "fracture/crack/points",
    "fracture/crack/records",
    "fracture/crack/rough_count",
    "fracture/crack/rough_emit",
    "fracture/crack/rough_leaves_count",
    "fracture/crack/rough_leaves_emit",
    "fracture/crack/sides",
    "fracture/crack/touch",
    "fracture/crack/transition",
    "fracture/crack/transition_count",
    "fracture/crack/transition_write",
    "fracture/crack/voxel",
    "fracture/cuts",
    "fracture/dust/attributes",
    "fracture/dust/count",
    "fracture/dust/emit",
    "fracture/dust/leaf_voxels_emit",
    "fracture/dust/leaves_emit",
    "fracture/dust/records",
    "fracture/dust/shares",
    "fracture/dust/split",
    "fracture/dust/transition_write",
    "fracture/dust/voxel",
    "fracture/islands_around",
    "fracture/islands_bricks",
    "fracture/islands_flatten",
    "fracture/islands_hook",
    "fracture/islands_inherit",
    "fracture/labelling_flatten",
    "fracture/labelling_spread",
    "fracture/labelling_thread",
    "fracture/labelling_voxels",
    "fracture/leaves_count",
    "fracture/leaves_emit",
    "fracture/leaves_place",
    "fracture/nearest",
    "fracture/neighbour",
    "fracture/octants",
    "fracture/paint",
    "fracture/prune_keep",
    "fracture/prune_write",
    "fracture/seams",
    "fracture/source",
    "fracture/split_count",
    "fracture/split_emit",
    "fracture/split_leaves",
    "fracture/split_range",
    "fracture/traverse_count",
    "fracture/traverse_emit",
    "fracture/voronoi",
    "gpu/primitives/scan_apply",
    "gpu/primitives/scan_reduce",
    "render/blit",
    "render/compose",
    "render/frame",
    "render/light",
    "render/overlay",
    "render/primary",
    "render/seams",
    "render/trace",
    "shared/linear_id",
    "shared/octree",
    "shared/seams",
    "shared/volume",
}

/// The text of `shaders/<path>.wgsl` with its includes.
///
/// # Panics
/// If `path` or one of its includes is not embedded.
#[must_use]
pub fn source(path: &str) -> String {
    let mut out = String::new();
    let mut seen = Vec::new();
    expand(path, &mut seen, &mut out);
    out
}

fn expand(path: &str, seen: &mut Vec<String>, out: &mut String) {
    if seen.iter().any(|known| known == path) {
        return;
    }
    seen.push(path.to_owned());
    let (_, text) = ALL
        .iter()
        .find(|(known, _)| *known == path)
        .unwrap_or_else(|| panic!("shader {path} is not embedded"));
    for line in text.lines() {
        match line.strip_prefix("//#include ") {
            Some(other) => expand(other.trim(), seen, out),
            None => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn files(folder: &Path, root: &Path, out: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files(&path, root, out);
            } else if path.extension().is_some_and(|e| e == "wgsl") {
                let name = path.strip_prefix(root).unwrap().with_extension("");
                out.push(name.to_string_lossy().replace('\\', "/"));
            }
        }
    }

    fn validate(name: &str) -> Result<(naga::Module, naga::valid::ModuleInfo), String> {
        let text = source(name);
        let module = naga::front::wgsl::parse_str(&text).map_err(|e| e.emit_to_string(&text))?;
        let info = naga::valid::Validator::new(
            naga::valid::ValidationFlags::all(),
            naga::valid::Capabilities::default(),
        )
        .validate(&module)
        .map_err(|e| e.emit_to_string(&text))?;
        Ok((module, info))
    }

    #[test]
    fn every_file_is_embedded() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
        let mut found = Vec::new();
        files(&root, &root, &mut found);
        found.sort();
        let mut listed: Vec<_> = ALL.iter().map(|(name, _)| (*name).to_owned()).collect();
        listed.sort();
        assert_eq!(found, listed);
    }

    #[test]
    fn every_shader_is_valid_and_every_kernel_uses_all_its_bindings() {
        for (name, text) in ALL {
            // An include is validated with the kernels that include it.
            if !["@compute", "@fragment"].iter().any(|stage| text.contains(stage)) {
                let include = format!("//#include {name}");
                let used = ALL.iter().any(|(_, other)| other.lines().any(|l| l.trim_end() == include));
                assert!(used, "{name} is unused");
                continue;
            }
            let (module, info) = validate(name).unwrap_or_else(|e| panic!("{name}: {e}"));
            if !text.contains("@compute") {
                continue;
            }
            assert_eq!(module.entry_points.len(), 1, "{name}: one kernel a file");
            assert_eq!(module.entry_points[0].name, "main", "{name}");
            for (handle, var) in module.global_variables.iter() {
                let unused = var.binding.is_some() && info.get_entry_point(0)[handle].is_empty();
                assert!(!unused, "{name}: binding {:?} is unused, which drops it from the layout", var.name);
            }
        }
    }

    #[test]
    fn one_workgroup_size_is_declared() {
        assert!(
            source("shared/linear_id").contains(&format!("WORKGROUP: u32 = {}u;", crate::gpu::WORKGROUP))
        );
    }

    #[test]
    fn a_broken_shader_is_caught() {
        assert!(naga::front::wgsl::parse_str("fn main() { let x: u32 = 1.5f; }").is_err());
    }
}
