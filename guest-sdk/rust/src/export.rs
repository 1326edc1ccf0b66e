//! From functions to a module: the macro that exports them, and what stands between JSON and their types.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Error, Host};

/// Makes the module of these ops: `export! { "stale_issues" => stale_issues }`. Each function takes the host and its args,
/// which serde reads, and gives a result, which serde writes, or an [`Error`].
///
/// It defines `run(host, op, args)`, which a test calls, and in Wasm the export that the host calls.
#[macro_export]
macro_rules! export {
    ($($op:literal => $function:path),+ $(,)?) => {
        /// Computes the op of this name from the JSON of its args.
        pub fn run(
            host: &dyn $crate::Host,
            op: &str,
            args: &str,
        ) -> ::std::result::Result<::std::string::String, $crate::Error> {
            match op {
                $($op => $crate::call($function, host, args),)+
                _ => ::std::result::Result::Err($crate::unknown_op(op)),
            }
        }

        #[cfg(target_arch = "wasm32")]
        const _: () = {
            struct Exported;

            impl $crate::wasm::Guest for Exported {
                fn run(
                    op: ::std::string::String,
                    args: ::std::string::String,
                ) -> ::std::result::Result<::std::string::String, $crate::wasm::OpError> {
                    $crate::wasm::run(run, &op, &args)
                }
            }

            $crate::wasm::export_module!(Exported with_types_in $crate::wasm);
        };
    };
}

/// Calls an op with what its args say.
#[doc(hidden)]
pub fn call<A: DeserializeOwned, R: Serialize>(
    op: impl FnOnce(&dyn Host, A) -> Result<R, Error>,
    host: &dyn Host,
    args: &str,
) -> Result<String, Error> {
    let args = serde_json::from_str(args).map_err(|error| Error::Json(format!("the args: {error}")))?;
    let result = op(host, args)?;
    serde_json::to_string(&result).map_err(|error| Error::Json(format!("the result: {error}")))
}

#[doc(hidden)]
pub fn unknown_op(op: &str) -> Error {
    Error::UnknownOp(op.to_owned())
}
