//! Figure 5, a plate that rolls on few contacts or on all, and figure 8, a sphere with coarser and finer points.
//!
//! In: scenes that are written into the folder of the entry. Out: pictures, plots and tables of their plays.

use super::{
    super::{
        entry::{Made, Shown, Table, number, range},
        log::mean,
        svg::{Axis, Mark, Plot, Series},
        work::Work,
    },
    tables::DIFFERS,
};
use crate::cli::CliError;

/// The head of a scene with contacts by distance fields: what it shows, its name, further options, the middle of the
/// picture.
fn head(shows: &str, name: &str, options: &str, target: [f64; 3]) -> String {
    format!(
        "# {shows}\n\
         name = \"{name}\"\n\
         contacts = \"field\"\n\
         response = \"impulse\"\n\
         dt = 0.01\n\
         {options}\n\
         [camera]\n\
         target = {target:?}\n\
         distance = 1.6\n\
         yaw = 0.4\n\
         pitch = 0.25\n\
         fov_y = 0.6\n"
    )
}

/// A plate on its rim, tilted by a quarter of a right angle, that rolls until it lies.
fn rolling(most_points: u32) -> String {
    let shows = "A plate rolls on the floor (Glondu and others 2012, fig. 5).";
    let options = format!("field_most_points = {most_points}");
    let head = head(shows, "rolling plate", &options, [0.45, 0.08, 0.0]);
    format!(
        "{head}\
         [[body]]\n\
         file = \"builtin:plate\"\n\
         level = 7\n\
         physics_level = 6\n\
         size = 0.28\n\
         rotation = [0.608761, 0.0, 0.0, 0.793353]\n\
         linear_velocity = [0.7, 0.0, 0.0]\n\
         angular_velocity = [0.0, 0.0, -5.0]\n\
         on_floor = true\n\
         density = 2300.0\n\
         friction = 0.5\n\
         rolling_resistance = 0.0\n"
    )
}

/// Figure 5.
pub fn rolling_plate(work: &mut Work<'_>) -> Result<Made, CliError> {
    let seconds = work.pick("3", "0.6");
    let mut made = Made::default();
    let mut table = Table::new(
        "A plate that rolls on the floor: average (greatest)",
        &["contacts", "put out in a step", "points near", "a step, ms"],
    );
    let mut published = Table::new(
        "The paper's plate of 5,392 triangles, published",
        &["contacts", "put out in a step, greatest"],
    );
    let mut series = Vec::new();
    for (name, most, called, theirs) in [("few", 6, "6 are enough", 6.0), ("all", 0, "all points", 128.0)] {
        let file = format!("{name}.toml");
        work.write(&file, &rolling(most))?;
        work.run_line(&format!(
            "simulate {file} --seconds {seconds} --count-contacts --volume-every 0 --frames 2 --size \
             480x300 --out {name}"
        ))?;
        work.remove(&format!("{name}/trajectory.npz"));
        let log = work.log(&format!("{name}/contacts.csv"))?;
        table.row([
            called.to_owned(),
            range(log.range("contacts"), 1),
            range(log.range("near_points"), 0),
            range(log.range("step_ms"), 2),
        ]);
        published.row([called.to_owned(), number(Some(theirs), 0)]);
        series.push(Series::new(called, log.points("time", "contacts")));
        let picture = format!("{name}/frames/{}.png", work.pick("00002", "00001"));
        made.pictures.push(Shown::new(picture, format!("The plate while it rolls; {called}.")));
    }
    let plot = Plot {
        title: "Contacts of the plate with the floor".into(),
        x: Axis::linear("simulated time, s"),
        // Without a contact in flight a step has no place on this axis.
        y: Axis::log("contacts"),
        series,
    };
    work.write("contacts.svg", &plot.svg())?;
    made.pictures.push(Shown::new("contacts.svg", "Contacts in each step; the plate lies at the end."));
    let note = "The same scene with `field_most_points` 6 and 0. The paper's plate has 5,392 triangles; ours has a point for each \
                cell of level 6. With 6 the contacts of the floor are thinned further to those that lie farthest out.";
    Ok(made.table(table).table(published).note(note))
}

/// A sphere that falls and breaks, with points of this level.
fn falling(physics_level: u32) -> String {
    let shows = "A sphere falls and breaks (Glondu and others 2012, fig. 8).";
    let head = head(shows, "sphere", "break_generations = 1", [0.0, 0.2, 0.0]);
    format!(
        "{head}\
         [[body]]\n\
         file = \"builtin:sphere\"\n\
         level = 7\n\
         physics_level = {physics_level}\n\
         size = 0.3\n\
         position = [0.0, 0.3, 0.0]\n\
         linear_velocity = [0.0, -4.0, 0.0]\n\
         density = 2300.0\n\
         break_threshold = 1.0\n\
         [body.fracture]\n\
         seeds = 12\n\
         preset = \"uniform\"\n\
         rng = 1\n"
    )
}

