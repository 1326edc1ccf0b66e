//! Waiting for a command that does more than one thing at a time, and for nothing that it has given up.

use anyhow::Context as _;

use crate::end::End;

/// Runs a command to its end.
pub(crate) fn block_on(future: impl Future<Output = anyhow::Result<End>>) -> anyhow::Result<End> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let ended = runtime.block_on(future);
    // Nothing is left to do but what was given up: a look-up of a name may hang for longer than anybody waits.
    runtime.shutdown_background();
    ended
}

/// Is over when this process is told to stop, by Ctrl-C or by SIGTERM. Listens for that from the call on: what comes before
/// anybody waits is heard too.
#[cfg(unix)]
pub(crate) fn told_to_stop() -> anyhow::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupted = signal(SignalKind::interrupt()).context("Ctrl-C cannot be listened for")?;
    let mut terminated = signal(SignalKind::terminate()).context("SIGTERM cannot be listened for")?;
    Ok(async move {
        tokio::select! {
            _ = interrupted.recv() => {}
            _ = terminated.recv() => {}
        }
    })
}

/// The same where Ctrl-C is all there is.
#[cfg(not(unix))]
pub(crate) fn told_to_stop() -> anyhow::Result<impl Future<Output = ()>> {
    let mut interrupted = tokio::signal::windows::ctrl_c().context("Ctrl-C cannot be listened for")?;
    Ok(async move {
        interrupted.recv().await;
    })
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_was_given_up_is_not_waited_for() {
        let (held, never) = mpsc::channel::<()>();
        let (done, ended) = mpsc::channel();
        std::thread::spawn(move || {
            let (began, running) = mpsc::channel();
            let ended = block_on(async move {
                let hangs = tokio::task::spawn_blocking(move || (began.send(()), never.recv()));
                running.recv()?;
                drop(hangs);
                Ok(End::Done)
            });
            done.send(ended.unwrap()).unwrap();
        });
        assert_eq!(ended.recv_timeout(Duration::from_mins(1)), Ok(End::Done));
        drop(held);
    }

    #[cfg(unix)]
    #[test]
    fn a_word_to_stop_is_heard_before_it_is_waited_for() {
        use rustix::process::{Signal, getpid, kill_process};
        let ended = block_on(async {
            let told = told_to_stop()?;
            kill_process(getpid(), Signal::TERM)?;
            tokio::time::timeout(Duration::from_mins(1), told).await?;
            Ok(End::Done)
        });
        assert_eq!(ended.unwrap(), End::Done);
    }
}
