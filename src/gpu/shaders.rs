//! The embedded WGSL sources and their includes.
//!
//! A line `//#include shared/linear_id` is replaced by that file, once. [`ALL`] lists every file under `shaders/`;
//! a test compares it with the folder, and another parses and validates each kernel with the loader the program
//! uses.

macro_rules! embed {
    ($($path:literal),* $(,)?) => {
        /// Every shader file: path under `shaders/` without its extension, and text.
        pub const ALL: &[(&str, &str)] =
            &[$(($path, include_str!(concat!("../../shaders/", $path, ".wgsl")))),*];
    };
}

embed! {
    "bodies/broad_phase/passes/boxes",
    "bodies/broad_phase/passes/branch",
    "bodies/broad_phase/passes/codes",
    "bodies/broad_phase/passes/lattice",
    "bodies/broad_phase/passes/moving_box",
    "bodies/broad_phase/passes/pairs",
    "bodies/broad_phase/passes/params",
    "bodies/broad_phase/passes/sort_block",
    "bodies/broad_phase/passes/sort_step",
    "bodies/broad_phase/passes/tree",
    "bodies/broad_phase/passes/turned",
    "bodies/broad_phase/passes/walk",
    "bodies/collide/octree/cell",
    "bodies/collide/octree/descend",
    "bodies/collide/octree/hits",
    "bodies/collide/octree/overlap/column",
    "bodies/collide/octree/overlap/first",
    "bodies/collide/octree/overlap/gather",
    "bodies/collide/octree/overlap/lead",
    "bodies/collide/octree/overlap/link",
    "bodies/collide/octree/overlap/mean",
    "bodies/collide/octree/overlap/meet",
    "bodies/collide/octree/overlap/meeting",
    "bodies/collide/octree/overlap/sum",
    "bodies/collide/octree/pair",
    "bodies/collide/octree/pair_cell",
    "bodies/collide/octree/passes/boxed",
    "bodies/collide/octree/passes/contact",
    "bodies/collide/octree/passes/enter",
    "bodies/collide/octree/passes/gather",
    "bodies/collide/octree/passes/inside",
    "bodies/collide/octree/passes/leaf_plane",
    "bodies/collide/octree/passes/levels",
    "bodies/collide/octree/passes/meet",
    "bodies/collide/octree/passes/pairs",
    "bodies/collide/octree/passes/params",
    "bodies/collide/octree/passes/plane_descend",
    "bodies/collide/octree/passes/plane_points",
    "bodies/collide/octree/passes/points",
    "bodies/collide/octree/passes/reduce",
    "bodies/collide/octree/passes/rounds",
    "bodies/collide/octree/passes/solid",
    "bodies/collide/octree/passes/task",
    "bodies/collide/octree/surfel",
    "fracture/box_cut/pass/cells",
    "fracture/box_cut/pass/cut",
    "fracture/box_cut/pass/gather",
    "fracture/box_cut/pass/neighbours",
    "fracture/box_cut/pass/shape",
    "fracture/box_cut/pass/wide",
    "fracture/voronoi/descent/candidates",
    "fracture/voronoi/descent/cells",
    "fracture/voronoi/descent/corner_owners",
    "fracture/voronoi/descent/count",
    "fracture/voronoi/descent/counting",
    "fracture/voronoi/descent/emit",
    "fracture/voronoi/descent/frame",
    "fracture/voronoi/descent/leaves_count",
    "fracture/voronoi/descent/octants",
    "fracture/voronoi/descent/source",
    "fracture/voronoi/descent/writing",
    "fracture/voronoi/descent/holders",
    "fracture/voronoi/exact",
    "fracture/voronoi/islands/around",
    "fracture/voronoi/islands/brick",
    "fracture/voronoi/islands/bricks",
    "fracture/voronoi/islands/flatten",
    "fracture/voronoi/islands/hook",
    "fracture/voronoi/islands/inherit",
    "fracture/voronoi/islands/labelling/flatten",
    "fracture/voronoi/islands/labelling/spread",
    "fracture/voronoi/islands/labelling/thread",
    "fracture/voronoi/islands/labelling/voxels",
    "fracture/voronoi/islands/neighbour",
    "fracture/voronoi/octrees/prune_keep",
    "fracture/voronoi/octrees/prune_write",
    "fracture/voronoi/octrees/split_count",
    "fracture/voronoi/octrees/split_emit",
    "fracture/voronoi/octrees/split_range",
    "fracture/voronoi/seams",
    "fracture/voronoi/surface/copy",
    "fracture/voronoi/surface/dusty/attributes",
    "fracture/voronoi/surface/dusty/count",
    "fracture/voronoi/surface/dusty/emit",
    "fracture/voronoi/surface/dusty/leaf_voxels_emit",
    "fracture/voronoi/surface/dusty/leaves_emit",
    "fracture/voronoi/surface/dusty/records",
    "fracture/voronoi/surface/dusty/shares",
    "fracture/voronoi/surface/dusty/split",
    "fracture/voronoi/surface/dusty/transition_write",
    "fracture/voronoi/surface/dusty/voxel",
    "fracture/voronoi/surface/paint",
    "fracture/voronoi/surface/place",
    "fracture/voronoi/surface/planar/chamfer",
    "fracture/voronoi/surface/planar/leaves_emit",
    "fracture/voronoi/surface/plane",
    "fracture/voronoi/surface/rough/attributes",
    "fracture/voronoi/surface/rough/copying",
    "fracture/voronoi/surface/rough/copying_voxels",
    "fracture/voronoi/surface/rough/corners",
    "fracture/voronoi/surface/rough/count",
    "fracture/voronoi/surface/rough/counting",
    "fracture/voronoi/surface/rough/descent",
    "fracture/voronoi/surface/rough/emit",
    "fracture/voronoi/surface/rough/leaf_voxels_emit",
    "fracture/voronoi/surface/rough/leaves_count",
    "fracture/voronoi/surface/rough/leaves_emit",
    "fracture/voronoi/surface/rough/nearest",
    "fracture/voronoi/surface/rough/node",
    "fracture/voronoi/surface/rough/noise",
    "fracture/voronoi/surface/rough/points",
    "fracture/voronoi/surface/rough/records",
    "fracture/voronoi/surface/rough/sides",
    "fracture/voronoi/surface/rough/touch",
    "fracture/voronoi/surface/rough/transition",
    "fracture/voronoi/surface/rough/transition_count",
    "fracture/voronoi/surface/rough/transition_write",
    "fracture/voronoi/surface/rough/vertices",
    "fracture/voronoi/surface/rough/voxel",
    "fracture/voronoi/surface/rough/writing",
    "gpu/primitives/plan",
    "gpu/primitives/radix",
    "gpu/primitives/radix_count",
    "gpu/primitives/radix_place",
    "gpu/primitives/scan_apply",
    "gpu/primitives/scan_reduce",
    "gpu/primitives/scanned",
    "render/blit",
    "render/compose",
    "render/frame",
    "render/light",
    "render/mesh",
    "render/mesh_look",
    "render/overlay",
    "render/primary",
    "render/seams",
    "render/trace",
    "shared/counted",
    "shared/linear_id",
    "shared/octree",
    "shared/seams",
    "shared/thread",
    "shared/volume",
    "svo/take_leaves",
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
    #[cfg(test)]
    let out = planting::spoil(path, out);
    out
}

