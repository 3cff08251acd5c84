//! Connections that are served once and silent from then on.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::answer::{Content, Reader};

const REQUEST: &[u8] = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
/// How long to wait for a byte before the server is called stuck.
const PATIENCE: Duration = Duration::from_secs(20);

/// Opens `count` connections, has one request answered on each, says so, and keeps them until the standard input ends.
pub fn hold(address: SocketAddr, count: usize) -> io::Result<()> {
    let mut held = Vec::with_capacity(count);
    let mut reader = Reader::new(Content::Health);
    for _ in 0..count {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(REQUEST)?;
        let mut buffer = [0; 4096];
        loop {
            let received = stream.read(&mut buffer)?;
            if received == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let fed = reader
                .feed(&buffer[..received])
                .map_err(|fault| io::Error::other(fault.name()))?;
            if fed.whole == 1 && !reader.started() {
                break;
            }
        }
        held.push(stream);
    }
    println!("held {count}");
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
