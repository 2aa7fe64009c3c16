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

    /// $y + s \, (\hat y - y)$ in place of $\hat y$, and $y$ where nothing is to change.
    pub(super) fn apply(
        self,
        before: &[PlaneBuf<f32>],
        outcome: &mut Outcome,
    ) -> Result<(), kgard::Error> {
        if self == Self::WHOLE {
            return Ok(());
        }
        let masks = outcome.outliers.mask.iter();
        for ((after, before), mask) in outcome.channels.iter_mut().zip(before).zip(masks) {
            let triples = before.samples().iter().zip(after.samples()).zip(mask.samples());
            let mixed = triples.map(|((&before, &after), &is_impulse)| {
                let changes = is_impulse || !self.impulses_only;
                // Bad pixels may hold anything.
                match self.strength {
                    _ if !changes => before,
                    strength if strength < 1.0 && before.is_finite() => {
                        before + strength * (after - before)
                    }
                    _ => after,
                }
            });
            *after = PlaneBuf::new(mixed.collect(), before.width(), before.height())?;
        }
        Ok(())
    }
}
