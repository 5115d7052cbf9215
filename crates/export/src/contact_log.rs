//! The solver's contacts as text, `contact_log.csv`, and as arrays, `contacts.npz`.
//!
//! In: contacts after a step, and the bodies. Out: one line per contact, written step by step, and arrays with a row per
//! contact, or per contact and substep, written whenever the caller wants them, since a long run does not fit into
//! memory. Numbers of past steps wait in files without a name. Columns and arrays are described in `docs/files.md`.

use std::path::{Path, PathBuf};

use glam::DVec3;

use crate::bodies::{Body, BodyId, Contact, generator_number};

use super::{
    Arrays as _, ExportError, Npz,
    column::{Column, HELD},
    npy::write_whole,
    numbers::unsigned_zero as plain,
    sheet::Sheet,
};

/// Arrays of whole numbers: names, and how many numbers a contact has there.
const WHOLE: [(&str, usize); 10] = [
    ("step", 1),
    ("bodies", 2),
    ("key", 2),
    ("found_by", 1),
    ("found_as", 1),
    ("chosen_as", 1),
    ("candidates", 1),
    ("persistence", 1),
    ("touches_later", 1),
    (SUBSTEP, 1),
];
/// The array that is there only where rows are those of substeps.
const SUBSTEP: &str = "substep";
/// The same of the others.
const REAL: [(&str, usize); 14] = [
    ("time", 1),
    ("point", 3),
    ("normal", 3),
    ("separation", 1),
    ("impulse", 1),
    ("parting", 1),
    ("sliding", 1),
    ("relative_velocity", 3),
    ("substep_impulse", 1),
    ("substep_friction", 3),
    ("cell", 1),
    ("step_impulse", 1),
    ("step_friction", 3),
    ("area", 1),
];

/// The files.
pub struct ContactLog {
    sheet: Sheet,
    arrays: Arrays,
    every: u64,
    by_substep: bool,
}

/// How the first body moves at a contact as seen from the second, m/s. `bodies` are in ascending order of their ids.
#[must_use]
pub fn velocity_apart(contact: &Contact, bodies: &[Body]) -> DVec3 {
    let of = |id: BodyId| {
        let at = bodies.binary_search_by_key(&id, |body| body.id).ok()?;
        let state = &bodies.get(at)?.state;
        Some(state.linear_velocity + state.angular_velocity.cross(contact.position - state.position))
    };
    let first = of(contact.bodies.0).unwrap_or_default();
    let second = contact.bodies.1.and_then(of).unwrap_or_default();
    first - second
}

/// A contact's velocity: how fast the surfaces part along the normal (negative: they approach), and how fast they slide, m/s.
#[must_use]
pub fn relative_velocity(contact: &Contact, bodies: &[Body]) -> [f64; 2] {
    let apart = velocity_apart(contact, bodies);
    let along = apart.dot(contact.normal);
    [along, (apart - along * contact.normal).length()]
}

/// A number of a body or a step, where arrays have no larger ones.
fn whole(number: impl TryInto<i32>) -> i32 {
    number.try_into().unwrap_or(i32::MAX)
}

/// The upper and the lower half of a contact's key, since arrays have no whole numbers of 64 bits.
#[must_use]
pub fn halves(key: u64) -> [i32; 2] {
    [(key >> 32) as i32, key as i32]
}

/// All contacts so far.
#[derive(Debug)]
struct Arrays {
    folder: PathBuf,
    held: usize,
    contacts: usize,
    whole: [Column<i32>; 10],
    real: [Column<f64>; 14],
}

