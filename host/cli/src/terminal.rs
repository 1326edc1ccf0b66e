//! What is asked at the terminal itself, wherever stdin and stdout lead.
//!
//! What was typed before a question was on the screen is thrown away: it was not meant for it.

use std::fs::File;
use std::io::{BufRead as _, BufReader, IsTerminal as _, Read, Write as _};

use anyhow::Context as _;
#[cfg(unix)]
use rustix::termios::{self, LocalModes, OptionalActions, SpecialCodeIndex, Termios};
use unicode_width::UnicodeWidthChar as _;

/// The terminal that the process belongs to.
const TERMINAL: &str = "/dev/tty";

/// Whether a person is there to be asked: stdin and stderr are her terminal.
pub(crate) fn is_there() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal() && open().is_ok()
}

/// Whether stdin is a terminal.
pub(crate) fn stdin_is_one() -> bool {
    std::io::stdin().is_terminal()
}

/// Asks for something that is not shown while it is typed.
pub(crate) fn secret(prompt: &str) -> anyhow::Result<String> {
    let mut terminal = open().context("there is no terminal to ask at")?;
    hidden(&mut terminal, prompt).context("the terminal cannot be read")
}

#[cfg(unix)]
fn hidden(terminal: &mut File, prompt: &str) -> std::io::Result<String> {
    // Hidden before she is told to type: whoever answers at once is not quicker.
    let keys = Hidden::on(terminal.try_clone()?)?;
    terminal.write_all(prompt.as_bytes())?;
    let reading = rpassword::ConfigBuilder::new().input_reader(keys).output_discard().build();
    let answer = rpassword::read_password_with_config(reading)?;
    // Enter was not shown either.
    writeln!(terminal)?;
    Ok(answer)
}

#[cfg(not(unix))]
fn hidden(_terminal: &mut File, prompt: &str) -> std::io::Result<String> {
    match rpassword::prompt_password(prompt) {
        // Whoever ends her input says nothing.
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(String::new()),
        answer => answer.context("the terminal cannot be read"),
    }
}

/// Asks for a line that is shown while it is typed.
pub(crate) fn line(prompt: &str) -> anyhow::Result<String> {
    let mut terminal = open().context("there is no terminal to ask at")?;
    #[cfg(unix)]
    termios::tcflush(&terminal, termios::QueueSelector::IFlush).context("the terminal cannot be read")?;
    terminal.write_all(prompt.as_bytes())?;
    let mut answer = String::new();
    BufReader::new(terminal).take(LINE_MAX).read_line(&mut answer).context("the terminal cannot be read")?;
    Ok(answer)
}

/// Longest answer of one line, in bytes.
const LINE_MAX: u64 = 4096;

/// Shows lines on the terminal, each broken where it would be too long for it.
pub(crate) fn show(lines: &[String]) -> anyhow::Result<()> {
    let mut terminal = open().context("there is no terminal to ask at")?;
    let columns = columns(&terminal);
    for line in lines.iter().flat_map(|line| broken(line, columns)) {
        writeln!(terminal, "{line}")?;
    }
    Ok(())
}

/// Lines as they are to stand on stdout: where that is a terminal, none is left for it to break.
pub(crate) fn fitted(lines: Vec<String>) -> Vec<String> {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return lines;
    }
    let columns = columns(&stdout);
    lines.iter().flat_map(|line| broken(line, columns)).collect()
}

/// What every further part of a line begins with. No line begins so: a text that pads itself to the width of the terminal
/// cannot pass for the lines below it.
const GOES_ON: &str = "    | ";

/// What a terminal has that does not say.
const COLUMNS: usize = 80;
/// Narrower than this, a line is broken at this all the same.
const COLUMNS_MIN: usize = 40;

#[cfg(unix)]
fn columns(terminal: &impl std::os::fd::AsFd) -> usize {
    match termios::tcgetwinsize(terminal).map_or(0, |size| usize::from(size.ws_col)) {
        0 => COLUMNS,
        said => said.max(COLUMNS_MIN),
    }
}

#[cfg(not(unix))]
fn columns<T>(_terminal: &T) -> usize {
    COLUMNS.max(COLUMNS_MIN)
}

/// A line in parts that each stay below so many columns.
fn broken(line: &str, columns: usize) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut taken = 0;
    for c in line.chars() {
        // A character of a width that nobody knows may take two.
        let width = c.width().unwrap_or(2);
        if taken + width >= columns {
            parts.push(GOES_ON.to_owned());
            taken = GOES_ON.len();
        }
        taken += width;
        if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    parts
}

fn open() -> std::io::Result<File> {
    File::options().read(true).write(true).open(TERMINAL)
}

/// What is typed at the terminal, key by key. While this lives the terminal shows none of it; what was typed before is gone.
#[cfg(unix)]
struct Hidden {
    terminal: File,
    before: Termios,
}

#[cfg(unix)]
impl Hidden {
    /// What Ctrl-C sends to who reads key by key.
    const CTRL_C: u8 = 3;

    fn on(terminal: File) -> std::io::Result<Self> {
        let before = termios::tcgetattr(&terminal)?;
        let mut hidden = before.clone();
        hidden
            .local_modes
            .remove(LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ICANON | LocalModes::ISIG);
        hidden.special_codes[SpecialCodeIndex::VMIN] = 1;
        hidden.special_codes[SpecialCodeIndex::VTIME] = 0;
        termios::tcsetattr(&terminal, OptionalActions::Flush, &hidden)?;
        Ok(Self { terminal, before })
    }

    fn restore(&self) {
        // A terminal that is gone shows nothing any more.
        termios::tcsetattr(&self.terminal, OptionalActions::Now, &self.before).unwrap_or_default();
    }
}

#[cfg(unix)]
impl Read for Hidden {
    fn read(&mut self, keys: &mut [u8]) -> std::io::Result<usize> {
        let count = self.terminal.read(keys)?;
        // Whoever reads this ends the process: nobody would put the terminal back after it.
        if keys.iter().take(count).any(|key| *key == Self::CTRL_C) {
            self.restore();
        }
        Ok(count)
    }
}

#[cfg(unix)]
impl Drop for Hidden {
    fn drop(&mut self) {
        self.restore();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_of_a_line_is_left_to_the_terminal_to_break_and_none_passes_for_another_line() {
        let padded = format!("Open “a{}  owner = \"me\"", " ".repeat(72));
        let parts = broken(&padded, 80);
        assert_eq!(parts.len(), 2);
        assert!(parts[1].starts_with(GOES_ON) && parts[1].ends_with("owner = \"me\""), "{parts:?}");
        for columns in [40, 80, 200] {
            for text in ["", "short", &"東京".repeat(300), &"e\u{301}".repeat(300), &padded] {
                let parts = broken(text, columns);
                let width = |part: &String| part.chars().map(|c| c.width().unwrap_or(2)).sum::<usize>();
                assert!(parts.iter().all(|part| width(part) < columns), "{parts:?}");
                let whole: String =
                    parts.iter().map(|part| part.strip_prefix(GOES_ON).unwrap_or(part)).collect();
                assert_eq!(whole, text);
            }
        }
    }
}
