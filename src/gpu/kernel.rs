//! Shaders and pipelines.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// An entry point of a shader.
pub(super) struct Shader {
    /// Its name in the source.
    pub(super) entry: &'static str,
    /// The source, with the shared files before it.
    pub(super) parts: &'static [&'static str],
}

/// A compiled entry point.
#[derive(Clone)]
pub(super) struct Kernel {
    pipeline: wgpu::ComputePipeline,
    layout: Arc<wgpu::BindGroupLayout>,
}

impl Kernel {
    pub(super) fn new(
        device: &wgpu::Device,
        shader: &Shader,
        constants: &[(&'static str, f64)],
    ) -> Self {
        let source: String = shader.parts.concat();
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(shader.entry),
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(shader.entry),
            layout: None,
            module: &module,
            entry_point: Some(shader.entry),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants,
                ..Default::default()
            },
            cache: None,
        });
        let layout = Arc::new(pipeline.get_bind_group_layout(0));
        Self { pipeline, layout }
    }

    /// Binds these buffers in their order.
    pub(super) fn bind(&self, device: &wgpu::Device, buffers: &[&wgpu::Buffer]) -> Bound {
        let entries = (0..).zip(buffers).map(|(binding, buffer)| wgpu::BindGroupEntry {
            binding,
            resource: buffer.as_entire_binding(),
        });
        let entries: Vec<_> = entries.collect();
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &self.layout,
            entries: &entries,
        });
        Bound { pipeline: self.pipeline.clone(), group }
    }
}

/// A kernel with its bind group.
#[derive(Clone)]
pub(super) struct Bound {
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
}

/// A dispatch: a kernel, its bindings, and the number of workgroups along x and y.
pub(super) struct Step {
    pub(super) bound: Bound,
    pub(super) groups: (u32, u32),
}

/// Records dispatches, in order.
pub(super) fn record(pass: &mut wgpu::ComputePass<'_>, steps: &[Step]) {
    for Step { bound, groups } in steps {
        pass.set_pipeline(&bound.pipeline);
        pass.set_bind_group(0, &bound.group, &[]);
        pass.dispatch_workgroups(groups.0, groups.1, 1);
    }
}
