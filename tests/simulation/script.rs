//! What a client does: a kind of client is a list of steps, and each request carries a mark of its own.
//!
//! Bodies of requests hide requests. A server that loses its place in the stream would answer them, and is caught.

use std::net::SocketAddr;
use std::time::Duration;

use fastslua::server::Config;
use fastslua::testing::Random;

/// One thing a client does before it goes on to the next.
#[derive(Clone, Debug)]
pub enum Step {
    /// Has bytes arrive in pieces of at most `piece` bytes, `gap` apart.
    Send {
        bytes: Vec<u8>,
        piece: usize,
        gap: Duration,
    },
    /// Owes itself an answer from here on.
    Expect(Expected),
    /// Waits until every expected answer is there.
    Answers,
    /// Waits for `100 Continue`, or an answer.
    Continue,
    Pause(Duration),
    /// Ends the sending side.
    End,
    Reset {
        keep: bool,
    },
    /// Waits for the server to end the connection.
    UntilEnded,
}

/// The answer to one request.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The mark of a request that a handler answers; `None` of one that is to be refused.
    pub mark: Option<String>,
    pub head: bool,
    pub status: Vec<u16>,
    /// Length of the content (which the mark decides).
    pub len: usize,
}

/// A request as the handler has to see it.
#[derive(Clone, Debug)]
pub struct Request {
    pub mark: String,
    pub method: &'static str,
    pub body: Option<Vec<u8>>,
}

/// One client's life.
pub struct Script {
    pub kind: &'static str,
    pub start: Duration,
    pub address: SocketAddr,
    /// Bytes that may lie between server and client, and how many the client takes per frame.
    pub window: usize,
    pub pace: usize,
    pub steps: Vec<Step>,
    /// Every expected answer has to come when the limits are generous.
    pub sound: bool,
    /// Ends its side when the server has ended the other; otherwise it stays as long as it is let.
    pub leaves: bool,
    pub requests: Vec<Request>,
}

/// The content that belongs to a mark.
pub fn content(mark: &str, len: usize) -> Vec<u8> {
    let unit = format!("[{mark}]");
    unit.bytes().cycle().take(len).collect()
}

type Kind = fn(&mut Writer<'_>);

/// Kinds whose every request has to be answered, when limits are generous.
const SOUND: [(&str, Kind); 8] = [
    ("one after another", one_after_another),
    ("pipelined", pipelined),
    ("closing", closing),
    ("http/1.0", http10),
    ("posting", posting),
    ("expecting", expecting),
    ("half-closing", half_closing),
    ("large", large),
];

/// Kinds that get what they deserve.
const UNSOUND: [(&str, Kind); 9] = [
    ("malformed", malformed),
    ("beyond a limit", beyond_a_limit),
    ("slow head", slow_head),
    ("slow body", slow_body),
    ("never reading", never_reading),
    ("resetting", resetting),
    ("truncated", truncated),
    ("silent", silent),
    ("foreign", foreign),
];

pub fn draw(client: usize, config: &Config, random: &mut Random) -> Script {
    let sound = random.chance(60);
    let (kind, write) = *if sound {
        random.pick(&SOUND)
    } else {
        random.pick(&UNSOUND)
    };
    let script = Script {
        kind,
        start: Duration::from_millis(random.below(400) as u64),
        address: SocketAddr::from(([10, 0, 0, random.between(1, 5) as u8], 1000 + client as u16)),
        window: *random.pick(&[100, 4_000, 200_000]),
        pace: *random.pick(&[5_000, 1 << 20]),
        steps: Vec::new(),
        sound,
        leaves: random.chance(70),
        requests: Vec::new(),
    };
    let mut writer = Writer {
        client,
        config,
        random,
        script,
    };
    write(&mut writer);
    writer.script
}

/// Writes one script.
struct Writer<'a> {
    client: usize,
    config: &'a Config,
    random: &'a mut Random,
    script: Script,
}

