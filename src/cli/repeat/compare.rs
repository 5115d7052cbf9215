//! Compares a result with its repetition and lists the differences, one line each.

use std::{
    ffi::OsStr,
    fs,
    io::{self, Read},
    path::Path,
};

use serde_json::Value;

use crate::{
    cli::{CliError, input::about},
    export::{SignedPicture, read_signed},
    files,
};

use super::original::LARGEST;

/// Fields of a report that say who made a result, when, and which other files were written; they are not compared.
const NO_DIFFERENCE: [&str; 6] = ["version", "provenance", "compute", "adapter", "timings_ms", "files"];
/// Most differences listed for one report.
const MOST: usize = 20;
/// Tolerance for colours, in steps of 255: light is a sum of floats, which graphics adapters round differently.
const ROUNDING: u8 = 2;

/// Compares files of the same name in two folders. `report` is the file name of the original's report; if it is `None`,
/// a file that is missing on one side is a difference.
///
/// # Errors
/// [`CliError::Input`] for a file that cannot be read.
pub fn folders(original: &Path, again: &Path, report: Option<&OsStr>) -> Result<Vec<String>, CliError> {
    let mut found = Vec::new();
    let mut names: Vec<_> = entries(again)?;
    names.sort();
    for name in &names {
        let new = again.join(name);
        let old = if name == "report.json" { report.unwrap_or(name) } else { name.as_os_str() };
        let old = original.join(old);
        let shown = name.to_string_lossy();
        if !old.exists() {
            // A report may be kept without its other files; two runs must both have every file.
            if report.is_none() {
                found.push(format!("{shown}: only one of the runs wrote it"));
            }
            continue;
        }
        if new.is_dir() {
            found.extend(folders(&old, &new, None)?.into_iter().map(|line| format!("{shown}/{line}")));
            continue;
        }
        let (one, other) = (read(&old)?, read(&new)?);
        match new.extension().and_then(OsStr::to_str) {
            Some("json") if name == "report.json" => found.extend(reports(&old, &one, &other)?),
            _ if one == other => {}
            Some("csv") => found.extend(rows(&shown, &one, &other)),
            Some("png") => {
                let picture = |bytes| read_signed(bytes).map_err(|why| about(&old, why));
                let differs = pixels(&picture(&one)?, &picture(&other)?);
                found.extend(differs.map(|line| format!("{shown}: {line}")));
            }
            Some("npz") => found.extend(arrays(&shown, &one, &other)),
            // Scene files are not compared with a report's, since their paths may be relative to their own folder.
            Some("toml") if report.is_some() => {}
            _ => found.push(format!("{shown}: its bytes differ")),
        }
    }
    Ok(found)
}

fn entries(folder: &Path) -> Result<Vec<std::ffi::OsString>, CliError> {
    let all = fs::read_dir(folder).map_err(|e| about(folder, e))?;
    // Hidden ones are no results: the list of what was written has other digests wherever a report has other times.
    let is_hidden = |name: &std::ffi::OsString| name.to_string_lossy().starts_with('.');
    Ok(all.flatten().map(|entry| entry.file_name()).filter(|name| !is_hidden(name)).collect())
}

fn read(path: &Path) -> Result<Vec<u8>, CliError> {
    files::read(path, LARGEST).map_err(|why| about(path, why))
}

/// Compares two reports value by value; fields that the older one lacks are ignored.
fn reports(path: &Path, one: &[u8], other: &[u8]) -> Result<Vec<String>, CliError> {
    let parse =
        |bytes| serde_json::from_slice::<Value>(bytes).map_err(|e| about(path, format!("is no report: {e}")));
    let (old, new) = (parse(one)?, parse(other)?);
    let mut found = Vec::new();
    let sha = |report: &Value| report["provenance"]["mesh_sha256"].as_str().map(str::to_owned);
    if let (Some(was), Some(is)) = (sha(&old), sha(&new))
        && was != is
    {
        found.push("the mesh: its file holds another one now".to_owned());
    }
    let (old, new) = (without_the_unused(old), without_the_unused(new));
    if let (Some(old), Some(new)) = (old.as_object(), new.as_object()) {
        for (name, was) in old.iter().filter(|(name, _)| !NO_DIFFERENCE.contains(&name.as_str())) {
            values(name, was, new.get(name).unwrap_or(&Value::Null), &mut found);
        }
    }
    if found.len() > MOST {
        let more = found.len() - MOST;
        found.truncate(MOST);
        found.push(format!("report.json: and {more} more"));
    }
    Ok(found)
}

