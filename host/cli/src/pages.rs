//! `pinhole run --all`: every page of a read, as lines of JSON while they come.
//!
//! INVARIANT: what was printed stays printed, whatever ends the run; and wherever it ends before the last page, stderr says
//! what to go on with, and the exit status is not 0.

use std::collections::BTreeSet;
use std::future::Future;
use std::io::{IsTerminal as _, Write as _};

use pinhole_manifest::visible::visible;
use pinhole_runtime::outcome::{Code, Picked, Refusal, Verdict};
use pinhole_runtime::project::Tree;
use pinhole_runtime::{CallRequest, Outcome};

use crate::end::End;
use crate::out::{self, Reader};
use crate::run::Runner;

/// Whether a page token opens in another run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tokens {
    /// With the bot's own key.
    Kept,
    /// With none: it was this process's.
    Lost,
}

/// What is printed of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lines {
    /// The elements of its result.
    Elements,
    /// Its outcome.
    Outcomes,
}

/// How far a run has come.
struct Way {
    lines: Lines,
    tokens: Tokens,
    progress: Progress,
    pages: u64,
    results: usize,
    bytes_in: u64,
    bytes_out: u64,
    notes: BTreeSet<String>,
}

/// Runs a call and every page behind it.
pub(crate) async fn follow(
    runner: Runner<'_>,
    mut request: CallRequest,
    lines: Lines,
    tokens: Tokens,
) -> anyhow::Result<End> {
    let mut way = Way {
        lines,
        tokens,
        progress: Progress::new(),
        pages: 0,
        results: 0,
        bytes_in: 0,
        bytes_out: 0,
        notes: BTreeSet::new(),
    };
    let mut stopped = std::pin::pin!(stopped());
    loop {
        let Some(outcome) = unless(&mut stopped, runner.run(request.clone())).await else {
            return Ok(way.stop(&request));
        };
        let next = outcome.next().map(ToString::to_string);
        let text = way.text(&outcome);
        let printing = tokio::task::spawn_blocking(move || out::lines(&text));
        let Some(printed) = unless(&mut stopped, printing).await else {
            return Ok(way.stop(&request));
        };
        if printed?? == Reader::Gone {
            return Ok(End::Done);
        }
        match (&outcome.verdict, next) {
            (Verdict::Refused(refusal), _) => return Ok(way.refuse(refusal, &request)),
            (Verdict::Done(picked), None) => {
                way.pass(&outcome, picked);
                return Ok(way.end(&outcome, picked));
            }
            (Verdict::Done(picked), Some(next)) => {
                way.pass(&outcome, picked);
                request = request.with_next(next);
            }
        }
    }
}

/// Ends when the person presses Ctrl-C. Where the machine has no such thing, it never does.
async fn stopped() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// What comes of a future, unless the person stops it.
async fn unless<T>(
    stopped: &mut std::pin::Pin<&mut impl Future<Output = ()>>,
    future: impl Future<Output = T>,
) -> Option<T> {
    tokio::select! {
        biased;
        () = stopped => None,
        done = future => Some(done),
    }
}

impl Way {
    /// The lines of a page. A refusal has one among outcomes, and none among elements.
    fn text(&self, outcome: &Outcome) -> String {
        let line = |value: &Tree| format!("{}\n", out::plain_json(&value.to_string()));
        match (self.lines, &outcome.verdict) {
            (Lines::Outcomes, _) => format!("{}\n", out::plain_json(&outcome.to_json())),
            (Lines::Elements, Verdict::Refused(_)) => String::new(),
            (Lines::Elements, Verdict::Done(picked)) => match &picked.result {
                Tree::Array(elements) => elements.iter().map(line).collect(),
                other => line(other),
            },
        }
    }

    /// Counts a page that was printed.
    fn pass(&mut self, outcome: &Outcome, picked: &Picked) {
        self.pages = self.pages.saturating_add(1);
        let results = match &picked.result {
            Tree::Array(elements) => elements.len(),
            _ => 1,
        };
        self.results = self.results.saturating_add(results);
        self.bytes_in = self.bytes_in.saturating_add(outcome.meta.bytes_in);
        self.bytes_out = self.bytes_out.saturating_add(outcome.meta.bytes_out);
        self.notes.extend(picked.notes.iter().cloned());
        self.progress.show(self.pages, self.results);
    }

    /// After the last page, or the last that leads on.
    fn end(&mut self, outcome: &Outcome, picked: &Picked) -> End {
        self.progress.clear();
        if self.lines == Lines::Elements {
            self.notes.iter().for_each(|dropped| out::dropped(dropped));
            out::note(format_args!(
                "{}.{}: {}, {} in, {} out",
                outcome.service,
                outcome.op,
                self.counted(),
                out::bytes(self.bytes_in),
                out::bytes(self.bytes_out),
            ));
        }
        let Some(why) = picked.unfollowed else { return End::Done };
        out::note(format_args!("pinhole: {why}"));
        out::note("  what came is not everything: ask for less with the op's args");
        End::Failed
    }

    /// A refusal: what came before it is out.
    fn refuse(&mut self, refusal: &Refusal, request: &CallRequest) -> End {
        self.progress.clear();
        if self.lines == Lines::Elements {
            out::refusal(refusal);
        }
        let useless = matches!(
            refusal.code,
            Code::PageTokenMalformed | Code::PageTokenExpired | Code::PageTokenMismatch
        );
        if self.pages > 0 && !useless {
            self.go_on(request);
        }
        match End::of(refusal) {
            // The pages before it were sent for.
            End::Refused if self.pages > 0 => End::SentThenRefused,
            end => end,
        }
    }

    /// The person stopped it: what came is out.
    fn stop(&mut self, request: &CallRequest) -> End {
        self.progress.clear();
        out::note(format_args!("pinhole: stopped after {}", self.counted()));
        self.go_on(request);
        End::Interrupted
    }

    /// What has come, for people.
    fn counted(&self) -> String {
        let s = |one: bool| if one { "" } else { "s" };
        let (pages, results) = (self.pages, self.results);
        format!("{pages} page{}, {results} result{}", s(pages == 1), s(results == 1))
    }

    /// Says what to go on with from the page that has not come.
    fn go_on(&self, request: &CallRequest) {
        match (&request.next, self.tokens) {
            (Some(next), Tokens::Kept) => {
                out::note("  to go on from here, within an hour, run the same command with");
                out::note(format_args!("  --next {}", visible(next)));
            }
            (Some(_), Tokens::Lost) => {
                out::note("  without a grant the pages are followed in one run alone: begin again");
            }
            (None, _) => out::note("  no page has come whole: begin again"),
        }
    }
}

/// A line on a terminal that says how far it is; nothing where stderr is none, or where the lines themselves are seen.
struct Progress {
    seen: bool,
}

impl Progress {
    fn new() -> Self {
        Self { seen: std::io::stderr().is_terminal() && !std::io::stdout().is_terminal() }
    }

    fn show(&self, pages: u64, results: usize) {
        if self.seen {
            let mut stderr = std::io::stderr().lock();
            write!(stderr, "\r{pages} pages, {results} results…").unwrap_or_default();
        }
    }

    fn clear(&self) {
        if self.seen {
            write!(std::io::stderr().lock(), "\r\u{1b}[K").unwrap_or_default();
        }
    }
}
