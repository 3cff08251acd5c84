//! The host: calls the server once a frame, plays its handlers, and checks after each turn what a turn may do.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::time::Duration;

use fastslua::h1::Reject;
use fastslua::server::{Clock, Payload, RequestId, RespondError, Server};
use fastslua::testing::{Counts, Random, SimClock, SimHandle, SimNetwork};

use crate::plan::Plan;
use crate::script::{Request, content};

/// A body that counts how many of its kind are alive.
pub struct Held {
    bytes: Vec<u8>,
    alive: Rc<Cell<isize>>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.alive.set(self.alive.get() - 1);
    }
}

pub struct Host<const DRAINS: bool> {
    pub server: Server<SimNetwork<DRAINS>, Held>,
    pub clock: SimClock,
    network: SimHandle,
    random: Random,
    requests: HashMap<String, Request>,
    handled: HashSet<String>,
    /// Names of requests that are over; answers to them come too late.
    over: Vec<RequestId>,
    /// Connections that have come and not gone, as the server tells of them.
    present: HashSet<u64>,
    pub held: Rc<Cell<isize>>,
    pub dispatched: u64,
    pub answered: u64,
    turns: u64,
    handler_micros: usize,
    careless: bool,
    closes_at: Option<(usize, bool)>,
    longest_handler: Duration,
    call_cost: Duration,
    kib_cost: Duration,
}

impl<const DRAINS: bool> Host<DRAINS> {
    pub fn new(plan: &Plan, random: &mut Random) -> (Self, SimHandle) {
        let clock = SimClock::new();
        let (network, handle) = SimNetwork::new(clock.clone(), random.fork(), plan.faults.clone());
        let mut server = Server::new(network, plan.config.clone(), clock.now());
        server.watch(true);
        let requests = plan.scripts.iter().flat_map(|script| &script.requests);
        let host = Host {
            server,
            clock,
            network: handle.clone(),
            random: random.fork(),
            requests: requests
                .map(|request| (request.mark.clone(), request.clone()))
                .collect(),
            handled: HashSet::new(),
            over: Vec::new(),
            present: HashSet::new(),
            held: Rc::default(),
            dispatched: 0,
            answered: 0,
            turns: 0,
            handler_micros: plan.handler_micros,
            careless: plan.careless,
            closes_at: plan.closes_at,
            longest_handler: Duration::ZERO,
            call_cost: plan.faults.call_cost,
            kib_cost: plan.faults.kib_cost,
        };
        (host, handle)
    }

    /// One turn, with the checks of what it did.
    pub fn turn(&mut self, wait: Option<Duration>) -> Result<(), String> {
        let before = self.network.counts();
        self.longest_handler = Duration::ZERO;
        let asked = self.clock.elapsed();
        // Ended by a signal: the turn goes on all the same.
        let _ = self.server.begin_turn(&self.clock, None, wait);
        let started = if wait == Some(Duration::ZERO) {
            asked
        } else {
            asked.max(self.clock.elapsed())
        };
        let mut dispatched = 0;
        while let Some(id) = self.server.next_request(&self.clock) {
            dispatched += 1;
            self.handle(id)?;
            self.server.end_request(id, &self.clock);
            self.over.push(id);
        }
        let turn = self.server.end_turn(&self.clock);
        self.turns += 1;
        self.dispatched += dispatched as u64;
        if turn.dispatched != dispatched {
            return Err(format!("{turn:?}, but {dispatched} handlers were called"));
        }
        self.check_units(before, self.network.counts(), dispatched)?;
        self.check_time(self.clock.elapsed() - started)?;
        self.check_passages()?;
        self.check_account()
    }

    /// Each connection comes once and goes once, and those that have not gone are open.
    fn check_passages(&mut self) -> Result<(), String> {
        while let Some(passage) = self.server.next_passage() {
            let expected = match passage.end {
                None => self.present.insert(passage.connection),
                Some(_) => self.present.remove(&passage.connection),
            };
            if !expected {
                return Err(format!("{passage:?} out of order"));
            }
        }
        if self.present.len() != self.server.active() {
            return Err(format!("{} connections are present", self.present.len()));
        }
        Ok(())
    }

