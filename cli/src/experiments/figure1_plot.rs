//! Figure 1 as a picture.

use super::report::Report;
use crate::plot::{Axis, Frame, Mark, Picture};
use plotters::coord::Shift;
use plotters::prelude::{Color, DrawingArea, DrawingBackend, RGBColor, Rectangle};

const CORRECT: RGBColor = RGBColor(30, 140, 60);
const WRONG: RGBColor = RGBColor(230, 120, 20);
const CONDITION: RGBColor = RGBColor(190, 205, 225);

/// The report of Figure 1.
pub(crate) struct Figure1<'a>(pub(crate) &'a Report);

impl Picture for Figure1<'_> {
    fn draw<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, Shift>,
        scale: f64,
    ) -> Result<(), String> {
        let rows = || self.0.rows.iter().filter_map(|row| Some((row, row.theorem?)));
        let sizes: Vec<f64> = rows().map(|(_, theorem)| theorem.u).collect();
        let (Some(&first), Some(&last)) = (sizes.first(), sizes.last()) else {
            return Err("there is nothing in it".into());
        };
        let step = if sizes.len() > 1 { sizes[1] - first } else { 1.0 };
        let frame = Frame {
            title: "Outliers that KGARD finds, and the condition of Theorem 1".into(),
            x: Axis::new("size of the outliers, u", first - step, last + step),
            y: Axis::new("percent", -4.0, 106.0),
        };
        let marks = [
            (Mark::Up(CORRECT), "correct, % of the outliers"),
            (Mark::Down(WRONG), "wrong, % of the points"),
            (Mark::Bar(CONDITION), "condition holds, % of the runs"),
        ];
        let mut chart = frame.draw(area, scale, &marks)?;
        let bars = rows().map(|(_, theorem)| {
            let (left, right) = (theorem.u - 0.35 * step, theorem.u + 0.35 * step);
            Rectangle::new([(left, 0.0), (right, theorem.condition)], CONDITION.filled())
        });
        chart.draw_series(bars).map_err(|error| error.to_string())?;
        for (row, theorem) in rows() {
            for (mark, value) in [(Mark::Up(CORRECT), row.correct), (Mark::Down(WRONG), row.wrong)]
            {
                if let Some(value) = value {
                    mark.draw(area, chart.backend_coord(&(theorem.u, value)), scale)?;
                }
            }
        }
        Ok(())
    }
}
