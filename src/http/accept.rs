//! Content negotiation (RFC 9110 section 12.5): which of the offers a client likes best.
//!
//! An element of the field that is malformed is passed over, as if the client had not sent it. Nothing is allocated.

use super::grammar::{is_token, list, semicolons, trim, unquote};
use super::media_type::MediaType;
use std::cmp::Reverse;

/// Which field is negotiated, and so how a range matches an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// `Accept`: media types.
    Media,
    /// `Accept-Language`: prefixes of tags count (RFC 4647 section 3).
    Language,
    /// `Accept-Charset`.
    Charset,
    /// `Accept-Encoding`: `identity` is acceptable unless it is excluded.
    Encoding,
}

/// Weights are counted in thousandths.
const WEIGHT_MAX: u16 = 1000;

/// One element: what is acceptable, and how much it is liked.
#[derive(Clone, Copy)]
struct Range<'a> {
    /// Without parameters.
    value: &'a [u8],
    /// Parameters before the weight, as they stand.
    parameters: &'a [u8],
    weight: u16,
}

/// How well an offer is liked; greater is better. In the order that decides.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    weight: u16,
    specificity: usize,
    /// The place of the range in the field: what is named first is liked more.
    place: Reverse<usize>,
}

/// The place of the best offer: by weight, then by how exactly it was named, then by the order of the field, then by the
/// order of the offers. Without the field everything is acceptable, so the first offer wins; only a content coding has
/// to be asked for. `None` when no offer is acceptable.
pub fn best<'o>(
    dimension: Dimension,
    field: Option<&[u8]>,
    offers: impl IntoIterator<Item = &'o [u8]>,
) -> Option<usize> {
    let field = match (field, dimension) {
        (Some(field), _) => field,
        (None, Dimension::Encoding) => b"",
        (None, _) => b"*/*",
    };
    let mut winner: Option<(Rank, usize)> = None;
    for (at, offer) in offers.into_iter().enumerate() {
        if let Some(rank) = rank(dimension, field, offer)
            && winner.is_none_or(|(best, _)| rank > best)
        {
            winner = Some((rank, at));
        }
    }
    winner.map(|(_, at)| at)
}

fn ranges(field: &[u8]) -> impl Iterator<Item = Range<'_>> {
    list(field).filter_map(range)
}

/// An element; `None` when it is malformed.
fn range(element: &[u8]) -> Option<Range<'_>> {
    let mut pieces = semicolons(element);
    let value = pieces.next()?;
    let parameters = pieces.rest();
    let mut end = 0;
    let mut weight = WEIGHT_MAX;
    for piece in pieces {
        if let [b'q' | b'Q', rest @ ..] = piece
            && let Some(text) = trim(rest).strip_prefix(b"=")
        {
            weight = self::weight(trim(text))?;
            break;
        }
        end = piece.as_ptr() as usize + piece.len() - parameters.as_ptr() as usize;
    }
    let named = value.split(|&byte| byte == b'/').all(is_token);
    named.then(|| Range {
        value,
        parameters: parameters.get(..end).unwrap_or_default(),
        weight,
    })
}

/// A weight (RFC 9110 section 12.4.2): 0 or 1, with at most three digits after the point.
fn weight(text: &[u8]) -> Option<u16> {
    let (&whole, rest) = text.split_first()?;
    let digits = match rest {
        [] => rest,
        [b'.', digits @ ..] if digits.len() <= 3 => digits,
        _ => return None,
    };
    let mut fraction = 0;
    let mut scale = 100;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        fraction += u16::from(digit - b'0') * scale;
        scale /= 10;
    }
    match (whole, fraction) {
        (b'0', fraction) => Some(fraction),
        (b'1', 0) => Some(WEIGHT_MAX),
        _ => None,
    }
}

/// The rank of an offer: that of the most specific range which matches it (RFC 9110 section 12.5.1). `None` when it is
/// not acceptable.
fn rank(dimension: Dimension, field: &[u8], offer: &[u8]) -> Option<Rank> {
    let mut best: Option<Rank> = None;
    let mut least = WEIGHT_MAX;
    let mut count = 0;
    for (place, range) in ranges(field).enumerate() {
        count += 1;
        least = least.min(range.weight.max(1));
        if let Some(specificity) = specificity(dimension, &range, offer)
            && best.is_none_or(|best| specificity > best.specificity)
        {
            best = Some(Rank {
                weight: range.weight,
                specificity,
                place: Reverse(place),
            });
        }
    }
    if best.is_none() && dimension == Dimension::Encoding && offer.eq_ignore_ascii_case(b"identity") {
        // Acceptable, and liked less than whatever was named.
        return Some(Rank {
            weight: least,
            specificity: 0,
            place: Reverse(count),
        });
    }
    best.filter(|best| best.weight > 0)
}

/// How exactly a range names an offer; `None` when it does not.
fn specificity(dimension: Dimension, range: &Range<'_>, offer: &[u8]) -> Option<usize> {
    let value = range.value;
    match dimension {
        Dimension::Media => media_specificity(range, offer),
        _ if value == b"*" || value == b"*/*" => Some(0),
        Dimension::Language => {
            if value.eq_ignore_ascii_case(offer) {
                Some(3)
            } else if is_prefix_of_tag(value, offer) {
                Some(2)
            } else {
                is_prefix_of_tag(offer, value).then_some(1)
            }
        }
        Dimension::Charset => value.eq_ignore_ascii_case(offer).then_some(1),
        Dimension::Encoding => coding(value).eq_ignore_ascii_case(coding(offer)).then_some(1),
    }
}

