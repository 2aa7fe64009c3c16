//! Impulses fall by chance; what is drawn or written is connected.

use num_traits::Float;

/// How many times the odds of chance marked pixels may have to be side by side and pass
/// for strewn: where an image is dark or bright there is no room for impulses of one
/// sign, so that the others are denser. Odds, because twice as often is beyond always where
/// half of the pixels are marked, such as the paper between small print.
const STREWN: f64 = 2.0;

/// How many standard deviations of their number pairs may be more than that.
const SIGNIFICANT: f64 = 3.0;

/// Marked pixels of an image, each bright or dark.
pub(super) struct Marked<F> {
    pub(super) width: usize,
    pub(super) height: usize,
    /// Whether the pixel of a number is bright, if it is marked.
    pub(super) is_bright: F,
}

impl<F: Fn(usize) -> Option<bool>> Marked<F> {
    /// Whether pixels of one kind are not much more often side by side than if each
    /// had fallen where it is by chance.
    pub(super) fn are_strewn(&self) -> bool {
        let area = self.width * self.height;
        let mut counts = [0.0, 0.0];
        let mut pairs = 0.0;
        for i in 0..area {
            let Some(bright) = (self.is_bright)(i) else { continue };
            counts[usize::from(bright)] += 1.0;
            let (right, below) = (self.right_of(i), self.below(i));
            pairs +=
                [right, below].into_iter().flatten().filter(|&j| self.alike(i, j)).count() as f64;
        }
        // Each pixel has a neighbour to the right and one below.
        let all = 2.0 * counts.iter().sum::<f64>();
        let by_chance = 2.0 * counts.iter().map(|n| n * n).sum::<f64>() / area as f64;
        // Few pairs vary as Poisson's counts do.
        let pairs = pairs - SIGNIFICANT * Float::sqrt(STREWN * by_chance);
        pairs * (all - by_chance) <= STREWN * by_chance * (all - pairs)
    }

    /// Whether a marked pixel has one of its kind beside it.
    pub(super) fn is_connected(&self, i: usize) -> bool {
        let left = (!i.is_multiple_of(self.width)).then(|| i - 1);
        let above = i.checked_sub(self.width);
        let all = [left, above, self.right_of(i), self.below(i)];
        (self.is_bright)(i).is_some() && all.into_iter().flatten().any(|j| self.alike(i, j))
    }

    fn alike(&self, i: usize, j: usize) -> bool {
        (self.is_bright)(i) == (self.is_bright)(j)
    }

    fn right_of(&self, i: usize) -> Option<usize> {
        (!(i + 1).is_multiple_of(self.width)).then_some(i + 1)
    }

    fn below(&self, i: usize) -> Option<usize> {
        Some(i + self.width).filter(|&below| below < self.width * self.height)
    }
}
