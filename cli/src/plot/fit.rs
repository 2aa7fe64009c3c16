//! A fit as a picture: the data, the function and the outliers.
//!
//! With one input the function is a curve over it. With more there is no such
//! curve: fitted values are drawn over the observed ones, and what the function
//! explains lies on the diagonal.

use super::frame::Chart;
use super::{FONT, Frame, Mark, Picture, round_number};
use plotters::coord::Shift;
use plotters::prelude::{Color, DrawingArea, DrawingBackend, PathElement, RGBColor, Text};
use plotters::style::IntoFont;

const DATA: RGBColor = RGBColor(70, 110, 160);
const FUNCTION: RGBColor = RGBColor(20, 20, 20);
const OUTLIER: RGBColor = RGBColor(205, 60, 20);

/// Labels are `LETTER` wide per letter and `LABEL` high.
const LABEL: f64 = 13.0;
const LETTER: f64 = 8.5;
/// Outliers farther out than this many times the height of the rest are drawn
/// at the edge.
const FAR: f64 = 1.5;

/// What is drawn.
#[derive(Debug)]
pub(crate) struct FitPlot {
    pub(crate) title: String,
    pub(crate) x_name: String,
    pub(crate) y_name: String,
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) line: Vec<(f64, f64)>,
    pub(crate) line_name: &'static str,
    /// Indices of points, the worst first.
    pub(crate) outliers: Vec<usize>,
}

impl FitPlot {
    fn is_outlier(&self) -> Vec<bool> {
        let mut is = vec![false; self.points.len()];
        for &index in &self.outliers {
            is[index] = true;
        }
        is
    }

    /// The range of one coordinate: everything but outliers that are far away.
    fn range(&self, of: fn(&(f64, f64)) -> f64) -> (f64, f64) {
        let is_outlier = self.is_outlier();
        let inliers = self.points.iter().zip(&is_outlier).filter(|(_, out)| !**out);
        let core = inliers.map(|(point, _)| point).chain(&self.line).map(of);
        let (low, high) = bounds(core);
        let reach = FAR * (high - low);
        let near = |x: &f64| (low - reach..=high + reach).contains(x);
        let outliers = self.outliers.iter().map(|&index| of(&self.points[index]));
        let (low, high) = bounds(outliers.filter(near).chain([low, high]));
        padded(low, high)
    }

    fn frame(&self) -> Result<Frame, String> {
        let (x, y) = (self.range(|p| p.0), self.range(|p| p.1));
        if [x, y].iter().any(|(low, high)| !(high - low < f64::MAX / 16.0)) {
            return Err("the numbers are too large: scale the data to ordinary size".into());
        }
        Ok(Frame {
            title: self.title.clone(),
            x_name: self.x_name.clone(),
            y_name: self.y_name.clone(),
            x,
            y,
        })
    }

    /// Rings around the outliers and the numbers of their rows; arrows at the
    /// edge for those beyond it.
    fn draw_outliers<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, Shift>,
        scale: f64,
        frame: &Frame,
        chart: &Chart<'_, B>,
    ) -> Result<(), String> {
        let mut taken: Vec<[f64; 4]> = Vec::new();
        let (right, bottom) = chart.backend_coord(&(frame.x.1, frame.y.0));
        let (left, top) = chart.backend_coord(&(frame.x.0, frame.y.1));
        let inside = |b: &[f64; 4]| {
            b[0] > f64::from(left)
                && b[1] > f64::from(top)
                && b[2] < f64::from(right)
                && b[3] < f64::from(bottom)
        };
        let mut marks = Vec::new();
        for &index in &self.outliers {
            let (x, y) = self.points[index];
            let shown = (x.clamp(frame.x.0, frame.x.1), y.clamp(frame.y.0, frame.y.1));
            let at = chart.backend_coord(&shown);
            let mark = if y > frame.y.1 {
                Mark::Up(OUTLIER)
            } else if y < frame.y.0 {
                Mark::Down(OUTLIER)
            } else {
                Mark::Ring(OUTLIER)
            };
            mark.draw(area, at, scale)?;
            let r = 7.0 * scale;
            taken.push(around(at, r, r));
            marks.push((index, at));
        }
        for (index, at) in marks {
            let label = index.to_string();
            let (width, height) = (LETTER * scale * label.len() as f64, LABEL * scale);
            let (x, y) = (f64::from(at.0), f64::from(at.1));
            let (dx, dy) = (8.0 * scale, 7.0 * scale);
            let corners = [
                (x + dx, y - dy / 2.0 - height / 2.0),
                (x - dx - width, y - dy / 2.0 - height / 2.0),
                (x - width / 2.0, y - dy - height),
                (x - width / 2.0, y + dy),
            ];
            let boxes = corners.map(|(x, y)| [x, y, x + width, y + height]);
            let free = |b: &&[f64; 4]| inside(b) && !taken.iter().any(|t| overlap(t, b));
            // Where there is no room there is no label; the report lists all.
            let Some(&place) = boxes.iter().find(free) else { continue };
            let style = (FONT, LABEL * scale).into_font().color(&OUTLIER);
            let corner = (round_number(place[0]), round_number(place[1]));
            area.draw(&Text::new(label, corner, style)).map_err(|error| error.to_string())?;
            taken.push(place);
        }
        Ok(())
    }
}

