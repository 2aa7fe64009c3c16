// A plan of six points, for tests/library/flash.rs.

/// Number of points.
pub const N: usize = 6;

/// Coordinates per point.
pub const DIM: usize = 1;

/// The points, one after another.
pub const POINTS: [f32; N * DIM] = [
    0.0, 0.2, 0.35, 0.5, 0.8, 1.0,
];

const H: [f32; N * N] = [
    0.2084842, -0.1748033, 0.03837384, -0.017766599, -0.02300169, -0.03128645, -0.1748033, 0.4103833,
    -0.27260116, 0.050599568, -0.003452924, -0.010125522, 0.03837384, -0.27260116, 0.483671, -0.2602724,
    0.03919163, -0.028362911, -0.017766599, 0.050599568, -0.2602724, 0.3264757, -0.11718196, 0.018145695,
    -0.02300169, -0.003452924, 0.03919163, -0.11718196, 0.25991866, -0.15547371, -0.03128645, -0.010125522,
    -0.028362911, 0.018145695, -0.15547371, 0.2071029,
];

const BIAS: [f32; N] = [
    0.26592594, 0.06689704, 0.1044383, 0.17700115, 0.13422196, 0.2515156,
];

/// The plan, in read-only memory.
pub static PLAN: kgard::PlanRef<'static, f32> =
    match kgard::PlanRef::scaled(N, &H, &BIAS, 0.2) {
        Ok(plan) => plan,
        Err(_) => panic!("the lengths fit: they were written together"),
    };
