//! The core against faer, nalgebra, the literal algorithm and the paper's own
//! implementation. `cargo bench --bench core` prints the tables of
//! BENCHMARKS.md; `-- --write` puts them there.
#![allow(missing_docs, unreachable_pub, clippy::pedantic)]

#[allow(dead_code)]
mod common;

#[path = "../tests/common/mod.rs"]
mod problems;

use common::growing;
use common::{contender, pretty, publish, race, ratio};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor as faer_llt;
use kgard::linalg::cholesky;
use kgard::{Gaussian, Plan, Regularizer, Stop};
use problems::oracle::{self, Penalty};
use problems::problem::Problem;
use std::fmt::Write;
use std::hint::black_box;

/// A Gaussian Gram matrix plus half the identity.
fn matrix(n: usize) -> Vec<f64> {
    (0..n * n)
        .map(|e| {
            let d = ((e / n) as f64 - (e % n) as f64) / 10.0;
            (-d * d).exp() + if e / n == e % n { 0.5 } else { 0.0 }
        })
        .collect()
}

/// Copies, by a loop and not by `memcpy`, whose speed on some processors
/// depends on the addresses and would be measured along.
fn refill<T: kgard::Real>(to: &mut [T], from: &[T]) {
    let one = black_box(T::one());
    for (to, &from) in to.iter_mut().zip(from) {
        *to = from * one;
    }
}

macro_rules! cholesky_rows {
    ($t:ident, $report:expr) => {
        for n in [64_usize, 256, 1024, 2048] {
            let a: Vec<$t> = matrix(n).into_iter().map(|x| x as $t).collect();
            let mut ours = a.clone();
            let mut scratch = vec![0.0; cholesky::factor_scratch_len::<$t>(n)];
            let source = faer::Mat::<$t>::from_fn(n, n, |i, j| a[i * n + j]);
            let mut theirs = source.clone();
            let request =
                faer_llt::cholesky_in_place_scratch::<$t>(n, faer::Par::Seq, Default::default());
            let mut buffer = MemBuffer::new(request);
            let mut dense = Some(nalgebra::DMatrix::<$t>::from_row_slice(n, n, &a));
            let mut contenders = vec![
                contender("kgard", || {
                    refill(&mut ours, &a);
                    cholesky::factor(&mut ours, n, &mut scratch).unwrap();
                }),
                contender("faer", || {
                    theirs.copy_from(&source);
                    faer_llt::cholesky_in_place(
                        theirs.as_mut(),
                        Default::default(),
                        faer::Par::Seq,
                        MemStack::new(&mut buffer),
                        Default::default(),
                    )
                    .unwrap();
                }),
            ];
            if n <= 256 {
                contenders.push(contender("nalgebra", || {
                    let mut matrix = dense.take().unwrap();
                    refill(matrix.as_mut_slice(), &a);
                    dense = Some(nalgebra::Cholesky::new(matrix).unwrap().unpack_dirty());
                }));
            }
            let times = race(contenders, 15);
            let kgard = times[0].1;
            let gflops = (n as f64).powi(3) / 3e9 / kgard.as_secs_f64();
            write!(
                $report,
                "| {} | {n} | {} | {gflops:.1} | {} | {:.2} |",
                stringify!($t),
                pretty(kgard),
                pretty(times[1].1),
                ratio(kgard, times[1].1)
            )
            .unwrap();
            match times.get(2) {
                Some((_, time)) => {
                    writeln!($report, " {} | {:.2} |", pretty(*time), ratio(kgard, *time))
                }
                None => writeln!($report, " | |"),
            }
            .unwrap();
        }
    };
}

fn main() {
    let mut report = String::new();
    report.push_str("### Cholesky factorisation, one thread\n\n");
    report.push_str("| scalar | n | kgard | Gflop/s | faer 0.24 | kgard / faer | nalgebra 0.35 | kgard / nalgebra |\n");
    report.push_str("| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    cholesky_rows!(f64, report);
    cholesky_rows!(f32, report);

    report.push_str("\n### One KGARD fit of the size of Table 1 (n = 199, k = 20, f64)\n\n");
    report.push_str("| penalty | one shot | literal Algorithm 1 | ratio | the paper's growing Cholesky | ratio | plan and fit | another fit | ratio |\n");
    report.push_str("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    let n = 199;
    let problem = Problem::table1(20, 3);
    let kernel = Gaussian::new(0.15);
    let stop = Stop::count(20);
    for rkhs in [false, true] {
        let lambda = 0.2;
        let regularizer = if rkhs { Regularizer::rkhs(lambda) } else { Regularizer::l2(lambda) };
        let plan = Plan::new(&problem.x, kernel, regularizer).unwrap();
        let penalty = if rkhs {
            Penalty::Rkhs { lambda }
        } else {
            let p = (0..n * n).map(|e| if e / n == e % n { lambda } else { 0.0 }).collect();
            Penalty::Quadratic { p, d_c: lambda }
        };
        let literal = || {
            let mut k = vec![0.0; n * n];
            kgard::kernel::gram(&problem.x, &kernel, &mut k).unwrap();
            black_box(oracle::kgard(&k, &problem.y, &penalty, true, 20));
        };
        // All find the same outliers before any time is taken.
        let expected: Vec<usize> =
            plan.fit(&problem.y, stop).unwrap().outliers().iter().map(|o| o.index).collect();
        assert_eq!(growing::fit(&problem.x, &problem.y, &kernel, lambda, rkhs, 20), expected);

        let times = race(
            vec![
                contender("one shot", || {
                    black_box(kgard::fit(&problem.x, &problem.y, kernel, regularizer, stop))
                        .unwrap();
                }),
                contender("growing", || {
                    black_box(growing::fit(&problem.x, &problem.y, &kernel, lambda, rkhs, 20));
                }),
                contender("plan and fit", || {
                    let plan = Plan::new(&problem.x, kernel, regularizer).unwrap();
                    black_box(plan.fit(&problem.y, stop)).unwrap();
                }),
                contender("another fit", || {
                    black_box(plan.fit(&problem.y, stop)).unwrap();
                }),
            ],
            40,
        );
        let literal = race(vec![contender("literal", literal)], 3)[0].1;
        let [once, growing, both, fit] = [0, 1, 2, 3].map(|i: usize| times[i].1);
        writeln!(
            report,
            "| {} | {} | {} | {:.0} | {} | {:.1} | {} | {} | {:.0} |",
            if rkhs { "RKHS" } else { "l2" },
            pretty(once),
            pretty(literal),
            ratio(literal, once),
            pretty(growing),
            ratio(growing, once),
            pretty(both),
            pretty(fit),
            ratio(both, fit),
        )
        .unwrap();
    }
    publish("core", &report);
}
