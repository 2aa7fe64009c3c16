//! The model file: JSON that holds all it takes to predict.

use crate::error::{Error, Result};
use crate::input::Source;
use crate::many::{self, Saved};
use crate::parameters::Parameters;
use crate::table::TimeScale;
use kgard::Kernel;
use kgard::Points;
use kgard::kernel::AnyKernel;
use serde::{Deserialize, Serialize};

/// What a model file calls itself.
const FORMAT: &str = "kgard-model";
/// The only version there is so far.
const VERSION: u64 = 1;

/// A fitted function.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Model {
    #[serde(flatten)]
    pub(crate) head: Head,
    #[serde(flatten)]
    pub(crate) parameters: Parameters,
    /// Names of the input columns, if the data had a header.
    pub(crate) inputs: Option<Vec<String>>,
    /// Name of the target column, if the data had a header.
    pub(crate) target: Option<String>,
    /// What inputs that are dates or times count in; empty if all are numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) times: Vec<Option<TimeScale>>,
    pub(crate) bias: f64,
    /// One per point.
    pub(crate) coefficients: Vec<f64>,
    /// The coordinates of each point.
    pub(crate) points: Vec<Vec<f64>>,
    /// Slopes of a linear trend, one per input; none if there is none.
    #[serde(default)]
    pub(crate) slopes: Vec<f64>,
    /// What the tuner found, in units of its own; the rest of the file is the same
    /// function in the units of the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tuned: Option<Box<Tuned>>,
    /// A fit of many points: what it takes to predict is in here, and there are neither
    /// points nor coefficients beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) many: Option<Saved>,
}

/// A function with its uncertainty.
pub(crate) type Tuned = kgard::tune::Model<f64, AnyKernel<f64>>;

/// What is read first.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Head {
    format: String,
    version: u64,
}

impl Head {
    /// That of the files that this program writes.
    pub(crate) fn current() -> Self {
        Self { format: FORMAT.into(), version: VERSION }
    }

    fn check(&self) -> std::result::Result<(), String> {
        if self.format != FORMAT {
            return Err(format!(
                "its format is {:?}, not {FORMAT:?}: give a file that `kgard fit -o` wrote",
                self.format
            ));
        }
        if self.version != VERSION {
            return Err(format!(
                "it has version {} of the model format, and this program reads version \
                 {VERSION}: fit it anew, or use the program that wrote it",
                self.version
            ));
        }
        Ok(())
    }
}

impl Model {
    /// The bytes of its file.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = serde_json::to_vec(self)
            .map_err(|error| Error::failed(format!("the model cannot be saved: {error}")))?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Reads a model and checks all of it.
    pub(crate) fn read(source: Source<'_>) -> Result<Self> {
        let bytes = source.read()?;
        Self::parse(&bytes)
            .map_err(|why| Error::failed(format!("{source}: is not a usable model: {why}")))
    }

    fn parse(bytes: &[u8]) -> std::result::Result<Self, String> {
        let hint = |error| format!("{error}; give a file that `kgard fit -o` wrote");
        let head: Head = serde_json::from_slice(bytes).map_err(hint)?;
        head.check()?;
        let model: Self = serde_json::from_slice(bytes).map_err(hint)?;
        model.check()?;
        Ok(model)
    }

