//! Ratios of times, measured side by side.
//!
//! Machines drift, so no time is compared with one from another run: the
//! contenders take turns, many times, and each is represented by its fastest
//! turn.

pub mod growing;
pub mod literal;
mod publish;

pub use publish::publish;

use std::time::{Duration, Instant};

/// Shortest duration of one turn; fast functions are repeated to fill it.
const TURN: Duration = Duration::from_millis(20);

/// One contender.
pub struct Contender<'a> {
    name: &'static str,
    run: Box<dyn FnMut() + 'a>,
    repeat: u32,
    best: Duration,
}

/// A contender with a name.
pub fn contender<'a>(name: &'static str, run: impl FnMut() + 'a) -> Contender<'a> {
    Contender { name, run: Box::new(run), repeat: 1, best: Duration::MAX }
}

/// Lets the contenders take `turns` turns each; gives the best time of each.
pub fn race(mut contenders: Vec<Contender<'_>>, turns: usize) -> Vec<(&'static str, Duration)> {
    for c in &mut contenders {
        // Warm up, and find how often one fits into a turn.
        let start = Instant::now();
        (c.run)();
        let once = start.elapsed().max(Duration::from_nanos(50));
        c.repeat = u32::try_from(TURN.as_nanos() / once.as_nanos()).unwrap_or(1).clamp(1, 100_000);
    }
    for _ in 0..turns {
        for c in &mut contenders {
            let start = Instant::now();
            for _ in 0..c.repeat {
                (c.run)();
            }
            c.best = c.best.min(start.elapsed() / c.repeat);
        }
    }
    contenders.iter().map(|c| (c.name, c.best)).collect()
}

/// Quotient of two times.
pub fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}

/// A time with a unit that suits it.
pub fn pretty(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    match micros {
        m if m < 100.0 => format!("{m:.1} µs"),
        m if m < 10_000.0 => format!("{m:.0} µs"),
        m => format!("{:.1} ms", m / 1000.0),
    }
}
