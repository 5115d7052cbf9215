//! Figures 4 to 7: the four scenes, played with the paper's contacts and response.

use crate::cli::{
    CliError,
    paper::{entry::Made, played::Play, work::Work},
};

/// Contacts by octrees and the penalty response of the paper.
const AS_PUBLISHED: [&str; 4] = ["--contacts", "octree", "--response", "penalty"];

/// A scene of the paper.
struct Figure {
    /// The shipped scene.
    scene: &'static str,
    /// The document's object, if its mesh is one that the program knows by its counts.
    object: Option<&'static str>,
    seconds: f64,
    camera: Option<&'static str>,
    /// Frames to show, 5 a second.
    keep: &'static [u32],
    /// The published times of a step, ms.
    published: [f64; 2],
    caption: &'static str,
}

/// Levels that `--quick` takes away.
const COARSER: u32 = 4;

/// Frames a simulated second.
const FRAMES: f64 = 5.0;

/// Where the time goes beside the machine.
const WHY_SLOWER: [&str; 3] = [
    "The response runs on the cores of the machine in the head of the page, the paper's on a GeForce GTX Titan Black. That \
     is not all of the difference. Each pair is searched twice: contacts by octrees make manifolds, of which the penalty \
     response reads only which pairs are near, and then finds the points and columns of each pair anew. Columns run along \
     all three axes here, along one in the paper. And a pair is refined where a piece is thinner than two cells, so that \
     no small piece vanishes.",
    "The step after the break, in which the pieces first touch, is the dearest. All neighbours touch over the whole crack between \
     them, so several times as many pairs as later are searched; and the cells of the physics level are made of the \
     leaves of all pieces, for the contacts and once more for the response.",
    "In figure 4 these are 86 pieces with 12.1 million leaves of level 10, which meet at level 8: of 1,483 pairs in the \
     first step about 440 are left on average.",
];

fn play(figure: &Figure, work: &mut Work<'_>) -> Result<Made, CliError> {
    let scene = work.scene(figure.scene)?;
    let play = Play {
        scene: &scene.file,
        // Two frames less: all objects are broken by then.
        seconds: work.pick(figure.seconds, (figure.seconds * FRAMES - 2.0) / FRAMES),
        frames: FRAMES,
        camera: figure.camera,
        coarser: work.pick(0, COARSER),
        out: "played",
        options: &AS_PUBLISHED,
        keep: figure.keep,
    };
    let played = play.run(work)?;
    let is_theirs = figure.object.is_some_and(|object| scene.shows(object)) && !work.is_quick();
    let mut notes = Vec::from_iter(scene.missing());
    if figure.object.is_none() {
        notes.push(
            "The paper's columns are not published: the object measured is `builtin:column`, so no published figure \
             stands beside ours."
                .to_owned(),
        );
    }
    if work.is_quick() {
        notes.push(format!("Played {COARSER} levels coarser than in the paper."));
    }
    notes.push(
        "The scene is the shipped one; contacts by octrees and the penalty response are options of the command."
            .to_owned(),
    );
    let why = WHY_SLOWER.iter().take(if figure.scene == "bunny" && is_theirs { 3 } else { 2 });
    notes.extend(why.map(|line| (*line).to_owned()));
    let published = is_theirs.then_some(figure.published);
    Ok(Made {
        pictures: played.shown(figure.caption),
        tables: vec![played.times(published), played.parts()],
        notes,
        ..Made::default()
    })
}

/// Figure 4.
pub fn bunny(work: &mut Work<'_>) -> Result<Made, CliError> {
    let figure = Figure {
        scene: "bunny",
        object: Some("bunny"),
        seconds: 1.2,
        camera: None,
        keep: &[2, 3, 4, 6],
        published: [4.0, 9.0],
        caption: "The broken object in its box",
    };
    play(&figure, work)
}

/// Figure 5.
pub fn columns(work: &mut Work<'_>) -> Result<Made, CliError> {
    let figure = Figure {
        scene: "columns",
        object: None,
        seconds: 1.4,
        camera: Some(r#"{"target":[0,1.3,0],"distance":11,"yaw":0.35,"pitch":0.2,"fov_y":0.6}"#),
        keep: &[1, 3, 4, 6],
        published: [4.0, 8.0],
        caption: "Three columns and the ball that breaks them",
    };
    play(&figure, work)
}

/// Figure 6.
pub fn buddha(work: &mut Work<'_>) -> Result<Made, CliError> {
    let figure = Figure {
        scene: "buddha",
        object: Some("buddha"),
        seconds: 1.2,
        camera: None,
        keep: &[2, 3, 4, 6],
        published: [5.0, 7.0],
        caption: "A part of the object breaks off, the rest stays one body",
    };
    play(&figure, work)
}

/// Figure 7.
pub fn dragons(work: &mut Work<'_>) -> Result<Made, CliError> {
    let figure = Figure {
        scene: "dragons",
        object: Some("dragon"),
        seconds: 1.6,
        camera: Some(r#"{"target":[0,0.9,0],"distance":7,"yaw":0.3,"pitch":0.2,"fov_y":0.6}"#),
        keep: &[0, 3, 5, 8],
        published: [3.0, 11.0],
        caption: "Three objects with 15, 35 and 50 seeds, dropped",
    };
    play(&figure, work)
}
