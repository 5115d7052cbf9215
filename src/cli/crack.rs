//! Options of crack surfaces, shared by several commands.

use clap::Args;

use crate::fracture::{
    FractureParams, Surface,
    crack::{CrackNoise, Displacement, Dusty, Offset, Sides},
};

use super::{
    CliError,
    options::{Numbers, choice, refused},
};

/// The options given; all others keep their defaults.
#[derive(Args, Clone, Debug, Default)]
pub struct CrackArgs {
    /// Crack surfaces: planar, rough (made at the transition level), or dusty (as rough, with a gap whose
    /// solid is lost) [default: planar]
    #[arg(long, value_name = "NAME", hide_possible_values = true, value_parser = choice::<Surface>())]
    surface: Option<Surface>,
    #[command(flatten)]
    numbers: Numbers<true>,
    /// Rough: where edges are cut: plane (the Voronoi face, moved by noise) or balance (by noise alone)
    /// [default: plane]
    #[arg(long, value_name = "NAME", hide_possible_values = true, value_parser = choice::<Offset>())]
    offset: Option<Offset>,
    /// Rough: noise: amplitude 0 to 1, lattice cells along the grid's side 1 to 4096, octaves 1 to 5
    #[arg(long, value_name = "AMPLITUDE,FREQUENCY,OCTAVES", allow_hyphen_values = true, value_parser = parse_noise)]
    noise: Option<CrackNoise>,
    /// Rough: how far points stray in faces and in voxels, in transition voxel edges, 0 to 0.5
    #[arg(long, value_name = "FACE,VOXEL", allow_hyphen_values = true, value_parser = parse_displacement)]
    displacement: Option<Displacement>,
    /// Rough: the rule for the side of leaves that no crack touches: cone (exact) or votes (as published, leaves holes)
    /// [default: cone]
    #[arg(long, value_name = "NAME", hide_possible_values = true, value_parser = choice::<Sides>())]
    sides: Option<Sides>,
    /// Dusty: width of the gap in leaf voxels, 0 to 16, and how uneven it is, 0 to 1 [default: 1.5,0.5]
    #[arg(long, value_name = "WIDTH[,IRREGULARITY]", allow_hyphen_values = true, value_parser = parse_dust)]
    dust: Option<Dusty>,
}

impl CrackArgs {
    /// Rejects options that are out of range on a grid of `level` or have no effect.
    pub fn check(&self, level: u32) -> Result<(), CliError> {
        let mut params = FractureParams::default();
        self.apply(&mut params);
        self.check_with(&params, level)
    }

    /// The same check after the options were applied to `params`.
    pub fn check_with(&self, params: &FractureParams, level: u32) -> Result<(), CliError> {
        let belongs = |option: &str, to: &str| {
            Err(CliError::Input(format!("{option} belongs to --surface {to}; add that or leave it out")))
        };
        if self.dust.is_some() && params.surface != Surface::Dusty {
            return belongs("--dust", "dusty");
        }
        if params.surface == Surface::Planar {
            return self.given().map_or(Ok(()), |option| belongs(&option, "rough"));
        }
        if params.surface == Surface::Dusty {
            for (option, given) in
                [("--sides", self.sides.is_some()), ("--displacement", self.displacement.is_some())]
            {
                if given {
                    return belongs(option, "rough");
                }
            }
        }
        if let Some(problem) = params.problem() {
            return Err(refused(problem));
        }
        let transition = params.crack.transition(level, params.surface);
        transition.map_err(|error| CliError::Input(format!("--transition-level: {error}")))?;
        Ok(())
    }

    /// Applies the given options to `params`.
    pub fn apply(&self, params: &mut FractureParams) {
        params.surface = self.surface.unwrap_or(params.surface);
        let crack = &mut params.crack;
        crack.offset = self.offset.unwrap_or(crack.offset);
        crack.noise = self.noise.unwrap_or(crack.noise);
        crack.displacement = self.displacement.unwrap_or(crack.displacement);
        crack.sides = self.sides.unwrap_or(crack.sides);
        crack.dusty = self.dust.unwrap_or(crack.dusty);
        self.numbers.apply(params);
    }

