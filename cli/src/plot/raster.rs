//! From SVG to pixels, with the bundled font and no other.

use super::FONT_BYTES;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

/// What the bundled font calls itself.
const FONT_NAME: &str = "DejaVu Sans";

/// Draws an SVG of this size with `scale` pixels for each of its units.
pub(crate) fn rasterise(svg: &[u8], size: (u32, u32), scale: u32) -> Result<Pixmap, String> {
    let mut options = Options { font_family: FONT_NAME.into(), ..Options::default() };
    let fonts = options.fontdb_mut();
    fonts.load_font_data(FONT_BYTES.to_vec());
    fonts.set_sans_serif_family(FONT_NAME);
    let tree = Tree::from_data(svg, &options).map_err(|error| error.to_string())?;
    let sides = size.0.checked_mul(scale).zip(size.1.checked_mul(scale));
    let mut pixels = sides
        .and_then(|(width, height)| Pixmap::new(width, height))
        .ok_or("there is no memory for it")?;
    let scale = scale as f32;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    Ok(pixels)
}
