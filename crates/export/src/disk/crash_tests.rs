//! Every call of every operation fails once, or is the last one before a kill or a power loss: the earlier result or the
//! new one is whole, and no file of somebody's own is lost.

use std::{collections::BTreeMap, io::ErrorKind, path::Path, sync::Arc};

use super::{
    MANIFEST,
    model::{Fault, Model},
    single::{Known, put_on, replace_on},
    whole_folder::put_folder_on,
};
use crate::{Aside, disk::Disk as _};

type Files = BTreeMap<String, String>;
type Operation = fn(&Model) -> Result<(), String>;

const OUT: &str = "/home/out";

fn files(list: &[(&str, &str)]) -> Files {
    list.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

fn earlier() -> Files {
    files(&[
        ("report.json", "report 1"),
        ("pieces.obj", "obj 1"),
        ("voxels.npz", "npz 1"),
        ("ply/a.ply", "ply 1"),
    ])
}

fn later() -> Files {
    files(&[
        ("report.json", "report 2"),
        ("pieces.obj", "obj 2"),
        ("voxels.npz", "npz 2"),
        ("usd/b/c.png", "2"),
    ])
}

fn fill(disk: &Model, aside: &Aside, files: &Files) -> Result<(), String> {
    for (name, text) in files {
        let place = aside.path().join(name);
        super::make_below(disk, aside.path(), super::folder_of(name).unwrap_or_default())
            .and_then(|()| disk.create(&place, text.as_bytes()))
            .map_err(|e| e.to_string())?;
    }
    Ok(())
}

fn export(disk: &Model, files: &Files) -> Result<(), String> {
    let aside = Aside::begin_on(Arc::new(disk.clone()), Path::new(OUT)).map_err(|e| e.to_string())?;
    fill(disk, &aside, files)?;
    aside.finish().map(drop).map_err(|e| e.to_string())
}

/// As `simulate` does: the beginnings of the logs take the places of the earlier ones, and grow there; the report comes
/// last.
fn simulate(disk: &Model) -> Result<(), String> {
    export(disk, &files(&[("steps.csv", "head\n"), ("trajectory.npz", "1")]))?;
    disk.append(&Path::new(OUT).join("steps.csv"), b"line\n").map_err(|e| e.to_string())?;
    let mut aside = Aside::begin_on(Arc::new(disk.clone()), Path::new(OUT)).map_err(|e| e.to_string())?;
    fill(disk, &aside, &files(&[("report.json", "report 2"), ("trajectory.npz", "2")]))?;
    disk.write(&format!("{OUT}/trajectory.npz"), "1 and more");
    aside.has_put(["steps.csv", "trajectory.npz"].map(str::to_owned));
    aside.finish().map(drop).map_err(|e| e.to_string())
}

fn picture(disk: &Model) -> Result<(), String> {
    let known = Known::Signed(&|old| old == b"own");
    put_on(disk, Path::new("/home/a.png"), b"new", known).map(drop).map_err(|e| e.to_string())
}

fn table(disk: &Model, text: &[u8]) -> Result<Option<String>, String> {
    put_on(disk, Path::new("/home/a.json"), text, Known::Listed).map_err(|e| e.to_string())
}

/// An operation, what lies there before it, and the results that may be there after it, whole: by the file that is put
/// in last.
struct Case {
    name: &'static str,
    run: Operation,
    before: Files,
    wholes: Vec<Files>,
    /// Contents of somebody's own files.
    owned: Vec<&'static str>,
}

fn cases() -> Vec<Case> {
    let nothing = Files::new;
    let own = || {
        let mut files = earlier();
        files.insert("pieces.obj".into(), "mine, edited for an hour".into());
        files.insert("usd/b/c.png".into(), "mine, too".into());
        files.insert("notes.txt".into(), "my notes".into());
        files
    };
    let mut with_own_report = files(&[("report.json", "my report"), ("steps.csv", "my steps")]);
    with_own_report.insert("trajectory.npz".into(), "my arrays".into());
    let run: Operation = |disk| export(disk, &later());
    let simulated =
        files(&[("steps.csv", "head\nline\n"), ("trajectory.npz", "2"), ("report.json", "report 2")]);
    let simulated_before = files(&[
        ("steps.csv", "old"),
        ("trajectory.npz", "old"),
        ("report.json", "old"),
        ("frames/0.png", "old"),
    ]);
    // The edited file is not part of the earlier result any more.
    let mut kept = earlier();
    kept.remove("pieces.obj");
    let mine = vec!["mine, edited for an hour", "mine, too", "my notes"];
    let my_log = vec!["my report", "my steps", "my arrays"];
    vec![
        Case { name: "into an empty folder", run, before: nothing(), wholes: vec![later()], owned: vec![] },
        Case {
            name: "over results",
            run,
            before: earlier(),
            wholes: vec![earlier(), later()],
            owned: vec![],
        },
        Case {
            name: "beside somebody's files",
            run,
            before: own(),
            wholes: vec![kept, later()],
            owned: mine,
        },
        Case {
            name: "a simulation over another",
            run: simulate,
            wholes: vec![simulated_before.clone(), simulated.clone()],
            before: simulated_before,
            owned: vec![],
        },
        Case {
            name: "a simulation over somebody's files",
            run: simulate,
            before: with_own_report,
            wholes: vec![simulated],
            owned: my_log,
        },
    ]
}

/// A disk with a folder as it lies there before. What the case's first whole result holds was written by an export.
fn disk_of(case: &Case) -> Model {
    let disk = Model::default();
    disk.make_folder(Path::new("/home")).unwrap();
    let written =
        case.wholes.iter().find(|whole| whole.iter().all(|(name, text)| case.before.get(name) == Some(text)));
    if let Some(written) = written {
        // What somebody edited later was written, too.
        let mut all = written.clone();
        let edited = case.before.iter().filter(|(name, _)| earlier().contains_key(*name));
        for (name, _) in edited {
            all.entry(name.clone()).or_insert_with(|| "as written".into());
        }
        export(&disk, &all).unwrap();
    }
    for (name, text) in &case.before {
        if disk.kind(Path::new(OUT)).unwrap().is_none() {
            disk.make_folder(Path::new(OUT)).unwrap();
        }
        super::make_below(&disk, Path::new(OUT), super::folder_of(name).unwrap_or_default()).unwrap();
        disk.write(&format!("{OUT}/{name}"), text);
    }
    disk.settle();
    disk
}

/// Whether all is well: a report says that its result is whole, nothing of somebody's is lost, nothing hidden is left.
fn verify(case: &Case, disk: &Model, told: &str) {
    let all = disk.files();
    for owned in &case.owned {
        assert!(all.values().any(|text| text == owned), "{told}: {owned} is lost: {all:#?}");
    }
    let hidden = all.keys().find(|name| name.contains("/.") && !name.ends_with(MANIFEST));
    assert!(hidden.is_none(), "{told}: {hidden:?} is left");
    let there = |name: &str| all.get(&format!("{OUT}/{name}"));
    let Some(report) = there("report.json") else {
        // Without a report nothing is promised, but where there was one: that is only so while a simulation runs.
        let ends_without = case.before.is_empty() || case.name.starts_with("a simulation");
        assert!(ends_without, "{told}: there is no report: {all:#?}");
        return;
    };
    if case.owned.contains(&report.as_str()) {
        return;
    }
    let whole = case.wholes.iter().find(|whole| whole["report.json"] == *report);
    let whole = whole.unwrap_or_else(|| panic!("{told}: whose report is {report}?"));
    for (name, text) in whole {
        assert_eq!(there(name), Some(text), "{told}: {name}: {all:#?}");
    }
    // Nothing of another result lies beside it.
    for (name, text) in case.wholes.iter().filter(|other| *other != whole).flatten() {
        assert!(
            whole.contains_key(name) || there(name) != Some(text),
            "{told}: {name} of another result: {all:#?}"
        );
    }
}

/// Whether a report that is there tells of files that are there, too, before anything is put in order.
fn tells_the_truth(case: &Case, disk: &Model, told: &str) {
    let all = disk.files();
    let there = |name: &str| all.get(&format!("{OUT}/{name}"));
    let Some(whole) = case.wholes.iter().find(|whole| there("report.json") == Some(&whole["report.json"]))
    else {
        return;
    };
    for (name, text) in whole {
        assert_eq!(there(name), Some(text), "{told}, before the next run: {name}: {all:#?}");
    }
}

/// The next run there begins, and ends without results.
fn begin_again(disk: &Model) {
    drop(Aside::begin_on(Arc::new(disk.clone()), Path::new(OUT)).unwrap());
}

/// Which of the names that were not flushed a power loss keeps, by their order.
type Kept = fn(usize) -> bool;

const POWER: [(&str, Kept); 5] = [
    ("forgets all", |_| false),
    ("keeps all names", |_| true),
    ("keeps every other name", |i| i.is_multiple_of(2)),
    ("keeps the other ones", |i| !i.is_multiple_of(2)),
    ("keeps two of three", |i| !i.is_multiple_of(3)),
];

#[test]
fn at_every_call_the_earlier_result_or_the_new_one_is_whole() {
    let errors = [ErrorKind::StorageFull, ErrorKind::Other, ErrorKind::PermissionDenied];
    let mut tried = 0;
    for case in cases() {
        let calls = {
            let disk = disk_of(&case);
            disk.fail(usize::MAX, Fault::Kill);
            (case.run)(&disk).unwrap();
            verify(&case, &disk, case.name);
            disk.calls()
        };
        for n in 1..=calls {
            let faults = errors.iter().flat_map(|kind| [Fault::Once(*kind), Fault::From(*kind)]);
            for fault in faults.chain([Fault::Kill, Fault::NoFolderFlush]) {
                let disk = disk_of(&case);
                disk.fail(n, fault);
                let ended = (case.run)(&disk);
                disk.restart();
                let told = format!("{}, {fault:?} at call {n} of {calls} ({ended:?})", case.name);
                tells_the_truth(&case, &disk, &told);
                assert!(ended.is_ok() || !matches!(fault, Fault::NoFolderFlush), "{told}");
                begin_again(&disk);
                verify(&case, &disk, &told);
                tried += 1;
            }
            // The power goes at the call, or some time after the run that failed there.
            for fault in [Fault::Kill, Fault::Once(ErrorKind::StorageFull)] {
                for (how, keep) in POWER {
                    let disk = disk_of(&case);
                    disk.fail(n, fault);
                    let _ = (case.run)(&disk);
                    disk.restart();
                    disk.lose_power(keep);
                    begin_again(&disk);
                    let told = format!("{}, {fault:?} at call {n} of {calls}", case.name);
                    verify(&case, &disk, &format!("{told}, a power loss that {how}"));
                    tried += 1;
                }
            }
        }
        println!("{}: {calls} calls", case.name);
    }
    println!("{tried} faults");
    assert!(tried > 2000, "{tried}");
}

#[test]
fn what_is_finished_survives_a_power_loss() {
    for case in cases() {
        for (how, keep) in POWER {
            let disk = disk_of(&case);
            (case.run)(&disk).unwrap();
            disk.lose_power(keep);
            begin_again(&disk);
            let report = disk.files().get(&format!("{OUT}/report.json")).cloned();
            assert_eq!(report.as_deref(), Some("report 2"), "{}, a power loss that {how}", case.name);
            verify(&case, &disk, case.name);
        }
    }
}

#[test]
fn a_picture_is_the_earlier_one_or_the_new_one_and_somebody_s_is_kept() {
    let mut tried = 0;
    for (there, is_own) in [("own", true), ("mine", false)] {
        let fresh = || {
            let disk = Model::default();
            disk.make_folder(Path::new("/home")).unwrap();
            disk.write("/home/a.png", there);
            disk.settle();
            disk
        };
        for n in 1..40 {
            let faults = [Fault::Once(ErrorKind::StorageFull), Fault::From(ErrorKind::Other), Fault::Kill];
            let losses = POWER.iter().map(|(_, keep)| (Fault::Kill, Some(keep)));
            for (fault, loss) in faults.into_iter().map(|fault| (fault, None)).chain(losses) {
                let disk = fresh();
                disk.fail(n, fault);
                let ended = picture(&disk);
                disk.restart();
                if let Some(keep) = loss {
                    disk.lose_power(keep);
                }
                let files = disk.files();
                let told = format!("{there}: {fault:?} at call {n} ({ended:?}): {files:#?}");
                let now = files.get("/home/a.png").map(String::as_str);
                assert!(is_own || files.values().any(|text| text == "mine"), "{told}");
                assert!(now == Some(there) || now == Some("new") || (now.is_none() && !is_own), "{told}");
                if ended.is_ok() && loss.is_none() {
                    assert_eq!(now, Some("new"), "{told}");
                }
                tried += 1;
            }
        }
    }
    println!("{tried} faults");
}

#[test]
fn a_table_is_the_earlier_one_or_the_new_one_and_somebody_s_is_kept() {
    let mut tried = 0;
    for is_own in [true, false] {
        let fresh = || {
            let disk = Model::default();
            disk.make_folder(Path::new("/home")).unwrap();
            table(&disk, b"own").unwrap();
            disk.write("/home/a.json", if is_own { "own" } else { "mine" });
            disk.settle();
            disk
        };
        let there = if is_own { "own" } else { "mine" };
        for n in 1..60 {
            let faults = [Fault::Once(ErrorKind::StorageFull), Fault::From(ErrorKind::Other), Fault::Kill];
            let losses = POWER.iter().map(|(_, keep)| (Fault::Kill, Some(keep)));
            for (fault, loss) in faults.into_iter().map(|fault| (fault, None)).chain(losses) {
                let disk = fresh();
                disk.fail(n, fault);
                let ended = table(&disk, b"new");
                disk.restart();
                if let Some(keep) = loss {
                    disk.lose_power(keep);
                }
                let files = disk.files();
                let told = format!("{there}: {fault:?} at call {n} ({ended:?}): {files:#?}");
                let now = files.get("/home/a.json").map(String::as_str);
                let has_mine = || files.values().any(|text| text == "mine");
                assert!(is_own || has_mine(), "{told}");
                assert!(now == Some(there) || now == Some("new") || (now.is_none() && !is_own), "{told}");
                if ended.is_ok() && loss.is_none() {
                    assert_eq!(now, Some("new"), "{told}");
                }
                // Whatever the list says after that, the next one loses nothing of somebody's.
                let after = table(&disk, b"newer").unwrap_or_else(|e| panic!("{told}: {e}"));
                let files = disk.files();
                assert!(is_own || files.values().any(|text| text == "mine"), "{told}: {files:#?}");
                assert!(after.is_none() || after.unwrap().contains("a.before"), "{told}");
                tried += 1;
            }
        }
        // Without a fault the program's own table makes room, and only a changed one is kept.
        let disk = fresh();
        let notes = [b"new", b"two"].map(|text| table(&disk, text).unwrap());
        assert_eq!(notes.map(|note| note.is_some()), [!is_own, false], "{:#?}", disk.files());
        assert_eq!(disk.files().contains_key("/home/a.before.json"), !is_own);
    }
    println!("{tried} faults");
}

/// Scenes, autosaves, settings, presets and crash reports of the window, and tables of sweeps.
#[test]
fn a_file_that_is_replaced_is_the_earlier_one_or_the_new_one() {
    const PATH: &str = "/home/a.toml";
    let (mut tried, mut calls) = (0, 0);
    for there in [Some("old"), None] {
        let fresh = || {
            let disk = Model::default();
            disk.make_folder(Path::new("/home")).unwrap();
            if let Some(text) = there {
                disk.write(PATH, text);
            }
            disk.settle();
            disk
        };
        let replace = |disk: &Model| replace_on(disk, Path::new(PATH), b"new");
        let now = |disk: &Model| disk.files().get(PATH).cloned();
        let disk = fresh();
        disk.fail(usize::MAX, Fault::Kill);
        replace(&disk).unwrap();
        calls = disk.calls();
        for (how, keep) in POWER {
            let disk = fresh();
            replace(&disk).unwrap();
            disk.lose_power(keep);
            assert_eq!(now(&disk).as_deref(), Some("new"), "finished, then a power loss that {how}");
        }
        for n in 1..=calls {
            let errors = [ErrorKind::StorageFull, ErrorKind::Other, ErrorKind::PermissionDenied];
            let faults = errors.iter().flat_map(|kind| [Fault::Once(*kind), Fault::From(*kind)]);
            for fault in faults.chain([Fault::Kill, Fault::NoFolderFlush]) {
                for loss in POWER.iter().map(|(_, keep)| Some(keep)).chain([None]) {
                    let disk = fresh();
                    disk.fail(n, fault);
                    let ended = replace(&disk);
                    disk.restart();
                    if let Some(keep) = loss {
                        disk.lose_power(keep);
                    }
                    let told = format!("{there:?}: {fault:?} at call {n} of {calls} ({ended:?})");
                    let now = now(&disk);
                    assert!(now.as_deref() == there || now.as_deref() == Some("new"), "{told}: {now:?}");
                    assert!(ended.is_ok() || !matches!(fault, Fault::NoFolderFlush), "{told}");
                    if loss.is_none() {
                        assert!(ended.is_err() || now.as_deref() == Some("new"), "{told}: {now:?}");
                        // One fault leaves nothing beside it.
                        let most = usize::from(now.is_some());
                        assert!(!matches!(fault, Fault::Once(_)) || disk.files().len() == most, "{told}");
                    }
                    tried += 1;
                }
            }
        }
    }
    println!("{calls} calls, {tried} faults");
    assert!(calls >= 4 && tried > 300, "{calls} calls, {tried} faults");
}

/// The meshes of a data set's break: nothing there, the same that a killed run put there, or somebody's own.
#[test]
fn a_folder_in_the_place_of_another_is_whole_and_the_other_one_is_kept() {
    const FROM: &str = "/home/staging/meshes";
    const TO: &str = "/home/set/0";
    let mut tried = 0;
    for there in [None, Some("new"), Some("mine")] {
        let stage = |disk: &Model| {
            // They may be there.
            for folder in ["/home/staging", FROM] {
                let _ = disk.make_folder(Path::new(folder));
            }
            ["a.obj", "b.obj"].iter().for_each(|name| disk.write(&format!("{FROM}/{name}"), "new"));
        };
        let fresh = || {
            let disk = Model::default();
            ["/home", "/home/staging", FROM]
                .iter()
                .for_each(|folder| disk.make_folder(Path::new(folder)).unwrap());
            if let Some(text) = there {
                ["/home/set", TO].iter().for_each(|folder| disk.make_folder(Path::new(folder)).unwrap());
                ["a.obj", "b.obj"].iter().for_each(|name| disk.write(&format!("{TO}/{name}"), text));
            }
            disk.settle();
            stage(&disk);
            disk
        };
        let put = |disk: &Model| {
            put_folder_on(disk, Path::new(FROM), Path::new(TO), Path::new("/home/arrays/0")).map(drop)
        };
        // Both files of one kind, or none.
        let now = |disk: &Model, told: &str| {
            let files = disk.files();
            let [a, b] = ["a.obj", "b.obj"].map(|name| files.get(&format!("{TO}/{name}")).cloned());
            assert_eq!(a, b, "{told}: {files:#?}");
            let mine = files.values().filter(|text| *text == "mine").count();
            assert_eq!(mine, if there == Some("mine") { 2 } else { 0 }, "{told}: {files:#?}");
            a
        };
        let disk = fresh();
        disk.fail(usize::MAX, Fault::Kill);
        put(&disk).unwrap();
        assert_eq!(now(&disk, "without a fault").as_deref(), Some("new"));
        let calls = disk.calls();
        let losses = || POWER.iter().map(|(_, keep)| Some(keep)).chain([None]);
        let faults = [Fault::Once(ErrorKind::StorageFull), Fault::From(ErrorKind::Other), Fault::Kill];
        let all = faults.iter().flat_map(|fault| losses().map(move |loss| (*fault, loss)));
        let all: Vec<_> = all.chain([(Fault::NoFolderFlush, None)]).collect();
        for (n, (fault, loss)) in (1..=calls + 1).flat_map(|n| all.iter().map(move |fault| (n, *fault))) {
            let disk = fresh();
            disk.fail(n, fault);
            let ended = put(&disk);
            disk.restart();
            if let Some(keep) = loss {
                disk.lose_power(keep);
            }
            let told = format!("{there:?}: {fault:?} at call {n} of {calls} ({ended:?})");
            let found = now(&disk, &told);
            assert!(
                found.is_none() || found.as_deref() == there || found.as_deref() == Some("new"),
                "{told}"
            );
            assert!(ended.is_err() || found.as_deref() == Some("new"), "{told}: {found:?}");
            // The next run makes the break again.
            stage(&disk);
            put(&disk).unwrap_or_else(|e| panic!("{told}: {e}"));
            assert_eq!(now(&disk, &told).as_deref(), Some("new"), "{told}");
            tried += 1;
        }
    }
    println!("{tried} faults");
    assert!(tried > 300, "{tried}");
}

#[test]
fn another_run_that_is_at_it_is_left_alone() {
    let disk = Model::default();
    disk.make_folder(Path::new("/home")).unwrap();
    export(&disk, &earlier()).unwrap();
    let first = Aside::begin_on(Arc::new(disk.clone()), Path::new(OUT)).unwrap();
    fill(&disk, &first, &later()).unwrap();
    begin_again(&disk);
    first.finish().unwrap();
    assert_eq!(disk.files()[&format!("{OUT}/report.json")], "report 2");
}
