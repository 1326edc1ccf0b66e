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
#[non_exhaustive]
pub enum Misfit {
    /// A toolchain's output before a component was made of it.
    #[error("it is a core module, not a component")]
    CoreModule,
    /// Something else, or cut off.
    #[error("it is not a valid component")]
    Invalid,
    /// Components inside of components.
    #[error("its parts stand deeper inside of each other than any tool makes them")]
    Deep,
    /// More core instances, memories or tables, or larger ones, than a call has room for.
    #[error("it has more core instances, memories or tables than a module may, or larger ones")]
    Parts,
    /// To compile it would take too long, or too much memory.
    #[error("to compile it would take too long: {0}")]
    Costly(Cost),
    /// What it imports and is not given: all of it.
    #[error("it imports {}, which no module is given", named(.0))]
    Imports(Vec<String>),
    /// Nothing is known of it: the machine gave no room to look at it.
    #[error("it cannot be looked at, for this process has no room for a sandbox: {0}")]
    Unseen(String),
    /// It has no `run` as in `wit/pinhole-op.wit`, or takes an interface for another than it is.
    #[error("it is not of the world `pinhole:op/module@1.0.0`")]
    OtherWorld,
}

/// Most names of a message, and most letters of each: a component may have thousands of either.
const NAMES_MAX: usize = 32;
const LETTERS_MAX: usize = 80;

/// What makes a component costly to compile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Cost {
    /// Its functions are too many.
    #[error("it has too many functions")]
    Functions,
    /// A function is too long.
    #[error("a function is too long")]
    Body,
    /// Blocks stand inside of blocks.
    #[error("blocks stand too deep inside of each other")]
    Nesting,
    /// A function has too many locals for its many branches.
    #[error("a function has too many locals for its many branches")]
    Tangle,
}

fn named(names: &[String]) -> String {
    let plain =
        |name: &String| name.chars().filter(char::is_ascii_graphic).take(LETTERS_MAX).collect::<String>();
    let mut shown: Vec<String> =
        names.iter().take(NAMES_MAX).map(|name| format!("`{}`", plain(name))).collect();
    if let Some(more) = names.len().checked_sub(NAMES_MAX).filter(|more| *more > 0) {
        shown.push(format!("{more} more"));
    }
    shown.join(", ")
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
    #[error("the module holds more handles at once than it may")]
    Handles,
    #[error("the module draws more than {0} random bytes at once")]
    Random(usize),
}
