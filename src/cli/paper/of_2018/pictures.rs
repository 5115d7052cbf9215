//! Figures 2, 3 and 5 to 9: pictures of commands.

use crate::cli::{
    CliError,
    paper::{
        entry::{Made, Shown, Table},
        played::Play,
        work::Work,
    },
};

/// Seeds in the vase, mesh units; the same at every level.
const SEEDS: &str = "# Voronoi seeds in the built-in vase, mesh units: x y z.\n0.30 0.75 0.25\n0.34 0.45 0.05\n\
                     0.05 0.55 0.40\n-0.20 0.85 0.30\n-0.30 0.40 0.10\n0.00 0.20 0.00\n0.00 1.10 -0.10\n0.00 0.70 -0.40\n";

/// Close to the front of the vase.
const CLOSE: &str = r#"{"target":[0.1,0.6,0.2],"distance":1.6,"yaw":0.5,"pitch":0.25,"fov_y":0.6}"#;

/// `render` of a shape with these words before and after the common ones.
fn render(work: &mut Work<'_>, words: &[&str], size: [u32; 2], out: &str) -> Result<(), CliError> {
    let size = work.size(size);
    work.run(&[&["render"][..], words, &["--size", &size, "--out", out]].concat()).map(drop)
}

/// What differs from the paper's pictures; `levels` is what `--quick` takes away.
fn notes(work: &Work<'_>, levels: u32) -> Vec<String> {
    let mut notes =
        vec!["The paper's objects are not published; a built-in shape stands in for them.".to_owned()];
    if work.is_quick() {
        notes.push(format!("Drawn {levels} levels coarser than in a full run."));
    }
    notes
}

/// Figure 2.
pub fn surface(work: &mut Work<'_>) -> Result<Made, CliError> {
    work.write(
        "seeds.txt",
        "# Two Voronoi seeds in the built-in box, mesh units: x y z.\n0.24 0.66 0.1\n-0.22 0.4 -0.12\n",
    )?;
    let level = work.pick("6", "5");
    let near = r#"{"target":[0,0.55,0],"distance":2.6,"yaw":0.75,"pitch":0.45,"fov_y":0.6}"#;
    let crack = ["builtin:box", "--level", level, "--seeds-file", "seeds.txt", "--surface", "rough"];
    let show =
        ["--transition-level", "2", "--show", "transition,triangles,points", "--only", "--camera", near];
    render(work, &[&crack[..], &show].concat(), [760, 620], "crack.png")?;
    let caption = "Voxels of transition level 2 between two seeds. Edge separation points are blue, face separation points \
                   pink, voxel separation points yellow; a triangle joins one of each.";
    Ok(Made::picture("crack.png", caption).notes(notes(work, 1)))
}

/// Figure 3.
pub fn four_steps(work: &mut Work<'_>) -> Result<Made, CliError> {
    work.write("seeds.txt", SEEDS)?;
    let level = work.pick("8", "6");
    let seeds = ["--seeds-file", "seeds.txt", "--camera", CLOSE];
    let pieces = ["--explode", "0.12", "--color-by", "piece"];
    let rough = ["--surface", "rough", "--transition-level", "4"];
    let of = |level: &'static str, more: &[&'static str]| {
        [&["builtin:vase", "--level", level][..], &seeds, more].concat()
    };
    render(work, &of(level, &pieces), [560, 480], "a.png")?;
    render(work, &of("4", &pieces), [560, 480], "b.png")?;
    let triangles = ["--show", "transition,triangles", "--only"];
    render(work, &of(level, &[&rough[..], &triangles].concat()), [560, 480], "c.png")?;
    render(work, &of(level, &[&rough[..], &pieces].concat()), [560, 480], "d.png")?;
    Ok(Made::pictures([
        ["a.png", "(a) The planar break at the leaf level."],
        ["b.png", "(b) The planar break at the transition level, 4."],
        ["c.png", "(c) The crack surfaces that are made in the voxels of the transition level."],
        ["d.png", "(d) The rough break: leaves follow the crack surfaces."],
    ])
    .notes(notes(work, 2)))
}

