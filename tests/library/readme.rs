//! What the README says about memory, checked.

use kgard::{PlanRef, Workspace};

#[test]
fn memory_table() {
    let readme = include_str!("../../README.md");
    let rows: Vec<Vec<usize>> = readme
        .lines()
        .skip_while(|line| !line.starts_with("| n | plan, RKHS, f32"))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(|c| c.trim().parse().unwrap()).collect())
        .collect();
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), [16, 32, 64, 128]);
    for row in rows {
        let n = row[0];
        for (bytes, columns) in [(4, &row[1..5]), (8, &row[5..9])] {
            // Lanes are four on 32-bit targets: a panel, and the reciprocals.
            let scratch = 4 * n + n;
            let scalars = [
                PlanRef::<f32>::rkhs_len(n),
                PlanRef::<f32>::l2_len(n),
                scratch,
                Workspace::<f32>::len(n, n / 8),
            ];
            assert_eq!(columns, scalars.map(|s| s * bytes), "n = {n}");
        }
    }
}
