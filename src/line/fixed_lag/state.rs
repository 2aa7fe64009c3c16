//! One sample of a stream: what is known of function and level from the left, and what the
//! samples to the right say about them.
//!
//! Function and level are independent, so that only the blocks of the function change
//! from sample to sample; a sample measures the sum of the first component and the level.
//! Loops over up to three components are written out by a macro: compiled for size, they
//! would stay loops, and a Cortex-M4 take twice as long.

use crate::Real;
use crate::line::markov::Transition;

/// `for $k in 0..$count`, written out for up to three.
macro_rules! each {
    ($k:ident in $count:ident $body:block) => {
        if $count <= 3 {
            if $count > 0 {
                let $k = 0;
                $body
            }
            if $count > 1 {
                let $k = 1;
                $body
            }
            if $count > 2 {
                let $k = 2;
                $body
            }
        } else {
            for $k in 0..$count $body
        }
    };
}

/// $D \times D$.
type Matrix<T, const D: usize> = [[T; D]; D];

/// Mean and covariance of function and level, from the samples on the left.
#[derive(Debug, Clone, Copy)]
pub(super) struct Left<T, const D: usize> {
    mean: [T; D],
    level: T,
    covariance: Matrix<T, D>,
    cross: [T; D],
    pub(super) level_variance: T,
}

/// What the samples on the right change: with $Q$ what `Sweep::misfit` is, the first
/// two derivatives of $-Q / 2$ and $Q / 2$ by the mean of the state.
#[derive(Debug, Clone, Copy)]
pub(super) struct Right<T, const D: usize> {
    slope: [T; D],
    pub(super) level_slope: T,
    curvature: Matrix<T, D>,
    cross: [T; D],
    pub(super) level_curvature: T,
}

/// What a sample says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Said<T> {
    /// $u_i$.
    pub(super) u: T,
    /// $D_i$.
    pub(super) precision: T,
    /// $\nu_i^2 / S_i$.
    pub(super) misfit: T,
}

impl<T: Real, const D: usize> Left<T, D> {
    /// Nothing known but that the level is about `level`.
    pub(super) fn prior(stationary: Matrix<T, D>, level: T, level_variance: T) -> Self {
        let zero = [T::zero(); D];
        Self { mean: zero, level, covariance: stationary, cross: zero, level_variance }
    }

    /// The prediction.
    #[inline(always)]
    pub(super) fn value(&self) -> T {
        self.mean[0] + self.level
    }

    /// Covariances of the components, and of the level, with the sum that is measured.
    #[inline(always)]
    fn with_sum(&self) -> ([T; D], T) {
        let mut with_sum = self.cross;
        each!(k in D {
            with_sum[k] = with_sum[k] + self.covariance[k][0];
        });
        (with_sum, self.cross[0] + self.level_variance)
    }

    /// The prediction when the samples on the right are known, too.
    pub(super) fn value_with(&self, right: &Right<T, D>) -> T {
        let (with_sum, level) = self.with_sum();
        let mut value = self.value() + level * right.level_slope;
        each!(k in D {
            value = value + with_sum[k] * right.slope[k];
        });
        value
    }

    /// Takes a sample into account.
    #[inline(always)]
    pub(super) fn update(&mut self, y: T, noise: T) {
        let (with_sum, level) = self.with_sum();
        let inverse = (with_sum[0] + level + noise).recip();
        let error = (y - self.value()) * inverse;
        let level_gain = level * inverse;
        each!(k in D {
            let gain = with_sum[k] * inverse;
            self.mean[k] = self.mean[k] + with_sum[k] * error;
            self.cross[k] = self.cross[k] - gain * level;
            each!(l in D {
                if l <= k {
                    self.covariance[k][l] = self.covariance[k][l] - gain * with_sum[l];
                    self.covariance[l][k] = self.covariance[k][l];
                }
            });
        });
        self.level = self.level + level * error;
        self.level_variance = self.level_variance - level_gain * level;
    }

