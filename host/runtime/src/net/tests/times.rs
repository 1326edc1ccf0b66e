//! The time limits, each with what it says about the request. The durations are real, because sockets do not know of a
//! paused clock; each limit is small and everything else far away.

use super::server::{Ca, Server, Then, raw};
use super::*;
use crate::net::{Stage, StageLimits};

const SHORT: Duration = Duration::from_millis(200);
const LONG: Duration = Duration::from_mins(1);
const FAR: StageLimits = StageLimits { connect: LONG, header: LONG, idle: LONG };

async fn timed(server: (Ca, Server), stages: StageLimits, deadline: Duration) -> (WireErrorKind, Sent) {
    let (ca, server) = server;
    let client = PinnedClient::new(settings(&server, &ca).with_limits(stages)).expect("settings");
    let limits = WireLimits { deadline, ..LIMITS };
    let begun = client.exchange(Permit::new(host()), get("/"), limits).await;
    verdict(match begun {
        Ok(incoming) => whole(incoming).await,
        Err(error) => Err(error),
    })
}

fn timeout(stage: Stage, sent: Sent) -> (WireErrorKind, Sent) {
    (WireErrorKind::Timeout { stage }, sent)
}

#[tokio::test]
async fn a_handshake_that_does_not_come() {
    let stages = StageLimits { connect: SHORT, ..FAR };
    let verdict = timed(Server::no_handshake().await, stages, LONG).await;
    assert_eq!(verdict, timeout(Stage::Connect, Sent::No));
}

#[tokio::test]
async fn the_deadline_in_a_handshake_is_certainly_before_sending() {
    let verdict = timed(Server::no_handshake().await, FAR, SHORT).await;
    assert_eq!(verdict, timeout(Stage::Total, Sent::No));
}

#[tokio::test]
async fn a_status_that_does_not_come() {
    let stages = StageLimits { connect: SHORT, header: SHORT, ..FAR };
    let silent = Server::h1(vec![raw("", Then::Hold)]).await;
    assert_eq!(timed(silent, stages, LONG).await, timeout(Stage::Header, Sent::Maybe));
    let silent = Server::h1(vec![raw("", Then::Hold)]).await;
    assert_eq!(timed(silent, FAR, Duration::from_secs(1)).await, timeout(Stage::Total, Sent::Maybe));
}

#[tokio::test]
async fn a_status_that_does_not_come_over_http_2() {
    let (ca, server) = Server::h2(0).await;
    let stages = StageLimits { connect: SHORT, header: SHORT, ..FAR };
    let client = PinnedClient::new(settings(&server, &ca).with_limits(stages)).expect("settings");
    for outgoing in [get("/silence"), request(Method::POST, "/silence", Some("x"))] {
        assert_eq!(verdict(send(&client, outgoing).await), timeout(Stage::Header, Sent::Maybe));
    }
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn headers_that_drip() {
    let stages = StageLimits { connect: SHORT, header: SHORT, ..FAR };
    let drip = Then::Drip(b"x: y\r\n", Duration::from_millis(20));
    let server = Server::h1(vec![raw("HTTP/1.1 200 OK\r\n", drip)]).await;
    assert_eq!(timed(server, stages, LONG).await, timeout(Stage::Header, Sent::Maybe));
}

#[tokio::test]
async fn a_body_that_stands_still() {
    let stages = StageLimits { idle: SHORT, ..FAR };
    let server = Server::h1(vec![raw("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc", Then::Hold)]).await;
    assert_eq!(timed(server, stages, LONG).await, timeout(Stage::Idle, Sent::Yes));
}

#[tokio::test]
async fn a_body_that_drips_for_ever() {
    let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let drip = Then::Drip(b"1\r\nx\r\n", Duration::from_millis(20));
    let server = Server::h1(vec![raw(head, drip)]).await;
    assert_eq!(timed(server, FAR, Duration::from_secs(1)).await, timeout(Stage::Total, Sent::Yes));
}