impl Arrays {
    /// No contacts yet; those of past steps will wait in files in `folder`.
    fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            held: HELD,
            contacts: 0,
            whole: Default::default(),
            real: Default::default(),
        }
    }

    fn add(&mut self, step: u64, time: f64, contact: &Contact, bodies: &[Body]) {
        self.contacts += 1;
        // The floor and the walls have no number.
        let second = contact.bodies.1.map_or(-1, |id| whole(id.0));
        let numbers: [&[i32]; 10] = [
            &[whole(step)],
            &[whole(contact.bodies.0.0), second],
            &halves(contact.key),
            &[generator_number(contact.found_by).map_or(-1, whole)],
            &[contact.why.found_as.code()],
            &[contact.why.chosen_as.code()],
            &[whole(contact.candidates)],
            &[contact.why.persistence.code()],
            &[i32::from(contact.touches_later)],
            &[contact.substep.map_or(-1, whole)],
        ];
        for (column, numbers) in self.whole.iter_mut().zip(numbers) {
            column.extend(numbers.iter().copied());
        }
        let [parting, sliding] = relative_velocity(contact, bodies);
        let [velocity, friction, of_step] =
            [velocity_apart(contact, bodies), contact.substep_friction, contact.step_friction]
                .map(|v| v.to_array());
        let values: [&[f64]; 14] = [
            &[time],
            &contact.position.to_array(),
            &contact.normal.to_array(),
            &[contact.separation],
            &[contact.impulse],
            &[parting],
            &[sliding],
            &velocity,
            &[contact.substep_impulse],
            &friction,
            &[contact.cell],
            &[contact.step_impulse],
            &of_step,
            &[contact.area],
        ];
        for (column, values) in self.real.iter_mut().zip(values) {
            column.extend(values.iter().copied().map(plain));
        }
    }

    /// Moves to the disk what memory should not hold.
    fn spill(&mut self) -> Result<(), ExportError> {
        let Self { folder, held, whole, real, .. } = self;
        whole.iter_mut().try_for_each(|column| column.spill_from(*held, folder))?;
        real.iter_mut().try_for_each(|column| column.spill_from(*held, folder))
    }

    fn fill(&self, path: &Path, by_substep: bool) -> Result<(), ExportError> {
        let shape = |width: usize| if width == 1 { vec![self.contacts] } else { vec![self.contacts, width] };
        let mut npz = Npz::create(path)?;
        for (column, (name, width)) in
            self.whole.iter().zip(WHOLE).filter(|(_, (name, _))| by_substep || *name != SUBSTEP)
        {
            npz.array_of_parts(name, &shape(width), column.parts(path)?)?;
        }
        for (column, (name, width)) in self.real.iter().zip(REAL) {
            npz.array_of_parts(name, &shape(width), column.parts(path)?)?;
        }
        npz.finish()
    }
}

impl ContactLog {
    /// Name of the arrays' file.
    pub const ARRAYS: &'static str = "contacts.npz";

