//! `pinhole run`: one op, under a grant or with a key on stdin for one read.

use crate::args::CallFlags;
use crate::call::{self, Permission};
use crate::config::Config;
use crate::end::{End, Failure};
use crate::{occasion, out};

pub(crate) async fn main(flags: CallFlags, config: &Config) -> anyhow::Result<End> {
    call::one_reader_of_stdin(&flags)?;
    let permission = match (&flags.grant, flags.token_stdin) {
        (Some(_), _) => Permission::Grant,
        (None, true) => Permission::Token(occasion::token_from_stdin()?),
        (None, false) => {
            let hint = "pass `--grant FILE`, or `--token-stdin` and the service's key on stdin for one read";
            return Err(Failure::new(End::Usage, "nothing permits this call", hint).into());
        }
    };
    let prepared = call::prepare(&flags, permission, config)?;
    let outcome = prepared.executor.run(prepared.request).await;
    if flags.json {
        out::json(&outcome)?;
    } else {
        out::outcome(&outcome)?;
    }
    Ok(outcome.refusal().map_or(End::Done, End::of))
}
