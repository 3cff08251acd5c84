//! Stories of their own for what seeds have found, and for what only costs time when it goes wrong. Seeds change their
//! meaning with every draw that is added, a story does not.

use std::time::Duration;

use fastslua::h1::Reject;
use fastslua::server::{Clock, Config, End, Payload, RequestId, Server};
use fastslua::testing::{Faults, Peer, PeerState, Random, Response, ResponseReader, SimClock, SimHandle, SimNetwork};

use crate::plan::FRAME;

/// On a network as Linux has it, where a short receive drains.
type Sut = Server<SimNetwork<true>, Vec<u8>>;

/// A server whose every turn is looked at, and nothing left to chance.
struct Stage {
    server: Sut,
    clock: SimClock,
    network: SimHandle,
}

impl Stage {
    fn new(config: Config, faults: Faults) -> Self {
        let clock = SimClock::new();
        let (network, handle) = SimNetwork::new(clock.clone(), Random::new(1), faults);
        let server = Server::new(network, config, clock.now());
        Stage {
            server,
            clock,
            network: handle,
        }
    }

    fn connect(&self, window: usize) -> Peer {
        self.network.connect(([10, 0, 0, 1], 1).into(), window)
    }

    /// One turn in which `handler` answers; the number of requests it saw.
    fn turn(&mut self, handler: fn(&mut Sut, RequestId)) -> usize {
        self.server
            .begin_turn(&self.clock, None, Some(Duration::ZERO))
            .expect("polled");
        while let Some(id) = self.server.next_request(&self.clock) {
            handler(&mut self.server, id);
            self.server.end_request(id, &self.clock);
        }
        let turn = self.server.end_turn(&self.clock);
        self.clock.spend(FRAME);
        turn.dispatched
    }

    /// Turns in which `peer` takes all it can; every response, and how many requests were dispatched.
    fn turns(&mut self, count: usize, peer: &Peer, handler: fn(&mut Sut, RequestId)) -> (Vec<Response>, usize) {
        let mut reader = ResponseReader::new();
        let mut dispatched = 0;
        for _ in 0..count {
            dispatched += self.turn(handler);
            reader.receive(&peer.receive(usize::MAX)).expect("sound responses");
        }
        (std::iter::from_fn(|| reader.next_response()).collect(), dispatched)
    }
}

fn answer(server: &mut Sut, id: RequestId) {
    server
        .respond(id, Payload::Bytes(b"twenty bytes at least"))
        .expect("a small answer");
}

fn refuse(server: &mut Sut, id: RequestId) {
    server.refuse_request(id, Reject::HandlerFailed);
}

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
const LAST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

#[test]
fn a_closing_answer_sent_in_part_behind_a_kept_back_one_is_given_once() {
    let mut stage = Stage::new(Config::default(), Faults::none());
    let peer = stage.connect(50);
    peer.send(&[GET, LAST].concat(), Duration::ZERO);
    let (responses, dispatched) = stage.turns(50, &peer, answer);
    assert_eq!((responses.len(), dispatched, peer.state()), (2, 2, PeerState::Ended));
    peer.end(Duration::ZERO);
    stage.turn(answer);
    assert_eq!((stage.server.active(), stage.server.stats().requests), (0, 2));
}

#[test]
fn a_refusal_in_the_handlers_stead_is_sent_and_counted_once() {
    let mut stage = Stage::new(Config::default(), Faults::none());
    let peer = stage.connect(1000);
    peer.send(GET, Duration::ZERO);
    let (responses, _) = stage.turns(3, &peer, refuse);
    assert_eq!(
        responses.iter().map(|response| response.status).collect::<Vec<_>>(),
        [500]
    );
    let stats = stage.server.stats();
    assert_eq!(
        (stats.requests, stats.unanswered, stats.responses),
        (1, 0, [0, 0, 0, 1])
    );
}

#[test]
fn a_peer_that_leaves_is_not_sent_nothing() {
    // The network panics at an empty send.
    let mut stage = Stage::new(Config::default(), Faults::none());
    let peer = stage.connect(1000);
    peer.send(GET, Duration::ZERO);
    peer.end(FRAME * 2);
    let (responses, _) = stage.turns(5, &peer, answer);
    assert_eq!((responses.len(), peer.state()), (1, PeerState::Ended));
    assert_eq!(stage.server.stats().ended_by(End::PeerClosed), 1);
}

