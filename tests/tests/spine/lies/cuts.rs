//! Connections that end before the answer does, and HTTP/2's own ways to end one.
//!
//! Over HTTP/1.1 a reset and a `GOAWAY` are a cut before the status.

use pinhole_runtime::outcome::Code;
use pinhole_standin::{Cut, Misbehaviour};

use super::{Lie, picked};

pub(super) fn lies() -> Vec<Lie> {
    let middle = "a connection cut in the middle of the body";
    let interrupted = |name, place| Lie::new(name, Misbehaviour::Cut(place), Code::Interrupted);
    let mut lies = vec![
        interrupted("a connection cut before the status", Cut::BeforeStatus).perhaps_sent(),
        interrupted("a connection cut in the headers", Cut::InHeaders).perhaps_sent(),
        interrupted(middle, Cut::MidBody),
        interrupted(middle, Cut::MidBodyUnframed),
        Lie::harmless("a connection cut after the body", Misbehaviour::Cut(Cut::AfterBody), &picked()),
    ];
    // RFC 9113, section 7: NO_ERROR, INTERNAL_ERROR, REFUSED_STREAM, CANCEL, ENHANCE_YOUR_CALM, and one that is none.
    for code in [0, 2, 7, 8, 11, 0xdead] {
        let how = Misbehaviour::H2Reset { code };
        lies.push(Lie::new("an HTTP/2 reset", how, Code::Interrupted).perhaps_sent());
    }
    for (last_stream, code) in [(0, 0), (1, 0), (0, 11), (1, 2), (0x7fff_ffff, 0)] {
        let how = Misbehaviour::H2GoAway { last_stream, code };
        lies.push(Lie::new("an HTTP/2 GOAWAY", how, Code::Interrupted).perhaps_sent());
    }
    lies
}
