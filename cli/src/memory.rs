//! Whether there is room for the matrices of a fit, or for a picture.

use crate::error::{Error, Result};
use crate::messages::note;
use crate::number::counted;
use crate::pictures::Size;

/// Square matrices of `f64` that a fit has at once: the factored one and its
/// inverse.
const MATRICES: f64 = 2.0;
/// Matrices of more bytes than this are worth a word beforehand.
const LARGE: f64 = 2e9;

/// Refuses as many points as there is no memory for; says so if they will take a
/// while.
pub(crate) fn check_room(n: usize) -> Result<()> {
    check(n, available())
}

fn check(n: usize, available: Option<f64>) -> Result<()> {
    let entry = MATRICES * size_of::<f64>() as f64;
    let needed = entry * (n as f64) * (n as f64);
    if let Some(available) = available
        && needed > available
    {
        let every = (needed / available).sqrt().ceil();
        return Err(Error::failed(format!(
            "{} need {} of memory for their matrices, and {} are free: fit at most {:.0} of them, \
             for example every {every:.0}th row, or clean a series with `kgard clean`, which takes a \
             few hundred bytes a point",
            counted(n, "point"),
            size(needed),
            size(available),
            (n as f64 / every).floor().max(1.0),
        )));
    }
    if needed > LARGE {
        note(&format!(
            "{} take about {} of memory, and a while",
            counted(n, "point"),
            size(needed)
        ));
    }
    Ok(())
}

/// What a method takes for a picture from file to file, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PictureMemory {
    /// For each pixel.
    pub(crate) pixel: f64,
    /// And for each of its colour channels.
    pub(crate) channel: f64,
}

/// Refuses a picture that cannot be worked on in `available` bytes.
pub(crate) fn check_picture(
    name: &str,
    size: Size,
    memory: PictureMemory,
    available: Option<f64>,
) -> Result<()> {
    let Size { width, height, channels, .. } = size;
    let pixels = f64::from(width) * f64::from(height);
    let needed = (memory.pixel + memory.channel * f64::from(channels)) * pixels;
    match available {
        Some(available) if needed > available => Err(Error::failed(format!(
            "{name}: has {width} x {height} pixels, which need about {} of memory, and {} can be \
             used: cut it into parts",
            self::size(needed),
            self::size(available)
        ))),
        _ => Ok(()),
    }
}

/// Bytes, in a unit that suits them.
fn size(bytes: f64) -> String {
    match bytes {
        x if x < 1e9 => format!("{:.0} MB", x / 1e6),
        x if x < 1e10 => format!("{:.1} GB", x / 1e9),
        x if x < 1e12 => format!("{:.0} GB", x / 1e9),
        x => format!("{:.0} TB", x / 1e12),
    }
}

/// Bytes that are free for this program, where the system tells.
pub(crate) fn available() -> Option<f64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let number = |text: String| text.trim().parse::<f64>().ok();
    let free = mem_available(&read("/proc/meminfo")?)?;
    // A container may have less.
    let limit = read("/sys/fs/cgroup/memory.max").and_then(number);
    let used = read("/sys/fs/cgroup/memory.current").and_then(number);
    let container = limit.zip(used).map(|(limit, used)| limit - used);
    // And so may a shell (`ulimit -v`).
    let limit = read("/proc/self/limits").as_deref().and_then(address_space);
    let used = read("/proc/self/status").as_deref().and_then(|text| kilobytes(text, "VmSize:"));
    let shell = limit.zip(used).map(|(limit, used)| limit - used);
    let least = [container, shell].into_iter().flatten().fold(free, f64::min);
    Some(least.max(0.0))
}

/// The line `MemAvailable: 12345 kB` of Linux.
fn mem_available(text: &str) -> Option<f64> {
    kilobytes(text, "MemAvailable:")
}

/// A line such as `VmSize: 12345 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(1024.0 * kilobytes)
}

/// The line `Max address space  6000000000  unlimited  bytes` of Linux.
fn address_space(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{PictureMemory, address_space, check, check_picture, mem_available};
    use crate::error::Error;
    use crate::pictures::Size;

    #[test]
    fn too_many_points_are_refused_with_a_way_out() {
        assert!(check(10_000, Some(2e9)).is_ok());
        assert!(check(1_000_000, None).is_ok());
        let Err(Error::Failed(text)) = check(1_000_000, Some(4e9)) else { panic!("believed") };
        assert_eq!(
            text,
            "1000000 points need 16 TB of memory for their matrices, and 4.0 GB are free: fit at \
             most 15625 of them, for example every 64th row, or clean a series with `kgard \
             clean`, which takes a few hundred bytes a point"
        );
        assert!(check(15_625, Some(4e9)).is_ok());
    }

    #[test]
    fn a_picture_that_is_too_large() {
        let size = Size { width: 14_000, height: 14_000, channels: 1 };
        let memory = PictureMemory { pixel: 73.0, channel: 40.0 };
        let check = |available| check_picture("a.png", size, memory, available);
        assert!(check(None).is_ok() && check(Some(25e9)).is_ok());
        let Err(Error::Failed(text)) = check(Some(6e9)) else { panic!("believed") };
        assert_eq!(
            text,
            "a.png: has 14000 x 14000 pixels, which need about 22 GB of memory, and 6.0 GB can \
             be used: cut it into parts"
        );
    }

    #[test]
    fn what_linux_says() {
        let text = "MemTotal:       16384 kB\nMemAvailable:    8192 kB\n";
        assert_eq!(mem_available(text), Some(8_388_608.0));
        assert_eq!(mem_available("nothing"), None);
        let text = "Limit  Soft Limit  Hard Limit  Units\n\
                    Max address space         6000000000           unlimited            bytes\n";
        assert_eq!(address_space(text), Some(6e9));
        assert_eq!(address_space(&text.replace("6000000000", "unlimited")), None);
    }
}
