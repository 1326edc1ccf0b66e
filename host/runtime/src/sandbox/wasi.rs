//! The part of WASI 0.2 that a component is given if it imports it: what the libraries of a language cannot start without, and
//! nothing of the machine.
//!
//! Refuses files, sockets, the environment, arguments, input and an exit: none of them is linked. INVARIANT: the clock on the
//! wall is the call's; the other one counts from the start of the call, in whole milliseconds, for a wait that were never
//! over would be of no use to anybody; no wait outlives the call.

use std::time::Duration;

use rand::Rng as _;
use rand::rngs::StdRng;
use tokio::time::Instant;
use wasmtime::Error;
use wasmtime::component::{HasSelf, Linker, Resource, ResourceTable};
use wasmtime_wasi::async_trait;
use wasmtime_wasi::p2::bindings::cli::{stderr, stdout};
use wasmtime_wasi::p2::bindings::clocks::{monotonic_clock, wall_clock};
use wasmtime_wasi::p2::bindings::random::{insecure, insecure_seed, random};
use wasmtime_wasi::p2::{
    DynOutputStream, DynPollable, OutputStream, Pollable, StreamError, StreamResult, subscribe,
};
use wasmtime_wasi_io::bindings::wasi::io::{error, poll, streams};

use super::fault::Limit;
use super::guest::State;
use super::said::{Said, Stream};

#[cfg(test)]
mod tests;

/// Most streams, waits and errors that a call holds at once.
const HELD_MAX: usize = 1024;
/// Most random bytes that are drawn at once.
const RANDOM_MAX: usize = 1 << 20;
/// Most bytes that a stream takes at once.
const WRITTEN_MAX: usize = 4096;
/// A millisecond, in nanoseconds.
const MILLISECOND: u64 = 1_000_000;

type Link = fn(&mut Linker<State>) -> Result<(), Error>;

/// The closed list: an interface, whether it draws randomness, and how it is linked.
const INTERFACES: [(&str, bool, Link); 10] = [
    ("wasi:io/error", false, |linker| error::add_to_linker::<_, HasSelf<ResourceTable>>(linker, table)),
    ("wasi:io/poll", false, |linker| poll::add_to_linker::<_, HasSelf<ResourceTable>>(linker, table)),
    ("wasi:io/streams", false, |linker| streams::add_to_linker::<_, HasSelf<ResourceTable>>(linker, table)),
    ("wasi:clocks/monotonic-clock", false, |linker| {
        monotonic_clock::add_to_linker::<_, HasSelf<Wasi>>(linker, wasi)
    }),
    ("wasi:clocks/wall-clock", false, |linker| wall_clock::add_to_linker::<_, HasSelf<Wasi>>(linker, wasi)),
    ("wasi:random/random", true, |linker| random::add_to_linker::<_, HasSelf<Wasi>>(linker, wasi)),
    ("wasi:random/insecure", true, |linker| insecure::add_to_linker::<_, HasSelf<Wasi>>(linker, wasi)),
    ("wasi:random/insecure-seed", true, |linker| {
        insecure_seed::add_to_linker::<_, HasSelf<Wasi>>(linker, wasi)
    }),
    ("wasi:cli/stdout", false, |linker| stdout::add_to_linker::<_, HasSelf<Wasi>>(linker, wasi)),
    ("wasi:cli/stderr", false, |linker| stderr::add_to_linker::<_, HasSelf<Wasi>>(linker, wasi)),
];

/// An interface of the list, which a component imports in a version of 0.2.
#[derive(Clone, Copy)]
pub(super) struct Interface {
    /// Whether it draws randomness.
    pub(super) draws: bool,
    link: Link,
}

impl Interface {
    /// The interface of an import, if it stands on the list. The library has the last version of 0.2, which has all that the
    /// earlier ones have.
    pub(super) fn find(import: &str) -> Option<Self> {
        let (name, patch) = import.split_once("@0.2.")?;
        let is_number = (1..=4).contains(&patch.len()) && patch.bytes().all(|byte| byte.is_ascii_digit());
        let (_, draws, link) = INTERFACES.iter().find(|(listed, ..)| *listed == name && is_number)?;
        Some(Self { draws: *draws, link: *link })
    }

    /// Gives it to a component.
    pub(super) fn link(self, linker: &mut Linker<State>) -> Result<(), Error> {
        (self.link)(linker)
    }
}

fn wasi(state: &mut State) -> &mut Wasi {
    &mut state.wasi
}

fn table(state: &mut State) -> &mut ResourceTable {
    &mut state.wasi.table
}

/// What one call has of WASI. Before it is used it is nearly nothing.
#[derive(Debug)]
pub(super) struct Wasi {
    table: ResourceTable,
    said: Said,
    now: i64,
    begun: Instant,
    random: Option<StdRng>,
    pub(super) ended: Option<Limit>,
}

