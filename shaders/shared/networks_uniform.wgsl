// What the classifier has learned: all threads read the same few numbers at a time.
@group(0) @binding(3) var<uniform> networks: array<vec4<f32>, NETWORKS>;

