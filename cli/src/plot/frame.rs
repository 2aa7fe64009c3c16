//! Axes, their ranges, marks and the legend.

use super::FONT;
use super::axis::{Axis, Coordinates};
use plotters::coord::Shift;
use plotters::prelude::{
    BLACK, Cartesian2d, ChartBuilder, ChartContext, Circle, Color, DrawingArea, DrawingBackend,
    PathElement, Polygon, RGBColor, Rectangle, Text,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{IntoFont, IntoTextStyle, TextStyle};

/// How something is drawn, on the plot and in the legend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Mark {
    Dot(RGBColor),
    Ring(RGBColor),
    Line(RGBColor),
    Bar(RGBColor),
    /// A region around a line.
    Band(RGBColor),
    Up(RGBColor),
    Down(RGBColor),
}

/// A chart's title and axes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Frame {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
}

/// A chart on two axes.
pub(crate) type Chart<'a, B> = ChartContext<'a, B, Cartesian2d<Coordinates, Coordinates>>;

/// Sizes in units of the picture.
const TITLE: f64 = 20.0;
const NAMES: f64 = 16.0;
const TICKS: f64 = 14.0;
const HEAD: f64 = 66.0;
/// The radius of a mark.
const MARK: f64 = 5.0;

/// A whole number of pixels.
#[allow(clippy::cast_possible_truncation)]
pub(crate) fn round_number(x: f64) -> i32 {
    x.round() as i32
}

fn pixels(x: f64) -> u32 {
    round_number(x).unsigned_abs()
}

fn text(size: f64, anchor: Pos) -> TextStyle<'static> {
    (FONT, size).into_font().color(&BLACK).pos(anchor)
}

impl Frame {
    /// Title, legend and axes; gives what to draw on.
    pub(crate) fn draw<'a, B: DrawingBackend + 'a>(
        &self,
        area: &'a DrawingArea<B, Shift>,
        scale: f64,
        marks: &[(Mark, &str)],
    ) -> Result<Chart<'a, B>, String> {
        let (head, body) = area.split_vertically(round_number(HEAD * scale));
        let middle = round_number(f64::from(area.dim_in_pixel().0) / 2.0);
        let style = text(TITLE * scale, Pos::new(HPos::Center, VPos::Center));
        head.draw_text(&self.title, &style, (middle, round_number(20.0 * scale)))
            .map_err(|error| error.to_string())?;
        legend(&head, scale, (middle, round_number(50.0 * scale)), marks)?;
        let mut chart = ChartBuilder::on(&body)
            .margin_right(pixels(24.0 * scale))
            .margin_left(pixels(8.0 * scale))
            .margin_bottom(pixels(8.0 * scale))
            .x_label_area_size(pixels(52.0 * scale))
            .y_label_area_size(pixels(76.0 * scale))
            .build_cartesian_2d(self.x.coordinates(), self.y.coordinates())
            .map_err(|error| error.to_string())?;
        chart
            .configure_mesh()
            .x_desc(self.x.title())
            .y_desc(self.y.title())
            .x_labels(11)
            .y_labels(9)
            .x_label_formatter(&|x| self.x.label(*x))
            .y_label_formatter(&|y| self.y.label(*y))
            .axis_desc_style((FONT, NAMES * scale))
            .label_style((FONT, TICKS * scale))
            .light_line_style(RGBColor(255, 255, 255))
            .bold_line_style(RGBColor(228, 228, 228).stroke_width(pixels(scale)))
            .axis_style(RGBColor(90, 90, 90).stroke_width(pixels(scale)))
            .set_all_tick_mark_size(pixels(4.0 * scale))
            .draw()
            .map_err(|error| error.to_string())?;
        Ok(chart)
    }
}

/// Marks and what they mean, side by side, centred.
fn legend<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    scale: f64,
    centre: (i32, i32),
    marks: &[(Mark, &str)],
) -> Result<(), String> {
    let style = text(TICKS * scale, Pos::new(HPos::Left, VPos::Center));
    let (before, after, gap) = (30.0 * scale, 0.0, 26.0 * scale);
    let mut widths = Vec::new();
    for (_, name) in marks {
        let (width, _) = area
            .estimate_text_size(name, &style.clone().into_text_style(area))
            .map_err(|error| error.to_string())?;
        widths.push(before + f64::from(width) + after);
    }
    let total = widths.iter().sum::<f64>() + gap * (marks.len() as f64 - 1.0);
    let mut x = f64::from(centre.0) - total / 2.0;
    for ((mark, name), width) in marks.iter().zip(widths) {
        let at = (round_number(x + before / 2.0 - 4.0 * scale), centre.1);
        mark.draw(area, at, scale)?;
        area.draw(&Text::new(*name, (round_number(x + before), centre.1), style.clone()))
            .map_err(|error| error.to_string())?;
        x += width + gap;
    }
    Ok(())
}

impl Mark {
    /// Draws the mark around a pixel.
    pub(crate) fn draw<B: DrawingBackend>(
        self,
        area: &DrawingArea<B, Shift>,
        (x, y): (i32, i32),
        scale: f64,
    ) -> Result<(), String> {
        let r = round_number(MARK * scale);
        let drawn = match self {
            Self::Dot(color) => {
                area.draw(&Circle::new((x, y), r * 7 / 10, color.mix(0.75).filled()))
            }
            Self::Ring(color) => {
                let style = color.stroke_width(pixels(2.0 * scale));
                area.draw(&Circle::new((x, y), r + r / 4, style))
            }
            Self::Line(color) => {
                let style = color.stroke_width(pixels(2.0 * scale));
                area.draw(&PathElement::new([(x - 2 * r, y), (x + 2 * r, y)], style))
            }
            Self::Band(color) => {
                let corners = [(x - 2 * r, y - r), (x + 2 * r, y + r)];
                area.draw(&Rectangle::new(corners, color.filled()))
            }
            Self::Bar(color) => {
                let corners = [(x - r, y - r), (x + r, y + r)];
                area.draw(&Rectangle::new(corners, color.filled()))
            }
            Self::Up(color) => {
                area.draw(&Polygon::new([(x, y - r), (x - r, y + r), (x + r, y + r)], color))
            }
            Self::Down(color) => {
                area.draw(&Polygon::new([(x, y + r), (x - r, y - r), (x + r, y - r)], color))
            }
        };
        drawn.map_err(|error| error.to_string())
    }
}
