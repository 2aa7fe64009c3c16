//! Columns of a table as numbers: what each of them holds is found out on the
//! way, in one pass over the rows.

use super::dialect::{is_missing, number};
use super::time::{Kind, Moment};
use super::{Table, TimeScale, cut};
use crate::error::{Error, Result};
use clap::ValueEnum;

/// What to do with rows in which a value is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Missing {
    /// Leave them out and say how many
    Drop,
    /// Refuse the file
    Error,
}

/// What a column is to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// Numbers, or dates, or times.
    Input,
    /// Numbers.
    Numbers,
    /// Dates or times that are counted in this.
    Times(TimeScale),
}

/// Columns as numbers.
#[derive(Debug)]
pub(crate) struct Columns {
    /// Row after row.
    pub(crate) values: Vec<f64>,
    /// Which rows of the table these are.
    pub(crate) rows: Vec<usize>,
    /// Rows that were left out, because a value is missing.
    pub(crate) dropped: Vec<usize>,
    /// What columns of dates and times count in.
    pub(crate) times: Vec<Option<TimeScale>>,
}

/// What a column has turned out to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    Numbers,
    /// Dates or times in seconds, with the most that any of them says.
    Times(Kind),
}

/// Why a cell cannot be read.
enum Wrong {
    NotFinite,
    NotANumber,
    NotATime,
    /// Among numbers.
    ATime,
    /// With a zone where others have none, or without.
    Zone,
    /// In a column that has begun so.
    Words(Content),
    /// A decimal comma, or one between thousands.
    Comma,
    /// Where others have a decimal comma.
    Point,
}

impl Table {
    /// The numbers in these columns, row after row; none may be missing.
    pub(crate) fn numbers(&self, columns: &[usize]) -> Result<Vec<f64>> {
        let contents = vec![Content::Numbers; columns.len()];
        self.read_columns(columns, &contents, Missing::Error).map(|columns| columns.values)
    }

    /// These columns, which hold `contents`.
    pub(crate) fn read_columns(
        &self,
        columns: &[usize],
        contents: &[Content],
        missing: Missing,
    ) -> Result<Columns> {
        let mut found: Vec<Found> = contents.iter().copied().map(Found::of).collect();
        let mut commas = Commas::default();
        let mut read = Columns {
            values: Vec::with_capacity(self.len() * columns.len()),
            rows: Vec::with_capacity(self.len()),
            dropped: Vec::new(),
            times: Vec::new(),
        };
        for row in 0..self.len() {
            let begin = read.values.len();
            let mut complete = true;
            for ((&column, &content), found) in columns.iter().zip(contents).zip(&mut found) {
                let cell = self.cell(row, column);
                if is_missing(cell) {
                    if missing == Missing::Error {
                        return Err(self.missing(row, column));
                    }
                    complete = false;
                    continue;
                }
                match self.value(cell, content, found) {
                    Ok(value) => read.values.push(value),
                    Err(why) => return Err(self.wrong(row, column, &why)),
                }
                if self.delimiter != b',' && *found == Found::Numbers {
                    commas.see(cell, self.delimiter, (row, column));
                }
            }
            if complete {
                read.rows.push(row);
            } else {
                read.values.truncate(begin);
                read.dropped.push(row);
            }
        }
        if let Some(((row, column), why)) = commas.unclear() {
            return Err(self.wrong(row, column, &why));
        }
        read.times =
            found.iter().zip(contents).map(|(found, content)| found.scale(*content)).collect();
        for (i, time) in read.times.iter().enumerate() {
            // They were read as seconds, before it was known that all are days.
            if *time == Some(TimeScale::Days) && contents[i] == Content::Input {
                for row in read.values.chunks_exact_mut(columns.len()) {
                    row[i] /= 86_400.0;
                }
            }
        }
        Ok(read)
    }

    /// The number that a cell stands for.
    fn value(
        &self,
        cell: &str,
        content: Content,
        found: &mut Found,
    ) -> std::result::Result<f64, Wrong> {
        if let Content::Times(scale) = content {
            let moment = Moment::parse(cell).ok_or(Wrong::NotATime)?;
            return scale.number(moment).ok_or(Wrong::Zone);
        }
        if let Found::Times(most) = found {
            let moment = Moment::parse(cell).ok_or(Wrong::NotATime)?;
            *most = match (*most, moment.kind) {
                (kind, Kind::Day) | (Kind::Day, kind) => kind,
                (most, kind) if most == kind => kind,
                _ => return Err(Wrong::Zone),
            };
            return Ok(moment.seconds);
        }
        if let Some(number) = number(cell, self.delimiter) {
            *found = Found::Numbers;
            return if number.is_finite() { Ok(number) } else { Err(Wrong::NotFinite) };
        }
        match (Moment::parse(cell), *found) {
            (Some(moment), Found::Nothing) if content == Content::Input => {
                *found = Found::Times(moment.kind);
                Ok(moment.seconds)
            }
            (Some(_), _) => Err(Wrong::ATime),
            (None, Found::Nothing) if !cell.starts_with(|c: char| c.is_ascii_digit()) => {
                Err(Wrong::Words(content))
            }
            _ => Err(Wrong::NotANumber),
        }
    }

