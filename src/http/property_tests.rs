//! What holds for any bytes: nothing panics, everything ends, and what was written is read back.

use super::accept::{self, Dimension};
use super::common_log::Entry;
use super::conditional::{Conditions, Outcome, tag_of, weak_tag};
use super::cookie::{cookies, decode_value};
use super::disposition::{form_data, write_attachment};
use super::forwarded::{TrustedProxies, forwarded, x_forwarded};
use super::grammar;
use super::media_type::MediaType;
use super::multipart::Parts;
use super::set_cookie::SetCookie;
use super::uri;
use super::urlencoded;
use super::vary;
use proptest::prelude::*;
use std::net::{IpAddr, Ipv4Addr};

/// Bytes that fields are made of more often than chance would have it.
fn field() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        any::<u8>().prop_map(|byte| vec![byte]),
        prop::sample::select(vec![
            "\"",
            "\\",
            ",",
            ";",
            "=",
            " ",
            "\t",
            "\r\n",
            "--",
            "--b",
            "\r\n--b",
            "\r\n\r\n",
            "q=",
            "*",
            "/",
            "text/html",
            "W/",
            "form-data",
            "name=a",
            "filename*=",
            "UTF-8''",
            "%",
            "%41",
            "for=",
            "10.0.0.1",
            "[::1]:1",
            "boundary=b",
            "Content-Disposition: form-data; name=a\r\n\r\n",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_survived(one in field(), two in field()) {
        let peer = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
        let mut trusted = TrustedProxies::default();
        trusted.add("private");
        x_forwarded(&trusted, peer, &one, &two, &one);
        forwarded(&trusted, peer, &one);
        for dimension in [Dimension::Media, Dimension::Language, Dimension::Charset, Dimension::Encoding] {
            accept::best(dimension, Some(&one), [two.as_slice(), b"text/html"]);
        }
        let _ = cookies(&one).filter_map(Result::ok).map(|(_, value)| decode_value(value).len()).max();
        form_data(&one);
        let mut conditions = Conditions::default();
        conditions.take(b"if-none-match", &one, Some(&two));
        conditions.take(b"if-modified-since", &one, Some(&two));
        conditions.take(b"if-match", &one, Some(&two));
        conditions.take(b"if-unmodified-since", &one, Some(&two));
        conditions.outcome(true, Some(&two));
        conditions.permits(true, Some(&two));
        urlencoded::pieces(&one).for_each(|piece| { urlencoded::pair(piece); });
        grammar::unquote(&one);
        if let Some(media) = MediaType::parse(&one) {
            media.matches(&two);
            media.parameter(b"boundary");
        }
    }

    #[test]
    fn parts_lie_in_their_content(content in field()) {
        let media = MediaType::parse(b"multipart/form-data; boundary=b").expect("a media type");
        let mut end = 0;
        for part in Parts::new(&media, &content).expect("a boundary").filter_map(Result::ok) {
            if !part.content.is_empty() {
                let at = part.content.as_ptr() as usize - content.as_ptr() as usize;
                prop_assert!(at >= end && at + part.content.len() <= content.len());
                end = at + part.content.len();
            }
            prop_assert!(memchr::memmem::find(part.content, b"\r\n--b\r\n").is_none());
        }
    }

    #[test]
    fn parts_are_read_back(contents in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..6)) {
        let mut content = Vec::new();
        for part in &contents {
            content.extend_from_slice(b"--x-boundary-x\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\n");
            content.extend_from_slice(part);
            content.extend_from_slice(b"\r\n");
        }
        content.extend_from_slice(b"--x-boundary-x--\r\n");
        let media = MediaType::parse(b"multipart/form-data; boundary=x-boundary-x").expect("a media type");
        let found: Result<Vec<_>, _> = Parts::new(&media, &content).expect("a boundary").map(|part| part.map(|part| part.content.to_vec())).collect();
        prop_assert_eq!(found, Ok(contents));
    }

    #[test]
    fn cookies_are_read_back(value in prop::collection::vec(any::<u8>(), 0..60)) {
        let mut out = Vec::new();
        SetCookie { name: b"n", value: &value, path: Some(b"/"), ..SetCookie::default() }.write(&mut out).expect("a sound cookie");
        let pair = out.split(|&byte| byte == b';').next().expect("a pair");
        let found = cookies(pair).next().expect("a cookie").expect("a sound one");
        prop_assert_eq!(&*decode_value(found.1), &value);
    }

    #[test]
    fn file_names_are_read_back(name in "[^/\\\\\\x00-\\x1f]{1,20}") {
        let mut out = Vec::new();
        write_attachment(Some(name.as_bytes()), &mut out);
        let value = [b"form-data; name=a".as_slice(), &out["attachment".len()..]].concat();
        let found = form_data(&value).expect("form data");
        prop_assert_eq!(found.filename.as_deref(), Some(name.as_bytes()));
    }

    #[test]
    fn pairs_are_read_back(name in prop::collection::vec(any::<u8>(), 1..20), value in prop::collection::vec(any::<u8>(), 0..20)) {
        let mut out = Vec::new();
        urlencoded::encode(&name, b"", &mut out);
        out.push(b'=');
        urlencoded::encode(&value, b"", &mut out);
        prop_assert!(urlencoded::percent_is_sound(&out));
        let (found_name, found_value) = urlencoded::pair(&out);
        prop_assert_eq!((&*found_name, &*found_value), (name.as_slice(), value.as_slice()));
    }

    #[test]
    fn a_tag_matches_itself(content in prop::collection::vec(any::<u8>(), 0..300), before in "(\"[a-z,]{0,5}\",? ?){0,3}") {
        let tag = weak_tag(&tag_of(&content));
        let field = [before.as_bytes(), &tag].concat();
        let mut conditions = Conditions::default();
        conditions.take(b"If-None-Match", &field, Some(&tag));
        prop_assert_eq!(conditions.outcome(true, None), Outcome::NotModified);
    }

    #[test]
    fn what_is_written_stays_on_its_line(one in field(), two in field()) {
        let mut out = Vec::new();
        uri::write_reference(&one, &mut out);
        prop_assert!(out.iter().all(|byte| byte.is_ascii_graphic() && !b"<>\"\\".contains(byte)));
        let mut again = Vec::new();
        uri::write_reference(&out, &mut again);
        prop_assert_eq!(&again, &out);
        uri::write_link(&one, &two, &mut out);
        vary::merge([one.as_slice()].into_iter(), [two.as_slice()].into_iter(), &mut Vec::new());
        let cookie = SetCookie { name: &one, value: &two, path: Some(&two), domain: Some(&one), ..SetCookie::default() };
        let _ = cookie.write(&mut out);
        write_attachment(Some(&one), &mut out);
        let entry = Entry {
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            date: b"Sun, 06 Nov 1994 08:49:37 GMT",
            method: &one,
            target: &two,
            version: "1.1",
            status: 200,
            bytes: 1,
        };
        entry.write(&mut out);
        prop_assert!(out.iter().all(|byte| (0x20..0x7f).contains(byte)));
    }

    #[test]
    fn a_merged_list_grows_no_more(names in prop::collection::vec("[A-Za-z*-]{1,6}", 0..8)) {
        let names = || names.iter().map(String::as_bytes);
        let mut out = Vec::new();
        prop_assert!(vary::merge([].into_iter(), names(), &mut out));
        let mut again = Vec::new();
        prop_assert!(vary::merge([out.as_slice()].into_iter(), names(), &mut again));
        prop_assert_eq!(again, out);
    }
}
