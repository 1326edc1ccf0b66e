//! What is asked at the terminal itself, wherever stdin and stdout lead.
//!
//! What was typed before a question was on the screen is thrown away: it was not meant for it.

use std::fs::File;
use std::io::{IsTerminal as _, Read, Write as _};

use anyhow::Context as _;
#[cfg(unix)]
use rustix::termios::{self, LocalModes, OptionalActions, SpecialCodeIndex, Termios};

/// The terminal that the process belongs to.
const TERMINAL: &str = "/dev/tty";

/// Whether a person is there to be asked: stdin and stderr are her terminal.
pub(crate) fn is_there() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal() && open().is_ok()
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
    rpassword::prompt_password(prompt)
}

/// Shows lines on the terminal.
pub(crate) fn show(lines: &[String]) -> anyhow::Result<()> {
    let mut terminal = open().context("there is no terminal to ask at")?;
    for line in lines {
        writeln!(terminal, "{line}")?;
    }
    Ok(())
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
