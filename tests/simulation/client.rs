//! A client that follows its script and judges every byte that comes back.
//!
//! It knows the order of what it asked, so an answer that is missing, doubled, misplaced or somebody else's is found when it
//! arrives. Whether an early end was deserved is judged at the end of the run, against the server's own account.

use std::collections::VecDeque;
use std::time::Duration;

use fastslua::testing::{Peer, PeerState, Response, ResponseReader, SimHandle};

use crate::script::{Expected, Script, Step, content};

/// How it came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Visiting,
    /// Went away by itself.
    Left,
    /// The server ended the connection; nothing was owed.
    Served,
    /// The server ended the connection and owed answers: for a reason that it has to have counted.
    CutOff,
}

pub struct Client {
    pub script: Script,
    pub fate: Fate,
    peer: Option<Peer>,
    reader: ResponseReader,
    owed: VecDeque<Expected>,
    at: usize,
    /// When the present pause is over, or the last piece of the present message has been handed over.
    pause_until: Option<Duration>,
    continued: bool,
    /// The server has said that it will close.
    told_to_close: bool,
    pub answers: usize,
    pub refused: Option<u16>,
}

impl Client {
    pub fn new(script: Script) -> Self {
        Client {
            script,
            fate: Fate::Visiting,
            peer: None,
            reader: ResponseReader::new(),
            owed: VecDeque::new(),
            at: 0,
            pause_until: None,
            continued: false,
            told_to_close: false,
            answers: 0,
            refused: None,
        }
    }

    pub fn visiting(&self) -> bool {
        self.fate == Fate::Visiting
    }

    /// Answers still owed, for the report of a failure.
    pub fn owes(&self) -> usize {
        self.owed.len()
    }

    /// Takes what has come, then goes as far in the script as it can.
    pub fn act(&mut self, now: Duration, network: &SimHandle) -> Result<(), String> {
        if !self.visiting() || now < self.script.start {
            return Ok(());
        }
        if self.peer.is_none() {
            self.peer = Some(network.connect(self.script.address, self.script.window));
        }
        self.take()?;
        while self.visiting() && self.at < self.script.steps.len() && self.follow(now) {
            self.at += 1;
        }
        if self.visiting() && self.at == self.script.steps.len() && self.owed.is_empty() {
            // A kept-alive connection that nobody ends: the server's time-out has to.
            self.fate = Fate::Left;
        }
        Ok(())
    }

    /// The run is over: gives the connection up, if there still is one.
    pub fn leave(&mut self) {
        if let (true, true, Some(peer)) = (self.visiting(), self.script.leaves, &self.peer) {
            peer.reset(Duration::ZERO, false);
        }
        if self.visiting() {
            self.fate = Fate::Left;
        }
    }

    fn take(&mut self) -> Result<(), String> {
        let Some(peer) = &self.peer else { return Ok(()) };
        let bytes = peer.receive(self.script.pace);
        let state = peer.state();
        let told = self.reader.receive(&bytes);
        while let Some(response) = self.reader.next_response() {
            self.judge(response)?;
        }
        // Who refuses before the method was read cannot know that HEAD was asked.
        let unread = matches!(self.refused, Some(408 | 503)) && self.owed.front().is_some_and(|expected| expected.head);
        if !unread {
            told?;
        }
        if state == PeerState::Open {
            return Ok(());
        }
        let inside = self.reader.inside();
        if state == PeerState::Ended && !inside {
            self.reader.end()?;
        }
        if let (true, Some(peer)) = (self.script.leaves, &self.peer) {
            peer.end(Duration::ZERO);
        }
        let owed = !self.owed.is_empty() && !self.told_to_close;
        self.fate = if owed || inside { Fate::CutOff } else { Fate::Served };
        Ok(())
    }

    fn judge(&mut self, response: Response) -> Result<(), String> {
        if response.status < 200 {
            self.continued = true;
            let expects = self.script.kind == "expecting" && response.status == 100;
            return if expects {
                Ok(())
            } else {
                Err(format!("an interim response nobody waits for: {response:?}"))
            };
        }
        self.told_to_close |= response.close;
        match response.field("x-mark") {
            Some(mark) => {
                let mark = String::from_utf8_lossy(mark).into_owned();
                self.judge_answer(&mark, &response)
            }
            None => self.judge_refusal(&response),
        }
    }

    fn judge_answer(&mut self, mark: &str, response: &Response) -> Result<(), String> {
        let Some(expected) = self.owed.pop_front() else {
            return Err(format!("an answer to nothing: {mark}"));
        };
        if expected.mark.as_deref() != Some(mark) {
            return Err(format!("the answer {mark} where {:?} was due", expected.mark));
        }
        if !expected.status.contains(&response.status) {
            return Err(format!(
                "{} for {mark}, expected {:?}",
                response.status, expected.status
            ));
        }
        let len = if expected.head { 0 } else { expected.len };
        if response.body != content(mark, len) {
            return Err(format!(
                "the content of {mark} is wrong ({} bytes of {len})",
                response.body.len()
            ));
        }
        let length = response.field("content-length").map(String::from_utf8_lossy);
        let stated = length
            .as_deref()
            .is_none_or(|length| length == expected.len.to_string());
        if expected.head && !stated {
            return Err(format!(
                "HEAD of {mark} tells {length:?}, GET would tell {}",
                expected.len
            ));
        }
        self.answers += 1;
        Ok(())
    }

    fn judge_refusal(&mut self, response: &Response) -> Result<(), String> {
        if !response.close {
            return Err(format!("a refusal that does not close: {response:?}"));
        }
        self.refused = Some(response.status);
        let due = self.owed.front().filter(|expected| expected.mark.is_none());
        let deserved = due.is_some_and(|expected| expected.status.contains(&response.status));
        if deserved {
            self.owed.pop_front();
            self.answers += 1;
        } else if !matches!(response.status, 400 | 408 | 413 | 431 | 500 | 503) {
            return Err(format!("an answer without a mark, and no refusal: {response:?}"));
        }
        // Whatever was asked behind it is not to be answered any more, and the reason is counted.
        Ok(())
    }

    /// Does the present step; false when it is not over yet.
    fn follow(&mut self, now: Duration) -> bool {
        let Some(peer) = &self.peer else { return false };
        match &self.script.steps[self.at] {
            Step::Expect(expected) => {
                self.reader.expect(expected.head);
                self.owed.push_back(expected.clone());
                true
            }
            Step::Send { bytes, piece, gap } => {
                // Handed over at once; the next message comes behind it whatever its own delays are.
                for (at, part) in bytes.chunks(*piece).enumerate() {
                    peer.send(part, *gap * at as u32);
                }
                true
            }
            Step::Answers => self.owed.is_empty(),
            Step::Continue => self.continued || self.owed.is_empty(),
            Step::Pause(time) => {
                let until = *self.pause_until.get_or_insert(now + *time);
                if now >= until {
                    self.pause_until = None;
                }
                now >= until
            }
            Step::End => {
                peer.end(Duration::ZERO);
                true
            }
            Step::Reset { keep } => {
                peer.reset(Duration::ZERO, *keep);
                self.fate = Fate::Left;
                true
            }
            Step::UntilEnded => false,
        }
    }
}
