//! Section 6.1, far objects: one fall whose bodies lose levels by their distance to the camera, beside the same fall
//! with full levels.
//!
//! In: a scene that is written into the folder of the entry, with and without `adaptive_level`. Out: pictures of both
//! plays at one time, and a table of their contacts and times. In the paper small objects vanish at coarse levels, since
//! they have no volume left there; here a pair is refined, and the table says how often.

use crate::cli::{
    CliError,
    paper::{
        entry::{Made, NOTHING, Table, number, range},
        log::{Log, mean},
        played::{Play, Played},
        work::Work,
    },
};

/// Simulated time, s; the pieces touch the table from about 0.3 s on.
const SECONDS: f64 = 0.8;
/// Frames a simulated second, and the one that is shown.
const FRAMES: f64 = 5.0;
const SHOWN: u32 = 3;
/// Levels that `--quick` takes away.
const COARSER: u32 = 3;

/// The two plays: folder, whether levels depend on the distance, and what the page calls the play.
const PLAYS: [(&str, bool, &str); 2] =
    [("far", true, "levels by the distance"), ("full", false, "full levels")];

/// A ball that a blow breaks in the air and that falls onto a table, 10 m from the camera. Both plays get the same
/// pieces, since nothing has touched before the blow.
fn scene(is_adaptive: bool) -> String {
    let adaptive = if is_adaptive { "adaptive_level = { near = 1.0, most = 4 }\n" } else { "" };
    format!(
        "# A ball breaks and falls onto a table far from the camera (Domaradzki & Martyn 2016, sec. 6.1).\n\
         name = \"far fall\"\ncontacts = \"octree\"\nresponse = \"penalty\"\n{adaptive}\n\
         [camera]\ntarget = [0.0, 0.8, 0.0]\ndistance = 10.0\nyaw = 0.5\npitch = 0.25\nfov_y = 0.2\n\n\
         [[body]]\nname = \"table\"\nfile = \"builtin:box\"\nlevel = 8\nphysics_level = 7\nsize = 1.0\n\
         on_floor = true\nfixed = true\n\n\
         [[body]]\nname = \"ball\"\nfile = \"builtin:sphere\"\nlevel = 8\nphysics_level = 7\nsize = 0.5\n\
         position = [0.0, 1.6, 0.0]\n[body.fracture]\nseeds = 30\nrng = 7\n\n\
         [[event]]\nkind = \"impact\"\ntime = 0.1\npoint = [0.0, 1.55, 0.25]\ndirection = [0.0, 0.0, -1.0]\n\
         speed = 0.5\n"
    )
}

/// Lowest and highest level of the first bodies of all touching pairs, and the share of pairs above the lowest level.
fn levels(pairs: &Log) -> Option<(f64, f64, f64)> {
    let levels: Vec<f64> = pairs.column("level_first").into_iter().flatten().collect();
    let low = levels.iter().copied().reduce(f64::min)?;
    let high = levels.iter().copied().fold(low, f64::max);
    let finer = levels.iter().filter(|level| **level > low).count();
    Some((low, high, finer as f64 / levels.len() as f64))
}

/// A row of the table.
fn row(name: &str, played: &Played, pairs: &Log) -> Vec<String> {
    let points = played.steps.column("contact_points").into_iter().flatten().filter(|points| *points > 0.0);
    let ms = played.physics_ms();
    let greatest = ms.iter().copied().fold(0.0, f64::max);
    let (of_pairs, finer) = match levels(pairs) {
        Some((low, high, share)) => (format!("{low:.0} to {high:.0}"), number(Some(100.0 * share), 0)),
        None => (NOTHING.to_owned(), NOTHING.to_owned()),
    };
    let time = range(mean(ms).map(|mean| [mean, greatest]), 1);
    vec![name.to_owned(), of_pairs, finer, number(mean(points), 0), time]
}

/// The fall at levels by the distance, and at full levels.
pub fn fall(work: &mut Work<'_>) -> Result<Made, CliError> {
    let mut table = Table::new(
        "The same fall 10 m from the camera, with and without `adaptive_level`",
        &[
            "play",
            "levels of the pairs",
            "pairs above the lowest level, %",
            "contact points in a step, mean",
            "physics of a step after the break, ms: average (greatest)",
        ],
    );
    let mut made = Made::default();
    for (out, is_adaptive, name) in PLAYS {
        let file = format!("{out}.toml");
        work.write(&file, &scene(is_adaptive))?;
        let play = Play {
            scene: &file,
            seconds: SECONDS,
            frames: FRAMES,
            camera: None,
            coarser: work.pick(0, COARSER),
            out,
            options: &["--pairs"],
            keep: &[SHOWN],
        };
        let played = play.run(work)?;
        let pairs = work.log(&format!("{out}/pairs.csv"))?;
        table.row(row(name, &played, &pairs));
        made.pictures.extend(played.shown(&format!("The pieces as they fall onto the table, {name}")));
    }
    made.tables.push(table);
    made.notes.push(
        "A body whose bounding sphere is d metres from the camera loses floor(log2(d / near)) levels, at most `most`: \
         three here, with near = 1 m and most = 4. In the paper small objects may vanish at coarse levels: they have no \
         volume left there, so no force acts on them. Here nothing vanishes: a pair is refined until both bodies are \
         at least two cells thick, so pairs of small pieces stand above the lowest level. The camera of the scene is the \
         place that distances are measured from."
            .to_owned(),
    );
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::parse_scene;

    #[test]
    fn the_two_scenes_differ_in_the_levels_by_distance_alone() {
        let [far, full] = [true, false].map(scene);
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let without: Vec<String> =
            lines(&far).into_iter().filter(|line| !line.starts_with("adaptive_level")).collect();
        // Planted error to see this fail: another `near` as a second line.
        assert_eq!((without.len() + 1, &without), (lines(&far).len(), &lines(&full)));
        if cfg!(feature = "papers") {
            crate::papers::register();
            let of = |text: &str| parse_scene(text, "fall.toml").unwrap().adaptive_level.map(|far| far.most);
            assert_eq!([of(&far), of(&full)], [Some(4), None]);
        }
    }

    #[test]
    fn pairs_above_the_lowest_level_are_counted() {
        let pairs = Log::parse("time,first,second,level_first\n0.1,0,1,4\n0.1,1,2,6\n0.2,0,,4\n0.2,1,2,5\n");
        // Planted error to see this fail: count the pairs at the lowest level, too.
        assert_eq!(levels(&pairs), Some((4.0, 6.0, 0.5)));
        assert_eq!(levels(&Log::parse("level_first\n")), None);
    }
}
