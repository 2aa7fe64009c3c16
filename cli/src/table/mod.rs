//! A CSV file in memory: cells as text, numbers on demand, and for each
//! complaint the line and the column.
//!
//! Cells are separated by tabs, semicolons or commas. The first line is a header
//! unless all of its cells are numbers, dates or missing. Blank lines are skipped,
//! and lines that begin with `#`.

mod columns;
mod dialect;
mod time;

pub(crate) use columns::{Columns, Content, Missing};
pub(crate) use time::TimeScale;

use crate::error::{Error, Result};
use crate::input::Source;
use crate::messages::note;
use csv::StringRecord;
use time::Moment;

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
    /// All cells, one after another.
    text: String,
    /// Where each of them ends.
    ends: Vec<usize>,
    /// 1-based lines of the file on which the rows begin.
    lines: Vec<usize>,
    width: usize,
    delimiter: u8,
}

impl Table {
    /// Reads a file, or standard input.
    pub(crate) fn read(source: Source<'_>) -> Result<Self> {
        Self::parse(source.to_string(), &source.read()?)
    }

    /// A table from the bytes of a file that messages call `name`.
    pub(crate) fn parse(name: String, bytes: &[u8]) -> Result<Self> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).map_err(|error| not_utf8(&name, bytes, &error))?;
        let mut table = Self {
            name,
            header: None,
            text: String::with_capacity(text.len()),
            ends: Vec::new(),
            lines: Vec::new(),
            width: 0,
            delimiter: dialect::delimiter(text),
        };
        table.fill(text)?;
        if table.lines.is_empty() {
            return Err(Error::failed(format!(
                "{}: is empty: give at least one row of numbers",
                table.name
            )));
        }
        if !(0..table.width).all(|column| table.is_value(table.cell(0, column))) {
            table.take_header()?;
        }
        Ok(table)
    }

    /// Takes in all records, blank lines and comments left out.
    fn fill(&mut self, text: &str) -> Result<()> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(self.delimiter)
            .comment(Some(b'#'))
            .from_reader(text.as_bytes());
        let mut lines = Lines { bytes: text.as_bytes(), at: 0, line: 1 };
        let mut record = StringRecord::new();
        loop {
            match reader.read_record(&mut record) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(error) => {
                    return Err(Error::failed(format!("{}: is not CSV: {error}", self.name)));
                }
            }
            let line = lines.of_record(record.position().map_or(0, csv::Position::byte));
            if record.len() == 1 && record[0].trim().is_empty() {
                continue;
            }
            if self.lines.is_empty() {
                self.width = record.len();
            }
            if record.len() != self.width {
                return Err(Error::failed(format!(
                    "{}: line {line}, column {}: the row has {} cells, but line {} has {}: give \
                     all rows the same number of cells",
                    self.name,
                    record.len().min(self.width) + 1,
                    record.len(),
                    self.lines[0],
                    self.width,
                )));
            }
            for cell in &record {
                self.text.push_str(cell.trim());
                self.ends.push(self.text.len());
            }
            self.lines.push(line);
        }
    }

    /// Makes the first row the names of the columns.
    fn take_header(&mut self) -> Result<()> {
        let names: Vec<String> = self.cells(0).map(str::to_owned).collect();
        check_names(&self.name, self.lines[0], &names)?;
        if self.lines.len() == 1 {
            return Err(Error::failed(format!(
                "{}: line {}: no rows follow the header: give at least one row of numbers",
                self.name, self.lines[0]
            )));
        }
        if let Some(name) = names.iter().find(|name| !name.is_empty() && self.is_value(name)) {
            note(&format!(
                "{}: line {} is taken for the names of the columns, though it has {}",
                self.name,
                self.lines[0],
                cut(name)
            ));
        }
        self.header = Some(names);
        Ok(())
    }

    /// Whether a cell may stand in a row of data that has no header before it.
    fn is_value(&self, cell: &str) -> bool {
        dialect::is_missing(cell)
            || dialect::number(cell, self.delimiter).is_some()
            || Moment::parse(cell).is_some()
    }

    /// The cell of a row, as it stands in the file.
    pub(crate) fn cell(&self, row: usize, column: usize) -> &str {
        let index = (row + usize::from(self.header.is_some())) * self.width + column;
        let begin = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text[begin..self.ends[index]]
    }

    /// What messages call it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Number of rows, the header not counted.
    pub(crate) fn len(&self) -> usize {
        self.lines.len() - usize::from(self.header.is_some())
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
    pub(crate) fn cells(&self, row: usize) -> impl Iterator<Item = &str> {
        (0..self.width).map(move |column| self.cell(row, column))
    }

    /// Whether numbers are written with a decimal comma.
    pub(crate) fn has_decimal_commas(&self) -> bool {
        self.delimiter != b','
            && (0..self.len()).any(|row| {
                self.cells(row).any(|cell| {
                    cell.contains(',') && dialect::number(cell, self.delimiter).is_some()
                })
            })
    }

    /// What separates cells.
    pub(crate) fn delimiter(&self) -> u8 {
        self.delimiter
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
        self.lines[row + usize::from(self.header.is_some())]
    }
}

/// Where a file is no text.
fn not_utf8(name: &str, bytes: &[u8], error: &std::str::Utf8Error) -> Error {
    let before = &bytes[..error.valid_up_to()];
    let line = Lines { bytes: before, at: 0, line: 1 }.of_record(before.len() as u64);
    let cells = before.rsplit(|&byte| byte == b'\n' || byte == b'\r').next().unwrap_or_default();
    let text = String::from_utf8_lossy(cells);
    let column = 1 + text.matches(char::from(dialect::delimiter(&text))).count();
    Error::failed(format!(
        "{name}: line {line}, column {column}: is not UTF-8 text: save the file as CSV in UTF-8"
    ))
}

/// Counts lines, whatever they end with. (The reader's own count starts at the
/// blank lines and the comments before a record.)
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
            if self.at >= start && byte == b'#' {
                let end = self.bytes[self.at..].iter().position(|byte| b"\n\r".contains(byte));
                self.at = end.map_or(self.bytes.len(), |end| self.at + end);
                continue;
            }
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
    for (column, name) in names.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
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
