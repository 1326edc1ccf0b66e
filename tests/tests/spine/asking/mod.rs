//! Writes that nobody has approved yet: from the bot's call to the member's question, and from her yes to the one run.

pub(crate) mod codes;