    fn check(&self) -> std::result::Result<(), String> {
        let n = self.points.len();
        if n == 0 && self.many.is_none() {
            return Err("it has no points: fit it anew".into());
        }
        if self.coefficients.len() != n {
            let found = self.coefficients.len();
            return Err(format!("it has {found} coefficients for {n} points: fit it anew"));
        }
        let dim = self.dim();
        if dim == 0 {
            return Err("its points have no coordinates: fit it anew".into());
        }
        if let Some((i, point)) = self.points.iter().enumerate().find(|(_, p)| p.len() != dim) {
            return Err(format!(
                "point {i} has {} coordinates, but point 0 has {dim}: fit it anew",
                point.len()
            ));
        }
        if let Some(names) = &self.inputs
            && names.len() != dim
        {
            let found = names.len();
            return Err(format!("it names {found} inputs for {dim} coordinates: fit it anew"));
        }
        if ![0, dim].contains(&self.times.len()) {
            let found = self.times.len();
            return Err(format!("it has {found} units of time for {dim} inputs: fit it anew"));
        }
        let finite = |what: &str, x: f64| {
            if x.is_finite() { Ok(()) } else { Err(format!("{what} is {x}: fit it anew")) }
        };
        if !self.slopes.is_empty() && self.slopes.len() != dim {
            let found = self.slopes.len();
            return Err(format!("it has {found} slopes for {dim} inputs: fit it anew"));
        }
        if let Some(tuned) = &self.tuned
            && tuned.slopes().len().max(tuned.relevance().len()) != dim
        {
            return Err("its tuned part has another number of inputs: fit it anew".into());
        }
        for &slope in &self.slopes {
            finite("one of its slopes", slope)?;
        }
        finite("its bias", self.bias)?;
        for (i, &alpha) in self.coefficients.iter().enumerate() {
            finite(&format!("coefficient {i}"), alpha)?;
        }
        for (i, &x) in
            self.points.iter().enumerate().flat_map(|(i, p)| p.iter().map(move |x| (i, x)))
        {
            finite(&format!("a coordinate of point {i}"), x)?;
        }
        self.parameters.check()?;
        if let Some(many) = &self.many {
            many.function().map_err(|why| format!("its function: {why}: fit it anew"))?;
        }
        let kernel = self.parameters.kernel.kernel::<f64>().map_err(|error| match error {
            Error::Usage(text) | Error::Failed(text) => text,
            Error::PipeClosed => String::new(),
        })?;
        kernel.check_dim(dim).map_err(|why| format!("its kernel and its points: {why}"))
    }

    /// The function, ready to be evaluated.
    pub(crate) fn function(&self) -> Result<Function<'_>> {
        if let Some(many) = &self.many {
            return Ok(Function::Many(many.function()?));
        }
        if let Some(tuned) = &self.tuned {
            return Ok(Function::Tuned(tuned));
        }
        let (kernel, points) = (self.parameters.kernel.kernel()?, self.points.concat());
        Ok(Function::Expanded { model: self, kernel, points })
    }

    /// Coordinates per point.
    pub(crate) fn dim(&self) -> usize {
        match &self.many {
            Some(many) => many.dim(),
            None => self.points.first().map_or(0, Vec::len),
        }
    }
}

/// A model's function: what the tuner found in its own units, which lose nothing to
/// a large offset, a fit of many points, or the expansion of the file.
pub(crate) enum Function<'m> {
    Expanded { model: &'m Model, kernel: AnyKernel<f64>, points: Vec<f64> },
    Tuned(&'m Tuned),
    Many(many::Function<'m>),
}

impl Function<'_> {
    /// The value at one point.
    pub(crate) fn at(&self, x: &[f64]) -> std::result::Result<f64, kgard::Error> {
        let (model, kernel, points) = match self {
            Self::Tuned(tuned) => return tuned.predict(x),
            Self::Many(many) => return many.at(x),
            Self::Expanded { model, kernel, points } => (model, kernel, points),
        };
        let points = Points::new(points, model.dim())?;
        let f = kgard::predict(points, kernel, &model.coefficients, model.bias, x)?;
        Ok(model.slopes.iter().zip(x).fold(f, |f, (slope, x)| f + slope * x))
    }

    /// Value, deviation and interval of a measurement at points, coordinates one after
    /// another.
    pub(crate) fn intervals(&self, level: f64, x: &[f64]) -> Result<Vec<[f64; 4]>> {
        match self {
            Self::Many(many) => {
                let all = many.measurements(x)?;
                let each = all.iter().map(|at| {
                    let (low, high) = at.interval(level)?;
                    Ok([at.mean, at.deviation, low, high])
                });
                each.collect()
            }
            Self::Tuned(tuned) => {
                let uncertainty = tuned.uncertainty()?;
                let each = x.chunks_exact(tuned.slopes().len().max(tuned.relevance().len()));
                let each = each.map(|x| {
                    let prediction = uncertainty.at(x)?;
                    let (low, high) = prediction.interval(level)?;
                    Ok([prediction.value, prediction.total_deviation(), low, high])
                });
                each.collect()
            }
            Self::Expanded { .. } => Err(Error::usage(
                "--interval: this model was fitted with numbers that were given, and does not \
                 know its noise: fit it without --sigma or without --lambda",
            )),
        }
    }
}
