//! The kernel's colours against the reference, and what a choice of material makes of an object's own colours.

use std::sync::Arc;

use glam::{DVec3, IVec3};

use super::{Interior, Material, Volume, follow, luminance, surface_color};
use crate::geometry::srgb;
use crate::{
    fracture::{Cancel, Fracture, Fracturer, Pattern, Recipe, Source, voronoi::testing::forest_of},
    gpu::Gpu,
    svo::{Arena, Forest, LeafColor, morton},
};

fn block(level: u32) -> Arc<Forest> {
    let side = 1 << level;
    Arc::new(forest_of(level, |p: IVec3| p.min_element() > 0 && p.max_element() < side - 1))
}

struct Bench {
    gpu: Gpu,
    fracturer: Fracturer,
}

impl Bench {
    fn open() -> Self {
        let gpu = Gpu::headless().expect("the tests need a Vulkan adapter, a software one will do");
        let fracturer = Fracturer::new(&gpu).unwrap();
        Self { gpu, fracturer }
    }

    fn run(&self, forest: &Arc<Forest>, tree: u32, recipe: &Recipe) -> Fracture {
        let mut arena = Arena::new(&self.gpu).unwrap();
        let slot = arena.insert(forest).unwrap();
        let source = Source { arena: &arena, slot, forest, tree, cancel: Cancel::never() };
        let side = f64::from(1u32 << forest.level);
        let points = [[0.2, 0.3, 0.3], [0.7, 0.6, 0.5], [0.4, 0.8, 0.7], [0.5, 0.2, 0.8]];
        let points = points.map(|p| DVec3::from_array(p) * side);
        let pattern = Pattern::from_points(&points, forest.level).unwrap();
        self.fracturer.fracture(&source, &pattern, recipe).unwrap()
    }
}

/// Crack voxels, and those whose colour is not what `volume` has at their centre.
fn compared(fracture: &Fracture, volume: &Volume) -> (usize, usize) {
    let (leaves, level) = (&fracture.forest.leaves, fracture.forest.level);
    let edge = 1i32 << (14 - level);
    let cracks = leaves.keys.iter().zip(&leaves.colors).filter(|(_, color)| color.crack());
    cracks.fold((0, 0), |(count, wrong), (key, color)| {
        let centre = morton::decode(key).map(|v| v as i32 * edge + edge / 2);
        (count + 1, wrong + usize::from(volume.color_at(centre) != color.rgb()))
    })
}

/// All of it is whole numbers, so no tolerance is needed.
#[test]
fn every_material_is_the_reference_to_the_bit() {
    let bench = Bench::open();
    for level in [4, 6] {
        let forest = block(level);
        for material in Material::ALL {
            for (scale, seed) in [(1.0, 1), (0.1, 0xffff_fff0), (10.0, 7)] {
                let interior = Interior { material, scale, seed, ..Interior::default() };
                let recipe = Recipe { interior, ..Recipe::default() };
                let fracture = bench.run(&forest, 0, &recipe);
                let expected = interior.volume(surface_color(&forest, 0));
                assert_eq!(fracture.volume, expected);
                let (count, wrong) = compared(&fracture, &expected);
                println!("{material:?} level {level} scale {scale}: {wrong} of {count} differ");
                assert!(count > 50 * 4usize.pow(level - 4) && wrong == 0);
            }
        }
    }
}

#[test]
fn a_planted_error_is_caught() {
    let bench = Bench::open();
    let fracture = bench.run(&block(6), 0, &Recipe::default());
    for word in [2, 3] {
        let mut other = fracture.volume;
        other.0[word] += 1;
        let (count, wrong) = compared(&fracture, &other);
        println!("word {word}: {wrong} of {count} differ");
        assert!(2 * wrong > count, "{wrong} of {count}");
    }
}

#[test]
fn pieces_of_pieces_show_the_same_volume() {
    let bench = Bench::open();
    let forest = block(6);
    let first = bench.run(&forest, 0, &Recipe::default());
    let recipe = Recipe { surface_color: Some(surface_color(&forest, 0)), ..Recipe::default() };
    let second = bench.run(&first.forest, first.pieces[0].tree, &recipe);
    assert_eq!(first.volume, second.volume);
    let (count, wrong) = compared(&second, &first.volume);
    assert!(count > 500 && wrong == 0, "{wrong} of {count}");
}