    fn check_units(&self, before: Counts, after: Counts, dispatched: usize) -> Result<(), String> {
        let config = self.server.config();
        let accepts = (after.accepts - before.accepts) as usize;
        if accepts > config.max_accepts_per_step {
            return Err(format!("{accepts} accepts in a turn"));
        }
        if config.max_dispatches_per_step > 0 && dispatched > config.max_dispatches_per_step {
            return Err(format!("{dispatched} handlers in a turn"));
        }
        let moved = after.received_bytes + after.sent_bytes - before.received_bytes - before.sent_bytes;
        // A budget that is spent still lets a call move its least unit, one byte.
        let calls = after.recvs + after.sends - before.recvs - before.sends;
        if moved > config.max_io_bytes_per_step as u64 + calls {
            return Err(format!("{moved} bytes moved in a turn"));
        }
        if after.polls - before.polls > 1 {
            return Err("a turn asks the poller once".into());
        }
        Ok(())
    }

    /// The budget, one handler, and one unit of each phase: a visit's bytes both ways and a few calls.
    fn check_time(&self, took: Duration) -> Result<(), String> {
        let config = self.server.config();
        let visit = (config.max_io_bytes_per_visit / 1024 + 1) as u32;
        let unit = self.kib_cost * visit * 2 + self.call_cost * 24;
        let allowed = config.step_seconds + self.longest_handler + unit;
        if took > allowed {
            return Err(format!("a turn of {took:?}, allowed {allowed:?}"));
        }
        Ok(())
    }

    /// The server's account of itself against what was really done.
    fn check_account(&self) -> Result<(), String> {
        let (stats, counts) = (self.server.stats(), self.network.counts());
        let open = self.network.open() as u64;
        let rows = [
            ("accepted", stats.accepted, counts.accepted),
            ("closed", stats.closed, stats.ends.iter().sum()),
            ("active", self.server.active() as u64, stats.accepted - stats.closed),
            ("open", open, stats.accepted - stats.closed),
            ("requests", stats.requests, self.dispatched),
            ("answers", stats.responses.iter().sum(), self.answered),
            ("unanswered", stats.unanswered, self.dispatched - self.answered),
            ("bytes in", stats.bytes_in, counts.received_bytes),
            ("bytes out", stats.bytes_out, counts.sent_bytes),
            ("steps", stats.steps, self.turns),
        ];
        for (name, told, counted) in rows {
            if told != counted {
                return Err(format!("{name}: {told} told, {counted} counted"));
            }
        }
        // A refusal may exceed the pool: one small buffer per connection.
        let most = self.server.config().max_buffered_bytes + self.server.active() * 4096;
        if self.server.buffered_bytes() > most {
            return Err(format!("{} bytes are buffered", self.server.buffered_bytes()));
        }
        if self.held.get() < 0 {
            return Err("a held body was dropped twice".into());
        }
        Ok(())
    }

    fn handle(&mut self, id: RequestId) -> Result<(), String> {
        let cost = Duration::from_micros(self.random.below(self.handler_micros + 1) as u64);
        self.clock.spend(cost);
        self.longest_handler = self.longest_handler.max(cost);
        let (action, mark, len) = self.check_request(id)?;
        self.answer_late()?;
        if let Some((at, abrupt)) = self.closes_at {
            if self.handled.len() == at && abrupt {
                self.server.close();
                return self.check_gone(id);
            }
            if self.handled.len() == at {
                self.server.shutdown(Duration::from_secs(1), &self.clock);
            }
        }
        if self.careless && self.random.chance(5) {
            return Ok(());
        }
        if self.careless && self.random.chance(5) {
            self.server.refuse_request(id, Reject::HandlerFailed);
            self.answered += 1;
            return Ok(());
        }
        self.answer(id, &action, &mark, len)
    }

