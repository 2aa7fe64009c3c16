//! Pictures with what photographs have: slopes, edges, texture, flat parts.

/// Pixels from about 20 to 230.
pub fn picture(width: usize, height: usize) -> Vec<f64> {
    let mut pixels = Vec::with_capacity(width * height);
    for y in 0..height {
        for x in 0..width {
            let (u, v) = (x as f64, y as f64);
            let mut pixel = 90.0 + 0.3 * u - 0.15 * v;
            // A disc, a tilted bar, and stripes in a corner.
            if (u - 20.0).powi(2) + (v - 18.0).powi(2) < 120.0 {
                pixel += 70.0;
            }
            if (0.6 * u + 0.8 * v - 45.0).abs() < 4.0 {
                pixel -= 50.0;
            }
            if x % 64 > 40 && y % 64 < 24 {
                pixel += 30.0 * (0.9 * u + 0.4 * v).sin();
            }
            pixels.push(pixel);
        }
    }
    pixels
}

/// Normal deviates (splitmix64 and Box-Muller).
pub fn noise(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0xA076_1D64_78BD_642F);
    let mut uniform = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 + 0.5
    };
    let scale = (1_u64 << 53) as f64;
    (0..n)
        .map(|_| {
            let (radius, angle) = (uniform() / scale, uniform() / scale);
            (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
        })
        .collect()
}

/// Peak signal-to-noise ratio for pixels up to 255.
pub fn psnr(clean: &[f64], image: &[f64]) -> f64 {
    let sum: f64 = clean.iter().zip(image).map(|(a, b)| (a - b).powi(2)).sum();
    10.0 * (255.0_f64.powi(2) * clean.len() as f64 / sum).log10()
}
