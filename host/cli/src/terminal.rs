//! What is asked at the terminal itself, wherever stdin and stdout lead.
//!
//! What was typed before a question was on the screen is thrown away: it was not meant for it.

use std::fs::File;
use std::io::{IsTerminal as _, Write as _};

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
    let terminal = open().context("there is no terminal to ask at")?;
    // Hidden before she is told to type: whoever answers at once is not quicker.
    #[cfg(unix)]
    let _hidden = Hidden::on(&terminal).context("the terminal cannot be read")?;
    rpassword::prompt_password(prompt).context("the terminal cannot be read")
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

/// While this lives, the terminal does not show what is typed. What was typed before is gone.
#[cfg(unix)]
struct Hidden<'t> {
    terminal: &'t File,
    before: Termios,
}

#[cfg(unix)]
impl<'t> Hidden<'t> {
    fn on(terminal: &'t File) -> std::io::Result<Self> {
        let before = termios::tcgetattr(terminal)?;
        let mut hidden = before.clone();
        // As they are while an answer is read, so that it makes no difference when it comes.
        hidden
            .local_modes
            .remove(LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ICANON | LocalModes::ISIG);
        hidden.special_codes[SpecialCodeIndex::VMIN] = 1;
        hidden.special_codes[SpecialCodeIndex::VTIME] = 0;
        termios::tcsetattr(terminal, OptionalActions::Flush, &hidden)?;
        Ok(Self { terminal, before })
    }
}

#[cfg(unix)]
impl Drop for Hidden<'_> {
    fn drop(&mut self) {
        // A terminal that is gone shows nothing any more.
        termios::tcsetattr(self.terminal, OptionalActions::Now, &self.before).unwrap_or_default();
    }
}
