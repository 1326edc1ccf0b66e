//! `pinhole run`: one op, under a grant or with a key on stdin for one read; one page of it, or all.

use crate::args::RunFlags;
use crate::call::{self, Permission};
use crate::config::Config;
use crate::end::{End, Failure};
use crate::pages::{self, Lines, Tokens};
use crate::{occasion, out};

pub(crate) async fn main(flags: RunFlags, config: &Config) -> anyhow::Result<End> {
    let RunFlags { call: flags, next, all } = flags;
    call::one_reader_of_stdin(&flags)?;
    let (permission, tokens) = match (&flags.grant, flags.token_stdin) {
        (Some(_), _) => (Permission::Grant, Tokens::Kept),
        // The keys of the occasion go with this process, and what is sealed with them.
        (None, true) => (Permission::Token(occasion::token_from_stdin()?), Tokens::Lost),
        (None, false) => {
            let hint = "pass `--grant FILE`, or `--token-stdin` and the service's key on stdin for one read";
            return Err(Failure::new(End::Usage, "nothing permits this call", hint).into());
        }
    };
    let call::Prepared { executor, mut request } = call::prepare(&flags, permission, config)?;
    request.next = next;
    if all {
        let lines = if flags.json { Lines::Outcomes } else { Lines::Elements };
        return pages::follow(&executor, request, lines, tokens).await;
    }
    let outcome = executor.run(request).await;
    let outcome = match tokens {
        Tokens::Kept => outcome,
        Tokens::Lost => outcome.forgetting_next(),
    };
    if flags.json {
        out::json(&outcome)?;
    } else {
        out::outcome(&outcome)?;
    }
    Ok(outcome.refusal().map_or(End::Done, End::of))
}