impl Wasi {
    pub(super) fn new(said: Said, now: i64, random: Option<StdRng>) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(HELD_MAX);
        Self { table, said, now, begun: Instant::now(), random, ended: None }
    }

    fn stream(&mut self, stream: Stream) -> Result<Resource<DynOutputStream>, Error> {
        let lines: DynOutputStream = Box::new(Lines { stream, said: self.said.clone() });
        Ok(self.table.push(lines)?)
    }

    fn draw(&mut self, count: u64) -> Result<Vec<u8>, Error> {
        let Some(count) = usize::try_from(count).ok().filter(|count| *count <= RANDOM_MAX) else {
            self.ended = Some(Limit::Random(RANDOM_MAX));
            return Err(Error::msg("a limit of the call"));
        };
        let mut bytes = vec![0; count];
        self.random()?.fill_bytes(&mut bytes);
        Ok(bytes)
    }

    fn random(&mut self) -> Result<&mut StdRng, Error> {
        self.random.as_mut().ok_or_else(|| Error::msg("no randomness"))
    }

    /// Something to wait for. A time that no clock reaches never comes.
    fn wait(&mut self, until: Option<Instant>) -> Result<Resource<DynPollable>, Error> {
        let wait = self.table.push(Sleep(until))?;
        subscribe(&mut self.table, wait)
    }
}

impl stdout::Host for Wasi {
    fn get_stdout(&mut self) -> Result<Resource<DynOutputStream>, Error> {
        self.stream(Stream::Out)
    }
}

impl stderr::Host for Wasi {
    fn get_stderr(&mut self) -> Result<Resource<DynOutputStream>, Error> {
        self.stream(Stream::Err)
    }
}

impl wall_clock::Host for Wasi {
    fn now(&mut self) -> Result<wall_clock::Datetime, Error> {
        Ok(wall_clock::Datetime { seconds: u64::try_from(self.now).unwrap_or(0), nanoseconds: 0 })
    }

    fn resolution(&mut self) -> Result<wall_clock::Datetime, Error> {
        Ok(wall_clock::Datetime { seconds: 1, nanoseconds: 0 })
    }
}

impl monotonic_clock::Host for Wasi {
    fn now(&mut self) -> Result<u64, Error> {
        let passed = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(passed.saturating_mul(MILLISECOND))
    }

    fn resolution(&mut self) -> Result<u64, Error> {
        Ok(MILLISECOND)
    }

    fn subscribe_instant(&mut self, when: u64) -> Result<Resource<DynPollable>, Error> {
        self.wait(self.begun.checked_add(Duration::from_nanos(when)))
    }

    fn subscribe_duration(&mut self, time: u64) -> Result<Resource<DynPollable>, Error> {
        self.wait(Instant::now().checked_add(Duration::from_nanos(time)))
    }
}

impl random::Host for Wasi {
    fn get_random_bytes(&mut self, count: u64) -> Result<Vec<u8>, Error> {
        self.draw(count)
    }

    fn get_random_u64(&mut self) -> Result<u64, Error> {
        Ok(self.random()?.next_u64())
    }
}

impl insecure::Host for Wasi {
    fn get_insecure_random_bytes(&mut self, count: u64) -> Result<Vec<u8>, Error> {
        self.draw(count)
    }

    fn get_insecure_random_u64(&mut self) -> Result<u64, Error> {
        Ok(self.random()?.next_u64())
    }
}

impl insecure_seed::Host for Wasi {
    fn insecure_seed(&mut self) -> Result<(u64, u64), Error> {
        let random = self.random()?;
        Ok((random.next_u64(), random.next_u64()))
    }
}

/// A wait, until then or without end. What bounds it is the time of the call.
struct Sleep(Option<Instant>);

#[async_trait]
impl Pollable for Sleep {
    async fn ready(&mut self) {
        match self.0 {
            // The runtime's own timer says so only now and then, when it is asked again and again.
            Some(until) if until <= Instant::now() => {}
            Some(until) => tokio::time::sleep_until(until).await,
            None => std::future::pending().await,
        }
    }
}

/// A stream that is written to. It keeps nothing back, so it is always ready and has nothing to flush.
struct Lines {
    stream: Stream,
    said: Said,
}

#[async_trait]
impl Pollable for Lines {
    async fn ready(&mut self) {}
}

#[async_trait]
impl OutputStream for Lines {
    fn write(&mut self, bytes: bytes::Bytes) -> StreamResult<()> {
        self.said.write(self.stream, &bytes).map_err(StreamError::Trap)
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(WRITTEN_MAX)
    }
}
