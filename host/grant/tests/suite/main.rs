//! What the crate promises, asked through its public face: one program, so that it links once.

#![forbid(unsafe_code)]

mod common;

mod credential;
mod flips;
mod keys;
mod mint;
mod open;
mod returned;
mod scope;
mod sealing;
mod vectors;
