// A device, the shaders of the project on it, and memory.

// The host's files name the parts of each shader in order.
const PART = /include_str!\("\.\.\/\.\.\/(shaders\/[^"]+)"\)/g;

export async function openDevice() {
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) throw new Error('no WebGPU adapter');
  const { vendor, architecture, description } = adapter.info;
  console.log(`adapter: ${[vendor, architecture, description].filter(Boolean).join(', ')}`);
  const device = await adapter.requestDevice();
  return new Device(device);
}

class Device {
  constructor(device) {
    this.device = device;
    this.modules = new Map();
  }

  // The source of a shader: its file, and what it shares with others. Behind a colon in the
  // name is what stands in for the part with a uniform.
  async source(name) {
    const [file, kind = 'uniform'] = name.split(':');
    const host = await text(`src/gpu/${file}.rs`);
    const paths = [...host.matchAll(PART)].map(([, path]) => path);
    const parts = paths
      .filter((path) => !/_(uniform|storage)/.test(path) || path.includes(`_${kind}`))
      .map(text);
    if (parts.length === 0) throw new Error(`src/gpu/${name}.rs names no shader`);
    return (await Promise.all(parts)).join('');
  }

  // A shader, compiled once.
  async module(name) {
    if (!this.modules.has(name)) {
      const code = await this.source(name);
      this.modules.set(name, this.device.createShaderModule({ label: name, code }));
    }
    return this.modules.get(name);
  }

  async pipeline(name, constants, entry = name.split(':')[0]) {
    const module = await this.module(name);
    return this.guarded(`${entry} ${JSON.stringify(constants)}`, () =>
      this.device.createComputePipeline({
        label: entry,
        layout: 'auto',
        compute: { module, entryPoint: entry, constants },
      }),
    );
  }

  // A structure of a shader with these values; those not named are zero.
  async structure(name, structure, values) {
    const members = (await this.source(name)).match(new RegExp(`struct ${structure} {([^}]*)}`))[1];
    const names = [...members.matchAll(/^\s*(\w+): (u32|f32),/gm)];
    const view = new DataView(new ArrayBuffer(4 * names.length));
    for (const [i, [, member, type]] of names.entries()) {
      const value = values[member] ?? 0;
      if (type === 'u32') view.setUint32(4 * i, value, true);
      else view.setFloat32(4 * i, value, true);
    }
    const unknown = Object.keys(values).filter(
      (value) => !names.some(([, member]) => member === value),
    );
    if (unknown.length) throw new Error(`${structure} has no ${unknown}`);
    return new Uint32Array(view.buffer);
  }

  uniform(data) {
    return this.buffer(data, GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST);
  }

  storage(data) {
    const { STORAGE, COPY_SRC, COPY_DST } = GPUBufferUsage;
    return this.buffer(data, STORAGE | COPY_SRC | COPY_DST);
  }

  buffer(data, usage) {
    const buffer = this.device.createBuffer({ size: data.byteLength, usage });
    this.device.queue.writeBuffer(buffer, 0, data);
    return buffer;
  }

  // Runs a shader on buffers, bound in their order; null leaves a number out.
  run(pipeline, [x, y = 1], buffers) {
    return this.guarded(pipeline.label, () => {
      const entries = buffers
        .map((buffer, binding) => ({ binding, resource: { buffer } }))
        .filter(({ resource }) => resource.buffer);
      const layout = pipeline.getBindGroupLayout(0);
      const encoder = this.device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, this.device.createBindGroup({ layout, entries }));
      pass.dispatchWorkgroups(x, y);
      pass.end();
      this.device.queue.submit([encoder.finish()]);
    });
  }

  async floats(buffer) {
    return new Float32Array(await this.read(buffer));
  }

  async read(buffer) {
    const { MAP_READ, COPY_DST } = GPUBufferUsage;
    const staging = this.device.createBuffer({ size: buffer.size, usage: MAP_READ | COPY_DST });
    const encoder = this.device.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, 0, staging, 0, buffer.size);
    this.device.queue.submit([encoder.finish()]);
    await staging.mapAsync(GPUMapMode.READ);
    const bytes = staging.getMappedRange().slice(0);
    staging.destroy();
    return bytes;
  }

  // What the device has to complain about becomes an error.
  async guarded(what, work) {
    const filters = ['validation', 'out-of-memory', 'internal'];
    for (const filter of filters) this.device.pushErrorScope(filter);
    const result = work();
    const errors = await Promise.all(filters.map(() => this.device.popErrorScope()));
    const error = errors.find(Boolean);
    if (error) throw new Error(`${what}: ${error.message}`);
    return result;
  }
}

async function text(path) {
  const response = await fetch(`/${path}`);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.text();
}