#[test]
fn a_body_that_trickles_in_while_it_is_received_ends_its_visit() {
    // A byte arrives with every call that asks for one: the next receive never finds nothing.
    let call_cost = Duration::from_micros(5);
    let faults = Faults {
        call_cost,
        ..Faults::none()
    };
    let config = Config {
        step_seconds: Duration::from_micros(50),
        ..Config::default()
    };
    let mut stage = Stage::new(config, faults);
    let peer = stage.connect(1000);
    peer.send(
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n",
        Duration::ZERO,
    );
    (0..5000).for_each(|at| peer.send(b"x", call_cost * at));
    let mut turns = 0;
    while stage.server.stats().requests == 0 {
        let before = stage.network.counts();
        stage.turn(answer);
        // Sixteen in a visit that began within the budget; at most nine fit the budget before it.
        assert!(stage.network.counts().recvs - before.recvs <= 16 + 9);
        turns += 1;
        assert!(turns < 5000);
    }
}

/// Turns until the server has ended the connection of `peer`, at most `most`; what it was answered.
fn turns_until_ended(stage: &mut Stage, peer: &Peer, most: usize) -> (usize, Vec<u16>) {
    let mut reader = ResponseReader::new();
    for turn in 0..most {
        stage.turn(answer);
        reader.receive(&peer.receive(usize::MAX)).expect("sound responses");
        if peer.state() != PeerState::Open {
            let responses = std::iter::from_fn(|| reader.next_response());
            return (turn, responses.map(|response| response.status).collect());
        }
    }
    panic!("still open after {most} turns");
}

#[test]
fn a_byte_in_every_frame_gains_no_time() {
    let time = Duration::from_secs(1);
    let config = Config {
        header_timeout: time,
        body_timeout: time,
        ..Config::default()
    };
    // Its whole life long a connection stands in the queue when its time is over.
    let rows: [&[u8]; 3] = [
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HTTP/1.1\r\nX: ",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n",
    ];
    for begun in rows {
        for gap in [Duration::from_millis(5), FRAME, FRAME * 2] {
            let body = begun[0] == b'P';
            if body && gap < FRAME * 2 {
                // As fast as a body has to be.
                continue;
            }
            let mut stage = Stage::new(config.clone(), Faults::none());
            let peer = stage.connect(10_000);
            peer.send(begun, Duration::ZERO);
            (1..2000).for_each(|at| peer.send(b"a", gap * at));
            let (turns, statuses) = turns_until_ended(&mut stage, &peer, 400);
            assert_eq!(statuses.last(), Some(&408), "{gap:?}");
            let most = if body { time * 2 } else { time };
            assert!(FRAME * turns as u32 <= most + FRAME * 3, "{gap:?}: {turns} turns");
        }
    }
}

#[test]
fn a_host_that_stands_still_costs_nobody_a_request_that_was_sent_in_time() {
    let config = Config {
        header_timeout: Duration::from_secs(1),
        keep_alive_timeout: Duration::from_secs(2),
        ..Config::default()
    };
    let mut stage = Stage::new(config, Faults::none());
    let (silent, begun) = (stage.connect(1000), stage.connect(1000));
    begun.send(&GET[..10], Duration::ZERO);
    stage.turn(answer);
    silent.send(GET, FRAME);
    begun.send(&GET[10..], FRAME);
    stage.clock.spend(Duration::from_secs(60));
    for peer in [silent, begun] {
        let (responses, _) = stage.turns(3, &peer, answer);
        let statuses: Vec<u16> = responses.iter().map(|response| response.status).collect();
        assert_eq!(statuses, [200]);
    }
}

#[test]
fn who_leaves_makes_room_for_who_comes_with_it() {
    let config = Config {
        max_connections: 1,
        ..Config::default()
    };
    let mut stage = Stage::new(config, Faults::none());
    for _ in 0..3 {
        let peer = stage.connect(1000);
        peer.send(GET, Duration::ZERO);
        let (responses, _) = stage.turns(3, &peer, answer);
        assert_eq!(responses.iter().map(|r| r.status).collect::<Vec<_>>(), [200]);
        // Its end and the next connection are seen by the same turn.
        peer.end(Duration::ZERO);
    }
    assert_eq!(stage.server.stats().ended_by(End::Full), 0);
}

#[test]
fn a_silent_connection_is_evicted_though_older_ones_have_just_spoken() {
    let config = Config {
        max_connections: 3,
        ..Config::default()
    };
    let mut stage = Stage::new(config, Faults::none());
    let peers: Vec<Peer> = (0..3).map(|_| stage.connect(1000)).collect();
    stage.turn(answer);
    peers[0].send(&GET[..4], Duration::ZERO);
    let newcomer = stage.connect(1000);
    newcomer.send(GET, Duration::ZERO);
    let (responses, _) = stage.turns(2, &newcomer, answer);
    assert_eq!(responses.iter().map(|r| r.status).collect::<Vec<_>>(), [200]);
    let states: Vec<PeerState> = peers.iter().map(Peer::state).collect();
    assert_ne!(states[1], PeerState::Open);
    assert_eq!((states[0], states[2]), (PeerState::Open, PeerState::Open));
}

