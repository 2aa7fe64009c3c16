//! A CSV file in memory: cells as text, numbers on demand, and for each
//! complaint the line and the column.
//!
//! The first line is a header unless all of its cells are numbers. Blank lines
//! are skipped.

use crate::error::{Error, Result};
use crate::input::Source;
use csv::{ByteRecord, StringRecord, Trim};

/// Cells longer than this are cut in messages.
const SHOWN: usize = 40;
/// More column names than this are cut in messages.
const NAMES_SHOWN: usize = 20;

/// A table with at least one row and one column.
#[derive(Debug)]
pub(crate) struct Table {
    /// What messages call it.
    name: String,
    header: Option<Vec<String>>,
    rows: Vec<Row>,
    width: usize,
}

#[derive(Debug)]
struct Row {
    /// 1-based line of the file on which it begins.
    line: usize,
    cells: StringRecord,
}

impl Table {
    /// Reads a file, or standard input.
    pub(crate) fn read(source: Source<'_>) -> Result<Self> {
        Self::parse(source.to_string(), &source.read()?)
    }

    fn parse(name: String, bytes: &[u8]) -> Result<Self> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut rows = rows(&name, bytes)?;
        let Some(first) = rows.first() else {
            return Err(Error::failed(format!(
                "{name}: is empty: give at least one row of numbers"
            )));
        };
        let width = first.cells.len();
        if let Some(row) = rows.iter().find(|row| row.cells.len() != width) {
            return Err(Error::failed(format!(
                "{name}: line {}, column {}: the row has {} cells, but line {} has {width}: \
                 give all rows the same number of cells",
                row.line,
                row.cells.len().min(width) + 1,
                row.cells.len(),
                first.line,
            )));
        }
        let mut header = None;
        if first.cells.iter().any(|cell| cell.parse::<f64>().is_err()) {
            let first = rows.remove(0);
            let names: Vec<String> = first.cells.iter().map(str::to_owned).collect();
            check_names(&name, first.line, &names)?;
            if rows.is_empty() {
                return Err(Error::failed(format!(
                    "{name}: line {}: no rows follow the header: give at least one row of numbers",
                    first.line
                )));
            }
            header = Some(names);
        }
        Ok(Self { name, header, rows, width })
    }

    /// What messages call it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Number of rows, the header not counted.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Number of columns.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The names of the columns, if there is a header.
    pub(crate) fn header(&self) -> Option<&[String]> {
        self.header.as_deref()
    }

    /// The cells of a row, as they stand in the file.
    pub(crate) fn cells(&self, row: usize) -> &StringRecord {
        &self.rows[row].cells
    }

    /// The column called `name`, or else the column of this 1-based number.
    pub(crate) fn column(&self, name: &str) -> Result<usize> {
        if let Some(column) = self.header().and_then(|names| position(names, name)) {
            return Ok(column);
        }
        match name.parse::<usize>() {
            Ok(number @ 1..) if number <= self.width => Ok(number - 1),
            Ok(number) => Err(Error::failed(format!(
                "{}: there is no column {number}: columns are numbered from 1 to {}",
                self.name, self.width
            ))),
            Err(_) => Err(self.no_column(name)),
        }
    }

    /// The columns of these names, in this order.
    pub(crate) fn columns(&self, names: &[String]) -> Result<Vec<usize>> {
        let header = self.header().unwrap_or_default();
        let find = |name: &String| position(header, name).ok_or_else(|| self.no_column(name));
        names.iter().map(find).collect()
    }

    fn no_column(&self, name: &str) -> Error {
        let Some(header) = self.header() else {
            return Error::failed(format!(
                "{}: there is no column {name:?}, because there is no header line: \
                 give the column's number, 1 to {}",
                self.name, self.width
            ));
        };
        let mut names = header.iter().take(NAMES_SHOWN).map(|name| cut(name)).collect::<Vec<_>>();
        if header.len() > NAMES_SHOWN {
            names.push(format!("and {} more", header.len() - NAMES_SHOWN));
        }
        Error::failed(format!(
            "{}: there is no column {name:?}: the columns are {}",
            self.name,
            names.join(", ")
        ))
    }

    /// The numbers in these columns, row after row.
    pub(crate) fn numbers(&self, columns: &[usize]) -> Result<Vec<f64>> {
        let mut numbers = Vec::with_capacity(self.len() * columns.len());
        for row in 0..self.len() {
            for &column in columns {
                numbers.push(self.number(row, column)?);
            }
        }
        Ok(numbers)
    }

    fn number(&self, row: usize, column: usize) -> Result<f64> {
        let cell = &self.rows[row].cells[column];
        let problem = match cell.parse::<f64>() {
            Ok(number) if number.is_finite() => return Ok(number),
            _ if cell.is_empty() => "the cell is empty: fill it in or remove the row".to_owned(),
            Ok(_) => format!("{} is not finite: correct it or remove the row", cut(cell)),
            Err(_) => format!("{} is not a number: correct it or remove the row", cut(cell)),
        };
        Err(Error::failed(format!("{}: {}: {problem}", self.name, self.at(row, column))))
    }

    /// `line 3, column 2 (y)`.
    pub(crate) fn at(&self, row: usize, column: usize) -> String {
        let line = self.line(row);
        match self.header() {
            Some(names) => format!("line {line}, column {} ({})", column + 1, cut(&names[column])),
            None => format!("line {line}, column {}", column + 1),
        }
    }

    /// The line of the file on which a row begins.
    pub(crate) fn line(&self, row: usize) -> usize {
        self.rows[row].line
    }
}

