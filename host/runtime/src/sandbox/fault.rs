//! Why a module is not run, or gave no result. What it said itself is in here as it was said: whoever passes it on clips
//! and scrubs it.

/// Why there is no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Its file could not be read.
    Unreadable(String),
    /// Its bytes are not those that the manifest names.
    OtherDigest,
    /// It is not a component that runs here.
    Misfit(Misfit),
    /// It trapped; its last line of level `error`, if there was one.
    Trapped(Option<String>),
    /// It took more instructions than it may.
    OutOfFuel,
    /// The op's time was over.
    OutOfTime,
    /// It took more memory than it may.
    OutOfMemory,
    /// It called itself too deeply.
    StackOverflow,
    /// It took too much of something else.
    Limit(Limit),
    /// It gave a text that is not UTF-8.
    NotText,
    /// It gave an error; its message.
    Failed(String),
    /// The sandbox failed, not the module; for the log.
    Broken(String),
}

/// Why bytes are no component of this host's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Misfit {
    #[error("it is a core module, not a component")]
    CoreModule,
    #[error("it is not a valid component")]
    Invalid,
    #[error("it imports `{0}`, which no module is given")]
    Import(String),
    #[error("it is not of the world `pinhole:op/module@1.0.0`")]
    OtherWorld,
}

/// What a module took too much of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Limit {
    #[error("the module makes more than {0} requests")]
    Requests(u32),
    #[error("the answers to the module have more than {0} bytes together")]
    BytesIn(u64),
    #[error("the module hands over more than {0} bytes at once")]
    BytesOut(u64),
    #[error("the module writes more than {0} lines to the log")]
    LogLines(u32),
    #[error("the module writes more than {0} bytes to the log")]
    LogBytes(usize),
    #[error("the module has larger tables, or more parts, than it may")]
    Parts,
}
