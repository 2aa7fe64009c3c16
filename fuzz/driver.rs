//! Mutates seeds and feeds them to a door, with any compiler.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

/// No input takes longer, on a slow machine and with others at work.
const PATIENCE: Duration = Duration::from_secs(20);

/// xorshift.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n.max(1)
    }
}

/// Pieces that mean something in texts.
const PIECES: [&str; 14] = [
    "0",
    "-1",
    "1e999",
    "1e-320",
    "18446744073709551615",
    "null",
    "[]",
    "{}",
    "\"",
    "NaN",
    "(",
    ")",
    " + ",
    " * ",
];

fn mutated(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = match seeds.len() {
        0 => Vec::new(),
        n => seeds[random.below(n)].clone(),
    };
    if bytes.is_empty() || random.below(8) == 0 {
        bytes = (0..random.below(400)).map(|_| random.next() as u8).collect();
    }
    for _ in 0..random.below(6) {
        let at = random.below(bytes.len());
        match random.below(8) {
            _ if bytes.is_empty() => bytes.push(random.next() as u8),
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.next() as u8,
            2 => bytes[at] = 240 + random.below(16) as u8,
            3 => bytes.truncate(at),
            4 => drop(bytes.remove(at)),
            5 => {
                let piece = PIECES[random.below(PIECES.len())].bytes();
                drop(bytes.splice(at..at, piece));
            }
            6 => {
                let end = (at + 1 + random.below(12)).min(bytes.len());
                let piece = PIECES[random.below(PIECES.len())].bytes();
                drop(bytes.splice(at..end, piece));
            }
            _ => {
                let end = (at + 1 + random.below(30)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                let to = random.below(bytes.len());
                drop(bytes.splice(to..to, piece));
            }
        }
    }
    bytes
}

/// Seeds first, then mutations of them until the time is over.
pub fn run(name: &str, door: fn(&[u8]), seeds: &Path) {
    let folder = seeds.join(name);
    let mut seeds: Vec<Vec<u8>> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| std::fs::read(entry.expect("an entry").path()).expect("a seed"))
        .collect();
    seeds.sort();
    assert!(!seeds.is_empty(), "{name} has no seeds");
    let seconds = std::env::var("KGARD_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let start = Instant::now();
    let end = start + Duration::from_secs_f64(seconds.unwrap_or(2.0));
    // Others in every run, as many as there is time for; the message has the bytes.
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let mut random = Random(clock.map_or(1, |time| time.as_nanos() as u64) | 1);
    let mut plain = seeds.clone().into_iter();
    let (mut count, mut longest) = (0_u64, Duration::ZERO);
    while Instant::now() < end || plain.len() > 0 {
        let bytes = plain.next().unwrap_or_else(|| mutated(&seeds, &mut random));
        let begin = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| door(&bytes)));
        longest = longest.max(begin.elapsed());
        if outcome.is_err() || longest > PATIENCE {
            let file = std::env::temp_dir().join(format!("kgard-{name}-finding"));
            let _ = std::fs::write(&file, &bytes);
            panic!("{name}: fails on, or takes {longest:?} for, {}: {bytes:?}", file.display());
        }
        count += 1;
    }
    println!("{name}: {count} inputs in {:.0?}, the longest {longest:.1?}", start.elapsed());
}
