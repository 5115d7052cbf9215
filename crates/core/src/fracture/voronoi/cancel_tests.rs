//! A fracture that is cancelled at any moment ends there, says so, and leaves nothing behind that changes the next one.

use std::sync::Arc;

use crate::{
    compute::Compute,
    fracture::{
        Cancel, FractureError, Fracturer, Recipe, Source, Surface,
        voronoi::testing::{comb, seeds},
    },
    gpu::Gpu,
    svo::Arena,
};

/// Cancels at each question in turn (`step` at a time), by what runs there. How many questions a fracture asks.
fn cancelled_everywhere(compute: &Compute, surface: Surface, step: i64) -> i64 {
    let forest = Arc::new(comb(5));
    let mut arena = Arena::new(compute).unwrap();
    arena.insert(&forest).unwrap();
    let fracturer = Fracturer::new(compute).unwrap();
    let pattern = seeds(5, 12, 3);
    let recipe = Recipe { surface, ..Recipe::default() };
    let run = |cancel: &Cancel| {
        let source = Source::new(&arena, &forest, 0).unwrap().unless(cancel);
        fracturer.fracture(&source, &pattern, &recipe)
    };
    let whole = run(Cancel::never()).unwrap();
    let counting = Cancel::after(1 << 40);
    assert!(run(&counting).unwrap().forest == whole.forest);
    let questions = (1 << 40) - counting.checks_left();
    for n in (0..questions).step_by(step as usize).chain([questions - 1]) {
        let told = run(&Cancel::after(n)).unwrap_err();
        assert!(matches!(told, FractureError::Cancelled), "question {n} of {questions}: {told}");
    }
    assert!(run(&Cancel::after(questions)).unwrap().forest == whole.forest);
    questions
}

#[test]
fn a_cancelled_fracture_ends_at_any_question() {
    for surface in [Surface::Planar, Surface::Rough, Surface::Dusty] {
        let questions = cancelled_everywhere(&Compute::Cpu, surface, 1);
        println!("{surface:?}: {questions} questions");
        assert!(questions > 30, "{questions}");
    }
    let Some(gpu) = Gpu::for_test() else { return };
    let questions = cancelled_everywhere(&(&gpu).into(), Surface::Planar, 3);
    assert!(questions > 5, "{questions}");
}

#[test]
fn who_waits_no_more_wishes_it() {
    let cancel = Cancel::possible();
    let waits = crate::fracture::CancelOnDrop(cancel.clone());
    assert_eq!(cancel.check(), Ok(()));
    drop(waits);
    assert_eq!(cancel.check(), Err(crate::fracture::Cancelled));
}
