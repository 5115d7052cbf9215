//! Meshes from outside: scans, a model with holes, one that is no manifold. Every one of them, and the
//! shipped one, the three surfaces in turn, at level 6; every second one at level 7, too, and the first at level 8.

use kintsugi::fracture::Surface;

use super::{
    bed::Bench,
    cases::{Case, plain},
    checks::Figures,
    shapes::{Shape, meshes},
};

#[test]
fn every_mesh_that_is_there() {
    let (files, Some(bench)) = (meshes(), Bench::get()) else { return };
    let surfaces = [Surface::Planar, Surface::Rough, Surface::Dusty];
    let mut sum = Figures::default();
    for (i, file) in files.iter().enumerate() {
        let case = |level, surface, seeds, local| Case {
            shape: Shape::File(file.clone()),
            local,
            ..plain("", level, surface, seeds, 11 + i as u64)
        };
        let mut cases = vec![case(6, surfaces[(i + 1) % 3], 40, Some(40))];
        if i % 2 == 0 {
            cases.push(case(7, surfaces[i % 3], 24, None));
        }
        if i == 0 {
            cases.push(case(8, Surface::Planar, 12, None));
        }
        for case in cases {
            let found = case.examine(bench);
            let (figures, _) = found.unwrap_or_else(|found| panic!("{found}\n{}", case.recipe_line()));
            println!("{} level {} {:?}: {figures:?}", file.display(), case.level, case.surface);
            sum += figures;
        }
    }
    println!("{} meshes: {sum:?}", files.len());
    assert_eq!(sum.cases as usize, files.len() + files.len().div_ceil(2) + 1);
}
