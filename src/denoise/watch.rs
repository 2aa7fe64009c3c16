//! How far a method has come.

/// A step that is done of several, of which each has a share of the time.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// The share of the work that is done, from 0 to 1.
    pub done: f64,
    /// The share that will be done after the next step.
    pub next: f64,
}

/// Who is told how far a method has come: nobody, or a function, which may be called from any
/// thread.
///
/// ```
/// use kgard::denoise::{KgBm3d, Masks, Plane, Watch};
/// use std::sync::Mutex;
/// let pixels: Vec<f32> = (0..32 * 32).map(|i| (i * i % 97) as f32).collect();
/// let shares = Mutex::new(Vec::new());
/// let tell = |step: kgard::denoise::Step| shares.lock().unwrap().push(step.done);
/// let (image, masks) = (Plane::new(&pixels, 32, 32)?, Masks::default());
/// let plan = KgBm3d::new(255.0).plan()?;
/// let denoised = plan.denoise_watched(&[image], masks, Watch::new(&tell))?;
/// assert_eq!(denoised, plan.denoise(&[image], masks)?);
/// let shares = shares.into_inner().unwrap();
/// assert!(shares.len() > 3 && shares.is_sorted() && shares.last() == Some(&1.0));
/// # Ok::<(), kgard::Error>(())
/// ```
#[derive(Clone, Copy, Default)]
pub struct Watch<'a> {
    tell: Option<&'a (dyn Fn(Step) + Sync)>,
}

impl<'a> Watch<'a> {
    /// Tells this function.
    #[must_use]
    pub fn new(tell: &'a (dyn Fn(Step) + Sync)) -> Self {
        Self { tell: Some(tell) }
    }

    /// So much is done, and so much after the next step, of `all`, in any unit.
    pub(crate) fn at(self, done: f64, next: f64, all: f64) {
        if let Some(tell) = self.tell {
            tell(Step { done: (done / all).min(1.0), next: (next / all).min(1.0) });
        }
    }
}

impl core::fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Watch").field("told", &self.tell.is_some()).finish()
    }
}
