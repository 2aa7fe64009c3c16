//! The picture of a request, denoised as `kgard denoise` does it.

use crate::denoise::{Cleaned, DenoiseArgs, clean};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::memory::{available, check_picture};
use crate::messages::warn;
use crate::metrics::json;
use crate::pictures::{Format, Picture, Raster, Size, Stack};
use clap::Parser;
use image::DynamicImage;
use std::time::Instant;

/// The options of `kgard denoise` that a request may give: none that names a
/// file.
const OPTIONS: [&str; 13] = [
    "method",
    "sigma",
    "lambda",
    "noise-sigma",
    "roi",
    "core",
    "stop",
    "e0",
    "regularizer",
    "format",
    "strength",
    "white-level",
    "strength-colour",
];

/// Share of the free memory that a picture may need: the files that wait and
/// the answers that are read take some of the rest.
const SHARE: f64 = 0.5;

/// What the picture is called.
const NAME: &str = "the file";

/// A command line.
#[derive(Parser)]
struct Line {
    #[command(flatten)]
    options: DenoiseArgs,
}

/// Why a picture is not denoised.
pub(super) struct Refused {
    pub(super) status: u16,
    pub(super) text: String,
}

impl Refused {
    fn because(error: Error, failed: u16) -> Self {
        match error {
            Error::Usage(text) => Self { status: 400, text },
            Error::Failed(text) => Self { status: failed, text },
            Error::PipeClosed => Self { status: 500, text: "the work was broken off".into() },
        }
    }
}

/// The size of the picture in these bytes.
pub(super) fn size(bytes: &[u8]) -> std::result::Result<Size, Refused> {
    Size::of(bytes, NAME).map_err(|error| Refused::because(error, 422))
}

/// Denoises the picture in these bytes, if its working memory is within
/// `memory`, or within half of what is free.
pub(super) fn denoised(
    bytes: &[u8],
    size: Size,
    options: &DenoiseArgs,
    device: Option<&Device>,
    memory: Option<f64>,
) -> std::result::Result<Form, Refused> {
    let memory = memory.or_else(|| available().map(|free| SHARE * free));
    check_picture(NAME, size, options.memory(), memory)
        .map_err(|error| Refused::because(error, 413))?;
    form(bytes, options, device).map_err(|error| Refused::because(error, 422))
}

fn form(bytes: &[u8], options: &DenoiseArgs, device: Option<&Device>) -> Result<Form> {
    let start = Instant::now();
    let stack = Stack::new(bytes.into(), NAME)?;
    let picture = stack.with_white(options.white()).only()?;
    let Cleaned { clean, outliers, report } = clean(options, device, &picture.image, NAME)?;
    let format = options.format().unwrap_or(picture.format);
    let file = picture.encode(&clean, format, NAME)?;

    let mut form = Form::default();
    form.add("before", "before.png", "image/png", &png(&picture, &picture.image)?);
    let map = Picture::plain(outliers, Format::Png);
    form.add("outliers", "outliers.png", "image/png", &png(&map, &map.image)?);
    let name = format!("clean.{}", format.extension());
    form.add("clean", &name, format.media_type(), &file);
    if !format.is_for_browsers() {
        form.add("shown", "shown.png", "image/png", &png(&picture, &clean)?);
    }
    let report = report.between(NAME.into(), name).after(start.elapsed());
    for text in report.warnings() {
        warn(&text);
    }
    form.add("report", "report.json", "application/json", json(&report)?.as_bytes());
    Ok(form)
}

/// The options of a query, which are those of the command line.
pub(super) fn options(query: &str) -> std::result::Result<DenoiseArgs, Refused> {
    parsed(query).map_err(|error| Refused::because(error, 400))
}

fn parsed(query: &str) -> Result<DenoiseArgs> {
    let mut words = ["denoise", "-", "-o", "-"].map(str::to_owned).to_vec();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        if !OPTIONS.contains(&name.as_ref()) {
            return Err(Error::usage(format!(
                "{name}: there is no such option; there are {}",
                OPTIONS.join(", ")
            )));
        }
        // An empty field of a form is one that was not filled in.
        if !value.is_empty() {
            words.push(format!("--{name}={value}"));
        }
    }
    let line = Line::try_parse_from(words).map_err(|error| {
        let text = error.to_string();
        let text = text.trim_start_matches("error: ");
        // Without the hint about `--help`.
        Error::usage(text.split("\n\n").next().unwrap_or(text).replace('\n', " "))
    })?;
    line.options.check()?;
    Ok(line.options)
}

/// Pixels in 8 bits, for the browser, with the colour profile of the picture.
fn png(picture: &Picture, image: &Raster) -> Result<Vec<u8>> {
    let image = image.shown()?;
    let color = image.color();
    let image: DynamicImage = match (color.has_color(), color.has_alpha()) {
        (false, false) => image.to_luma8().into(),
        (false, true) => image.to_luma_alpha8().into(),
        (true, false) => image.to_rgb8().into(),
        (true, true) => image.to_rgba8().into(),
    };
    picture.encode(&image.into(), Format::Png, NAME)
}

/// The parts of an answer, as browsers send and read them.
#[derive(Default)]
pub(super) struct Form {
    bytes: Vec<u8>,
}

/// A line that ends a part; 128 random bits, so that no picture contains it.
macro_rules! boundary {
    () => {
        "kgard-9f1c6e3b7a5d48e2b0647c1d93ae52f8"
    };
}

impl Form {
    /// Its type.
    pub(super) const KIND: &'static str = concat!("multipart/form-data; boundary=", boundary!());

    fn add(&mut self, name: &str, file: &str, kind: &str, content: &[u8]) {
        let head = format!(
            "--{}\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{file}\"\r\n\
             Content-Type: {kind}\r\n\r\n",
            boundary!()
        );
        self.bytes.extend(head.as_bytes());
        self.bytes.extend(content);
        self.bytes.extend(b"\r\n");
    }

    /// All of it.
    pub(super) fn into_bytes(mut self) -> Vec<u8> {
        self.bytes.extend(concat!("--", boundary!(), "--\r\n").as_bytes());
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::options;

    #[test]
    fn only_options_that_name_no_file() {
        assert!(options("").is_ok());
        assert!(options("method=kgard&noise-sigma=10&lambda=").is_ok());
        assert!(options("method=kgard&stop=max%3A40&strength=0.5").is_ok());
        for query in
            ["outliers=/tmp/x.png", "output=x", "threads=3", "-o=x", "reference=x", "backend=cpu"]
        {
            assert!(options(query).is_err(), "{query}");
        }
        for query in ["method=magic", "noise-sigma=-1", "stop=--json", "roi=11"] {
            assert!(options(query).is_err(), "{query}");
        }
    }
}