#[test]
fn materials_look_like_something() {
    let surface = [128, 160, 148];
    for material in Material::ALL {
        let volume = Interior { material, ..Interior::default() }.volume(surface);
        let colors: Vec<[u8; 3]> = (0..4000)
            .map(|i| volume.color_at([i * 7919 % 16_384, i * 104_729 % 16_384, i * 1299 % 16_384]))
            .collect();
        let luma = |c: &[u8; 3]| c.iter().map(|v| f64::from(*v)).sum::<f64>() / 3.0;
        let mean = colors.iter().map(luma).sum::<f64>() / 4000.0;
        let spread = (colors.iter().map(|c| (luma(c) - mean).powi(2)).sum::<f64>() / 4000.0).sqrt();
        let base = luma(&volume.base());
        println!("{material:?}: base {base:.1}, mean {mean:.1}, spread {spread:.1}");
        assert!((mean - base).abs() < 25.0, "{material:?} keeps to its colour");
        let (least, most) = match material {
            Material::Plain => (0.0, 1e-9),
            Material::Porcelain | Material::Glass => (0.3, 6.0),
            _ => (3.0, 45.0),
        };
        assert!((least..=most).contains(&spread), "{material:?}: {spread}");
    }
}

#[test]
fn the_inside_follows_the_surface() {
    let light = |c: [u8; 3]| luminance(c.map(srgb::precise_linear));
    let (brown, celadon) = ([120, 86, 60], [150, 170, 152]);
    for material in Material::ALL {
        let (dark, pale) = (follow(material, brown), follow(material, celadon));
        println!("{material:?}: {dark:?} {pale:?}");
        assert!(light(dark) < light(pale), "{material:?}");
    }
    // Under a brown skin clay is brown, not the pale body that suits a celadon glaze; and it is redder than that glaze.
    let [r, _, b] = follow(Material::Clay, celadon);
    assert!(r > b && r > celadon[0]);
    assert!(light(follow(Material::Clay, brown)) < 0.6 * light(follow(Material::Clay, celadon)));
    // Black and white stay in range, and a chosen colour is kept.
    for extreme in [[0; 3], [255; 3]] {
        assert!(Material::ALL.iter().all(|m| *m == Material::Plain || follow(*m, extreme) != extreme));
    }
    let chosen = Interior { color: Some([1, 2, 3]), ..Interior::default() };
    assert_eq!(chosen.volume(celadon).base(), [1, 2, 3]);
}

#[test]
fn only_the_surface_counts_for_the_mean() {
    let mut forest = (*block(4)).clone();
    let whole = surface_color(&forest, 0);
    assert_eq!(whole, [200, 100, 50]);
    let half = forest.leaves.len() / 2;
    for color in &mut forest.leaves.colors[half..] {
        *color = LeafColor::new([0, 0, 255], true, 0.0);
    }
    assert_eq!(surface_color(&forest, 0), whole);
    for color in &mut forest.leaves.colors {
        *color = LeafColor::new([9; 3], true, 0.0);
    }
    assert_eq!(surface_color(&forest, 0), [140; 3]);
    assert_eq!(surface_color(&forest, 9), [140; 3]);
}

#[test]
fn names_and_colours_are_read_and_written() {
    assert_eq!("marble".parse(), Ok(Interior { material: Material::Marble, ..Interior::default() }));
    let red: Interior = "clay:#B0704f".parse().unwrap();
    assert_eq!(red.color, Some([0xb0, 0x70, 0x4f]));
    for bad in ["", "cheese", "clay:", "clay:#12345", "clay:#12345g", "clay:red", "clay:#é2345"] {
        let error = bad.parse::<Interior>().unwrap_err();
        assert!(error.contains("wanted"), "{bad}: {error}");
    }
    let text = toml::to_string(&red).unwrap();
    assert!(text.contains("color = \"#b0704f\"") && text.contains("material = \"clay\""), "{text}");
    assert_eq!(toml::from_str::<Interior>(&text).unwrap(), red);
    assert_eq!(toml::from_str::<Interior>("").unwrap(), Interior::default());
    assert!(toml::from_str::<Interior>("color = \"blue\"").is_err());
}
