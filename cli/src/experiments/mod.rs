//! The experiments of the paper, to be run again.
//!
//! | | |
//! | --- | --- |
//! | [`design`] | the points on which a table measures and validates |
//! | [`method`] | the methods that are compared: one entry each |
//! | [`table1`], [`table2`], [`table3`] | data, parameters and the paper's figures |
//! | [`table4`] | the same for pictures |
//! | [`figure1`] | Theorem 1 put to the test |
//! | [`run`] | the runs, on all cores, the same for any number of them |
//! | [`report`], [`columns`] | results as a table, JSON, CSV |
//! | [`html`] | all of them on a page |

mod automatic;
mod columns;
mod design;
pub(crate) mod figure1;
mod figure1_plot;
pub(crate) mod html;
mod method;
pub(crate) mod report;
mod rivals;
pub(crate) mod run;
mod score;
pub(crate) mod table1;
pub(crate) mod table2;
pub(crate) mod table3;
pub(crate) mod table4;

pub(crate) use figure1_plot::Figure1;

use crate::noise::Random;
use design::Design;
use method::{Method, Second};

/// What a table of the paper says about a method; nothing where it is silent.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub(crate) struct Paper {
    pub(crate) mse: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) psnr: Option<f64>,
    /// Percent of the outliers.
    pub(crate) correct: Option<f64>,
    /// Percent of the points.
    pub(crate) wrong: Option<f64>,
    pub(crate) seconds: Option<f64>,
}

impl Paper {
    /// Error, correct and wrong outliers in percent, seconds.
    const fn new(mse: f64, correct: f64, wrong: f64, seconds: f64) -> Self {
        Self {
            mse: Some(mse),
            correct: Some(correct),
            wrong: Some(wrong),
            seconds: Some(seconds),
            ..Self::NOTHING
        }
    }

    /// Error and seconds.
    const fn error(mse: f64, seconds: f64) -> Self {
        Self { mse: Some(mse), seconds: Some(seconds), ..Self::NOTHING }
    }

    /// The paper has no such method.
    const NOTHING: Self = Self { mse: None, psnr: None, correct: None, wrong: None, seconds: None };
}

/// How the rivals are set up, for those who read the tables.
const RIVALS_NOTE: &str = "RAM: the penalty is the RKHS norm, without a border; the 1-norm is reweighted once. RB-RVM: \
     the library's, whose noise has a robust bound, not the paper's.";

/// Why a mean can be far from the paper's, and from that of another seed.
const SPREAD_NOTE: &str = "+- is the standard error of the mean. Where it is large, one run \
     in a thousand or so, in which several outliers were missed, decides the mean. Beside it \
     stand the median, and the mean of the runs in which every outlier was found, as it was in \
     all of the paper's runs in Table 1.";

/// What the times are.
const TIME_NOTE: &str = "Seconds are the mean wall-clock time of a fit on a plan. The plan is what does \
     not depend on the data: the runs of a row share it, and what it takes once stands beside. \
     RB-RVM has none.";

/// One drawn problem.
#[derive(Debug)]
struct Sample {
    /// What is measured at the training points.
    y: Vec<f64>,
    /// The function at the validation points.
    truth: Vec<f64>,
    /// The indices of the outliers, sorted; none where the noise has no such
    /// thing.
    outliers: Option<Vec<usize>>,
}

/// Draws a problem on the points of a design.
type Draw = dyn Fn(&Design, &mut Random) -> Sample + Send + Sync;

/// A kind of noise, and the methods that are tried on it.
struct Setting {
    noise: String,
    outliers: Option<String>,
    draw: Box<Draw>,
    methods: Vec<(Method, Paper)>,
}

/// The methods of Tables 1 to 3, with the paper's parameters and figures: of
/// KGARD lambda and epsilon, those of its second solution, of RAM lambda and mu.
fn compared(
    ((lambda, epsilon), kgard): ((f64, f64), Paper),
    second: Second,
    ((ram_lambda, mu), ram): ((f64, f64), Paper),
    rb_rvm: Paper,
) -> Vec<(Method, Paper)> {
    vec![
        (Method::Kgard { lambda, epsilon }, kgard),
        (Method::Refit { lambda, epsilon, second }, Paper::NOTHING),
        (Method::Ram { lambda: ram_lambda, mu }, ram),
        (Method::RbRvm, rb_rvm),
        (Method::Automatic, Paper::NOTHING),
    ]
}

/// A table of the paper.
pub(crate) struct Table {
    name: &'static str,
    title: &'static str,
    design: Design,
    settings: Vec<Setting>,
    /// What a reader should know of it.
    notes: Vec<&'static str>,
}