/// A report without crack parameters that its surface does not use: a sweep may set any of them, but `fracture` rejects
/// them as options.
fn without_the_unused(mut report: Value) -> Value {
    let parameters = &mut report["parameters"];
    let unused: &[&str] = match parameters["surface"].as_str() {
        Some("dusty") => &["displacement", "sides"],
        Some("rough") => &["dusty"],
        _ => &[],
    };
    if let Some(crack) = parameters.get_mut("crack").and_then(Value::as_object_mut) {
        crack.retain(|name, _| !unused.contains(&name.as_str()));
    }
    report
}

fn values(name: &str, was: &Value, is: &Value, found: &mut Vec<String>) {
    match (was, is) {
        (Value::Object(old), Value::Object(new)) => {
            for (key, was) in old {
                values(&format!("{name}.{key}"), was, new.get(key).unwrap_or(&Value::Null), found);
            }
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            for (i, (was, is)) in old.iter().zip(new).enumerate() {
                values(&format!("{name}[{i}]"), was, is, found);
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            found.push(format!("report.json: {name} had {} entries, has {}", old.len(), new.len()));
        }
        _ if was == is || are_near(name, was, is) => {}
        _ => found.push(format!("report.json: {name} was {was}, is {is}")),
    }
}

/// Path of the blow's direction: earlier versions stored it in single precision, and it is normalised again in double
/// precision.
const DIRECTION: &str = "parameters.impact.direction[";
/// Error of a unit vector's component in single precision.
const SINGLE: f64 = 1e-6;

/// Whether two numbers of a report are equal within the rounding of decimals; `name` is their path.
fn are_near(name: &str, was: &Value, is: &Value) -> bool {
    let (Some(was), Some(is)) = (was.as_f64(), is.as_f64()) else { return false };
    let rounding = 2.0 * f64::EPSILON * was.abs().max(is.abs());
    (was - is).abs() <= if name.starts_with(DIRECTION) { SINGLE } else { rounding }
}

/// Compares two tables row by row, ignoring columns of times (`ms ...`).
fn rows(file: &str, one: &[u8], other: &[u8]) -> Vec<String> {
    let told = |bytes: &[u8]| -> Vec<String> {
        let text = String::from_utf8_lossy(bytes);
        let is_time: Vec<bool> =
            text.lines().next().unwrap_or("").split(',').map(|name| name.starts_with("ms ")).collect();
        let counts = |at: usize| !is_time.get(at).copied().unwrap_or(false);
        let row = |line: &str| {
            let cells: Vec<&str> =
                line.split(',').enumerate().filter(|(at, _)| counts(*at)).map(|(_, cell)| cell).collect();
            cells.join(",")
        };
        text.lines().map(row).collect()
    };
    let (was, is) = (told(one), told(other));
    if was.len() != is.len() {
        return vec![format!("{file}: it had {} rows, has {}", was.len(), is.len())];
    }
    let differing = was.iter().zip(&is).filter(|(was, is)| was != is).count();
    if differing == 0 {
        Vec::new()
    } else {
        vec![format!("{file}: {differing} of {} rows differ", was.len())]
    }
}

/// Compares the arrays of two npz files by name. `other` is the new one, of this program's own making; `one` may be
/// anything, so its arrays are unpacked piece by piece, as far as they agree.
fn arrays(file: &str, one: &[u8], other: &[u8]) -> Vec<String> {
    let open = |bytes| zip::ZipArchive::new(io::Cursor::new(bytes)).ok();
    let (Some(mut old), Some(mut new)) = (open(one), open(other)) else {
        return vec![format!("{file}: its bytes differ")];
    };
    let mut names: Vec<String> = old.file_names().filter_map(|name| Some(name.ok()?.into_owned())).collect();
    names.sort();
    let mut found = Vec::new();
    for name in &names {
        let members = old.by_name(name).ok().zip(new.by_name(name).ok());
        if !members.is_some_and(|(old, new)| agree(old, new).unwrap_or(false)) {
            found.push(format!("{file}: {} differs", name.trim_end_matches(".npy")));
        }
    }
    if found.is_empty() && old.len() == new.len() {
        found.push(format!("{file}: the same arrays, packed otherwise"));
    }
    found
}

/// Whether two streams hold the same bytes; reads no further than the first that differs.
fn agree(mut one: impl Read, mut other: impl Read) -> io::Result<bool> {
    const PIECE: u64 = 1 << 16;
    let (mut old, mut new) = (Vec::new(), Vec::new());
    loop {
        old.clear();
        new.clear();
        one.by_ref().take(PIECE).read_to_end(&mut old)?;
        other.by_ref().take(PIECE).read_to_end(&mut new)?;
        if old != new {
            return Ok(false);
        }
        if old.is_empty() {
            return Ok(true);
        }
    }
}

/// Compares two pictures pixel by pixel.
///
/// # Errors
/// [`CliError::Input`] where the new one cannot be read.
pub fn pictures(picture: &SignedPicture, again: &Path) -> Result<Vec<String>, CliError> {
    let new = read_signed(&read(again)?).map_err(|why| about(again, why))?;
    let mut found = Vec::new();
    let sha =
        |picture: &SignedPicture| picture.signature.as_ref().and_then(|s| s.provenance.mesh_sha256.clone());
    if let (Some(was), Some(is)) = (sha(picture), sha(&new))
        && was != is
    {
        found.push("the mesh: its file holds another one now".to_owned());
    }
    found.extend(pixels(picture, &new));
    Ok(found)
}

fn pixels(old: &SignedPicture, new: &SignedPicture) -> Option<String> {
    if old.size != new.size {
        let ([w, h], [wide, high]) = (old.size, new.size);
        return Some(format!("the picture was {w}x{h}, is {wide}x{high}"));
    }
    let far = |(a, b): (&[u8], &[u8])| a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0);
    let steps: Vec<u8> = old.rgba.chunks_exact(4).zip(new.rgba.chunks_exact(4)).map(far).collect();
    let (differing, all) = (steps.iter().filter(|step| **step > ROUNDING).count(), steps.len());
    let most = steps.iter().max().copied().unwrap_or(0);
    (differing > 0)
        .then(|| format!("the picture: {differing} of {all} pixels differ, by up to {most} of 255"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn lines(old: &Value, new: &Value) -> Vec<String> {
        let bytes = |value: &Value| serde_json::to_vec(value).unwrap();
        reports(Path::new("report.json"), &bytes(old), &bytes(new)).unwrap()
    }

    #[test]
    fn reports_differ_in_results_and_not_in_who_made_them() {
        let old = json!({ "version": "0.1", "adapter": "a", "counts": { "pieces": 3 }, "pieces": [{ "mass": 1.5 }] });
        let mut new = json!({
            "version": "0.2", "adapter": "b", "counts": { "pieces": 3, "more": 1 }, "pieces": [{ "mass": 1.5 }],
            "provenance": { "commit": "x" }, "timings_ms": { "split": 3 },
        });
        assert_eq!(lines(&old, &new), Vec::<String>::new());
        new["counts"]["pieces"] = 4.into();
        new["pieces"][0]["mass"] = json!(1.5000001);
        let found = lines(&old, &new);
        assert_eq!(
            found,
            ["report.json: counts.pieces was 3, is 4", "report.json: pieces[0].mass was 1.5, is 1.5000001"]
        );
        new["pieces"] = json!([]);
        assert!(lines(&old, &new).contains(&"report.json: pieces had 1 entries, has 0".to_owned()));
        assert!(lines(&new, &old).iter().any(|line| line.contains("counts.more was 1, is null")));
        let many = json!({ "checks": (0..30).collect::<Vec<_>>() });
        let other = json!({ "checks": (1..31).collect::<Vec<_>>() });
        assert_eq!(lines(&many, &other).len(), MOST + 1);
    }

    #[test]
    fn the_direction_of_a_blow_may_have_been_kept_in_single_precision() {
        let of = |x: f64| json!({ "parameters": { "impact": { "direction": [x, 0.0], "point": [x, 0.0] } } });
        let found = lines(&of(-0.707_106_769_084_930_4), &of(-0.707_106_780_527_962_8));
        assert!(found.len() == 1 && found[0].contains("impact.point[0]"), "{found:?}");
        assert_eq!(lines(&of(-0.6071), &of(-0.6072)).len(), 2);
    }

    #[test]
    fn tables_differ_in_what_was_measured_and_not_in_how_long_it_took() {
        let of = |one: &str, other: &str| rows("steps.csv", one.as_bytes(), other.as_bytes());
        let table = "time,ms solver,bodies\n0.1,3.5,2\n0.2,4.5,2\n";
        assert!(of(table, "time,ms solver,bodies\n0.1,9,2\n0.2,8,2\n").is_empty());
        let said = of(table, "time,ms solver,bodies\n0.1,9,2\n0.2,8,3\n");
        assert_eq!(said, ["steps.csv: 1 of 3 rows differ"]);
        assert_eq!(of(table, "time,ms solver,bodies\n"), ["steps.csv: it had 3 rows, has 1"]);
    }

    #[test]
    fn pictures_may_round_and_no_more() {
        let picture = |rgba: Vec<u8>| SignedPicture { size: [2, 1], rgba, signature: None };
        let one = picture(vec![10; 8]);
        assert_eq!(pixels(&one, &picture(vec![12, 8, 10, 10, 10, 10, 10, 10])), None);
        let said = pixels(&one, &picture(vec![10, 10, 10, 10, 10, 14, 10, 10])).unwrap();
        assert_eq!(said, "the picture: 1 of 2 pixels differ, by up to 4 of 255");
        let wide = SignedPicture { size: [1, 2], ..picture(vec![10; 8]) };
        assert!(pixels(&one, &wide).unwrap().contains("was 2x1, is 1x2"));
    }
}
