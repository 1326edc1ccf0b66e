//! The approval page over real sockets, by requests written out by hand: every guard alone broken, every answer, and what
//! other people's texts come to. What a browser makes of it is in `tests/tests/page_in_a_browser.rs`.

#[cfg(test)]
mod answers;
#[cfg(test)]
mod guards;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod neighbours;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod texts;
