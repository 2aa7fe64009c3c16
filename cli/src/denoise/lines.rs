//! Rows and columns of a wrong gain or offset, repaired before anything else is done.

use crate::number::short;
use kgard::denoise::{Plane, PlaneBuf, repair_lines, wrong_lines};
use serde::Serialize;
use std::borrow::Cow;

/// A row or column that was repaired.
#[derive(Debug, Serialize)]
pub(super) struct RepairedLine {
    /// The number of the colour channel, from 0.
    channel: usize,
    /// `row` or `column`.
    kind: &'static str,
    /// Which one, from 0.
    index: usize,
    /// What its samples were: the gain times the true ones, plus the offset.
    gain: f64,
    offset: f64,
}

impl RepairedLine {
    /// In words.
    pub(super) fn described(&self) -> String {
        let Self { channel, kind, index, gain, offset } = self;
        let rounded = |x: f64| short((x * 1e3).round() / 1e3);
        format!(
            "{kind} {index} of channel {channel}: gain {}, offset {}",
            rounded(*gain),
            rounded(*offset)
        )
    }
}

/// The channels with such lines repaired, but for the pixels to be kept; borrowed if there are
/// none.
pub(super) fn repaired<'c>(
    channels: &'c [PlaneBuf<f32>],
    keep: Option<Plane<'_, bool>>,
) -> (Cow<'c, [PlaneBuf<f32>]>, Vec<RepairedLine>) {
    let (mut repaired, mut all) = (Cow::Borrowed(channels), Vec::new());
    for number in 0..channels.len() {
        let lines = wrong_lines(channels[number].as_plane());
        if lines.is_empty() {
            continue;
        }
        let channel = &mut repaired.to_mut()[number];
        repair_lines(channel, &lines);
        if let Some(keep) = keep {
            let before = channels[number].samples();
            let kept = (0..keep.height()).flat_map(|y| keep.row(y)).zip(before);
            for (sample, (kept, &before)) in channel.samples_mut().iter_mut().zip(kept) {
                if kept {
                    *sample = before;
                }
            }
        }
        all.extend(lines.into_iter().map(|line| RepairedLine {
            channel: number,
            kind: if line.is_column { "column" } else { "row" },
            index: line.index,
            gain: line.gain,
            offset: line.offset,
        }));
    }
    (repaired, all)
}