impl Picture for FitPlot {
    fn draw<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, Shift>,
        scale: f64,
    ) -> Result<(), String> {
        let frame = self.frame()?;
        let mut marks = vec![(Mark::Dot(DATA), "data"), (Mark::Line(FUNCTION), self.line_name)];
        if !self.outliers.is_empty() {
            marks.push((Mark::Ring(OUTLIER), "outliers, with their rows (from 0)"));
        }
        let far = |&index: &usize| {
            let (_, y) = self.points[index];
            !(frame.y.0..=frame.y.1).contains(&y)
        };
        if self.outliers.iter().any(far) {
            marks.push((Mark::Up(OUTLIER), "beyond the edge"));
        }
        let mut chart = frame.draw(area, scale, &marks)?;
        for (&point, out) in self.points.iter().zip(self.is_outlier()) {
            if !out || (frame.y.0..=frame.y.1).contains(&point.1) {
                let shown = (point.0.clamp(frame.x.0, frame.x.1), point.1);
                let color = if out { OUTLIER } else { DATA };
                Mark::Dot(color).draw(area, chart.backend_coord(&shown), scale)?;
            }
        }
        let width = round_number(2.0 * scale).unsigned_abs();
        let line = PathElement::new(self.line.clone(), FUNCTION.stroke_width(width));
        chart.draw_series([line]).map_err(|error| error.to_string())?;
        self.draw_outliers(area, scale, &frame, &chart)
    }
}

fn around((x, y): (i32, i32), dx: f64, dy: f64) -> [f64; 4] {
    let (x, y) = (f64::from(x), f64::from(y));
    [x - dx, y - dy, x + dx, y + dy]
}

fn overlap(a: &[f64; 4], b: &[f64; 4]) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

fn bounds(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
}

/// A little air at both ends; some height even where all values are equal.
fn padded(low: f64, high: f64) -> (f64, f64) {
    if !(low <= high) {
        return (0.0, 1.0);
    }
    let size = low.abs().max(high.abs());
    let least = if size > 1e-290 { 1e-9 * size } else { 1.0 };
    let (middle, half) = (low / 2.0 + high / 2.0, (high / 2.0 - low / 2.0) * 1.08);
    let half = if half > least { half } else { least.max(size / 20.0) };
    (middle - half, middle + half)
}

#[cfg(test)]
mod tests {
    use super::{FitPlot, padded};
    use crate::plot::Format;

    fn plot(points: Vec<(f64, f64)>, outliers: Vec<usize>) -> FitPlot {
        FitPlot {
            title: "t".into(),
            x_name: "x".into(),
            y_name: "y".into(),
            line: points.clone(),
            points,
            line_name: "line",
            outliers,
        }
    }

    #[test]
    fn ranges() {
        assert_eq!(padded(0.0, 0.0), (-1.0, 1.0));
        assert_eq!(padded(f64::INFINITY, f64::NEG_INFINITY), (0.0, 1.0));
        for (low, high) in [(-1.0, 3.0), (5.0, 5.0), (1e300, 1.1e300), (-1e-300, 1e-300)] {
            let (a, b) = padded(low, high);
            assert!(a < low && high < b && b - a < f64::INFINITY, "{low} {high}: {a} {b}");
        }
    }

    #[test]
    fn odd_data_are_drawn() {
        for y in [0.0, 1e-300, 1e-12, 1.0, 1e16, 1e200] {
            let same = vec![(1.0, y), (2.0, y), (3.0, 2.0 * y)];
            for outliers in [vec![], vec![2], vec![0, 1, 2]] {
                let plot = plot(same.clone(), outliers);
                assert!(Format::Svg.render(&plot).is_ok(), "{y}");
            }
        }
        let huge = plot(vec![(0.0, -1.7e308), (1.0, 1.7e308)], vec![]);
        assert!(Format::Svg.render(&huge).is_err());
    }
}
