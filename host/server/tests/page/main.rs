//! The approval page over real sockets, by requests written out by hand: every guard alone broken, every answer, and what
//! other people's texts come to; then the same in a real browser, and beside a second user of the machine.

#[cfg(test)]
mod answers;
#[cfg(test)]
#[cfg(unix)]
mod browser;
#[cfg(test)]
mod guards;
#[cfg(test)]
mod limits;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod neighbours;
#[cfg(test)]
mod rows;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod texts;
#[cfg(test)]
mod wire;