    /// Name of the first option given.
    fn given(&self) -> Option<String> {
        let others = [
            ("offset", self.offset.is_some()),
            ("noise", self.noise.is_some()),
            ("displacement", self.displacement.is_some()),
            ("sides", self.sides.is_some()),
        ];
        let other = others.into_iter().find_map(|(name, given)| given.then_some(name));
        self.numbers.first().or(other).map(|name| format!("--{name}"))
    }
}

fn parse_noise(text: &str) -> Result<CrackNoise, String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let [amplitude, frequency, octaves] = parts[..] else {
        return Err("three numbers are wanted: amplitude,frequency,octaves, such as 0.5,48,2".into());
    };
    Ok(CrackNoise {
        amplitude: amplitude.parse().map_err(|_| format!("{amplitude} is no number"))?,
        frequency: frequency.parse().map_err(|_| format!("the frequency {frequency} is no whole number"))?,
        octaves: octaves
            .parse()
            .map_err(|_| format!("the number of octaves {octaves} is no whole number"))?,
    })
}

fn parse_displacement(text: &str) -> Result<Displacement, String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let [face, voxel] = parts[..] else {
        return Err("two numbers are wanted: face,voxel, such as 0.1,0.1".into());
    };
    let number = |part: &str| part.parse().map_err(|_| format!("{part} is no number"));
    Ok(Displacement { face: number(face)?, voxel: number(voxel)? })
}

fn parse_dust(text: &str) -> Result<Dusty, String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let number = |part: &str| part.parse().map_err(|_| format!("{part} is no number"));
    match parts[..] {
        [width] => Ok(Dusty { width: number(width)?, ..Dusty::default() }),
        [width, irregularity] => Ok(Dusty { width: number(width)?, irregularity: number(irregularity)? }),
        _ => Err("one or two numbers are wanted: width,irregularity, such as 1.5,0.5".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_and_displacement_are_lists() {
        assert_eq!(parse_noise("0.3, 20,3"), Ok(CrackNoise { amplitude: 0.3, frequency: 20, octaves: 3 }));
        assert!(parse_noise("0.3,20").is_err_and(|e| e.contains("three numbers")));
        assert!(parse_noise("0.3,2.5,3").is_err_and(|e| e.contains("whole")));
        assert_eq!(parse_displacement("0.1,0"), Ok(Displacement { face: 0.1, voxel: 0.0 }));
        assert!(parse_displacement("a,0").is_err());
    }

    #[test]
    fn dust_is_a_width_and_maybe_an_irregularity() {
        assert_eq!(parse_dust("2"), Ok(Dusty { width: 2.0, ..Dusty::default() }));
        assert_eq!(parse_dust("0.5, 1"), Ok(Dusty { width: 0.5, irregularity: 1.0 }));
        assert!(parse_dust("1,2,3").is_err_and(|e| e.contains("one or two")));
        assert!(parse_dust("wide").is_err_and(|e| e.contains("no number")));
        let refused = |args: CrackArgs| args.check(7).unwrap_err().to_string();
        let dust = Some(Dusty::default());
        assert!(
            refused(CrackArgs { dust, ..CrackArgs::default() }).contains("--dust belongs to --surface dusty")
        );
        let surface = Some(Surface::Dusty);
        let sides = Some(Sides::Cone);
        assert!(refused(CrackArgs { surface, sides, ..CrackArgs::default() }).contains("--surface rough"));
        let wide = Some(Dusty { width: 17.0, irregularity: 0.0 });
        assert!(refused(CrackArgs { surface, dust: wide, ..CrackArgs::default() }).contains("0 to 16"));
        assert!(CrackArgs { surface, dust, ..CrackArgs::default() }.check(7).is_ok());
    }

    #[test]
    fn what_is_left_out_keeps_its_default() {
        let applied = |args: &CrackArgs| {
            let mut params = FractureParams::default();
            args.apply(&mut params);
            params
        };
        assert_eq!(applied(&CrackArgs::default()), FractureParams::default());
        assert_eq!(CrackArgs::default().given(), None);
        let args = CrackArgs { numbers: Numbers::with("strength", 0.25), ..CrackArgs::default() };
        assert_eq!(applied(&args).crack.strength, 0.25);
        assert_eq!(args.given().as_deref(), Some("--strength"));
    }
}
