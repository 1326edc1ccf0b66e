//! A table of codes as an enum: the stable name of each, how bad it is, and a sentence on what is expected.

/// Makes the enum of a table. Codes are stable; a new one may come.
macro_rules! codes {
    ($(#[$about:meta])* $code:ident: $($variant:ident $name:literal $severity:ident $explain:literal)*) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum $code {
            $(#[doc = $explain] $variant,)*
        }

        impl $code {
            /// Every code, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The stable name, in snake case.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// How bad it is.
            pub fn severity(self) -> $crate::diagnostic::Severity {
                match self { $(Self::$variant => $crate::diagnostic::Severity::$severity,)* }
            }

            /// What is expected, in one sentence.
            pub fn explain(self) -> &'static str {
                match self { $(Self::$variant => $explain,)* }
            }
        }
    };
}

pub(crate) use codes;
