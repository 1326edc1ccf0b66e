//! What the crate promises, asked through its public face: one program, so that it links once.

#![forbid(unsafe_code)]

#[cfg(test)]
mod common;

#[cfg(test)]
mod broker;
#[cfg(test)]
mod covers;
#[cfg(test)]
mod credential;
#[cfg(test)]
mod flips;
#[cfg(test)]
mod keys;
#[cfg(test)]
mod mint;
#[cfg(test)]
mod open;
#[cfg(test)]
mod page;
#[cfg(test)]
mod pair;
#[cfg(test)]
mod returned;
#[cfg(test)]
mod ring;
#[cfg(test)]
mod scope;
#[cfg(test)]
mod sealing;
#[cfg(test)]
mod vectors;
