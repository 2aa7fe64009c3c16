//! Gram matrices of large sets of points: `shaders/gram.wgsl`.

use super::context::{MOST_GROUPS, check_limit};
use super::kernel::{Shader, Step};
use super::tile::word;
use super::{Gpu, GpuError};
use crate::kernel::{Product, Scaled, Sum};
use crate::{
    Error, Gaussian, Kernel, Laplacian, Linear, Matern32, Matern52, Points, Polynomial,
    RationalQuadratic,
};
use alloc::vec::Vec;
use bytemuck::{Pod, Zeroable};

pub(super) const SHADER: Shader =
    Shader { entry: "gram", parts: &[include_str!("../../shaders/gram.wgsl")] };
/// Largest number of instructions of a formula and largest stack depth: `MOST` and `DEPTH` in
/// the shader.
const MOST: usize = 32;
const DEPTH: usize = 16;
/// Largest number of matrix entries in a batch.
const BATCH: usize = 1 << 24;

/// A kernel that a device can compute: the built-in ones, their sums, products
/// and multiples.
pub trait DeviceKernel: Kernel<f32> {
    /// Translates the kernel for the device.
    fn formula(&self, formula: &mut Formula);
}

/// A kernel as a program for a stack machine.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Formula {
    program: Vec<[f32; 4]>,
    height: usize,
    highest: usize,
}

/// Operation codes; the same numbers as in the shader.
#[derive(Debug, Clone, Copy)]
enum Instruction {
    Gaussian,
    Laplacian,
    Matern32,
    Matern52,
    RationalQuadratic,
    Linear,
    Polynomial,
    Sum,
    Product,
    Scale,
}

impl Formula {
    /// An instruction that pops `taken` values and pushes one.
    fn push(&mut self, instruction: Instruction, taken: usize, numbers: [f32; 3]) {
        let [a, b, c] = numbers;
        self.program.push([f32::from(instruction as u8), a, b, c]);
        self.height = self.height + 1 - taken;
        self.highest = self.highest.max(self.height);
    }
}

macro_rules! device_kernels {
    ($($kernel:ty, $self:ident => $instruction:ident [$($number:expr),*];)*) => {$(
        impl DeviceKernel for $kernel {
            fn formula(&$self, formula: &mut Formula) {
                let mut numbers = [0.0; 3];
                for (number, value) in numbers.iter_mut().zip([$($number),*] as [f32; _]) {
                    *number = value;
                }
                formula.push(Instruction::$instruction, 0, numbers);
            }
        }
    )*};
}

device_kernels! {
    Gaussian<f32>, self => Gaussian [(self.sigma * self.sigma).recip()];
    Laplacian<f32>, self => Laplacian [self.sigma.recip()];
    Matern32<f32>, self => Matern32 [self.length.recip()];
    Matern52<f32>, self => Matern52 [self.length.recip()];
    RationalQuadratic<f32>, self => RationalQuadratic
        [(2.0 * self.alpha * self.length * self.length).recip(), self.alpha];
    Linear, self => Linear [];
    Polynomial<f32>, self => Polynomial [self.gamma, self.offset, self.degree as f32];
}

impl<A: DeviceKernel, B: DeviceKernel> DeviceKernel for Sum<A, B> {
    fn formula(&self, formula: &mut Formula) {
        self.0.formula(formula);
        self.1.formula(formula);
        formula.push(Instruction::Sum, 2, [0.0; 3]);
    }
}

impl<A: DeviceKernel, B: DeviceKernel> DeviceKernel for Product<A, B> {
    fn formula(&self, formula: &mut Formula) {
        self.0.formula(formula);
        self.1.formula(formula);
        formula.push(Instruction::Product, 2, [0.0; 3]);
    }
}

impl<K: DeviceKernel> DeviceKernel for Scaled<K, f32> {
    fn formula(&self, formula: &mut Formula) {
        self.kernel.formula(formula);
        formula.push(Instruction::Scale, 1, [self.by, 0.0, 0.0]);
    }
}

