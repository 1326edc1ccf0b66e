//! What is asked at the terminal itself, wherever stdin and stdout lead.
//!
//! What was typed before a question was on the screen is thrown away: it was not meant for it.

use std::fs::File;
use std::io::{IsTerminal as _, Write as _};

use anyhow::Context as _;

/// The terminal that the process belongs to.
const TERMINAL: &str = "/dev/tty";

/// Whether a person is there to be asked: stdin and stderr are her terminal.
pub(crate) fn is_there() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal() && open().is_ok()
}

/// Asks for something that is not shown while it is typed.
pub(crate) fn secret(prompt: &str) -> anyhow::Result<String> {
    let terminal = open().context("there is no terminal to ask at")?;
    #[cfg(unix)]
    rustix::termios::tcflush(&terminal, rustix::termios::QueueSelector::IFlush)
        .context("the terminal cannot be read")?;
    drop(terminal);
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