    /// Creates the table in `folder`, for every `every`th step; numbers for the arrays will wait there, too. The arrays have
    /// a row for each contact and substep if `by_substep`, and a row for each line of the table if not.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn create(folder: &Path, every: u64, by_substep: bool) -> Result<Self, ExportError> {
        let head = "time,first,second,x,y,z,normal_x,normal_y,normal_z,separation,impulse,parting,sliding,cell,\
                    found_by,found_as,chosen_as,candidates,persistence,touches_later,\
                    step_impulse,step_friction_x,step_friction_y,step_friction_z,area,key";
        let sheet = Sheet::create(&folder.join("contact_log.csv"), head)?;
        Ok(Self { sheet, arrays: Arrays::new(folder), every: every.max(1), by_substep })
    }

    /// The files lie in `folder` now.
    pub fn moved_to(&mut self, folder: &Path) {
        self.sheet.moved_to(folder);
        folder.clone_into(&mut self.arrays.folder);
    }

    /// Whether `step` is logged.
    #[must_use]
    pub fn wants(&self, step: u64) -> bool {
        step.is_multiple_of(self.every)
    }

    /// Logs the contacts after a step, which are `contacts` for the table; `by_substep` are those with a row for each
    /// substep, which only a log by substeps reads. `bodies` are in ascending order of their ids.
    ///
    /// # Errors
    /// [`ExportError::Write`] where the disk has no room; the arrays have the contacts all the same.
    pub fn record(
        &mut self,
        step: u64,
        time: f64,
        (contacts, by_substep): (&[Contact], &[Contact]),
        bodies: &[Body],
    ) -> Result<(), ExportError> {
        let rows = if self.by_substep { by_substep } else { contacts };
        rows.iter().for_each(|row| self.arrays.add(step, time, row, bodies));
        let list = |v: DVec3| v.to_array().map(|x| plain(x).to_string()).join(",");
        for contact in contacts {
            // The floor and the walls have no number.
            let second = contact.bodies.1.map_or(String::new(), |id| id.0.to_string());
            let [parting, sliding] = relative_velocity(contact, bodies).map(plain);
            let why = contact.why;
            self.sheet.line(&format!(
                "{time},{},{second},{},{},{},{},{parting},{sliding},{},{},{},{},{},{},{},{},{},{},{}",
                contact.bodies.0.0,
                list(contact.position),
                list(contact.normal),
                plain(contact.separation),
                plain(contact.impulse),
                contact.cell,
                contact.found_by,
                why.found_as.name(),
                why.chosen_as.name(),
                contact.candidates,
                why.persistence.name(),
                u8::from(contact.touches_later),
                plain(contact.step_impulse),
                list(contact.step_friction),
                contact.area,
                contact.key
            ));
        }
        let spilled = self.arrays.spill();
        self.sheet.flush()?;
        spilled
    }

    /// Writes the arrays of all contacts so far to a temporary file and renames it.
    ///
    /// # Errors
    /// [`ExportError`]; the previous file is kept.
    pub fn write_npz(&self, path: &Path) -> Result<(), ExportError> {
        write_whole(path, |beside| self.arrays.fill(beside, self.by_substep))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::bodies::{ChosenAs, FoundAs, Persistence, Why};

    fn contact(k: u32) -> Contact {
        let x = f64::from(k);
        Contact {
            bodies: (BodyId(k), (!k.is_multiple_of(3)).then_some(BodyId(k + 1))),
            position: DVec3::new(x, -0.0, 0.5 * x),
            normal: DVec3::Y,
            separation: -1e-3 * x,
            key: u64::from(k) << 33 | 0x8000_0000,
            area: 0.5 * x,
            cell: 0.25,
            impulse: 2.0 * x,
            step_impulse: 3.0 * x,
            step_friction: DVec3::new(x, 0.0, -0.0),
            substep: None,
            substep_impulse: 0.25 * x,
            substep_friction: DVec3::new(0.0, 0.0, 0.125 * x),
            found_by: ["octree", "hull", "none of these"][k as usize % 3],
            why: Why {
                found_as: [FoundAs::Place, FoundAs::Turned][k as usize % 2],
                chosen_as: [ChosenAs::Outermost, ChosenAs::Deepest, ChosenAs::Ball][k as usize % 3],
                persistence: [Persistence::New, Persistence::Again, Persistence::Carried][k as usize % 3],
            },
            candidates: 3 * k as usize,
            touches_later: k.is_multiple_of(5),
        }
    }

    #[test]
    fn contacts_that_waited_on_the_disk_are_those_that_were_held() {
        let folder = std::env::temp_dir().join(format!("kintsugi-contact-log-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join(ContactLog::ARRAYS);
        let written = |held: usize| {
            let mut log = ContactLog::create(&folder, 2, false).unwrap();
            log.arrays.held = held;
            log.write_npz(&path).unwrap();
            assert!(log.wants(4) && !log.wants(5));
            for step in (0..40u32).step_by(2) {
                let contacts: Vec<Contact> = (0..step).map(contact).collect();
                log.record(u64::from(step), 0.01 * f64::from(step), (&contacts, &[]), &[]).unwrap();
                if step % 14 == 0 {
                    log.write_npz(&path).unwrap();
                }
            }
            assert!(log.arrays.real.iter().all(|column| column.in_memory() < held));
            log.write_npz(&path).unwrap();
            fs::read(&path).unwrap()
        };
        let held = written(usize::MAX);
        assert!([1, 7, 100].into_iter().all(|few| written(few) == held));
        let mut archive = zip::ZipArchive::new(std::io::Cursor::new(held)).unwrap();
        let mut numbers = |name: &str| -> Vec<u8> {
            let mut bytes = Vec::new();
            std::io::copy(&mut archive.by_name(&format!("{name}.npy")).unwrap(), &mut bytes).unwrap();
            let data = 10 + usize::from(bytes[8]) + 256 * usize::from(bytes[9]);
            bytes.split_off(data)
        };
        let wanted = (0..40u32).step_by(2).flat_map(|step| (0..step).map(move |k| (step, contact(k))));
        let wanted: Vec<(u32, Contact)> = wanted.collect();
        let bytes = |of: &dyn Fn(&(u32, Contact)) -> Vec<i32>| -> Vec<u8> {
            wanted.iter().flat_map(of).flat_map(i32::to_le_bytes).collect()
        };
        assert_eq!(numbers("step"), bytes(&|(step, _)| vec![*step as i32]));
        let pair =
            |(_, c): &(u32, Contact)| vec![c.bodies.0.0 as i32, c.bodies.1.map_or(-1, |id| id.0 as i32)];
        assert_eq!(numbers("bodies"), bytes(&pair));
        let reals = |of: &dyn Fn(&(u32, Contact)) -> Vec<f64>| -> Vec<u8> {
            wanted.iter().flat_map(of).flat_map(f64::to_le_bytes).collect()
        };
        let point = |(_, c): &(u32, Contact)| vec![c.position.x, 0.0, c.position.z];
        assert_eq!(numbers("key"), bytes(&|(_, c)| vec![2 * c.bodies.0.0 as i32, i32::MIN]));
        assert_eq!(numbers("area"), reals(&|(_, c)| vec![c.area]));
        assert_eq!(numbers("point"), reals(&point), "no zero has a sign");
        assert_eq!(numbers("substep_friction"), reals(&|(_, c)| c.substep_friction.to_array().to_vec()));
        assert_eq!(numbers("step_impulse"), reals(&|(_, c)| vec![c.step_impulse]));
        let of_step = |(_, c): &(u32, Contact)| vec![c.step_friction.x, 0.0, 0.0];
        assert_eq!(numbers("step_friction"), reals(&of_step), "no zero has a sign");
        // Reasons, by the numbers and the names of docs/files.md.
        let by_three = |codes: [i32; 3]| bytes(&move |(_, c)| vec![codes[c.bodies.0.0 as usize % 3]]);
        assert_eq!(numbers("found_by"), by_three([1, 2, -1]));
        assert_eq!(numbers("chosen_as"), by_three([1, 2, 4]));
        assert_eq!(numbers("persistence"), by_three([0, 1, 2]));
        assert_eq!(numbers("found_as"), bytes(&|(_, c)| vec![4 * (c.bodies.0.0 as i32 % 2)]));
        assert_eq!(numbers("candidates"), bytes(&|(_, c)| vec![3 * c.bodies.0.0 as i32]));
        assert_eq!(
            numbers("touches_later"),
            bytes(&|(_, c)| vec![i32::from(c.bodies.0.0.is_multiple_of(5))])
        );
        // A header and a line a contact, and nothing beside both files.
        let table = fs::read_to_string(folder.join("contact_log.csv")).unwrap();
        assert_eq!(table.lines().count(), 1 + wanted.len());
        for (line, (_, c)) in table.lines().skip(1).zip(&wanted) {
            let k = c.bodies.0.0 as usize;
            let last = format!(
                ",{},{},{},{},{},{},{},{},0,0,{},{}",
                ["octree", "hull", "none of these"][k % 3],
                ["place", "turned"][k % 2],
                ["outermost", "deepest", "ball"][k % 3],
                3 * k,
                ["new", "again", "carried"][k % 3],
                [1, 0, 0, 0, 0][k % 5],
                3 * k,
                k,
                0.5 * k as f64,
                ((k as u64) << 33) + (1 << 31)
            );
            assert!(line.ends_with(&last), "{line}");
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        assert!(archive.by_name("substep.npy").is_err(), "rows of contacts have no substep");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn by_substeps_the_arrays_have_other_rows_than_the_table() {
        let folder = std::env::temp_dir().join(format!("kintsugi-contact-substeps-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let mut log = ContactLog::create(&folder, 1, true).unwrap();
        let rows: Vec<Contact> =
            [None, Some(0), Some(7)].map(|substep| Contact { substep, ..contact(2) }).into();
        log.record(1, 0.01, (&[contact(2)], &rows), &[]).unwrap();
        let path = folder.join(ContactLog::ARRAYS);
        log.write_npz(&path).unwrap();
        let mut archive = zip::ZipArchive::new(fs::File::open(&path).unwrap()).unwrap();
        let mut bytes = Vec::new();
        std::io::copy(&mut archive.by_name("substep.npy").unwrap(), &mut bytes).unwrap();
        let wanted: Vec<u8> = [-1i32, 0, 7].into_iter().flat_map(i32::to_le_bytes).collect();
        let data = 10 + usize::from(bytes[8]) + 256 * usize::from(bytes[9]);
        assert_eq!(bytes.split_off(data), wanted);
        let table = fs::read_to_string(folder.join("contact_log.csv")).unwrap();
        assert_eq!(table.lines().count(), 2);
        fs::remove_dir_all(&folder).unwrap();
    }
}
