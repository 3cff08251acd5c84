//! Entity tags on answers, and what conditions of requests make of them (RFC 9110 sections 8.8.3 and 13).
//!
//! Every plain answer of a server passes here, so each piece of work is done only where it can matter: without a
//! validator there is nothing that a condition could be about.

use super::raw::HeldBody;
use crate::h1::{Method, ResponseHead};
use crate::http::conditional::{Conditions, Outcome, tag_of, weak_tag};
use crate::net::Either;
use crate::server::{Request, RequestId, Server};

/// Content that is longer gets no tag of ours: hashing it would cost more than it saves most clients.
const TAGGED_BYTES_MAX: usize = 64 * 1024;

/// What tells a client whether its representation is still good, as far as the response has it.
#[derive(Clone, Copy, Default)]
struct Validators<'a> {
    tag: Option<&'a [u8]>,
    last_modified: Option<&'a [u8]>,
}

impl<'a> Validators<'a> {
    #[inline]
    fn of(response: &'a ResponseHead) -> Self {
        let mut found = Self::default();
        if !response.may_have_validators() {
            return found;
        }
        for (name, value) in response.fields() {
            // Lengths first: nearly every field is another one.
            match name.len() {
                4 if name.eq_ignore_ascii_case(b"etag") => found.tag = Some(value),
                13 if name.eq_ignore_ascii_case(b"last-modified") => found.last_modified = Some(value),
                _ => {}
            }
        }
        found
    }

    fn any(&self) -> bool {
        self.tag.is_some() || self.last_modified.is_some()
    }

    /// The outcome of a GET or HEAD, with a tag that was made where the response has none.
    #[cold]
    fn judge(self, request: &Request<'_>, made: Option<&[u8; 16]>) -> Outcome {
        let made = made.map(weak_tag);
        let validators = Validators {
            tag: self.tag.or(made.as_ref().map(<[u8; 20]>::as_slice)),
            ..self
        };
        validators.conditions(request).outcome(true, self.last_modified)
    }

    fn conditions<'r>(&self, request: &Request<'r>) -> Conditions<'r> {
        let mut conditions = Conditions::default();
        for field in &request.head().fields {
            conditions.take(request.text(field.name), request.text(field.value), self.tag);
        }
        conditions
    }
}

/// Adds a weak entity tag to the response in the making if it has none and `content`, which is about to be sent, is
/// given; then tells what the conditions of the request make of the answer, and makes a 304 of it where they say so.
#[inline]
pub(super) fn apply(server: &mut Server<Either, HeldBody>, id: RequestId, content: Option<&[u8]>) -> Outcome {
    let Some(response) = server.response(id) else {
        return Outcome::Proceed;
    };
    if content.is_none() && !response.may_have_validators() {
        return Outcome::Proceed;
    }
    let Some(request) = server.request(id) else {
        return Outcome::Proceed;
    };
    if !is_conditional(&request, response) {
        return Outcome::Proceed;
    }
    let validators = Validators::of(response);
    let made = match (validators.tag, content) {
        (None, Some(content)) if (1..=TAGGED_BYTES_MAX).contains(&content.len()) => Some(tag_of(content)),
        _ => None,
    };
    let mut outcome = Outcome::Proceed;
    if request.head().conditional && (made.is_some() || validators.any()) {
        outcome = validators.judge(&request, made.as_ref());
    }
    if made.is_none() && outcome == Outcome::Proceed {
        return outcome;
    }
    let Some(response) = server.response_mut(id) else {
        return Outcome::Proceed;
    };
    if let Some(tag) = made {
        response.add_weak_etag(&tag);
    }
    if outcome == Outcome::NotModified {
        // Metadata of content that is not sent would only confuse caches (RFC 9110 section 15.4.5).
        response.remove(b"content-type");
        let _ = response.set_status(304);
    }
    outcome
}

/// Takes back what [`apply`] did, for content that could not be sent: the handler may try other content.
#[cold]
pub(super) fn undo(server: &mut Server<Either, HeldBody>, id: RequestId, outcome: Outcome) {
    let Some(response) = server.response_mut(id) else {
        return;
    };
    if !response.may_have_validators() {
        response.remove(b"etag");
    }
    if outcome == Outcome::NotModified {
        // It is what the answer was before.
        let _ = response.set_status(200);
    }
}

/// Whether the client has what the response in the making would give it; `None` when the request has ended.
pub(super) fn is_fresh(server: &Server<Either, HeldBody>, id: RequestId) -> Option<bool> {
    let (request, response) = (server.request(id)?, server.response(id)?);
    let fresh = || {
        let validators = Validators::of(response);
        let conditions = validators.conditions(&request);
        validators.any() && conditions.outcome(true, validators.last_modified) == Outcome::NotModified
    };
    Some(is_conditional(&request, response) && fresh())
}

/// Whether a request to change a representation with these validators may go on: none of its conditions fails.
pub(super) fn permits(request: &Request<'_>, tag: Option<&[u8]>, last_modified: Option<&[u8]>) -> bool {
    let validators = Validators { tag, last_modified };
    let conditions = validators.conditions(request);
    conditions.permits(validators.any(), last_modified)
}

fn is_conditional(request: &Request<'_>, response: &ResponseHead) -> bool {
    response.status() == 200 && matches!(request.head().method, Method::Get | Method::Head)
}
