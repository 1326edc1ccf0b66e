//! Waiting for a command that does more than one thing at a time, and for nothing that it has given up.

use crate::end::End;

/// Runs a command to its end.
pub(crate) fn block_on(future: impl Future<Output = anyhow::Result<End>>) -> anyhow::Result<End> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let ended = runtime.block_on(future);
    // Nothing is left to do but what was given up: a look-up of a name may hang for longer than anybody waits.
    runtime.shutdown_background();
    ended
}

/// Waits until this process is told to stop: by Ctrl-C, or by SIGTERM.
pub(crate) async fn told_to_stop() -> anyhow::Result<()> {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use anyhow::Context as _;
        let terminate = tokio::signal::unix::SignalKind::terminate();
        let mut terminated =
            tokio::signal::unix::signal(terminate).context("SIGTERM cannot be listened for")?;
        tokio::select! {
            interrupted = interrupted => interrupted?,
            _ = terminated.recv() => {}
        }
    }
    #[cfg(not(unix))]
    interrupted.await?;
    Ok(())
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
}
