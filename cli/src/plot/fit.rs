//! A fit as a picture: the data, the function and the outliers.
//!
//! With one input the function is a curve over it. With more there is no such
//! curve: fitted values are drawn over the observed ones, and what the function
//! explains lies on the diagonal.

use super::frame::Chart;
use super::{Axis, FONT, Frame, Mark, Picture, round_number};
use crate::table::TimeScale;
use plotters::coord::Shift;
use plotters::prelude::{
    Color, DrawingArea, DrawingBackend, PathElement, Polygon, RGBColor, Rectangle, Text,
};
use plotters::style::IntoFont;
use std::collections::HashSet;

const DATA: RGBColor = RGBColor(70, 110, 160);
const FUNCTION: RGBColor = RGBColor(20, 20, 20);
const BAND: RGBColor = RGBColor(212, 220, 232);
/// Of columns of a long series.
const DATA_RANGE: RGBColor = RGBColor(132, 164, 204);
const OUTLIER: RGBColor = RGBColor(205, 60, 20);

/// Size of the marks of many outliers: half of the usual, and less where more than
/// [`CROWDED`] of them would cover what is below, down to a quarter.
const SMALL: (f64, f64) = (0.5, 0.25);
const CROWDED: f64 = 3000.0;
/// Labels are `LETTER` wide per letter and `LABEL` high.
const LABEL: f64 = 13.0;
const LETTER: f64 = 8.5;
/// Outliers farther out than this many times the height of the rest are drawn
/// at the edge.
const FAR: f64 = 1.5;

/// More outliers than this have no ring and no label: the report lists them.
const LABELLED: usize = 200;
/// Of more, one is drawn in each square of so many units.
const THINNED: f64 = 2.0;

/// What is drawn.
#[derive(Debug)]
pub(crate) struct FitPlot {
    pub(crate) title: String,
    pub(crate) x_name: String,
    /// What x counts in, if it is a time.
    pub(crate) x_time: Option<TimeScale>,
    pub(crate) y_name: String,
    pub(crate) points: Vec<(f64, f64)>,
    /// The place, the least and the largest of the data in each column of a long series,
    /// outliers not counted; empty where each point is drawn.
    pub(crate) columns: Vec<(f64, f64, f64)>,
    pub(crate) line: Vec<(f64, f64)>,
    pub(crate) line_name: &'static str,
    /// Where the function is thought to be, if that is known.
    pub(crate) band: Option<Band>,
    /// Indices of points, the worst first.
    pub(crate) outliers: Vec<usize>,
    /// What is written at each point that is an outlier: its row.
    pub(crate) rows: Vec<usize>,
}

/// A region between two curves.
#[derive(Debug)]
pub(crate) struct Band {
    /// What the legend calls it: `95 % interval`.
    pub(crate) name: String,
    /// x, the lower end and the upper end, in order of x.
    pub(crate) ends: Vec<(f64, f64, f64)>,
}