    /// The request is one that was sent, whole, and comes for the first time and in its client's order.
    fn check_request(&mut self, id: RequestId) -> Result<(String, String, usize), String> {
        let request = self.server.request(id).ok_or("a request without a view")?;
        let text = |span| String::from_utf8_lossy(request.text(span)).into_owned();
        let (method, path) = (text(request.head().method_text), text(request.head().path));
        let body = request.body().map(<[u8]>::to_vec);
        let mut parts = path.split('/').skip(1).map(str::to_owned);
        let mut part = || parts.next().ok_or(format!("nobody sent {method} {path}"));
        let (action, mark, len) = (part()?, part()?, part()?);
        let sent = self.requests.get(&mark).filter(|_| action != "hidden");
        let sent = sent.ok_or(format!("nobody sent {method} {path}"))?;
        if sent.method != method || sent.body != body {
            return Err(format!("{method} {path} arrived changed: {body:?}"));
        }
        let (client, number) = mark.split_once('-').expect("a mark of ours");
        let number: usize = number.parse().expect("a mark of ours");
        if !self.handled.insert(mark.clone()) {
            return Err(format!("{mark} was handled twice"));
        }
        if number > 0 && !self.handled.contains(&format!("{client}-{}", number - 1)) {
            return Err(format!("{mark} was handled before the request ahead of it"));
        }
        let len = len.parse().expect("a length of ours");
        Ok((action, mark, len))
    }

    /// An answer to a request that is over must find nothing.
    fn answer_late(&mut self) -> Result<(), String> {
        if self.over.is_empty() || !self.random.chance(20) {
            return Ok(());
        }
        let late = *self.random.pick(&self.over);
        self.check_gone(late)
    }

    fn check_gone(&mut self, id: RequestId) -> Result<(), String> {
        let told = self.server.respond(id, Payload::Bytes(b"too late"));
        let blank = self.server.request(id).is_none() && self.server.response_mut(id).is_none();
        if told != Err(RespondError::Gone) || !blank || self.server.is_live(id) {
            return Err(format!("{id:?} is over, and {told:?} was told"));
        }
        Ok(())
    }

    fn answer(&mut self, id: RequestId, action: &str, mark: &str, len: usize) -> Result<(), String> {
        let status = match action {
            "created" => 201,
            "empty" => 204,
            "unchanged" => 304,
            _ => 200,
        };
        let response = self
            .server
            .response_mut(id)
            .ok_or("a live request without a response")?;
        response.set_status(status).map_err(|error| error.to_string())?;
        response
            .set(b"X-Mark", mark.as_bytes())
            .map_err(|error| error.to_string())?;
        let bytes = content(mark, len);
        let told = if action == "held" {
            self.held.set(self.held.get() + 1);
            let alive = self.held.clone();
            self.server.respond(id, Payload::Held(Held { bytes, alive }))
        } else {
            self.server.respond(id, Payload::Bytes(&bytes))
        };
        let config = self.server.config();
        match told {
            Ok(()) => {}
            Err(RespondError::TooLarge { .. }) if len > config.max_response_bytes => {
                self.server.refuse_request(id, Reject::HandlerFailed);
            }
            Err(RespondError::NoMemory { .. }) if config.max_buffered_bytes < 64 << 20 => {
                self.server.refuse_request(id, Reject::Overloaded);
            }
            Err(error) => return Err(format!("answering {mark}: {error}")),
        }
        self.answered += 1;
        if action == "twice" {
            let told = self.server.respond(id, Payload::Bytes(b"again"));
            if told != Err(RespondError::AlreadySent) {
                return Err(format!("answered {mark} twice: {told:?}"));
            }
        }
        if self.server.responded(id) {
            Ok(())
        } else {
            Err(format!("{mark} was answered and does not know"))
        }
    }
}