/// The paper's measurements: triangles of the surface, points in the interior, update, query average and greatest, ms.
const PUBLISHED: [(&str, &str, [f64; 3]); 3] = [
    ("2.5K", "4K", [1.54, 1.16, 3.27]),
    ("10K", "4K", [1.8, 1.37, 4.17]),
    ("2.5K", "435", [0.46, 0.68, 2.26]),
];

/// Figure 8, and the times that the text gives for it.
pub fn sphere(work: &mut Work<'_>) -> Result<Made, CliError> {
    let seconds = work.pick("1", "0.2");
    let mut made = Made::default();
    let mut here = Table::new(
        "A sphere that breaks into twelve, here, ms",
        &[
            "level of the points",
            "update upon fracture",
            "finding contacts in a step after it: average (greatest)",
        ],
    );
    let (mut update, mut average, mut greatest) = (Vec::new(), Vec::new(), Vec::new());
    for level in work.pick([4, 5, 6], [3, 4, 5]) {
        let (file, folder) = (format!("level-{level}.toml"), format!("level-{level}"));
        work.write(&file, &falling(level))?;
        work.run_line(&format!(
            "simulate {file} --seconds {seconds} --count-contacts --volume-every 0 --frames 5 --size \
             480x300 --out {folder}"
        ))?;
        work.remove(&format!("{folder}/trajectory.npz"));
        let log = work.log(&format!("{folder}/contacts.csv"))?;
        let updates = log.column("following_ms");
        let took = updates.iter().flatten().copied().fold(0.0, f64::max);
        let broke = updates.iter().position(|ms| ms.is_some_and(|ms| ms > 0.0)).unwrap_or(0);
        let after: Vec<f64> = log.column("finding_ms").into_iter().skip(broke + 1).flatten().collect();
        let most = after.iter().copied().fold(0.0, f64::max);
        let mean = mean(after).unwrap_or_default();
        here.row([level.to_string(), number(Some(took), 2), range(Some([mean, most]), 2)]);
        let at = f64::from(level);
        update.push((at, took));
        average.push((at, mean));
        greatest.push((at, most));
        if level == 5 {
            let last = work.pick("00004", "00001");
            made.pictures.push(Shown::new(format!("{folder}/frames/{last}.png"), "The sphere, broken."));
        }
    }
    let plot = Plot {
        title: "Update and queries by the level of the points".into(),
        x: Axis::whole("level of the points (each has four times the surface points of the one before)"),
        y: Axis::log("ms"),
        series: vec![
            Series::new("update upon fracture", update).drawn(Mark::Both),
            Series::new("finding contacts, average", average).drawn(Mark::Both),
            Series::new("finding contacts, greatest", greatest).drawn(Mark::Both),
        ],
    };
    work.write("times.svg", &plot.svg())?;
    made.pictures.push(Shown::new("times.svg", "Times by the number of points."));
    let mut published = Table::new(
        "The paper's sphere, published, ms",
        &["triangles", "points inside", "update upon fracture", "queries: average (greatest)"],
    );
    for (triangles, inside, [update, average, greatest]) in PUBLISHED {
        published.row([
            triangles.to_owned(),
            inside.to_owned(),
            number(Some(update), 2),
            range(Some([average, greatest]), 2),
        ]);
    }
    let note = "The paper changes the points of the surface and of the interior one at a time; here both follow from the level \
                at which a body collides, so rows of the two tables do not correspond. Update and break share a step only in a \
                play that is long enough.";
    Ok(made.table(here).table(published).note(note).notes(DIFFERS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::parse_scene;

    /// Planted error to see this fail: misspell a field of a scene.
    #[cfg(feature = "papers")]
    #[test]
    fn the_scenes_are_read_with_their_options() {
        crate::papers::register();
        for most in [0, 6] {
            let scene = parse_scene(&rolling(most), "s.toml").unwrap();
            assert_eq!((scene.field_most_points, scene.contacts.name()), (most, "field"));
        }
        for level in [4, 5, 6] {
            let scene = parse_scene(&falling(level), "s.toml").unwrap();
            assert_eq!((scene.bodies[0].physics_level, scene.break_generations), (Some(level), 1));
        }
    }

    #[cfg(not(feature = "papers"))]
    #[test]
    fn the_scenes_say_what_is_missing() {
        for text in [rolling(0), falling(5)] {
            assert!(parse_scene(&text, "s.toml").unwrap_err().to_string().contains("in this build"));
        }
    }
}
