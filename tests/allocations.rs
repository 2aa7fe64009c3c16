//! What is allocated, counted by the allocator: nothing in the scratch tier,
//! and no more than promised by a single fit.
#![allow(missing_docs, clippy::pedantic)]
#![expect(unsafe_code, reason = "an allocator that counts has to be an allocator")]
mod common;

use common::problem::Problem;
use kgard::line::{self, LineMemory, LineRef, Node};
use kgard::{Gaussian, Matern32, Plan, PlanRef, Regularizer, Stop, Workspace};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
    static LIVE: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        LIVE.set(LIVE.get() + layout.size());
        PEAK.set(PEAK.get().max(LIVE.get()));
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.set(LIVE.get().saturating_sub(layout.size()));
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations while `f` runs, and the most bytes beyond those at the start.
fn measure<R>(f: impl FnOnce() -> R) -> (R, usize, usize) {
    let (count, live) = (COUNT.get(), LIVE.get());
    PEAK.set(live);
    let result = f();
    (result, COUNT.get() - count, PEAK.get() - live)
}

#[test]
fn the_scratch_tier_does_not_allocate() {
    const N: usize = 64;
    const K: usize = 8;
    let problem = Problem::new(N, 1, 6, 0.1, 2);
    let x: Vec<f32> = problem.x.iter().map(|&x| x as f32).collect();
    let y: Vec<f32> = problem.y.iter().map(|&y| y as f32).collect();
    let weights = [2.0_f32; N];
    let mut psi = [0.0_f32; N * N];
    (0..N).for_each(|i| psi[i * N + i] = 0.4);

    let (found, count, _) = measure(|| {
        let mut memory = [0.0_f32; PlanRef::<f32>::l2_len(N)];
        let mut scratch = [0.0_f32; PlanRef::<f32>::tikhonov_scratch_len(N)];
        let mut found = 0;
        for regularizer in [
            Regularizer::l2(0.1),
            Regularizer::l2(0.1).with_weights(&weights),
            Regularizer::rkhs(0.1),
            Regularizer::tikhonov(&psi, 0.1),
        ] {
            let kernel = Gaussian::new(0.2);
            let plan = PlanRef::new(&x, &kernel, regularizer, &mut memory, &mut scratch).unwrap();
            for stop in [Stop::max_residual(1.0), Stop::automatic(), Stop::residual_norm(2.0)] {
                let mut scalars = [0.0; Workspace::<f32>::len(N, K)];
                let mut indices = [0; K];
                let work = Workspace::new(N, &mut scalars, &mut indices).unwrap();
                let fit = plan.fit(&y, stop, work).unwrap();
                let mut alpha = [0.0; N];
                fit.coefficients(&mut alpha).unwrap();
                let mut fitted = [0.0; N];
                fit.fitted(&mut fitted).unwrap();
                let at_half = kgard::predict(&x, &kernel, &alpha, fit.bias(), &[0.5]).unwrap();
                assert!((at_half - 2.5_f32.sin()).abs() < 0.3);
                found += fit.outliers().len();
            }
        }
        found
    });
    assert_eq!(count, 0);
    assert_eq!(found, 4 * 3 * 6);

    // The measure itself works.
    let (_, count, peak) = measure(|| vec![0_u8; 1000]);
    assert_eq!((count, peak), (1, 1000));
}

#[test]
fn a_line_in_borrowed_memory_does_not_allocate() {
    const N: usize = 300;
    const K: usize = 12;
    type Line<'a> = LineRef<'a, f32, Matern32<f32>, 2, 1>;
    let problem = Problem::new(N, 1, 9, 0.1, 2);
    // From right to left: it has to be sorted.
    let x: Vec<f32> = problem.x.iter().rev().map(|&x| x as f32).collect();
    let y: Vec<f32> = problem.y.iter().rev().map(|&y| y as f32).collect();

    let (found, count, _) = measure(|| {
        let mut found = 0;
        let line: Line<'_> = LineRef::new(&x, Matern32::new(0.4), 0.1).unwrap();
        for stop in [Stop::max_residual(1.0), Stop::automatic(), Stop::count(9)] {
            let mut cells = [line::Cell::default(); N];
            let mut nodes = [Node::default(); Line::nodes(N)];
            let (mut indices, mut scalars) = ([0; K], [0.0; Line::scalars(N, K)]);
            let memory = LineMemory::new(&mut cells, &mut nodes, &mut indices, &mut scalars);
            let fit = line.fit(&y, stop, memory).unwrap();
            let mut fitted = [0.0; N];
            fit.fitted(&mut fitted).unwrap();
            assert!((fit.predict(0.5).unwrap().mean - 2.5_f32.sin()).abs() < 0.3);
            assert!(fit.log_likelihood().is_finite());
            found += fit.outliers().len();
        }
        found
    });
    assert_eq!(count, 0);
    assert_eq!(found, 3 * 9);
}

/// A long series takes at most 250 bytes a point, the outliers included.
#[test]
fn a_long_series_takes_little_memory() {
    const N: usize = 100_000;
    let problem = Problem::new(N, 1, 3000, 0.1, 2);
    let (line, _, peak) =
        measure(|| line::Line::new(&problem.x, Matern32::new(0.01), 0.1).unwrap());
    assert!(peak <= 8 * N + 1000, "{peak}");
    let (fit, _, peak) = measure(|| line.fit(&problem.y, Stop::automatic()).unwrap());
    assert!(fit.support().len() >= 2990);
    assert!(peak + 8 * N <= 250 * N, "{} bytes a point", peak / N);
}

#[test]
fn a_single_fit_takes_no_more_than_two_matrices() {
    for n in [200, 600] {
        let problem = Problem::new(n, 1, 20, 0.1, 2);
        let scalars = |bytes: usize| bytes / size_of::<f64>();
        let run = |regularizer| {
            let stop = Stop::max_residual(1.0);
            let (fit, _, peak) = measure(|| {
                kgard::fit(&problem.x, &problem.y, Gaussian::new(0.1), regularizer, stop).unwrap()
            });
            (fit.outliers().len(), scalars(peak))
        };
        let (k, l2) = run(Regularizer::l2(0.1));
        assert_eq!(k, 20);
        assert!(l2 <= 2 * n * n + 8 * n * k, "n = {n}: {l2} scalars for l2");
        let (k, rkhs) = run(Regularizer::rkhs(0.1));
        assert!(rkhs <= n * n + 8 * n * k, "n = {n}: {rkhs} scalars for the RKHS norm");
    }
}

#[test]
fn a_fit_on_a_plan_allocates_by_the_outliers_found() {
    let n = 400;
    let problem = Problem::new(n, 1, 5, 0.1, 2);
    let plan = Plan::new(&problem.x, Gaussian::new(0.1), Regularizer::rkhs(0.1)).unwrap();
    let (fit, _, peak) = measure(|| plan.fit(&problem.y, Stop::max_residual(1.0)).unwrap());
    assert_eq!(fit.outliers().len(), 5);
    assert!(peak <= 45 * n * size_of::<f64>(), "{peak} bytes");
}
