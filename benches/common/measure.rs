//! Time and memory, whatever else the machine does.

use std::time::{Duration, Instant};

/// The processor's time of this thread where the system tells, else the clock's: other
/// work on the machine does not count.
fn now() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let clock = START.get_or_init(Instant::now).elapsed();
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ran = stat.and_then(|text| text.split(' ').next()?.parse().ok());
    ran.map_or(clock, Duration::from_nanos)
}

/// The result, and the seconds that it took.
pub fn timed<R>(work: impl FnOnce() -> R) -> (R, f64) {
    let start = now();
    let result = work();
    (result, now().saturating_sub(start).as_secs_f64())
}

/// The largest memory of this process since [`forget_peak`], in bytes.
pub fn peak() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<f64>().ok()? * 1024.0)
}

/// [`peak`] counts from here. On Linux only; elsewhere there is none to read.
pub fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// The seconds of some work that is done until it has taken a quarter of a second, each
/// time: clocks of the processor's time may tick in milliseconds.
pub fn repeated<R>(mut work: impl FnMut() -> R) -> (R, f64) {
    let (mut result, mut total) = timed(&mut work);
    let mut count = 1.0;
    while total < 0.25 {
        let (next, seconds) = timed(&mut work);
        (result, total, count) = (next, total + seconds, count + 1.0);
    }
    (result, total / count)
}
