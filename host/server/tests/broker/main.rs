//! The broker over real TLS, with stand-ins for the services behind it: what a person, a bot and an attacker would try.

#![forbid(unsafe_code)]

#[cfg(test)]
mod asks;
#[cfg(test)]
mod browser;
#[cfg(test)]
mod callbacks;
#[cfg(test)]
mod floods;
#[cfg(test)]
mod forged;
#[cfg(test)]
mod services;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod starts;
#[cfg(test)]
mod whole;
