//! What the classifier sees of a candidate, written down literally. The tests hold the fast path to
//! it, and `cargo xtask train` learns from it.

use super::weights::INPUTS;

/// An image, reflected at its border, and the eight neighbours of its pixels in their order.
pub(crate) struct Pixels<'a> {
    image: &'a [f64],
    width: usize,
    pub(crate) height: usize,
    sorted: Vec<Vec<f64>>,
}

impl<'a> Pixels<'a> {
    pub(crate) fn new(image: &'a [f64], width: usize) -> Self {
        let mut pixels = Self { image, width, height: image.len() / width, sorted: vec![] };
        let neighbours = |i: usize| {
            let mut values: Vec<f64> = ring(1).map(|(dx, dy)| pixels.around(i, dx, dy)).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        pixels.sorted = (0..image.len()).map(neighbours).collect();
        pixels
    }

    fn around(&self, i: usize, dx: isize, dy: isize) -> f64 {
        let mirror = |at: isize, length: usize| {
            let last = length as isize - 1;
            let at = if at.abs() > last { 2 * last - at.abs() } else { at.abs() };
            at.max(0) as usize
        };
        let (x, y) = ((i % self.width) as isize, (i / self.width) as isize);
        self.image[mirror(y + dy, self.height) * self.width + mirror(x + dx, self.width)]
    }

    pub(crate) fn alone(&self, i: usize, c: usize) -> f64 {
        let neighbours = &self.sorted[i];
        (self.image[i] - neighbours[7 - c]).max(neighbours[c] - self.image[i])
    }

    pub(crate) fn middle(&self, i: usize) -> f64 {
        (self.sorted[i][3] + self.sorted[i][4]) / 2.0
    }

    /// By how much a pixel exceeds the median of its neighbours.
    pub(crate) fn off(&self, i: usize) -> f64 {
        self.image[i] - self.middle(i)
    }

    pub(crate) fn spread(&self, i: usize) -> f64 {
        let (x, y) = (i % self.width, i / self.width);
        let block = x / 16 * 16..(x / 16 * 16 + 16).min(self.width);
        let sum: f64 =
            block.clone().map(|x| &self.sorted[y * self.width + x]).map(|v| v[5] - v[2]).sum();
        sum / block.len() as f64
    }

    /// Whether a pixel is a candidate for an outlier.
    pub(crate) fn can_be(
        &self,
        i: usize,
        witnesses: usize,
        limit: f64,
        floor: f64,
        size: f64,
    ) -> bool {
        self.alone(i, witnesses) > limit * floor / 2.0 && self.off(i).abs() > size
    }
}

/// Where the pixels at a distance are.
fn ring(distance: isize) -> impl Iterator<Item = (isize, isize)> {
    let all =
        (-distance..=distance).flat_map(move |dy| (-distance..=distance).map(move |dx| (dx, dy)));
    all.filter(move |(dx, dy)| dx.abs().max(dy.abs()) == distance)
}

/// What the classifier sees of a pixel: those around it in their order, the pattern, turned, and
/// the circumstances.
pub(crate) fn seen(
    pixels: &Pixels<'_>,
    i: usize,
    amplitude: f64,
    circumstances: [f64; 2],
) -> [f64; INPUTS] {
    let side = pixels.off(i).signum() / amplitude;
    let off = |dx: isize, dy: isize| {
        (side * (pixels.image[i] - pixels.around(i, dx, dy))).clamp(-1.0, 2.0)
    };
    let reach = -3..=3_isize;
    let all = || reach.clone().flat_map(|dy| reach.clone().map(move |dx| (dx, dy)));
    // Where those like it are, by the moments of how much they are.
    let moment = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
        let like = |(dx, dy): (isize, isize)| (1.0 - off(dx, dy)).max(0.0).powi(2);
        all().map(|(dx, dy)| like((dx, dy)) * of(dx as f64, dy as f64)).sum()
    };
    let right = moment(&|dx, _| dx) > 0.0;
    let below = moment(&|_, dy| dy) > 0.0;
    let upright = moment(&|dx, dy| dy * dy - dx * dx) > 0.0;
    let turned = |(dx, dy): (isize, isize)| {
        let (dx, dy) = if upright { (dy, dx) } else { (dx, dy) };
        off(if right { -dx } else { dx }, if below { -dy } else { dy })
    };
    let mut inputs = vec![];
    for distance in [1, 2] {
        let mut sorted: Vec<f64> = ring(distance).map(|(dx, dy)| off(dx, dy)).collect();
        sorted.sort_by(f64::total_cmp);
        inputs.extend(sorted);
    }
    inputs.extend(all().filter(|&at| at != (0, 0)).map(turned));
    inputs.extend(circumstances);
    inputs.try_into().expect("as many as there are")
}
