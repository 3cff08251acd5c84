//! Windows: keeps the port that we bind to ourselves, by the one socket option that socket2 has no setter for.
//!
//! It may assume that Winsock is started, since a socket exists. It must never touch a socket's ownership, and it is the
//! one place outside `binding/raw` that holds `unsafe`: one call, over one integer.

use std::io;
use std::os::windows::io::AsRawSocket;

use socket2::Socket;
use windows_sys::Win32::Networking::WinSock::{SO_EXCLUSIVEADDRUSE, SOCKET, SOL_SOCKET, setsockopt};

/// Sets `SO_EXCLUSIVEADDRUSE`: from [`Socket::bind`] on, no other socket may bind the same address and port, not even one
/// with `SO_REUSEADDR`, which on Windows would take our connections over. Has to come before the bind.
///
/// Errors are the system's; without it the port is not safe to bind.
#[allow(unsafe_code)]
pub fn claim_address(socket: &Socket) -> io::Result<()> {
    let on: i32 = 1;
    // SAFETY: `on` is a live i32 (the BOOL that this option takes) and its size is what is passed; Winsock reads it during
    // the call alone. The handle belongs to `socket`, which is borrowed for the call, so it is open.
    let failed = unsafe {
        setsockopt(
            socket.as_raw_socket() as SOCKET,
            SOL_SOCKET,
            SO_EXCLUSIVEADDRUSE,
            (&raw const on).cast(),
            size_of_val(&on) as i32,
        )
    };
    // Winsock keeps its last error where GetLastError looks.
    if failed != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
