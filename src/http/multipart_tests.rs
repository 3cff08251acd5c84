//! The rules of multipart content, one row each: what is sent, and the parts or the fault it makes.

use super::media_type::MediaType;
use super::multipart::*;

fn parsed(content_type: &str, content: &[u8]) -> Result<Vec<(String, Option<String>, String)>, MultipartFault> {
    let media_type = MediaType::parse(content_type.as_bytes()).expect("a media type");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Parts::new(&media_type, content)?
        .map(|part| {
            let part = part?;
            let form_data = part.form_data().expect("a name");
            Ok((
                text(&form_data.name),
                form_data.filename.as_deref().map(text),
                text(part.content),
            ))
        })
        .collect()
}

const TYPE: &str = "multipart/form-data; boundary=b";

/// The head of a part called a.
const HEAD: &str = "Content-Disposition: form-data; name=a\r\n\r\n";

#[test]
fn contents() {
    let rows: [(String, &[&str]); 12] = [
        (format!("--b\r\n{HEAD}x\r\n--b--\r\n"), &["x"]),
        (format!("--b\r\n{HEAD}x\r\n--b--"), &["x"]),
        (format!("--b\r\n{HEAD}\r\n--b--"), &[""]),
        (format!("--b\r\n{HEAD}x\r\n--b\r\n{HEAD}y\r\n--b--\r\n"), &["x", "y"]),
        (format!("preamble\r\n--b\r\n{HEAD}x\r\n--b--\r\nepilogue"), &["x"]),
        (format!("\r\n--b\r\n{HEAD}x\r\n--b--"), &["x"]),
        (format!("--b \t\r\n{HEAD}x\r\n--b--"), &["x"]),
        (format!("--b\r\n{HEAD}x\r\n--bc\r\ny\r\n--b--"), &["x\r\n--bc\r\ny"]),
        (format!("--b\r\n{HEAD}x\n--b--\r\n\r\n--b--"), &["x\n--b--\r\n"]),
        (format!("--b\r\n{HEAD}\r\n\r\n\r\n--b--"), &["\r\n\r\n"]),
        (format!("--bb\r\n--b\r\n{HEAD}x\r\n--b--"), &["x"]),
        ("--b--\r\n".into(), &[]),
    ];
    for (content, wanted) in rows {
        let found = parsed(TYPE, content.as_bytes()).expect("sound content");
        let found: Vec<_> = found.iter().map(|(_, _, content)| content.as_str()).collect();
        assert_eq!(found, wanted, "{content:?}");
    }
}

#[test]
fn faults() {
    let large = format!("--b\r\nX: {}\r\n{HEAD}x\r\n--b--", "y".repeat(PART_HEAD_BYTES_MAX));
    let many = format!("{}--b--", format!("--b\r\n{HEAD}x\r\n").repeat(PARTS_MAX + 1));
    let rows = [
        (String::new(), MultipartFault::Start),
        ("--x\r\n".into(), MultipartFault::Start),
        ("x--b--".into(), MultipartFault::Start),
        (format!("--b\r\n{HEAD}x"), MultipartFault::End),
        (format!("--b\r\n{HEAD}x\r\n--b"), MultipartFault::End),
        (format!("--b\r\n{HEAD}x\r\n--b-"), MultipartFault::End),
        (format!("--b\r\n{HEAD}x\r\n--b\r\n"), MultipartFault::Head),
        (
            "--b\r\nContent-Disposition: form-data; name=a\r\n--b--".into(),
            MultipartFault::Head,
        ),
        (format!("--b\r\nno field\r\n{HEAD}x\r\n--b--"), MultipartFault::Head),
        (format!("--b\r\nX : y\r\n{HEAD}x\r\n--b--"), MultipartFault::Head),
        (format!("--b\r\nX: a\nb\r\n{HEAD}x\r\n--b--"), MultipartFault::Head),
        (format!("--b\r\n folded\r\n{HEAD}x\r\n--b--"), MultipartFault::Head),
        ("--b\r\n\r\nx\r\n--b--".into(), MultipartFault::Disposition),
        (
            "--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--".into(),
            MultipartFault::Disposition,
        ),
        (large, MultipartFault::HeadTooLarge),
        (many, MultipartFault::TooManyParts),
    ];
    for (content, fault) in rows {
        assert_eq!(
            parsed(TYPE, content.as_bytes()),
            Err(fault),
            "{:?}",
            &content[..content.len().min(200)]
        );
        assert!(!fault.sentence().is_empty());
        assert_eq!(
            fault.status(),
            if matches!(fault, MultipartFault::HeadTooLarge | MultipartFault::TooManyParts) {
                413
            } else {
                400
            }
        );
    }
}

#[test]
fn boundaries() {
    let content = format!("--b c\r\n{HEAD}x\r\n--b c--");
    assert!(parsed("multipart/form-data; boundary=\"b c\"", content.as_bytes()).is_ok());
    let long = format!("multipart/form-data; boundary={}", "b".repeat(71));
    for bad in [
        "multipart/form-data",
        "multipart/form-data; boundary=",
        "multipart/form-data; boundary=\"b \"",
        "multipart/form-data; boundary=\"b<\"",
        "multipart/form-data; boundary=\"b\r\"",
        &long,
    ] {
        assert_eq!(parsed(bad, content.as_bytes()), Err(MultipartFault::Boundary), "{bad}");
    }
}

#[test]
fn fields_of_a_part() {
    let content = b"--b\r\ncontent-disposition:form-data;name=\"f\";filename=\"x.png\"\r\nContent-Type: image/png\r\n\
        X-Two: 1\r\n\r\n\x89PNG\0\r\n\r\n--b--";
    let media_type = MediaType::parse(TYPE.as_bytes()).expect("a media type");
    let part = Parts::new(&media_type, content)
        .expect("a boundary")
        .next()
        .expect("a part")
        .expect("a sound one");
    assert_eq!(part.content, b"\x89PNG\0\r\n");
    assert_eq!(part.content_type(), b"image/png");
    assert_eq!(part.field(b"x-TWO"), Some(b"1".as_slice()));
    assert_eq!(part.field(b"none"), None);
    assert_eq!(part.fields().count(), 3);
    let form_data = part.form_data().expect("a name");
    assert_eq!(form_data.filename.as_deref(), Some(b"x.png".as_slice()));
}
