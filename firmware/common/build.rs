//! Makes the plans that the firmware carries in read-only memory, in `f64` and
//! cast to `f32`, and the results that are expected of it, all in `f64`.

// Shared with the library, which makes more use of it.
#[allow(dead_code, unreachable_pub)]
#[path = "src/problem.rs"]
mod problem;

use kgard::{Error, Gaussian, Plan, Regularizer, Stop};
use problem::{BETWEEN, EPSILON, L2_LAMBDA, MANY, N, RKHS_LAMBDA, SIGMA};
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/problem.rs");
    let out = env::var_os("OUT_DIR").ok_or("OUT_DIR is set by cargo")?;
    let out = Path::new(&out);

    let kernel = Gaussian::new(SIGMA);
    let rkhs = plan(Regularizer::rkhs(RKHS_LAMBDA.into()))?;
    let l2 = plan(Regularizer::l2(L2_LAMBDA.into()))?;
    let source = rkhs.cast(kernel)?.to_rust_source("The RKHS penalty, made by build.rs.");
    fs::write(out.join("rkhs.rs"), source)?;
    fs::write(out.join("l2.bin"), l2.cast::<f32, _>(kernel)?.to_bytes())?;

    let many = problem::points::<MANY>().map(f64::from);
    let half =
        Plan::new(&many, Gaussian::new(SIGMA.into()), Regularizer::rkhs(RKHS_LAMBDA.into()))?;
    let source = half.half()?.cast::<f32>()?.to_rust_source("Half a plan, made by build.rs.");
    fs::write(out.join("half.rs"), source)?;

    let mut expected = String::new();
    for (name, plan) in [("RKHS", &rkhs), ("L2", &l2)] {
        expected += &reference(name, plan)?;
    }
    fs::write(out.join("expected.rs"), expected)?;
    Ok(())
}

fn plan(regularizer: Regularizer<'_, f64>) -> Result<Plan<f64, Gaussian<f64>>, Error> {
    let points = problem::points::<N>().map(f64::from);
    Plan::new(&points, Gaussian::new(SIGMA.into()), regularizer)
}

/// The fit in `f64`, as the source of a `static`.
fn reference(name: &str, plan: &Plan<f64, Gaussian<f64>>) -> Result<String, Error> {
    let y: [f64; N] = problem::data().map(f64::from);
    let fit = plan.fit(&y, Stop::max_residual(EPSILON.into()))?;
    #[allow(clippy::cast_possible_truncation)]
    let fitted: Vec<f32> = fit.fitted().iter().map(|&f| f as f32).collect();
    let outliers: Vec<(usize, f64)> = fit.outliers().iter().map(|o| (o.index, o.value)).collect();
    let between = fit.predict(&[BETWEEN.into()])?;
    Ok(format!(
        "/// Expected with this penalty.\n\
         pub static {name}: Expected = Expected {{\n\
         \x20   fitted: {fitted:?},\n\
         \x20   outliers: &{outliers:?},\n\
         \x20   between: {between:?},\n\
         }};\n"
    ))
}
