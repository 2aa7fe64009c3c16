// One problem of a batch. Same layout as `Problem` in src/gpu/greedy.rs.
struct Problem {
    // The residual maker that the search uses, and the residual that it ends at.
    rung: u32,
    limit: f32,
    // What it found: how many outliers, and why it ended.
    count: u32,
    reason: u32,
}
