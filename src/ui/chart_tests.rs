//! Charts in panels: the button below each asks for a file of what the chart shows.

use super::{
    Command,
    tests::{Panels, harness, press, record},
};
use crate::scene::Chart;

/// Clicks the button below a chart; returns the chart that is to be saved.
fn saved(harness: &mut egui_kittest::Harness<'static, Panels>, name: &str) -> Chart {
    let at = harness.state().rect(&format!("{name}_save")).center();
    harness.state_mut().asked.clear();
    harness.hover_at(at);
    harness.run_steps(2);
    harness.drag_at(at);
    harness.run_steps(1);
    harness.drop_at(at);
    harness.run_steps(2);
    let asked = &harness.state().asked;
    let [Command::SaveChart(chart)] = &asked[..] else { panic!("{name}: {asked:?}") };
    (**chart).clone()
}

#[test]
fn the_button_below_a_chart_saves_what_the_panel_shows() {
    let mut harness = harness(1280.0, 3000.0);
    press(&mut harness, "Pieces");
    press(&mut harness, "Energy and contacts over time");
    record(harness.state_mut());
    harness.run_steps(3);
    let pieces = saved(&mut harness, "pieces_histogram");
    let energy = saved(&mut harness, "energy_chart");
    let contacts = saved(&mut harness, "contacts_chart");
    let stages = saved(&mut harness, "stages_fracture");
    let sandbox = &harness.state().sandbox;
    assert_eq!(pieces.series[0].values.iter().sum::<f64>(), sandbox.piece_rows().len() as f64);
    assert!(pieces.x.log && pieces.x.unit == "voxels" && pieces.series[1].values.iter().all(|n| *n == 0.0));
    let steps = sandbox.step_figures();
    assert!(steps.len() > 1 && steps.windows(2).all(|pair| pair[0].time < pair[1].time), "{steps:?}");
    assert_eq!(energy.at, steps.iter().map(|step| step.time).collect::<Vec<_>>());
    // Planted error to see this fail: exchange both energies.
    assert_eq!(energy.series[0].values.last(), Some(&sandbox.last_step().kinetic));
    assert_eq!(energy.series[1].values.last(), Some(&sandbox.last_step().potential));
    assert_eq!(contacts.series[0].values.last(), Some(&(sandbox.last_step().contacts as f64)));
    assert_eq!(contacts.series[1].values.last(), Some(&(sandbox.last_step().resting as f64)));
    assert!((energy.at.last().unwrap() - sandbox.time()).abs() < 1e-12);
    let timings = &sandbox.last_break().unwrap().timings;
    assert_eq!(stages.series[0].values, timings.iter().map(|stage| stage.ms).collect::<Vec<_>>());
    assert_eq!((stages.y.name.as_str(), stages.y.unit.as_str()), ("Time", "ms"));
}