/// Figure 5.
pub fn gap(work: &mut Work<'_>) -> Result<Made, CliError> {
    work.write("seeds.txt", SEEDS)?;
    let level = work.pick("9", "7");
    let crack = ["builtin:vase", "--level", level, "--seeds-file", "seeds.txt", "--camera", CLOSE];
    let dust = ["--surface", "dusty", "--dust", "8,0.8"];
    render(
        work,
        &[&crack[..], &dust, &["--show", "triangles", "--only"]].concat(),
        [640, 520],
        "surfaces.png",
    )?;
    render(work, &[&crack[..], &dust, &["--explode", "0"]].concat(), [640, 520], "pieces.png")?;
    let surfaces =
        "Both surfaces of each crack, by cases of marching cubes in the voxels of the transition level.";
    let pieces = "The pieces in their places: what lay between the surfaces is lost as dust.";
    Ok(Made::pictures([["surfaces.png", surfaces], ["pieces.png", pieces]]).notes(notes(work, 2)))
}

/// Figure 6.
pub fn beside_planar(work: &mut Work<'_>) -> Result<Made, CliError> {
    let (level, size) = (work.pick("9", "6"), work.size([460, 460]));
    let mut pictures = Vec::new();
    for (shape, rng) in [("vase", "7"), ("pig", "4")] {
        let (file, out) = (format!("builtin:{shape}"), format!("{shape}.png"));
        let words = ["sheet", &file, "--level", level, "--seeds", "24", "--rng", rng, "--explode", "0.2"];
        let vary = ["--vary", "surface=planar,rough", "--size", &size, "--out", &out];
        work.run(&[&words[..], &vary].concat())?;
        let caption = format!("The built-in {shape}: planar cracks on the left, rough ones on the right.");
        pictures.push(Shown::new(out, caption));
    }
    Ok(Made { pictures, notes: notes(work, 3), ..Made::default() })
}

/// Figure 7.
pub fn transition_levels(work: &mut Work<'_>) -> Result<Made, CliError> {
    let (level, vary) = work.pick(("9", "transition_level=4,6,8"), ("7", "transition_level=3,4,6"));
    let words =
        ["sheet", "builtin:vase", "--level", level, "--surface", "rough", "--seeds", "24", "--rng", "7"];
    let size = work.size([420, 460]);
    let more = ["--vary", vary, "--explode", "0.2", "--size", &size, "--out", "levels.png"];
    work.run(&[&words[..], &more].concat())?;
    let mut notes = notes(work, 2);
    notes.push(
        "One pattern of seeds: the closer the transition level is to the root, the larger the bumps."
            .to_owned(),
    );
    Ok(Made::picture("levels.png", "One break at three transition levels.").notes(notes))
}

/// Figure 8.
pub fn falling(work: &mut Work<'_>) -> Result<Made, CliError> {
    let mut made = Made::default();
    for (name, out) in [("vase-rough", "rough"), ("vase-dusty", "dusty")] {
        let scene = work.scene(name)?;
        let play = Play {
            scene: &scene.file,
            seconds: 1.6,
            frames: 5.0,
            camera: Some(r#"{"target":[0,0.18,0],"distance":1.5,"yaw":0.45,"pitch":0.25,"fov_y":0.6}"#),
            coarser: work.pick(0, 3),
            out,
            options: &[],
            keep: &[0, 3, 4, 8],
        };
        let played = play.run(work)?;
        made.pictures.extend(played.shown(&format!("A vase with {out} cracks")));
        let mut table = played.times(None);
        table.title = format!("Physics time of a step after the break with {out} cracks, ms");
        made.tables.push(table);
    }
    made.notes = notes(work, 3);
    made.notes.push("The paper gives no times of its physics with these cracks.".to_owned());
    Ok(made)
}

/// Figure 9.
pub fn irregular(work: &mut Work<'_>) -> Result<Made, CliError> {
    let (level, size) = (work.pick("8", "6"), work.size([360, 400]));
    let words =
        ["sheet", "builtin:vase", "--level", level, "--surface", "dusty", "--seeds", "24", "--rng", "7"];
    let vary = ["--vary", "crack.dusty.width=1,4,10", "--vary", "crack.dusty.irregularity=0,1"];
    let more = ["--explode", "0", "--size", &size, "--out", "gaps.png"];
    work.run(&[&words[..], &vary, &more].concat())?;
    let mut table = Table::new("Parameters", &["what", "values"]);
    table.row(["width of the gap, leaf voxels", "1, 4, 10"]);
    table.row(["irregularity", "0, 1"]);
    Ok(Made::picture("gaps.png", "Three widths of the gap, even and uneven.")
        .table(table)
        .notes(notes(work, 2)))
}
