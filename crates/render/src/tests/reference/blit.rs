//! A picture stretched over a target: what every pixel of the target shows, as the bytes that a screen is sent.

/// `picture` (RGBA8 rows of `from` pixels) at `to` pixels. `smooth`: a weighted mean of the four pixels round a place, else the
/// pixel that the place lies in. A place beyond the outermost pixels' centres shows those.
pub fn blit(picture: &[[u8; 4]], from: [u32; 2], to: [u32; 2], smooth: bool) -> Vec<[f64; 4]> {
    let at = |x: i64, y: i64| {
        let x = x.clamp(0, i64::from(from[0]) - 1) as usize;
        let y = y.clamp(0, i64::from(from[1]) - 1) as usize;
        picture[y * from[0] as usize + x].map(f64::from)
    };
    let pixel = |i: u32| {
        let place = [i % to[0], i / to[0]];
        let [x, y]: [f64; 2] =
            std::array::from_fn(|k| (f64::from(place[k]) + 0.5) / f64::from(to[k]) * f64::from(from[k]));
        if !smooth {
            return at(x as i64, y as i64);
        }
        let (left, top) = ((x - 0.5).floor(), (y - 0.5).floor());
        let (right_share, bottom_share) = (x - 0.5 - left, y - 0.5 - top);
        let (l, t) = (left as i64, top as i64);
        let corners = [at(l, t), at(l + 1, t), at(l, t + 1), at(l + 1, t + 1)];
        std::array::from_fn(|k| {
            let upper = corners[0][k] * (1.0 - right_share) + corners[1][k] * right_share;
            let lower = corners[2][k] * (1.0 - right_share) + corners[3][k] * right_share;
            upper * (1.0 - bottom_share) + lower * bottom_share
        })
    };
    (0..to[0] * to[1]).map(pixel).collect()
}
