//! Answers of the library's own: a status and a sentence, as text or as JSON, whichever the client would rather have.
//!
//! Plain Rust. `Accept` comes from the peer and may hold anything.

use super::content;
use super::service::Service;
use crate::json::{InvalidUtf8, write_string};
use crate::server::{Payload, RequestId};

/// What is answered: the sentence, and what a program that is being debugged adds.
#[derive(Clone, Copy, Default)]
pub(super) struct Refusal<'a> {
    pub(super) status: u16,
    /// Without a line break; empty for an answer without content.
    pub(super) sentence: &'a [u8],
    /// JSON.
    pub(super) details: Option<&'a [u8]>,
    pub(super) traceback: Option<&'a [u8]>,
}

/// Answers with a sentence. What cannot be sent any more is somebody else's answer.
pub(super) fn refuse(service: &mut Service, id: RequestId, status: u16, sentence: &[u8]) {
    send(
        service,
        id,
        Refusal {
            status,
            sentence,
            ..Refusal::default()
        },
    );
}

/// Answers with all of it.
pub(super) fn send(service: &mut Service, id: RequestId, refusal: Refusal<'_>) {
    let Some(request) = service.server.request(id) else {
        return;
    };
    let json = request.header("accept").is_some_and(prefers_json);
    let mut body = Vec::new();
    if refusal.sentence.is_empty() {
        // No content.
    } else if json {
        write_json(&refusal, &mut body);
    } else {
        write_text(&refusal, &mut body);
    }
    if let Some(response) = service.server.response_mut(id) {
        let _ = response.set_status(refusal.status);
        if !body.is_empty() {
            let _ = response.set_content_type(if json { content::JSON } else { content::TEXT });
        }
    }
    let _ = service.server.respond(id, Payload::Bytes(&body));
}

fn write_text(refusal: &Refusal<'_>, body: &mut Vec<u8>) {
    body.extend_from_slice(refusal.sentence);
    body.push(b'\n');
    for more in [refusal.details, refusal.traceback].into_iter().flatten() {
        body.push(b'\n');
        body.extend_from_slice(more);
        body.push(b'\n');
    }
}

fn write_json(refusal: &Refusal<'_>, body: &mut Vec<u8>) {
    body.extend_from_slice(b"{\"error\":{\"status\":");
    body.extend_from_slice(refusal.status.to_string().as_bytes());
    let mut member = |name: &str, text: &[u8]| {
        body.extend_from_slice(name.as_bytes());
        // Replacing, it takes any bytes.
        let _ = write_string(body, text, InvalidUtf8::Replace);
    };
    member(",\"message\":", refusal.sentence);
    if let Some(traceback) = refusal.traceback {
        member(",\"traceback\":", traceback);
    }
    if let Some(details) = refusal.details {
        body.extend_from_slice(b",\"details\":");
        body.extend_from_slice(details);
    }
    body.extend_from_slice(b"}}");
}

/// Whether a client would rather have JSON than text (RFC 9110 section 12.5.1): its weight is higher, or the same and
/// JSON is named, as in `application/json, text/plain, */*`.
pub(super) fn prefers_json(accept: &[u8]) -> bool {
    let (mut json, mut text) = (Weight::default(), Weight::default());
    for range in accept.split(|&byte| byte == b',') {
        let mut parts = range.split(|&byte| byte == b';');
        let media = parts.next().unwrap_or_default().trim_ascii();
        let weight = parts.find_map(weight).unwrap_or(1000);
        match &*media.to_ascii_lowercase() {
            b"application/json" => json.take(3, weight),
            b"application/*" => json.take(2, weight),
            b"text/plain" | b"text/html" => text.take(3, weight),
            b"text/*" => text.take(2, weight),
            b"*/*" => {
                json.take(1, weight);
                text.take(1, weight);
            }
            _ => {}
        }
    }
    json.weight > text.weight || json.weight > 0 && json.weight == text.weight && json.rank == 3
}

/// The weight of a media type in thousandths, told by the most exact of the ranges that hold it.
#[derive(Default)]
struct Weight {
    rank: u8,
    weight: u32,
}

impl Weight {
    fn take(&mut self, rank: u8, weight: u32) {
        if rank > self.rank || rank == self.rank && weight > self.weight {
            *self = Weight { rank, weight };
        }
    }
}

/// `q=0.8` in thousandths; what is no weight is no parameter of ours.
fn weight(part: &[u8]) -> Option<u32> {
    let part = part.trim_ascii();
    let value = part.strip_prefix(b"q=").or_else(|| part.strip_prefix(b"Q="))?;
    let value: f64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    (0.0..=1.0).contains(&value).then_some((value * 1000.0) as u32)
}
