//! Answers of the library's own: a status and a sentence, as text or as JSON, whichever the client would rather have.
//!
//! Plain Rust. `Accept` comes from the peer and may hold anything.

use super::content;
use super::origin;
use super::service::Service;
use crate::http::accept::{self, Dimension};
use crate::http::vary;
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
    let json = origin::joined(&request, b"accept").is_some_and(|accept| prefers_json(&accept));
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
            // A cache may keep a 404 or a 410 (RFC 9110 section 15.1), and has to know what chose its form.
            let mut names = Vec::new();
            if vary::merge(response.get_all(b"vary"), [&b"Accept"[..]].into_iter(), &mut names) {
                let _ = response.set(b"Vary", &names);
            }
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

/// Whether a client would rather have JSON than text or a page (RFC 9110 section 12.5.1). One that does not care gets
/// text.
fn prefers_json(accept: &[u8]) -> bool {
    let offers: [&[u8]; 3] = [b"text/plain", b"text/html", b"application/json"];
    accept::best(Dimension::Media, Some(accept), offers) == Some(2)
}
