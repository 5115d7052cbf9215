//! Random cases with shrinking: any shape, impact, pattern, surface, local radius and island level. A case
//! that fails is made smaller and printed as one line that runs it again. `KINTSUGI_CASES=10` runs ten times
//! as many.

use std::{cell::RefCell, time::Instant};

use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};

use super::{
    bed::Bench,
    cases::{Case, any_case, plain},
    checks::Figures,
};

/// How many of the cases must have met each thing, or the figures mean little.
fn run(level: u32, cases: u32) -> Option<Figures> {
    let bench = Bench::get()?;
    let times = std::env::var("KINTSUGI_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    // Nothing is written into the tree: what fails is printed.
    let shrinks = if level < 7 { 200 } else { 20 };
    let config = Config {
        cases: cases * times,
        failure_persistence: None,
        max_shrink_iters: shrinks,
        ..Config::default()
    };
    let (sum, started) = (RefCell::new(Figures::default()), Instant::now());
    let result = TestRunner::new(config).run(&any_case(level), |case| match case.examine(bench) {
        Ok((figures, _)) => {
            *sum.borrow_mut() += figures;
            Ok(())
        }
        Err(found) => Err(TestCaseError::fail(found)),
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(why, case)) => panic!("{why}\nThis runs it again:\n{}", case.recipe_line()),
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
    let sum = sum.into_inner();
    println!("level {level}, {:.1} s: {sum:?}", started.elapsed().as_secs_f64());
    Some(sum)
}

#[test]
fn level_5_hundreds_of_random_cases() {
    let Some(sum) = run(5, 120) else { return };
    assert!(sum.cases >= 97 && sum.refused * 4 < sum.cases, "{sum:?}");
    assert!(sum.crack_voxels > 4_500 && sum.islands > 450 && sum.dust_voxels > 450, "{sum:?}");
    assert!(sum.swallowed > 4, "{sum:?}");
}

#[test]
fn level_6_tens_of_random_cases() {
    let Some(sum) = run(6, 48) else { return };
    assert!(sum.cases >= 39 && sum.crack_voxels > 18_000 && sum.dust_voxels > 780, "{sum:?}");
}

#[test]
fn level_7_tens_of_random_cases() {
    let Some(sum) = run(7, 9) else { return };
    assert!(sum.cases >= 7 && sum.crack_voxels > 16_000, "{sum:?}");
}

#[test]
fn level_8_a_few_random_cases() {
    let Some(sum) = run(8, 2) else { return };
    assert!(sum.cases >= 2 && sum.copies > 45_000, "{sum:?}");
}

/// Runs the case in `KINTSUGI_CASE`; without one a plain case, so that the line that a failure prints is known to work.
#[test]
fn the_case_that_is_named() {
    let Some(bench) = Bench::get() else { return };
    let made = plain("cup", 5, kintsugi::fracture::Surface::Rough, 12, 7);
    let line = made.recipe_line();
    let text = line.split('\'').nth(1).expect("the case stands between quotes").to_owned();
    let named = std::env::var("KINTSUGI_CASE");
    let case: Case = serde_json::from_str(named.as_ref().unwrap_or(&text)).expect("KINTSUGI_CASE is a case");
    assert!(named.is_ok() || case == made);
    match case.examine(bench) {
        Ok((figures, _)) => println!("{case:?}\n{figures:?}"),
        Err(found) => panic!("{found}\n{case:?}"),
    }
}
