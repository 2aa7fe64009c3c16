//! The door of `kgard fit` and `kgard clean`: any file as a table.
//!
//! The modules of the program that it needs are at the root of a crate, as they are there.

use crate::table::{Content, Missing, Table};

/// A table has as many cells as it says, and its numbers are finite.
pub fn table(data: &[u8]) {
    let Ok(table) = Table::parse("table".into(), data) else { return };
    assert!(table.len() > 0 && table.width() > 0);
    let _ = (table.has_decimal_commas(), table.delimiter());
    for row in 0..table.len() {
        assert_eq!(table.cells(row).count(), table.width());
        assert!(table.line(row) > 0);
    }
    if let Some(header) = table.header().map(<[String]>::to_vec) {
        assert_eq!(header.len(), table.width());
        if header.iter().all(|name| !name.is_empty()) {
            assert_eq!(table.columns(&header).ok(), Some((0..table.width()).collect()));
        }
    }
    for column in 0..table.width() {
        assert!(!table.at(0, column).is_empty());
        for missing in [Missing::Drop, Missing::Error] {
            for content in [Content::Input, Content::Numbers] {
                let Ok(read) = table.read_columns(&[column], &[content], missing) else { continue };
                assert_eq!(read.values.len(), read.rows.len());
                assert_eq!(read.rows.len() + read.dropped.len(), table.len());
                assert!(read.values.iter().all(|value| value.is_finite()));
                if let [Some(scale)] = read.times[..] {
                    for &value in &read.values {
                        assert!(!scale.show(value).is_empty());
                    }
                }
            }
        }
    }
    let all: Vec<usize> = (0..table.width()).collect();
    let _ = table.numbers(&all);
}