/// The structure of the same name in the shader.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(super) struct Gram {
    first: u32,
    rows: u32,
    columns: u32,
    dim: u32,
    length: u32,
    padding: [u32; 3],
    program: [[f32; 4]; MOST],
}

impl Gpu {
    /// The Gram matrix of points, row-major.
    ///
    /// # Errors
    /// [`GpuError::Input`] if the points or the kernel are wrong, or what the
    /// device says.
    pub fn gram<'a>(
        &self,
        points: impl Into<Points<'a, f32>>,
        kernel: &impl DeviceKernel,
    ) -> Result<Vec<f32>, GpuError> {
        let points = points.into();
        self.cross_gram(points, points, kernel)
    }

    /// The kernel between the points `a` (rows) and `b` (columns), row-major.
    ///
    /// # Errors
    /// As [`gram`](Self::gram); [`Error::Dimension`] if the points have different
    /// dimensions.
    pub fn cross_gram<'a, 'b>(
        &self,
        a: impl Into<Points<'a, f32>>,
        b: impl Into<Points<'b, f32>>,
        kernel: &impl DeviceKernel,
    ) -> Result<Vec<f32>, GpuError> {
        let (a, b) = (a.into(), b.into());
        a.check()?;
        b.check()?;
        kernel.check()?;
        if a.dim() != b.dim() {
            return Err(Error::Dimension { expected: a.dim(), found: b.dim() }.into());
        }
        let mut formula = Formula::default();
        kernel.formula(&mut formula);
        check_limit("parts of a kernel", formula.program.len() as u64, MOST as u64)?;
        check_limit("nested parts of a kernel", formula.highest as u64, DEPTH as u64)?;
        let mut program = [[0.0; 4]; MOST];
        program[..formula.program.len()].copy_from_slice(&formula.program);

        let (height, width) = (a.len(), b.len());
        let largest = usize::try_from(self.largest_binding() / 4).unwrap_or(usize::MAX);
        check_limit("bytes of a row of the matrix", 4 * width as u64, self.largest_binding())?;
        let rows = (BATCH.min(largest) / width).clamp(1, MOST_GROUPS as usize).min(height);
        let workgroup = self.workgroup();
        let groups = width.div_ceil(workgroup as usize) as u64;
        check_limit("workgroups along one dimension", groups, MOST_GROUPS.into())?;
        let gpu_kernel = self.kernel(&SHADER, &[("WG", workgroup.into())])?;
        let mut params = Gram {
            first: 0,
            rows: word(rows),
            columns: word(width),
            dim: word(a.dim()),
            length: word(formula.program.len()),
            padding: [0; 3],
            program,
        };
        let uniform = self.uniform("gram", &params)?;
        let (a, b) =
            (self.upload("points", a.coordinates())?, self.upload("points", b.coordinates())?);
        let out = self.storage("gram", rows * width)?;
        let staging = self.staging(4 * (rows * width) as u64)?;
        let bound = self.guarded(|device| gpu_kernel.bind(device, &[&uniform, &a, &b, &out]))?;
        let mut matrix = Vec::with_capacity(height * width);
        for first in (0..height).step_by(rows) {
            let rows = rows.min(height - first);
            (params.first, params.rows) = (word(first), word(rows));
            self.write(&uniform, bytemuck::bytes_of(&params))?;
            let groups = (params.columns.div_ceil(workgroup), params.rows);
            let steps = [Step { bound: bound.clone(), groups }];
            let bytes = 4 * (rows * width) as u64;
            let download = self.submit(&steps, &[(&out, 0, bytes)], &staging, None)?;
            download
                .read(self, |bytes, _| matrix.extend_from_slice(bytemuck::cast_slice(bytes)))?;
        }
        Ok(matrix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::tests::same_layout;

    #[test]
    fn parameters_are_laid_out_as_in_the_shader() {
        same_layout!(SHADER, Gram, "Gram", first, rows, columns, dim, length, program);
    }
}
