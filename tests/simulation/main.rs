//! The whole server on a simulated network: seeds decide who visits, what fails and how far the limits reach.
//!
//! In every run each request is answered once, in order and rightly, or its connection ended for a counted reason; no turn
//! does more than it may; and when everybody has left, nothing is left. A failure names its seed: `SIM_SEED=n` runs it
//! alone, `SIM_SEEDS=n` runs more.

mod client;
mod host;
mod outcome;
mod plan;
mod rows;
mod script;

use std::panic;
use std::time::Duration;

use client::{Client, Fate};
use fastslua::server::{Clock, Config, End, Server};
use fastslua::testing::{Faults, Random, SimClock, SimHandle, SimNetwork};
use host::Host;
use outcome::{Met, Outcome};
use plan::{FRAME, Plan};

/// Seeds run when nobody asks for more.
const SEEDS: u64 = 200;

/// Frames after which everybody who is still there gives up: some of them never would. Virtual time, a good minute.
const FRAMES_MAX: usize = 4_000;

fn env(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

#[test]
fn every_request_is_answered_once_or_its_connection_ended_for_a_reason() {
    if let Some(seed) = env("SIM_SEED") {
        run(seed).unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
        return;
    }
    let (mut failed, mut met) = (Vec::new(), Met::nothing());
    let seeds = env("SIM_SEEDS").unwrap_or(SEEDS);
    for seed in 0..seeds {
        // A panic of one seed shall not hide the others.
        let told = panic::catch_unwind(|| run(seed)).unwrap_or_else(|_| Err(String::from("panicked")));
        match told {
            Ok(outcome) => met.add(&outcome),
            Err(fault) => {
                println!("seed {seed}: {fault}");
                failed.push(seed);
            }
        }
    }
    assert!(failed.is_empty(), "seeds that failed: {failed:?}");
    if seeds >= SEEDS {
        met.check();
    }
}

#[test]
fn a_seed_names_one_run() {
    for seed in 0..10 {
        assert_eq!(run(seed), run(seed), "seed {seed}");
    }
}

fn run(seed: u64) -> Result<Outcome, String> {
    let plan = Plan::draw(seed);
    if plan.drains {
        visit::<true>(plan, seed)
    } else {
        visit::<false>(plan, seed)
    }
}

fn visit<const DRAINS: bool>(plan: Plan, seed: u64) -> Result<Outcome, String> {
    let (mut host, network) = Host::<DRAINS>::new(&plan, &mut Random::new(!seed));
    let (calm, sleeps) = (plan.calm, plan.sleeps);
    let mut clients: Vec<Client> = plan.scripts.into_iter().map(Client::new).collect();
    for _ in 0..FRAMES_MAX {
        let now = host.clock.elapsed();
        for (at, client) in clients.iter_mut().enumerate() {
            let told = client.act(now, &network);
            told.map_err(|fault| format!("client {at} ({}): {fault}", client.script.kind))?;
        }
        if !clients.iter().any(Client::visiting) {
            break;
        }
        if sleeps {
            let hint = host.server.wait_hint(host.clock.now());
            host.turn(Some(hint.map_or(FRAME, |hint| hint.min(FRAME))))?;
        } else {
            host.turn(Some(Duration::ZERO))?;
            host.clock.reach(now + FRAME);
        }
    }
    if calm {
        check_sound(&clients)?;
    }
    clients.iter_mut().for_each(Client::leave);
    empty(&mut host, &network)?;
    check_reasons(&host, &network, &clients)?;
    let stats = host.server.stats();
    Ok(Outcome {
        counts: network.counts(),
        elapsed: host.clock.elapsed(),
        ends: stats.ends,
        refusals: stats.refusals.clone(),
    })
}

/// Nobody sound was disappointed in a calm run.
fn check_sound(clients: &[Client]) -> Result<(), String> {
    for (at, client) in clients.iter().enumerate() {
        let disappointed = client.fate == Fate::CutOff || client.owes() > 0 || client.visiting();
        if client.script.sound && disappointed {
            let (kind, fate, refused) = (client.script.kind, client.fate, client.refused);
            let (owes, answers) = (client.owes(), client.answers);
            let told = format!("{fate:?}, {answers} answers, {owes} owed, refused {refused:?}");
            return Err(format!("client {at} ({kind}): {told}"));
        }
    }
    Ok(())
}

/// Whoever was cut off was so for a reason that the server has counted, or never got in.
fn check_reasons<const DRAINS: bool>(
    host: &Host<DRAINS>,
    network: &SimHandle,
    clients: &[Client],
) -> Result<(), String> {
    let cut_off = clients.iter().filter(|client| client.fate == Fate::CutOff).count() as u64;
    let stats = host.server.stats();
    let reasons: u64 = End::ALL
        .iter()
        .filter(|end| !matches!(end, End::Answered | End::PeerClosed))
        .map(|end| stats.ended_by(*end))
        .sum();
    let never_accepted = (clients.len() as u64).saturating_sub(network.counts().accepted);
    if cut_off > reasons + never_accepted {
        return Err(format!("{cut_off} clients were cut off, {reasons} ends have a reason"));
    }
    Ok(())
}

/// Everybody has left or fallen silent: the server's own deadlines empty it, and it tells when to come for them.
fn empty<const DRAINS: bool>(host: &mut Host<DRAINS>, network: &SimHandle) -> Result<(), String> {
    for _ in 0..20_000 {
        let hint = host.server.wait_hint(host.clock.now());
        if host.server.active() == 0 && network.waiting() == 0 && network.next_arrival().is_none() {
            break;
        }
        host.turn(Some(hint.map_or(FRAME, |hint| hint.min(Duration::from_secs(1)))))?;
        host.clock.spend(FRAME);
    }
    let (active, buffered) = (host.server.active(), host.server.buffered_bytes());
    if active + buffered > 0 || network.open() > 0 || host.held.get() != 0 {
        let (open, held) = (network.open(), host.held.get());
        return Err(format!(
            "left behind: {active} connections ({open} open), {buffered} bytes, {held} bodies"
        ));
    }
    Ok(())
}

/// Ten thousand connections that say nothing cost a turn one question to the poller.
#[test]
fn idle_connections_cost_no_calls() {
    let clock = SimClock::new();
    let (network, handle) = SimNetwork::<false>::new(clock.clone(), Random::new(0), Faults::none());
    let config = Config {
        max_connections: 20_000,
        ..Config::default()
    };
    let mut server: Server<SimNetwork<false>, Vec<u8>> = Server::new(network, config, clock.now());
    let address = |n: usize| ([10, 0, (n >> 8) as u8, n as u8], 9).into();
    let peers: Vec<_> = (0..10_000).map(|n| handle.connect(address(n), 1000)).collect();
    let mut turn = || {
        let before = handle.counts();
        server.begin_turn(&clock, None, Some(Duration::ZERO)).expect("polled");
        assert!(server.next_request(&clock).is_none());
        server.end_turn(&clock);
        (
            handle.counts().calls() - before.calls(),
            server.active(),
            server.buffered_bytes(),
        )
    };
    for _ in 0..200 {
        turn();
    }
    for _ in 0..100 {
        assert_eq!(turn(), (1, peers.len(), 0), "calls, connections, bytes");
    }
}
