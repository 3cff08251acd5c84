//! What a connection keeps: little when idle, and the same memory from request to request.

use super::{DATE, LIMITS, Server};
use crate::h1::{Buffer, Connection, Progress};

#[test]
fn an_idle_connection_is_small() {
    assert!(size_of::<Connection>() <= 400, "{} bytes", size_of::<Connection>());
    let mut server = Server::new(LIMITS);
    let fields = "x: y\r\n".repeat(90);
    server.receive(format!("GET / HTTP/1.1\r\nHost: a\r\n{fields}\r\n").as_bytes());
    assert_eq!(server.outcome(), "GET /; open");
    assert_eq!(server.connection.release_storage().map(|s| s.len()), Some(4096));
    assert_eq!(server.connection.release_storage(), None);
    assert_eq!(server.connection.buffer_capacity(), 0);
    assert!(server.connection.request.fields.capacity() <= 16);
}

#[test]
fn storage_is_kept_while_something_is_buffered() {
    let mut server = Server::new(LIMITS);
    server.receive(b"GET");
    assert!(server.connection.started());
    assert_eq!(server.connection.release_storage(), None);
}

#[test]
fn requests_in_a_row_reuse_their_memory() {
    let message = b"GET /units/7 HTTP/1.1\r\nHost: a\r\nAccept: */*\r\nX: y\r\n\r\n";
    let mut connection = Connection::new();
    connection.replace_storage(vec![0; 4096].into());
    let mut out = Vec::with_capacity(1024);
    let mut seen = None;
    for _ in 0..100 {
        connection.recv_space()[..message.len()].copy_from_slice(message);
        connection.recv_commit(message.len());
        assert_eq!(connection.advance(&LIMITS), Progress::Request);
        connection.response_mut().set(b"Content-Type", b"text/plain").unwrap();
        out.clear();
        connection.respond(DATE, 5, false, &mut out).unwrap();
        let memory = (
            connection.request.fields.as_ptr() as usize,
            connection.response.lines().as_ptr() as usize,
            out.as_ptr(),
        );
        assert_eq!(*seen.get_or_insert(memory), memory);
        connection.end_request();
    }
}

#[test]
fn a_buffer_moves_only_when_it_pays() {
    let mut buffer = Buffer::new();
    assert_eq!((buffer.capacity(), buffer.len(), buffer.is_empty()), (0, 0, true));
    buffer.replace_storage(vec![0; 8].into());
    buffer.space()[..6].copy_from_slice(b"abcdef");
    buffer.commit(6);
    buffer.consume(2);
    assert_eq!(buffer.space().len(), 2, "four live bytes would move for two used up");
    buffer.space().copy_from_slice(b"gh");
    buffer.commit(2);
    assert_eq!(buffer.space().len(), 2, "full: they have to");
    buffer.consume(4);
    assert_eq!(buffer.space().len(), 6, "two move for four");
    buffer.space()[..2].copy_from_slice(b"ef");
    buffer.commit(2);
    buffer.consume(2);
    buffer.space()[..2].copy_from_slice(b"gh");
    buffer.commit(2);
    assert_eq!(buffer.live(), b"efgh");
    assert_eq!(buffer.replace_storage(vec![0; 3].into()).len(), 3, "too small: refused");
    assert_eq!(buffer.replace_storage(vec![0; 16].into()).len(), 8);
    assert_eq!((buffer.live(), buffer.capacity()), (&b"efgh"[..], 16));
    buffer.close_gap(1, 3);
    assert_eq!(buffer.live(), b"eh");
    buffer.consume(2);
    assert_eq!(buffer.take_storage().len(), 16);
    assert_eq!(buffer.capacity(), 0);
}