/// Planting of errors: tests change the text of kernels that stages compile as usual.
#[cfg(test)]
pub(crate) mod planting {
    use std::cell::RefCell;

    struct Error {
        path: &'static str,
        from: &'static str,
        to: &'static str,
        planted: bool,
    }

    thread_local! {
        static PLANTED: RefCell<Option<Error>> = const { RefCell::new(None) };
    }

    /// Runs `work`, in which this thread compiles kernel `path` with `from` replaced by `to` in its text (includes
    /// resolved). Asserts that the kernel was compiled and contained the text.
    pub fn with_error<T>(
        path: &'static str,
        (from, to): (&'static str, &'static str),
        work: impl FnOnce() -> T,
    ) -> T {
        PLANTED.set(Some(Error { path, from, to, planted: false }));
        let done = work();
        let error = PLANTED.take();
        assert!(error.is_some_and(|error| error.planted), "{path} was not compiled");
        done
    }

    pub(super) fn spoil(path: &str, text: String) -> String {
        PLANTED.with_borrow_mut(|error| match error {
            Some(error) if error.path == path => {
                assert!(text.contains(error.from), "{path} has no '{}'", error.from);
                error.planted = true;
                text.replace(error.from, error.to)
            }
            _ => text,
        })
    }
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

/// Files that no other file includes: kernels and render pipelines.
#[cfg(test)]
pub(crate) fn entries() -> impl Iterator<Item = &'static str> {
    let included = |path: &str| {
        let include = format!("//#include {path}");
        ALL.iter().any(|(_, text)| text.lines().any(|line| line.trim_end() == include))
    };
    ALL.iter().map(|(path, _)| *path).filter(move |path| !included(path))
}

/// Whether a file of [`entries`] is a compute kernel.
#[cfg(test)]
pub(crate) fn is_kernel(path: &str) -> bool {
    source(path).contains("@compute")
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
        for (name, _) in ALL {
            // An include is validated with the kernels that include it.
            if !entries().any(|path| path == *name) {
                continue;
            }
            let text = source(name);
            let stages = ["@compute", "@fragment"];
            assert!(stages.iter().any(|stage| text.contains(stage)), "{name} is unused");
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
