//! Every public type can be sent to another thread and shared with it.

use kgard::baselines::Ram;
use kgard::baselines::rb_rvm::{RbRvm, RbRvmFit};
use kgard::denoise::bm3d::{Bm3d, Stage, Transform};
use kgard::denoise::*;
use kgard::kernel::{ParseKernelError, Product, Role, Scaled, Sum};
use kgard::linalg::cholesky::Extending;
use kgard::line::*;
use kgard::regression::stop::Reading;
use kgard::space::*;
use kgard::theory::Identification;
use kgard::tune::{Model, Prediction, Trend, Tuner, Uncertainty, Unit};
use kgard::*;

/// A compile error unless all of them are.
macro_rules! are_shared {
    ($($type:ty),+ $(,)?) => {
        const fn is_shared<T: Send + Sync + ?Sized>() {}
        $(const _: () = is_shared::<$type>();)+
    };
}

type G = Gaussian<f64>;

are_shared! {
    Error, Points<'_, f64>,
    G, Laplacian<f64>, Matern12<f64>, Matern32<f64>, Matern52<f64>, RationalQuadratic<f64>,
    Linear, Polynomial<f64>, Sum<G, G>, Product<G, G>, Scaled<G, f64>,
    PerInput<f64, [f64; 2]>, Shape<f64>, Periodic<f64>, Cosine<f64>, AnyKernel<f64>, ParseKernelError, Role,
    Regularizer<'_, f64>, Stop<f64>, StopReason, Reading, Progress<'_, f64>,
    System<'_, f64>, PlanRef<'_, f64>, PlanBytes<'_>, FitRef<'_, f64>, Workspace<'_, f64>, Outlier<f64>,
    Plan<f64, G>, Fit<f64, G>,
    Tuner<f64>, Tuner<f64, G>, Model<f64, G>, Prediction<f64>, Uncertainty<'_, f64, G>, Unit<f64>,
    kgard::Penalty, Trend,
    Ram<f64>, RbRvm<f64>, RbRvmFit<f64, G>, Identification<f64>,
    Plane<'_, f64>, PlaneBuf<f64>, Masks<'_>, Band<'_, f64>, Grid, Survey<f64>, Conditions<f64>,
    RangeSurvey<f64>, SampleRange<f64>, NoiseLaw<f64>,
    Denoiser<f64>, DenoisePlan<f64>, Denoised<f64>, OutlierMap<f64>, Report<f64>,
    ChannelReport<f64>, KgBm3d<f64>, KgBm3dPlan<f64>, Repaired<'_, f64>,
    PaperKgard<f64>, PaperPlan<f64>, PaperStop<f64>, PaperKgBm3d<f64>, PaperKgBm3dPlan<f64>,
    Bm3d<f64>, Stage<f64>, Transform, NoiseSpectrum<f64>,
    Extending<'_, f64>,
    Line<f64, Matern32<f64>, 2, 1>, LineFit<f64, Matern32<f64>, 2, 1>,
    FixedLag<f64, Matern32<f64>, 2, 16>, Cleaned<f64>,
    LineRef<'_, f64, Matern32<f64>, 2, 1>, LineFitRef<'_, f64, Matern32<f64>, 2, 1>,
    LineMemory<'_, f64, MaternGap<f64>, 2, 1>, Cell<f64, MaternGap<f64>, 2, 1>, Node<f64, 1>,
    LineTuner<'_, f64, fn(f64) -> G, 1>, LineTuned<f64>, Predicted<f64>,
    Space<f64, G>, SpaceFit<f64, G>, LowRank<f64, G>, LowRankFit<f64, G>, Regions<f64, G>,
    RegionsFit<f64, G>, SpaceTuner<f64>, SpaceTuned<f64>, Way<f64>,
    Transition<[[f64; 2]; 2]>,
}

#[cfg(feature = "image")]
const _: () = is_shared::<kgard::interop::image::DenoisedImage>();

#[cfg(feature = "gpu")]
mod on_a_device {
    use super::{G, is_shared};
    use kgard::gpu::*;

    const _: () = is_shared::<Gpu>();
    const _: () = is_shared::<GpuError>();
    const _: () = is_shared::<Adapter>();
    const _: () = is_shared::<Backend>();
    const _: () = is_shared::<GpuPlan<'_, G>>();
    const _: () = is_shared::<GpuFits<G>>();
    const _: () = is_shared::<GpuDenoisePlan<'_>>();
    const _: () = is_shared::<GpuKgBm3dPlan<'_>>();
    const _: () = is_shared::<GpuReport>();
}

#[test]
fn one_plan_serves_many_threads() {
    let x: Vec<f64> = (0..60).map(|i| i as f64 / 60.0).collect();
    let plan = Plan::new(&x, Gaussian::new(0.2), Regularizer::l2(0.1)).unwrap();
    let plan = &plan;
    let found: Vec<usize> = std::thread::scope(|threads| {
        let fits: Vec<_> = (0..4)
            .map(|wrong| {
                let x = &x;
                threads.spawn(move || {
                    let mut y: Vec<f64> = x.iter().map(|x| (6.0 * x).sin()).collect();
                    y[10 * wrong + 5] += 3.0;
                    plan.fit(&y, Stop::max_residual(1.0)).unwrap().outliers()[0].index
                })
            })
            .collect();
        fits.into_iter().map(|fit| fit.join().unwrap()).collect()
    });
    assert_eq!(found, [5, 15, 25, 35]);
}