    /// Goes to the next sample.
    #[inline(always)]
    pub(super) fn go(&mut self, step: &Transition<Matrix<T, D>>) {
        self.mean = times(&step.phi, &self.mean);
        self.cross = times(&step.phi, &self.cross);
        self.covariance = congruent(&step.phi, &self.covariance);
        each!(k in D {
            each!(l in D {
                self.covariance[k][l] = self.covariance[k][l] + step.q[k][l];
            });
        });
    }

    /// The level changes by something of this variance around `by`.
    #[inline(always)]
    pub(super) fn change_level(&mut self, by: T, variance: T) {
        self.level = self.level + by;
        self.level_variance = self.level_variance + variance;
    }
}

impl<T: Real, const D: usize> Right<T, D> {
    /// No samples there.
    pub(super) fn nothing() -> Self {
        let zero = T::zero();
        Self {
            slope: [zero; D],
            level_slope: zero,
            curvature: [[zero; D]; D],
            cross: [zero; D],
            level_curvature: zero,
        }
    }

    /// Takes the sample into account that `left` predicts.
    #[inline(always)]
    pub(super) fn update(&mut self, left: &Left<T, D>, y: T, noise: T) -> Said<T> {
        let (mut gain, level) = left.with_sum();
        let inverse = (gain[0] + level + noise).recip();
        let level_gain = level * inverse;
        let error = y - left.value();
        let mut u = error * inverse;
        let misfit = error * u;
        u = u - level_gain * self.level_slope;
        each!(k in D {
            gain[k] = gain[k] * inverse;
            u = u - gain[k] * self.slope[k];
        });
        let mut level_moved = self.level_curvature * level_gain;
        let mut precision = inverse;
        let mut moved = [T::zero(); D];
        each!(k in D {
            moved[k] = self.cross[k] * level_gain;
            each!(l in D {
                moved[k] = moved[k] + self.curvature[k][l] * gain[l];
            });
            level_moved = level_moved + self.cross[k] * gain[k];
            precision = precision + gain[k] * moved[k];
        });
        precision = precision + level_gain * level_moved;

        self.slope[0] = self.slope[0] + u;
        self.level_slope = self.level_slope + u;
        each!(k in D {
            self.curvature[0][k] = self.curvature[0][k] - moved[k];
            self.curvature[k][0] = self.curvature[0][k];
            self.cross[k] = self.cross[k] - moved[k];
        });
        self.curvature[0][0] = self.curvature[0][0] + (precision - moved[0]);
        self.cross[0] = self.cross[0] + (precision - level_moved);
        self.level_curvature = self.level_curvature + (precision - level_moved - level_moved);
        Said { u, precision, misfit }
    }

    /// Goes to the sample before.
    #[inline(always)]
    pub(super) fn go(&mut self, step: &Transition<Matrix<T, D>>) {
        let mut back = step.phi;
        each!(k in D {
            each!(l in D {
                if l < k {
                    (back[k][l], back[l][k]) = (back[l][k], back[k][l]);
                }
            });
        });
        self.slope = times(&back, &self.slope);
        self.cross = times(&back, &self.cross);
        self.curvature = congruent(&back, &self.curvature);
    }
}

/// $A v$.
#[inline(always)]
fn times<T: Real, const D: usize>(a: &Matrix<T, D>, v: &[T; D]) -> [T; D] {
    let mut out = *v;
    each!(k in D {
        out[k] = a[k][0] * v[0];
        each!(l in D {
            if l > 0 {
                out[k] = out[k] + a[k][l] * v[l];
            }
        });
    });
    out
}

/// $A P A^T$ of a symmetric matrix.
#[inline(always)]
fn congruent<T: Real, const D: usize>(a: &Matrix<T, D>, p: &Matrix<T, D>) -> Matrix<T, D> {
    let mut out = *p;
    each!(k in D {
        let row = times(p, &a[k]);
        each!(l in D {
            if l <= k {
                let mut sum = row[0] * a[l][0];
                each!(i in D {
                    if i > 0 {
                        sum = sum + row[i] * a[l][i];
                    }
                });
                out[k][l] = sum;
                out[l][k] = sum;
            }
        });
    });
    out
}
