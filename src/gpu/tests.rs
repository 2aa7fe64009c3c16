//! The shaders, without a device: they parse and validate, their structures are
//! laid out as the host's, and they stay within the limits of WebGPU.

use super::cells::Section;
use super::choose::Moment;
use super::greedy::{Rule, Shape};
use super::kernel::Shader;
use super::{choose, classify, gather, gram, greedy, look, reassemble, residual};
use crate::regression::stop::Reading;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use naga::back::PipelineConstants;
use naga::proc::Layouter;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use std::collections::HashMap;

/// What WebGPU promises on every device.
const THREADS: u32 = 256;
const WORKGROUP_BYTES: u64 = 16 * 1024;
/// What `wgpu::Limits::downlevel_defaults()` has; WebGPU has eight.
const STORAGE_BUFFERS: usize = 4;

/// Every entry point, with the constants that it is built with.
fn every_shader(workgroup: u32) -> Vec<(Shader, Vec<(&'static str, f64)>)> {
    let only = || alloc::vec![("WG", f64::from(workgroup))];
    let mut all = alloc::vec![
        (look::SHADER, alloc::vec![("WG", f64::from(workgroup.max(16)))]),
        (gather::SHADER, only()),
        (gram::SHADER, only()),
        (reassemble::SHADER, only()),
        (residual::SHADER, only()),
    ];
    for shader in [classify::UNIFORM, classify::STORAGE] {
        all.push((shader, classify::constants(workgroup).to_vec()));
    }
    for moment in [Moment::Before, Moment::After] {
        let threads = f64::from(workgroup.min(choose::MOST_THREADS));
        let shader = Shader { entry: moment.entry(), parts: choose::PARTS };
        all.push((shader, alloc::vec![("WG", threads), ("N", 400.0)]));
    }
    for shape in shapes() {
        all.push((greedy::SHADER, shape.constants(workgroup).to_vec()));
    }
    all
}

fn shapes() -> Vec<Shape> {
    let histogram = |reading| Rule::Histogram { e0: 40.0, reading };
    let rules = [
        Rule::Extreme,
        Rule::MaxResidual(1.0),
        Rule::ResidualNorm(1.0),
        histogram(Reading::Once),
        histogram(Reading::EveryStep),
        Rule::Automatic,
        Rule::Never,
    ];
    let mut all = Vec::new();
    for rule in rules {
        for studentized in [false, true] {
            let flagged = studentized && rule == Rule::Extreme;
            all.push(Shape { n: 400, k: 200, rule, studentized, flagged });
        }
    }
    all
}

fn parse(shader: &Shader) -> naga::Module {
    let source: String = shader.parts.concat();
    naga::front::wgsl::parse_str(&source)
        .unwrap_or_else(|e| panic!("{}: {}", shader.entry, e.emit_to_string(&source)))
}

/// The module with its constants in place, valid.
fn built(shader: &Shader, constants: &[(&'static str, f64)]) -> naga::Module {
    let module = parse(shader);
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
    let info = validator
        .validate(&module)
        .unwrap_or_else(|e| panic!("{}: {}", shader.entry, e.emit_to_string("")));
    let constants: HashMap<String, f64> =
        constants.iter().map(|&(name, value)| (name.to_string(), value)).collect();
    let constants: PipelineConstants = constants.into_iter().collect();
    let entry = Some((naga::ShaderStage::Compute, shader.entry));
    let (module, _) =
        naga::back::pipeline_constants::process_overrides(&module, &info, entry, &constants)
            .unwrap_or_else(|e| panic!("{}: {e}", shader.entry));
    module.into_owned()
}

/// Bytes of workgroup memory, each variable as it is aligned.
fn workgroup_bytes(module: &naga::Module) -> u64 {
    let mut layouter = Layouter::default();
    layouter.update(module.to_ctx()).unwrap();
    let mut end = 0;
    for (_, variable) in module.global_variables.iter() {
        if variable.space == naga::AddressSpace::WorkGroup {
            let layout = layouter[variable.ty];
            end = layout.alignment.round_up(end) + layout.size;
        }
    }
    end.into()
}

#[test]
fn every_shader_is_valid_and_within_the_limits_of_webgpu() {
    for workgroup in [8, 16, 32, 64, 128, 256] {
        for (shader, constants) in every_shader(workgroup) {
            let module = built(&shader, &constants);
            let entry =
                module.entry_points.iter().find(|entry| entry.name == shader.entry).unwrap();
            let [x, y, z] = entry.workgroup_size;
            assert!(x * y * z <= THREADS, "{} at {workgroup}: {x} x {y} x {z}", shader.entry);
            let bytes = workgroup_bytes(&module);
            assert!(bytes <= WORKGROUP_BYTES, "{} at {workgroup}: {bytes} bytes", shader.entry);
            let storage = module.global_variables.iter().filter(|(_, variable)| {
                matches!(variable.space, naga::AddressSpace::Storage { .. })
            });
            let storage = storage.count();
            assert!(storage <= STORAGE_BUFFERS, "{}: {storage} buffers", shader.entry);
        }
    }
}

#[test]
fn what_the_host_counts_of_workgroup_memory_is_enough() {
    for workgroup in [8, 64, 256] {
        for shape in shapes() {
            let module = built(&greedy::SHADER, &shape.constants(workgroup));
            let (counted, used) = (shape.workgroup_bytes(workgroup), workgroup_bytes(&module));
            assert!(counted >= used && counted <= used + 128, "{shape:?}: {counted}, {used}");
        }
        let threads = workgroup.min(choose::MOST_THREADS);
        for n in [16_u32, 144, 400] {
            let shader = Shader { entry: "before", parts: choose::PARTS };
            let module = built(&shader, &[("WG", threads.into()), ("N", n.into())]);
            let (counted, used) = (choose::workgroup_bytes(n, threads), workgroup_bytes(&module));
            assert!(counted >= used && counted <= used + 128, "n = {n}: {counted}, {used}");
        }
    }
}

/// Offset and size of every member of a structure in a shader, and its own size.
pub(super) fn layout_of(shader: &Shader, name: &str) -> (Vec<(String, u32)>, u32) {
    let module = parse(shader);
    let structure = module.types.iter().find(|(_, ty)| ty.name.as_deref() == Some(name));
    match structure.map(|(_, ty)| &ty.inner) {
        Some(naga::TypeInner::Struct { members, span }) => {
            let name = |m: &naga::StructMember| m.name.clone().unwrap().replace('_', "");
            (members.iter().map(|m| (name(m), m.offset)).collect(), *span)
        }
        other => panic!("{name} in {}: {other:?}", shader.entry),
    }
}

/// Compares a structure of the host with the one of a shader, member by member.
macro_rules! same_layout {
    ($shader:expr, $host:ty, $name:literal, $($member:ident),*) => {
        let (members, size) = crate::gpu::tests::layout_of(&$shader, $name);
        let ours = [$((
            stringify!($member).replace('_', ""),
            u32::try_from(core::mem::offset_of!($host, $member)).unwrap(),
        )),*];
        assert_eq!(members, ours);
        assert_eq!(size as usize, size_of::<$host>());
    };
}

pub(super) use same_layout;

#[test]
fn structures_are_laid_out_alike() {
    same_layout!(greedy::SHADER, greedy::Problem, "Problem", rung, limit, count, reason);
    same_layout!(greedy::SHADER, greedy::Search, "Search", cap, threshold, stride, size, doubt);
    same_layout!(residual::SHADER, residual::Product, "Product", n, count, stride, padding);
}

#[test]
fn sections_have_the_same_numbers() {
    let source: String = greedy::SHADER.parts.concat();
    for (number, section) in Section::ALL.into_iter().enumerate() {
        assert_eq!(section as usize, number);
        let name = alloc::format!("{section:?}").to_uppercase();
        let line = alloc::format!("const {name} = {number}u;");
        assert!(source.contains(&line), "{line}");
    }
}