#[test]
fn budgets_of_one_byte_are_slow_and_never_stuck() {
    let config = Config {
        max_io_bytes_per_step: 1,
        max_io_bytes_per_visit: 1,
        max_accepts_per_step: 1,
        max_dispatches_per_step: 1,
        ..Config::default()
    };
    let mut stage = Stage::new(config, Faults::none());
    let peers: Vec<Peer> = (0..4).map(|_| stage.connect(1000)).collect();
    peers.iter().for_each(|peer| peer.send(LAST, Duration::ZERO));
    for _ in 0..peers.len() * (LAST.len() + 200) {
        let before = stage.network.counts();
        stage.turn(answer);
        let after = stage.network.counts();
        let moved = after.received_bytes + after.sent_bytes - before.received_bytes - before.sent_bytes;
        // The byte that completed a request is followed by the first of its answer.
        assert!(moved <= 2, "{moved} bytes in a turn");
    }
    for peer in &peers {
        let mut reader = ResponseReader::new();
        reader.receive(&peer.receive(1000)).expect("a sound response");
        assert_eq!(reader.next_response().map(|response| response.status), Some(200));
    }
    assert_eq!(stage.server.stats().requests, 4);
}

#[test]
fn an_end_reported_with_the_last_bytes_is_not_forgotten() {
    let mut stage = Stage::new(Config::default(), Faults::none());
    let peer = stage.connect(1000);
    stage.turn(answer);
    peer.send(GET, Duration::ZERO);
    peer.end(Duration::ZERO);
    let (responses, _) = stage.turns(3, &peer, answer);
    assert_eq!((responses.len(), peer.state()), (1, PeerState::Ended));
}

#[test]
fn who_waits_for_memory_is_served_when_there_is_some() {
    let config = Config {
        max_buffered_bytes: 64 << 10,
        max_body_bytes: 64 << 10,
        ..Config::default()
    };
    let mut stage = Stage::new(config, Faults::none());
    let greedy: Vec<Peer> = (0..16).map(|_| stage.connect(1000)).collect();
    greedy.iter().for_each(|peer| peer.send(&LAST[..20], Duration::ZERO));
    stage.turn(answer);
    assert_eq!(stage.server.buffered_bytes(), 64 << 10);
    let patient = stage.connect(1000);
    patient.send(LAST, Duration::ZERO);
    let (responses, _) = stage.turns(5, &patient, answer);
    assert_eq!((responses.len(), stage.server.stats().requests), (0, 0));
    greedy.iter().for_each(|peer| peer.reset(Duration::ZERO, false));
    let (responses, _) = stage.turns(3, &patient, answer);
    assert_eq!(responses.len(), 1);
}

#[test]
fn an_answer_kept_back_for_a_pipeline_leaves_with_its_turn() {
    let mut stage = Stage::new(
        Config {
            max_dispatches_per_step: 1,
            ..Config::default()
        },
        Faults::none(),
    );
    let peer = stage.connect(1000);
    peer.send(&GET.repeat(3), Duration::ZERO);
    for _ in 0..3 {
        let (responses, dispatched) = stage.turns(1, &peer, answer);
        assert_eq!((responses.len(), dispatched), (1, 1));
    }
}

#[test]
fn a_pipeline_is_answered_with_one_receive_and_one_send() {
    let mut stage = Stage::new(Config::default(), Faults::none());
    let peer = stage.connect(100_000);
    stage.turn(answer);
    let before = stage.network.counts();
    peer.send(&GET.repeat(16), Duration::ZERO);
    let (responses, _) = stage.turns(1, &peer, answer);
    let after = stage.network.counts();
    assert_eq!(
        (responses.len(), after.recvs - before.recvs, after.sends - before.sends),
        (16, 1, 1)
    );
}

#[test]
fn a_failing_accept_delays_connections_and_loses_none_that_wait() {
    let faults = Faults {
        accept_fails: 40,
        ..Faults::none()
    };
    let mut stage = Stage::new(Config::default(), faults);
    let peers: Vec<Peer> = (0..20).map(|_| stage.connect(1000)).collect();
    peers.iter().for_each(|peer| peer.send(LAST, Duration::ZERO));
    // The system is asked again ten times a second.
    for _ in 0..600 {
        stage.turn(answer);
    }
    let answered = peers.iter().filter(|peer| !peer.receive(1000).is_empty()).count();
    let lost = peers.iter().filter(|peer| peer.state() == PeerState::Reset).count();
    assert_eq!((answered + lost, stage.network.waiting()), (20, 0));
    assert!(stage.server.stats().accept_errors > 0 && lost > 0);
    assert_eq!(stage.server.stats().requests, answered as u64);
}
