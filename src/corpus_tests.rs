//! The small files of `fuzz/corpus`, sound and damaged, through the readers that they are for: a short run of what the
//! fuzzing targets do for hours, the same each time.

#[path = "../fuzz/feed.rs"]
mod feed;
#[path = "../tests/support/injure.rs"]
mod injure;

use std::path::Path;

use injure::{Dice, injure};

/// Damaged files of each kind, about.
const DAMAGED: usize = 2000;

fn corpus(kind: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(kind);
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    files.iter().map(|path| (name(path), std::fs::read(path).unwrap())).collect()
}

#[test]
fn sound_files_are_read_and_others_are_refused_in_a_line() {
    let mut wrong = Vec::new();
    for kind in feed::KINDS {
        let files = corpus(kind);
        assert!(files.len() > 10, "{} {kind}", files.len());
        for (name, bytes) in files {
            let read = feed::feed(kind, &bytes);
            if read.is_ok() == name.starts_with("bad") {
                wrong.push(format!("{kind}/{name}: {read:?}"));
            }
            read.err().iter().for_each(|refusal| feed::is_a_line_that_helps(refusal));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn damaged_files_are_read_or_refused_in_a_line() {
    let all: Vec<(&str, Vec<u8>)> = feed::KINDS
        .iter()
        .flat_map(|kind| corpus(kind).into_iter().map(move |(_, bytes)| (*kind, bytes)))
        .collect();
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    for kind in feed::KINDS {
        let (mut read, mut refused) = (0, 0);
        let own: Vec<&Vec<u8>> = all.iter().filter(|(of, _)| *of == kind).map(|(_, bytes)| bytes).collect();
        for whole in &own {
            for _ in 0..DAMAGED.div_ceil(own.len()) {
                let mut bytes = (*whole).clone();
                let other = &dice.among(&all).1;
                injure(&mut bytes, other, &mut dice);
                match feed::feed(kind, &bytes) {
                    Ok(()) => read += 1,
                    Err(refusal) => {
                        feed::is_a_line_that_helps(&refusal);
                        refused += 1;
                    }
                }
            }
        }
        println!("{kind}: {read} read, {refused} refused");
        assert!(read > 0 && refused > 20, "{kind}: the damage is too mild or too strong");
    }
}
