// What the classifier has learned, where that is too much for a uniform.
@group(0) @binding(3) var<storage, read> networks: array<vec4<f32>, NETWORKS>;