impl Band {
    /// Its outline: along the lower ends, and back along the upper ones.
    fn outline(&self) -> Vec<(f64, f64)> {
        let lower = self.ends.iter().map(|&(x, low, _)| (x, low));
        lower.chain(self.ends.iter().rev().map(|&(x, _, high)| (x, high))).collect()
    }
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
        let band = self.band.as_ref().map(Band::outline).unwrap_or_default();
        let core = inliers.map(|(point, _)| point).chain(&self.line).chain(&band).map(of);
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
            x: Axis { time: self.x_time, ..Axis::new(&self.x_name, x.0, x.1) },
            y: Axis::new(&self.y_name, y.0, y.1),
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
        let (x_range, y_range) = (frame.x.range, frame.y.range);
        let mut taken: Vec<[f64; 4]> = Vec::new();
        let (right, bottom) = chart.backend_coord(&(x_range.1, y_range.0));
        let (left, top) = chart.backend_coord(&(x_range.0, y_range.1));
        let inside = |b: &[f64; 4]| {
            b[0] > f64::from(left)
                && b[1] > f64::from(top)
                && b[2] < f64::from(right)
                && b[3] < f64::from(bottom)
        };
        let mut marks = Vec::new();
        if self.outliers.len() > LABELLED {
            return self.draw_many_outliers(area, scale, frame, chart);
        }
        for &index in &self.outliers {
            let (x, y) = self.points[index];
            let shown = (x.clamp(x_range.0, x_range.1), y.clamp(y_range.0, y_range.1));
            let at = chart.backend_coord(&shown);
            let mark = if y > y_range.1 {
                Mark::Up(OUTLIER)
            } else if y < y_range.0 {
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
            let label = self.rows[index].to_string();
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

impl FitPlot {
    /// Dots at outliers, those that would cover each other once, and arrows at the
    /// edge.
    fn draw_many_outliers<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, Shift>,
        scale: f64,
        frame: &Frame,
        chart: &Chart<'_, B>,
    ) -> Result<(), String> {
        let (x_range, y_range) = (frame.x.range, frame.y.range);
        let cell = (THINNED * scale).max(1.0);
        let share = (CROWDED / self.outliers.len() as f64).sqrt();
        let size = scale * (SMALL.0 * share).clamp(SMALL.1, SMALL.0);
        let mut taken = HashSet::new();
        for &index in &self.outliers {
            let (x, y) = self.points[index];
            let shown = (x.clamp(x_range.0, x_range.1), y.clamp(y_range.0, y_range.1));
            let at = chart.backend_coord(&shown);
            let square = |x: i32| round_number(f64::from(x) / cell);
            if !taken.insert((square(at.0), square(at.1))) {
                continue;
            }
            if (y_range.0..=y_range.1).contains(&y) {
                Mark::Dot(OUTLIER).draw(area, at, size)?;
            } else if y > y_range.1 {
                Mark::Up(OUTLIER).draw(area, at, size)?;
            } else {
                Mark::Down(OUTLIER).draw(area, at, size)?;
            }
        }
        Ok(())
    }

    /// A bar from the least to the largest of each column.
    fn draw_columns<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, Shift>,
        scale: f64,
        chart: &Chart<'_, B>,
    ) -> Result<(), String> {
        let half = round_number(0.5 * scale).max(1);
        let mut next = None;
        for &(x, low, high) in &self.columns {
            let (left, top) = chart.backend_coord(&(x, high));
            let (_, bottom) = chart.backend_coord(&(x, low));
            // Columns side by side touch.
            let begin = match next {
                Some(next) if left - half <= next + half => next,
                _ => left - half,
            };
            next = Some(left + half);
            let corners = [(begin, top - half), (left + half, bottom + half)];
            let bar = Rectangle::new(corners, DATA_RANGE.filled());
            area.draw(&bar).map_err(|error| error.to_string())?;
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
        let (x_range, y_range) = (frame.x.range, frame.y.range);
        let data = match self.columns[..] {
            [] => (Mark::Dot(DATA), "data"),
            _ => (Mark::Bar(DATA_RANGE), "data, from least to largest"),
        };
        let mut marks = vec![data, (Mark::Line(FUNCTION), self.line_name)];
        if let Some(band) = &self.band {
            marks.push((Mark::Band(BAND), &band.name));
        }
        if !self.outliers.is_empty() {
            marks.push(if self.outliers.len() > LABELLED {
                (Mark::Dot(OUTLIER), "outliers")
            } else {
                (Mark::Ring(OUTLIER), "outliers, with their rows (from 0)")
            });
        }
        let far = |&index: &usize| {
            let (_, y) = self.points[index];
            !(y_range.0..=y_range.1).contains(&y)
        };
        if self.outliers.iter().any(far) {
            marks.push((Mark::Up(OUTLIER), "beyond the edge"));
        }
        let mut chart = frame.draw(area, scale, &marks)?;
        if let Some(band) = &self.band {
            let region = Polygon::new(band.outline(), BAND);
            chart.draw_series([region]).map_err(|error| error.to_string())?;
        }
        self.draw_columns(area, scale, &chart)?;
        for (&point, out) in self.points.iter().zip(self.is_outlier()) {
            let alone = out && self.outliers.len() <= LABELLED;
            let is_drawn = if self.columns.is_empty() { !out || alone } else { alone };
            if is_drawn && (!out || (y_range.0..=y_range.1).contains(&point.1)) {
                let shown = (point.0.clamp(x_range.0, x_range.1), point.1);
                let color = if out { OUTLIER } else { DATA };
                Mark::Dot(color).draw(area, chart.backend_coord(&shown), scale)?;
            }
        }
        let width = if self.columns.is_empty() { 2.0 } else { 1.0 };
        let width = round_number(width * scale).unsigned_abs();
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
    use super::{Band, FitPlot, padded};
    use crate::plot::Format;

    fn plot(points: Vec<(f64, f64)>, outliers: Vec<usize>) -> FitPlot {
        FitPlot {
            title: "t".into(),
            x_name: "x".into(),
            x_time: None,
            y_name: "y".into(),
            columns: vec![],
            line: points.clone(),
            line_name: "line",
            band: Some(Band {
                name: "band".into(),
                ends: points.iter().map(|&(x, y)| (x, 0.9 * y, 1.1 * y)).collect(),
            }),
            outliers,
            rows: (0..points.len()).collect(),
            points,
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
