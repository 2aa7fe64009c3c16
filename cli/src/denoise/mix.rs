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
}

/// A number from 0 to 1.
fn share(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("it must be a number from 0 to 1".into()),
    }
}

impl Mix {
    /// All of it.
    pub(super) const WHOLE: Self = Self { impulses_only: false, strength: 1.0 };

    /// $y + s \, (\hat y - y)$ in place of $\hat y$, where that is $y$ with lines repaired if
    /// nothing else is to change.
    pub(super) fn apply(
        self,
        before: &[PlaneBuf<f32>],
        repaired: &[PlaneBuf<f32>],
        outcome: &mut Outcome,
    ) -> Result<(), kgard::Error> {
        if self == Self::WHOLE {
            return Ok(());
        }
        let masks = outcome.outliers.mask.iter();
        let channels = before.iter().zip(repaired).zip(masks);
        for (after, ((before, repaired), mask)) in outcome.channels.iter_mut().zip(channels) {
            let mixed = (0..before.samples().len()).map(|i| {
                let before = before.samples()[i];
                let changes = mask.samples()[i] || !self.impulses_only;
                let wanted = if changes { after.samples()[i] } else { repaired.samples()[i] };
                // Bad pixels may hold anything.
                if self.strength < 1.0 && before.is_finite() {
                    before + self.strength * (wanted - before)
                } else {
                    wanted
                }
            });
            *after = PlaneBuf::new(mixed.collect(), before.width(), before.height())?;
        }
        Ok(())
    }
}