impl Writer<'_> {
    fn step(&mut self, step: Step) {
        self.script.steps.push(step);
    }

    fn send(&mut self, bytes: Vec<u8>) {
        let piece = *self.random.pick(&[1, 7, 100, 100_000]);
        // Small pieces of a large message would take for ever to arrive.
        let piece = piece.max(bytes.len() / 50);
        let gap = Duration::from_micros(self.random.below(20_000) as u64);
        self.step(Step::Send { bytes, piece, gap });
    }

    fn refused(&mut self, bytes: impl Into<Vec<u8>>, status: &[u16]) {
        let status = status.to_vec();
        self.step(Step::Expect(Expected {
            mark: None,
            head: false,
            status,
            len: 0,
        }));
        self.send(bytes.into());
    }

    fn mark(&mut self) -> String {
        format!("{}-{}", self.client, self.script.requests.len())
    }

    /// A request that a handler answers: its head up to the last field, without the empty line.
    fn asked(&mut self, methods: &[&'static str], version: &str) -> (String, String) {
        let mark = self.mark();
        let method = *self.random.pick(methods);
        let most = *self.random.pick(&[20, 3_000, 30_000]);
        let len = self.random.below(most);
        let (action, status) = *self.random.pick(&[
            ("copied", 200),
            ("copied", 200),
            ("held", 200),
            ("twice", 200),
            ("created", 201),
            ("empty", 204),
            ("unchanged", 304),
        ]);
        let bodiless = status == 204 || status == 304;
        let len = if bodiless { 0 } else { len };
        self.expect(&mark, method, status, len);
        self.script.requests.push(Request {
            mark: mark.clone(),
            method,
            body: None,
        });
        let head = format!("{method} /{action}/{mark}/{len} {version}\r\nHost: 127.0.0.1:8080\r\n");
        (mark, head)
    }

    fn expect(&mut self, mark: &str, method: &str, status: u16, len: usize) {
        self.step(Step::Expect(Expected {
            mark: Some(mark.into()),
            head: method == "HEAD",
            status: vec![status],
            len,
        }));
    }

    fn get(&mut self) -> Vec<u8> {
        let (_, head) = self.asked(&["GET", "GET", "HEAD", "OPTIONS", "DELETE"], "HTTP/1.1");
        (head + "Accept: */*\r\n\r\n").into_bytes()
    }

    /// A body in which requests hide, and its framing: fields, and bytes as sent.
    fn body(&mut self, mark: &str) -> (String, Vec<u8>) {
        let hidden = format!("GET /hidden/{mark}/5 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
        let most = self.config.max_body_bytes.min(20_000);
        let len = self.random.below(most + 1);
        let body: Vec<u8> = hidden.bytes().cycle().take(len).collect();
        let framed = if self.random.chance(50) {
            (format!("Content-Length: {len}\r\n"), body.clone())
        } else {
            (String::from("Transfer-Encoding: chunked\r\n"), self.chunked(&body))
        };
        let request = self.script.requests.last_mut().expect("asked before");
        request.body = Some(body);
        framed
    }

    fn chunked(&mut self, mut rest: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let most = rest.len() / 8 + 1;
        while !rest.is_empty() {
            let (chunk, behind) = rest.split_at(self.random.between(1, most).min(rest.len()));
            let extension = if self.random.chance(20) { ";a=\"b\"" } else { "" };
            out.extend(format!("{:x}{extension}\r\n", chunk.len()).bytes());
            out.extend(chunk);
            out.extend(b"\r\n");
            rest = behind;
        }
        let trailer = if self.random.chance(20) { "X-Sum: 1\r\n" } else { "" };
        out.extend(format!("0\r\n{trailer}\r\n").bytes());
        out
    }

    fn post(&mut self) -> Vec<u8> {
        let (mark, head) = self.asked(&["POST", "PUT", "PATCH"], "HTTP/1.1");
        let (fields, body) = self.body(&mark);
        let mut bytes = (head + &fields + "\r\n").into_bytes();
        bytes.extend(body);
        bytes
    }

    fn any(&mut self) -> Vec<u8> {
        if self.random.chance(50) {
            self.get()
        } else {
            self.post()
        }
    }

    fn farewell(&mut self) {
        self.step(Step::Answers);
        match self.random.below(3) {
            0 => self.step(Step::Reset { keep: false }),
            1 => self.step(Step::End),
            _ => return,
        }
        self.step(Step::UntilEnded);
    }
}

fn one_after_another(writer: &mut Writer<'_>) {
    for _ in 0..writer.random.between(1, 8) {
        let bytes = writer.any();
        writer.send(bytes);
        writer.step(Step::Answers);
    }
    writer.farewell();
}

fn pipelined(writer: &mut Writer<'_>) {
    let count = writer.random.between(2, 12);
    let bytes = (0..count).flat_map(|_| writer.any()).collect();
    writer.send(bytes);
    writer.farewell();
}

fn closing(writer: &mut Writer<'_>) {
    let (_, head) = writer.asked(&["GET", "HEAD"], "HTTP/1.1");
    writer.send((head + "Connection: close\r\n\r\n").into_bytes());
    if writer.random.chance(30) {
        // What comes behind the last request is nobody's.
        writer.send(b"GET /hidden/x/1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".to_vec());
    }
    writer.step(Step::Answers);
    writer.step(Step::UntilEnded);
}

fn http10(writer: &mut Writer<'_>) {
    for _ in 0..writer.random.between(0, 3) {
        let (_, head) = writer.asked(&["GET"], "HTTP/1.0");
        writer.send((head + "Connection: keep-alive\r\n\r\n").into_bytes());
        writer.step(Step::Answers);
    }
    let (_, head) = writer.asked(&["GET", "HEAD"], "HTTP/1.0");
    writer.send((head + "\r\n").into_bytes());
    writer.step(Step::Answers);
    writer.step(Step::UntilEnded);
}

fn posting(writer: &mut Writer<'_>) {
    for _ in 0..writer.random.between(1, 5) {
        let bytes = writer.post();
        writer.send(bytes);
        if writer.random.chance(50) {
            writer.step(Step::Answers);
        }
    }
    writer.farewell();
}

fn expecting(writer: &mut Writer<'_>) {
    let (mark, head) = writer.asked(&["POST"], "HTTP/1.1");
    let (fields, body) = writer.body(&mark);
    writer.send((head + &fields + "Expect: 100-continue\r\n\r\n").into_bytes());
    if !body.is_empty() {
        writer.step(Step::Continue);
    }
    writer.send(body);
    writer.farewell();
}

fn half_closing(writer: &mut Writer<'_>) {
    let count = writer.random.between(1, 4);
    let bytes = (0..count).flat_map(|_| writer.any()).collect();
    writer.send(bytes);
    writer.step(Step::End);
    writer.step(Step::Answers);
    writer.step(Step::UntilEnded);
}

/// Large answers to a reader that takes its time, and pauses shorter than any calm limit.
fn large(writer: &mut Writer<'_>) {
    writer.script.window = *writer.random.pick(&[5_000, 100_000]);
    writer.script.pace = *writer.random.pick(&[20_000, 200_000]);
    for _ in 0..writer.random.between(1, 2) {
        let mark = writer.mark();
        let len = writer.random.between(100_000, 2_000_000);
        writer.expect(&mark, "GET", 200, len);
        writer.send(format!("GET /held/{mark}/{len} HTTP/1.1\r\nHost: localhost\r\n\r\n").into_bytes());
        writer.script.requests.push(Request {
            mark,
            method: "GET",
            body: None,
        });
        let pause = writer.random.below(3_000) as u64;
        writer.step(Step::Pause(Duration::from_millis(pause)));
    }
    writer.farewell();
}

fn malformed(writer: &mut Writer<'_>) {
    if writer.random.chance(50) {
        let bytes = writer.any();
        writer.send(bytes);
    }
    let bad: &[&str] = &[
        "GET / HTTP/1.1\nHost: a\n\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: 127.0.0.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : 127.0.0.1\r\n\r\n",
        "GET  / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nA: b\r\n c\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4, 4\r\n\r\nabcd",
        "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nabcd",
        "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\u{fc}\x03\x03",
    ];
    let bytes = format!(
        "{}GET /hidden/x/1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        writer.random.pick(bad)
    );
    writer.refused(bytes, &[400, 413]);
    writer.step(Step::UntilEnded);
}

fn beyond_a_limit(writer: &mut Writer<'_>) {
    let config = writer.config;
    match writer.random.below(4) {
        0 => {
            let length = config.max_body_bytes + 1;
            let head = format!("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {length}\r\n\r\n");
            let body = content("x", length.min(300_000));
            writer.refused([head.into_bytes(), body].concat(), &[413, 431]);
        }
        1 => {
            let path = "a".repeat(config.max_target_bytes);
            writer.refused(format!("GET /{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"), &[414, 431]);
        }
        2 => {
            let field = "b".repeat(config.max_header_bytes);
            writer.refused(
                format!("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nA: {field}\r\n\r\n"),
                &[431],
            );
        }
        _ => {
            let fields = "C: d\r\n".repeat(config.max_headers);
            writer.refused(format!("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n{fields}\r\n"), &[431]);
        }
    }
    writer.step(Step::UntilEnded);
}

fn slow_head(writer: &mut Writer<'_>) {
    let bytes = format!("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nA: {}", "e".repeat(100)).into_bytes();
    let status = vec![408];
    writer.step(Step::Expect(Expected {
        mark: None,
        head: false,
        status,
        len: 0,
    }));
    writer.step(Step::Send {
        bytes,
        piece: 1,
        gap: Duration::from_millis(700),
    });
    writer.step(Step::UntilEnded);
}

fn slow_body(writer: &mut Writer<'_>) {
    // Below the least rate, and never silent for a whole time-out.
    let head = "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 90\r\n\r\n";
    writer.refused(head, &[408, 413]);
    let gap = Duration::from_secs(2);
    writer.step(Step::Send {
        bytes: content("f", 89),
        piece: 1,
        gap,
    });
    writer.step(Step::UntilEnded);
}

fn never_reading(writer: &mut Writer<'_>) {
    writer.script.window = *writer.random.pick(&[1, 1_000, 60_000]);
    writer.script.pace = 0;
    for _ in 0..writer.random.between(1, 5) {
        let bytes = writer.any();
        writer.send(bytes);
    }
    writer.step(Step::Pause(Duration::from_secs(200)));
}

fn resetting(writer: &mut Writer<'_>) {
    let mut bytes = writer.any();
    if writer.random.chance(50) {
        bytes.truncate(writer.random.between(1, bytes.len()));
    }
    writer.send(bytes);
    let pause = *writer.random.pick(&[0, 5, 50, 500]);
    writer.step(Step::Pause(Duration::from_millis(pause)));
    let keep = writer.random.chance(50);
    writer.step(Step::Reset { keep });
}

fn truncated(writer: &mut Writer<'_>) {
    let parts: &[&str] = &[
        "GET / HTT",
        "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n",
        "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n\r\n123456789",
        "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n",
    ];
    let bytes = *writer.random.pick(parts);
    writer.refused(bytes, &[400, 413]);
    writer.step(Step::End);
    writer.step(Step::UntilEnded);
}

fn silent(writer: &mut Writer<'_>) {
    if writer.random.chance(30) {
        let pause = writer.random.below(2_000) as u64;
        writer.step(Step::Pause(Duration::from_millis(pause)));
        writer.step(Step::End);
    }
    writer.step(Step::UntilEnded);
}

fn foreign(writer: &mut Writer<'_>) {
    let (bytes, status) = if writer.random.chance(50) {
        ("GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n", 421)
    } else {
        (
            "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://evil.test\r\nContent-Length: 0\r\n\r\n",
            403,
        )
    };
    writer.refused(bytes, &[status]);
    writer.step(Step::UntilEnded);
}
