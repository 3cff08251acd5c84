//! Bytes as requests: the connection agrees with the naive reader, and no cut changes what it says.

use super::Input;
use super::exchange::{Exchange, Standing, exchange};
use crate::h1::Limits;
use crate::testing::requests::{End, read_requests};

/// Longer inputs find nothing that shorter ones do not.
const BYTES_MAX: usize = 4096;

/// Limits that no input reaches, but that of a body.
const WIDE: Limits = Limits {
    head_bytes_max: 16384,
    headers_max: 256,
    target_bytes_max: 16384,
    body_bytes_max: 2048,
};

/// Limits that nearly every input reaches.
const TINY: Limits = Limits {
    head_bytes_max: 90,
    headers_max: 3,
    target_bytes_max: 12,
    body_bytes_max: 9,
};

/// The first byte says where the text that follows is cut; the text is what a client sends, however many requests.
pub fn head(data: &[u8]) {
    let mut input = Input::new(&data[..data.len().min(BYTES_MAX)]);
    let seed = input.byte();
    judge(seed, input.rest());
}

/// The same behind a head that announces chunks.
pub fn chunked(data: &[u8]) {
    let mut input = Input::new(&data[..data.len().min(BYTES_MAX)]);
    let seed = input.byte();
    let head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    judge(seed, &[head, input.rest()].concat());
}

fn judge(seed: u8, text: &[u8]) {
    let whole = exchange(&WIDE, &[text], false);
    agrees(text, &whole);
    let ended = exchange(&WIDE, &[text], true);
    assert_eq!(
        ended.requests, whole.requests,
        "the end of the peer's side takes no request back"
    );
    assert!(!matches!(ended.standing, Standing::Waits(_)), "{ended:?}");
    let clean = !matches!(whole.standing, Standing::Waits(true));
    let refused = matches!(ended.standing, Standing::Refused(_));
    assert!(
        !clean || refused == matches!(whole.standing, Standing::Refused(_)),
        "{whole:?}, then {ended:?}"
    );
    assert!(clean || refused, "what is incomplete at the end is refused");
    for limits in [&WIDE, &TINY] {
        let whole = exchange(limits, &[text], false);
        for pieces in [text.chunks(1).collect(), cut(seed, text)] {
            assert_eq!(exchange(limits, &pieces, false), whole, "a cut changes nothing");
        }
        for request in &whole.requests {
            assert!(request.target.len() <= limits.target_bytes_max && request.fields.len() <= limits.headers_max);
            assert!(
                request
                    .body
                    .as_ref()
                    .is_none_or(|body| body.len() <= limits.body_bytes_max)
            );
        }
    }
}

/// The naive reader sees the same requests, and the same end unless it had to wait for more where the connection knew.
fn agrees(text: &[u8], seen: &Exchange) {
    let (requests, end) = read_requests(text, WIDE.body_bytes_max);
    assert_eq!(seen.requests, requests);
    let agreed = match end {
        End::Clean => seen.standing == Standing::Waits(false),
        End::Closed => seen.standing == Standing::Closed,
        End::Refused => matches!(seen.standing, Standing::Refused(_)),
        End::Incomplete => matches!(seen.standing, Standing::Refused(_) | Standing::Waits(true)),
    };
    assert!(agreed, "{:?} where the naive reader says {end:?}", seen.standing);
}

/// Cuts `text` into pieces whose lengths follow from `seed`.
fn cut(seed: u8, text: &[u8]) -> Vec<&[u8]> {
    let mut random = crate::testing::Random::new(u64::from(seed));
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let longest = *random.pick(&[1, 3, 20, 300]);
        let (piece, behind) = rest.split_at(random.between(1, longest).min(rest.len()));
        pieces.push(piece);
        rest = behind;
    }
    pieces
}