/// A coding by its present name (RFC 9110 section 8.4.1).
fn coding(name: &[u8]) -> &[u8] {
    match name.get(..2) {
        Some(b"x-" | b"X-") => &name[2..],
        _ => name,
    }
}

/// Whether a language tag begins with this one, at a hyphen.
fn is_prefix_of_tag(prefix: &[u8], tag: &[u8]) -> bool {
    tag.len() > prefix.len() && tag[prefix.len()] == b'-' && tag[..prefix.len()].eq_ignore_ascii_case(prefix)
}

fn media_specificity(range: &Range<'_>, offer: &[u8]) -> Option<usize> {
    let offered = MediaType::parse(offer)?;
    if range.value == b"*/*" {
        return Some(0);
    }
    if range.value.ends_with(b"/*") {
        return offered.matches(range.value).then_some(1);
    }
    let wanted = MediaType::parse(range.value)?;
    if !offered.is(wanted.kind, wanted.subtype) {
        return None;
    }
    let mut specificity = 2;
    for (name, value) in super::grammar::parameters(range.parameters) {
        let same = offered
            .parameter(name)
            .is_some_and(|found| found.eq_ignore_ascii_case(&unquote(value)));
        if !same {
            return None;
        }
        specificity += 1;
    }
    Some(specificity)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(dimension: Dimension, field: Option<&str>, offers: &str) -> Option<String> {
        let offers: Vec<&str> = offers.split(' ').collect();
        let place = best(
            dimension,
            field.map(str::as_bytes),
            offers.iter().map(|offer| offer.as_bytes()),
        );
        place.map(|at| offers[at].to_string())
    }

    #[test]
    fn media_types() {
        let rows = [
            (None, "text/html application/json", Some("text/html")),
            (Some("*/*"), "text/html application/json", Some("text/html")),
            (Some(""), "text/html", None),
            (
                Some("application/json"),
                "text/html application/json",
                Some("application/json"),
            ),
            (Some("application/xml"), "text/html application/json", None),
            (Some("text/*"), "application/json text/css", Some("text/css")),
            (
                Some("text/html;q=0.5, application/json"),
                "text/html application/json",
                Some("application/json"),
            ),
            (Some("text/html;q=0, */*"), "text/html text/css", Some("text/css")),
            (Some("text/html;q=0"), "text/html", None),
            (
                Some("text/*;q=0.3, text/html;q=0.7, text/html;level=1"),
                "text/html text/html;level=1",
                Some("text/html;level=1"),
            ),
            (Some("text/html;level=1"), "text/html", None),
            (
                Some("text/*, application/json;q=0.9"),
                "application/json text/css",
                Some("text/css"),
            ),
            (
                Some("application/json, text/html"),
                "text/html application/json",
                Some("application/json"),
            ),
            (
                Some("*/*, application/json"),
                "text/html application/json",
                Some("application/json"),
            ),
            (Some("TEXT/HTML ; Q=1.0"), "text/html", Some("text/html")),
            (Some("text/html;q=1.001"), "text/html", None),
            (Some("text/html;q=0.0001"), "text/html", None),
            (Some("text/html;q="), "text/html", None),
            (Some("te xt/html, text/css"), "text/html text/css", Some("text/css")),
            (
                Some("text/html;charset=\"UTF-8\""),
                "text/html;charset=utf-8",
                Some("text/html;charset=utf-8"),
            ),
            (Some("*/*"), "nonsense", None),
        ];
        for (field, offers, wanted) in rows {
            assert_eq!(
                chosen(Dimension::Media, field, offers).as_deref(),
                wanted,
                "{field:?} {offers}"
            );
        }
    }

    #[test]
    fn other_dimensions() {
        use Dimension::*;
        let rows = [
            (Language, None, "de en", Some("de")),
            (Language, Some("en"), "de en-GB", Some("en-GB")),
            (Language, Some("en-GB, de;q=0.5"), "de en", Some("en")),
            (Language, Some("da, *;q=0.1"), "de en", Some("de")),
            (Language, Some("en"), "english de", None),
            (Language, Some("EN-us"), "en-US", Some("en-US")),
            (
                Charset,
                Some("utf-8;q=0.2, iso-8859-1"),
                "utf-8 iso-8859-1",
                Some("iso-8859-1"),
            ),
            (Charset, Some("*"), "utf-8", Some("utf-8")),
            (Charset, Some("utf-16"), "utf-8", None),
            (Encoding, None, "gzip identity", Some("identity")),
            (Encoding, None, "gzip", None),
            (Encoding, Some("gzip, br"), "br gzip identity", Some("gzip")),
            (Encoding, Some("gzip;q=0.1"), "identity gzip", Some("gzip")),
            (Encoding, Some("br"), "gzip identity", Some("identity")),
            (Encoding, Some("*;q=0"), "gzip identity", None),
            (Encoding, Some("identity;q=0"), "identity", None),
            (Encoding, Some("gzip;q=0"), "gzip identity", Some("identity")),
            (Encoding, Some("x-gzip"), "gzip", Some("gzip")),
        ];
        for (dimension, field, offers, wanted) in rows {
            assert_eq!(
                chosen(dimension, field, offers).as_deref(),
                wanted,
                "{dimension:?} {field:?} {offers}"
            );
        }
    }
}
