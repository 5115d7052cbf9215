//! Embeds every file of this folder that ends in `.wgsl`.
//!
//! Out: `shaders.rs` in `OUT_DIR`: an array of names, which are paths in this folder without their ending, with texts.

use std::{env, fs, io, path::Path};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=.");
    let home = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    let mut names = Vec::new();
    list(Path::new(&home), "", &mut names)?;
    names.sort();
    let embed = |name: &String| {
        let file = Path::new(&home).join(format!("{name}.wgsl"));
        format!("({name:?}, include_str!({file:?})),\n")
    };
    let all: String = names.iter().map(embed).collect();
    fs::write(Path::new(&out).join("shaders.rs"), format!("&[\n{all}]\n"))
}

/// Adds the names of a folder's sources and of those in its folders, with `before` in front.
fn list(folder: &Path, before: &str, names: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_str().ok_or_else(|| io::Error::other(format!("{name:?} is not UTF-8")))?;
        if entry.file_type()?.is_dir() {
            list(&entry.path(), &format!("{before}{name}/"), names)?;
        } else if let Some(name) = name.strip_suffix(".wgsl") {
            names.push(format!("{before}{name}"));
        }
    }
    Ok(())
}