    fn missing(&self, row: usize, column: usize) -> Error {
        let cell = self.cell(row, column);
        let what = if cell.is_empty() {
            "the cell is empty".to_owned()
        } else {
            format!("{} stands for no value", cut(cell))
        };
        self.fails(row, column, &format!("{what}: fill it in or remove the row"))
    }

    fn wrong(&self, row: usize, column: usize, why: &Wrong) -> Error {
        let cell = cut(self.cell(row, column));
        let text = match why {
            Wrong::NotFinite => format!("{cell} is not finite: correct it or remove the row"),
            Wrong::NotANumber => format!("{cell} is not a number: correct it or remove the row"),
            Wrong::NotATime => format!(
                "{cell} is not a date or a time such as 2024-01-31 or 2024-01-31T12:30:00Z, as \
                 the column has: correct it or remove the row"
            ),
            Wrong::ATime => format!(
                "{cell} is not a number but a date or a time, which only inputs can be, and then \
                 the whole column: correct it or choose other columns"
            ),
            Wrong::Zone => format!(
                "{cell}: times with an offset or a Z and times without cannot be compared: write \
                 all of them in one way"
            ),
            Wrong::Comma => format!(
                "{cell} may have a decimal comma or a comma between thousands: write a decimal \
                 point, or leave out the comma"
            ),
            Wrong::Point => format!(
                "{cell} has a point where other numbers have a decimal comma: write all of them \
                 in one way"
            ),
            Wrong::Words(content) => {
                let (option, name) = self.option_for(column);
                let hint = match content {
                    Content::Input => {
                        format!("leave it out with --ignore {option}, or give it numbers")
                    }
                    _ => "it should have numbers, or another column should be chosen".to_owned(),
                };
                return Error::failed(format!(
                    "{}: column {name} has words ({cell} in line {}): {hint}",
                    self.name,
                    self.line(row)
                ));
            }
        };
        self.fails(row, column, &text)
    }

    fn fails(&self, row: usize, column: usize, problem: &str) -> Error {
        Error::failed(format!("{}: {}: {problem}", self.name, self.at(row, column)))
    }

    /// A column as an option takes it, and as a message names it.
    fn option_for(&self, column: usize) -> (String, String) {
        match self.header() {
            Some(names) => {
                let name = cut(&names[column]);
                let plain = names[column].chars().all(|c| c.is_alphanumeric() || c == '_');
                let option = if plain { names[column].clone() } else { name.clone() };
                (option, name)
            }
            None => ((column + 1).to_string(), (column + 1).to_string()),
        }
    }
}

impl Found {
    fn of(content: Content) -> Self {
        if matches!(content, Content::Times(_)) { Self::Times(Kind::Day) } else { Self::Nothing }
    }

    fn scale(self, content: Content) -> Option<TimeScale> {
        match (content, self) {
            (Content::Times(scale), _) => Some(scale),
            (_, Self::Times(Kind::Day)) => Some(TimeScale::Days),
            (_, Self::Times(Kind::Local)) => Some(TimeScale::Seconds),
            (_, Self::Times(Kind::Utc)) => Some(TimeScale::SecondsUtc),
            _ => None,
        }
    }
}

/// Commas and points in the numbers of a file whose cells are not separated by
/// commas. `1,234` between tabs may be a thousand and more, or one and a bit; any
/// other number of digits behind it tells. Where commas are decimal, points may be
/// between thousands.
#[derive(Default)]
struct Commas {
    clear: bool,
    comma: Option<(usize, usize)>,
    point: Option<(usize, usize)>,
}

impl Commas {
    fn see(&mut self, cell: &str, delimiter: u8, at: (usize, usize)) {
        if let Some((before, after)) = cell.split_once(',') {
            let before = before.trim_start_matches(['-', '+']);
            let thousands = after.len() == 3 && (1..=3).contains(&before.len()) && before != "0";
            self.clear |= !thousands || delimiter == b';';
            self.comma = self.comma.or(Some(at));
        } else if cell.contains('.') {
            self.point = self.point.or(Some(at));
        }
    }

    /// The cell that may mean two numbers.
    fn unclear(&self) -> Option<((usize, usize), Wrong)> {
        match (self.comma, self.point) {
            (Some(_), Some(point)) => Some((point, Wrong::Point)),
            (Some(comma), None) if !self.clear => Some((comma, Wrong::Comma)),
            _ => None,
        }
    }
}
