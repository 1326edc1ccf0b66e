//! The whole path, from a sealed grant to an outcome, against a stand-in over TLS: one program, so that it links once.
//!
//! `codes` provokes every refusal there is and holds the list to `Code::ALL`; the other files each have their subject.

mod answers;
mod asking;
mod attacks;
mod codes;
mod common;
mod grants;
mod keys;
mod lies;
mod modules;
mod nameless;
mod pages;
mod paging;
mod receipts;
mod recorded;
mod renewals;
mod requirements;
mod retries;
mod rotated;
mod scopes;
mod secrets;
mod sending;
mod shape;
mod succession;
mod surfaces;
mod writes;
