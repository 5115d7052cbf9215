//! Principal moments of inertia and their axes.

use glam::{DMat3, DVec3};

/// Principal moments of `inertia` (a symmetric matrix) and the rotation whose columns are their axes, by Jacobi rotations.
pub fn principal(inertia: DMat3) -> (DVec3, DMat3) {
    let (mut a, mut axes) = (inertia, DMat3::IDENTITY);
    let size = (0..3).map(|k| a.col(k)[k].abs()).fold(0.0, f64::max);
    for _ in 0..32 {
        let off = [(0, 1), (0, 2), (1, 2)].map(|(p, q)| (a.col(q)[p].abs(), p, q));
        let Some(&(worst, p, q)) = off.iter().max_by(|x, y| x.0.total_cmp(&y.0)) else { break };
        if worst <= 1e-14 * size || worst.is_nan() {
            break;
        }
        let theta = (a.col(q)[q] - a.col(p)[p]) / (2.0 * a.col(q)[p]);
        let t = 1.0_f64.copysign(theta) / (theta.abs() + (theta * theta + 1.0).sqrt());
        let c = 1.0 / (t * t + 1.0).sqrt();
        let mut turn = DMat3::IDENTITY;
        turn.col_mut(p)[p] = c;
        turn.col_mut(q)[q] = c;
        turn.col_mut(q)[p] = t * c;
        turn.col_mut(p)[q] = -t * c;
        a = turn.transpose() * a * turn;
        axes *= turn;
    }
    (DVec3::new(a.x_axis.x, a.y_axis.y, a.z_axis.z), axes)
}

#[cfg(test)]
mod tests {
    use glam::DQuat;

    use super::*;

    #[test]
    fn a_turned_box_gives_its_moments_and_turn_back() {
        let turn = DMat3::from_quat(DQuat::from_euler(glam::EulerRot::XYZ, 0.3, -1.1, 2.0));
        let inertia = turn * DMat3::from_diagonal(DVec3::new(3.0, 1.0, 2.0)) * turn.transpose();
        let (moments, axes) = principal(inertia);
        let mut sorted = moments.to_array();
        sorted.sort_by(f64::total_cmp);
        assert!((DVec3::from(sorted) - DVec3::new(1.0, 2.0, 3.0)).length() < 1e-12, "{moments}");
        let again = axes * DMat3::from_diagonal(moments) * axes.transpose();
        assert!((again - inertia).to_cols_array().iter().all(|v| v.abs() < 1e-12));
        assert_eq!(principal(DMat3::ZERO).0, DVec3::ZERO);
    }
}
