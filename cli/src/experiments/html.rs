//! All results on one page that needs no other file.

use super::report::Report;
use super::{Figure1, figure1};
use crate::error::Result;
use crate::number::counted;
use crate::plot::Format;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fmt::Write;

const STYLE: &str = include_str!("report.css");

/// How the experiments were run: what, and what it was.
pub(crate) type Settings = Vec<(&'static str, String)>;

/// The page.
pub(crate) fn page(reports: &[Report], settings: &Settings) -> Result<String> {
    let (mut contents, mut body) = (String::new(), String::new());
    for report in reports {
        let title = text(report.title);
        let _ = writeln!(contents, "<li><a href=\"#{}\">{title}</a></li>", report.table);
        body.push_str(&section(report)?);
    }
    let mut list = String::new();
    for (name, value) in settings {
        let _ = writeln!(list, "<dt>{}</dt><dd>{}</dd>", text(name), text(value));
    }
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>kgard: the paper's experiments</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <h1>The paper's experiments</h1>\n\
         <p>Figures of kgard beside those of \u{201c}Robust Non-linear Regression: A Greedy Approach \
         Employing Kernels with Application to Image Denoising\u{201d}.</p>\n\
         <dl>\n{list}</dl>\n<nav><ul>\n{contents}</ul></nav>\n{body}</body>\n</html>\n"
    ))
}

/// A report: its table, its figures and what to know of them.
fn section(report: &Report) -> Result<String> {
    let Report { table, title, runs, seed, .. } = report;
    let mut html = format!(
        "<section id=\"{table}\">\n<h2>{}</h2>\n<p>{}, seed {seed}.</p>\n",
        text(title),
        counted(*runs as usize, "run")
    );
    if *table == figure1::NAME {
        let svg = Format::Svg.render(&Figure1(report))?;
        let svg = String::from_utf8_lossy(&svg);
        let _ = writeln!(html, "<figure class=\"plot\">{svg}</figure>");
    }
    html.push_str(&rows(&report.lines()));
    if !report.pictures.is_empty() {
        html.push_str("<div class=\"pictures\">\n");
        for (name, png) in &report.pictures {
            let name = text(name.trim_end_matches(".png"));
            let data = STANDARD.encode(png);
            let _ = writeln!(
                html,
                "<figure><img alt=\"{name}\" src=\"data:image/png;base64,{data}\">\
                 <figcaption>{name}</figcaption></figure>"
            );
        }
        html.push_str("</div>\n");
    }
    for note in &report.notes {
        let _ = writeln!(html, "<p class=\"note\">{}</p>", text(note));
    }
    html.push_str("</section>\n");
    Ok(html)
}

/// Lines of which the first has the titles.
fn rows(lines: &[Vec<String>]) -> String {
    let is_number = |cell: &String| cell.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    let mut html = String::from("<div class=\"wide\"><table>\n");
    for (i, line) in lines.iter().enumerate() {
        let tag = if i == 0 { "th" } else { "td" };
        html.push_str("<tr>");
        for (column, cell) in line.iter().enumerate() {
            // Numbers stand below each other.
            let numbers = lines.iter().skip(1).all(|line| is_number(&line[column]));
            let class = if numbers { " class=\"n\"" } else { "" };
            let _ = write!(html, "<{tag}{class}>{}</{tag}>", text(&cell.replace("+-", "\u{b1}")));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</table></div>\n");
    html
}

/// Without what HTML would take for its own.
fn text(plain: &str) -> String {
    plain.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