/// All records of the file, blank lines left out.
fn rows(name: &str, bytes: &[u8]) -> Result<Vec<Row>> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(Trim::All)
        .from_reader(bytes);
    let mut rows = Vec::new();
    let mut lines = Lines { bytes, at: 0, line: 1 };
    let mut record = ByteRecord::new();
    loop {
        match reader.read_byte_record(&mut record) {
            Ok(true) => {}
            Ok(false) => return Ok(rows),
            Err(error) => return Err(Error::failed(format!("{name}: is not CSV: {error}"))),
        }
        let line = lines.of_record(record.position().map_or(0, csv::Position::byte));
        if record.len() == 1 && record[0].is_empty() {
            continue;
        }
        let cells = StringRecord::from_byte_record(record.clone()).map_err(|error| {
            let column = error.utf8_error().field() + 1;
            Error::failed(format!(
                "{name}: line {line}, column {column}: is not UTF-8 text: \
                 save the file as CSV in UTF-8"
            ))
        })?;
        rows.push(Row { line, cells });
    }
}

/// Counts lines, whatever they end with. (The reader's own count starts at the
/// blank lines before a record.)
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

impl Lines<'_> {
    /// The line on which the record begins that is the first one from byte
    /// `start`, which never decreases.
    fn of_record(&mut self, start: u64) -> usize {
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        while let Some(&byte) = self.bytes.get(self.at) {
            if self.at >= start && byte != b'\n' && byte != b'\r' {
                break;
            }
            let pair = byte == b'\r' && self.bytes.get(self.at + 1) == Some(&b'\n');
            if byte == b'\n' || (byte == b'\r' && !pair) {
                self.line += 1;
            }
            self.at += 1;
        }
        self.line
    }
}

/// Two columns of the same name could not be told apart.
fn check_names(file: &str, line: usize, names: &[String]) -> Result<()> {
    let mut seen = std::collections::HashMap::new();
    for (column, name) in names.iter().enumerate() {
        if let Some(first) = seen.insert(name, column) {
            return Err(Error::failed(format!(
                "{file}: line {line}, column {}: the name {} is that of column {} already: \
                 rename one of them",
                column + 1,
                cut(name),
                first + 1
            )));
        }
    }
    Ok(())
}

fn position(names: &[String], name: &str) -> Option<usize> {
    names.iter().position(|other| other == name)
}

/// A text in quotes, cut if it is long.
fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    fn lines(text: &str) -> Vec<usize> {
        let table = Table::parse("t".into(), text.as_bytes()).expect("a table");
        (0..table.len()).map(|row| table.line(row)).collect()
    }

    #[test]
    fn lines_are_those_of_an_editor() {
        assert_eq!(lines("1\n2\n3"), [1, 2, 3]);
        assert_eq!(lines("1\r\n2\r\n\r\n3\r\n"), [1, 2, 4]);
        assert_eq!(lines("1\r2\r3\r"), [1, 2, 3]);
        assert_eq!(lines("\n\nx\n\n1\n  \n2\n"), [5, 7]);
        assert_eq!(lines("\"a\nb\"\n1\n\n2\n"), [3, 5]);
    }

    #[test]
    fn a_first_line_of_numbers_is_data() {
        let header = |text: &str| {
            Table::parse("t".into(), text.as_bytes()).expect("a table").header().map(<[_]>::to_vec)
        };
        assert_eq!(header("1,nan\n1,2\n"), None);
        assert_eq!(header("\u{feff}1,2\n1,2\n"), None);
        assert_eq!(header("1, b \n1,2\n"), Some(vec!["1".into(), "b".into()]));
    }
}
