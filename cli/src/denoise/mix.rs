//! How much of the denoised picture stands in the result.

use super::method::Outcome;
use clap::Args;
use kgard::denoise::PlaneBuf;

/// A part of what a method did to a picture.
#[derive(Debug, Clone, Copy, PartialEq, Args)]
pub(super) struct Mix {
    /// Replace impulses only: every other sample stays as it is, bit for bit
    #[arg(long)]
    pub(super) impulses_only: bool,
    /// Share of the change to apply, from 0 (nothing) to 1
    #[arg(
        long, value_name = "S", value_parser = share, default_value = "1",
        allow_negative_numbers = true
    )]
    pub(super) strength: f32,
    /// The same for the colours of a picture with red, green and blue; its
    /// brightness has --strength [default: as --strength]
    #[arg(long, value_name = "S", value_parser = share, allow_negative_numbers = true)]
    pub(super) strength_colour: Option<f32>,
}

/// Red, green and blue.
const COLOURS: usize = 3;

/// A number from 0 to 1.
fn share(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("it must be a number from 0 to 1".into()),
    }
}

impl Mix {
    /// All of it.
    pub(super) const WHOLE: Self =
        Self { impulses_only: false, strength: 1.0, strength_colour: None };

    /// $y + s\,\bar d + c\,(d - \bar d)$ in place of $\hat y$, with the change $d = \hat y - y$ and its
    /// mean over red, green and blue. Where only impulses are to change, $\hat y$ is elsewhere $y$ with
    /// lines `repaired`.
    pub(super) fn apply(
        self,
        before: &[PlaneBuf<f32>],
        repaired: &[PlaneBuf<f32>],
        outcome: &mut Outcome,
    ) {
        if self == Self::WHOLE {
            return;
        }
        if self.impulses_only {
            let masks = outcome.outliers.mask.iter();
            for ((after, repaired), mask) in outcome.channels.iter_mut().zip(repaired).zip(masks) {
                let kept = repaired.samples().iter().zip(mask.samples());
                for (after, (&repaired, &is_impulse)) in after.samples_mut().iter_mut().zip(kept) {
                    if !is_impulse {
                        *after = repaired;
                    }
                }
            }
        }
        let colour = self.strength_colour.filter(|_| before.len() == COLOURS);
        let share = colour.unwrap_or(self.strength);
        if share >= 1.0 && self.strength >= 1.0 {
            return;
        }
        // Bad pixels may hold anything.
        let change = |y: f32, x: f32| if y.is_finite() { x - y } else { 0.0 };
        let channels = before.len() as f32;
        let mut means = vec![0.0; before.first().map_or(0, |channel| channel.samples().len())];
        for (before, after) in before.iter().zip(&outcome.channels) {
            let pairs = before.samples().iter().zip(after.samples());
            for (mean, (&y, &x)) in means.iter_mut().zip(pairs) {
                *mean += change(y, x) / channels;
            }
        }
        let more = self.strength - share;
        for (after, before) in outcome.channels.iter_mut().zip(before) {
            let pairs = before.samples().iter().zip(&means);
            for (after, (&y, mean)) in after.samples_mut().iter_mut().zip(pairs) {
                if y.is_finite() {
                    *after = y + share * (*after - y) + more * mean;
                }
            }
        }
    }
}
