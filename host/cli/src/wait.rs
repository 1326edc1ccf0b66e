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
