//! Whether there is room for the matrices of a fit.

use crate::error::{Error, Result};
use crate::messages::note;
use crate::number::counted;

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
fn available() -> Option<f64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let number = |text: String| text.trim().parse::<f64>().ok();
    let free = mem_available(&read("/proc/meminfo")?)?;
    // A container may have less.
    let limit = read("/sys/fs/cgroup/memory.max").and_then(number);
    let used = read("/sys/fs/cgroup/memory.current").and_then(number);
    Some(limit.zip(used).map_or(free, |(limit, used)| free.min((limit - used).max(0.0))))
}

/// The line `MemAvailable: 12345 kB` of Linux.
fn mem_available(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(1024.0 * kilobytes)
}

#[cfg(test)]
mod tests {
    use super::{check, mem_available};
    use crate::error::Error;

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
    fn what_linux_says() {
        let text = "MemTotal:       16384 kB\nMemAvailable:    8192 kB\n";
        assert_eq!(mem_available(text), Some(8_388_608.0));
        assert_eq!(mem_available("nothing"), None);
    }
}
