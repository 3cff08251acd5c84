//! Words for what goes wrong: messages and codes for operations that fail.
//!
//! A failed operation is `nil, message, code` in Lua: the message is a plain sentence, the code the system's name for
//! the error, so that a script can tell a taken port from a missing right.

use std::fmt::{self, Write};
use std::io;
use std::net::SocketAddr;

/// The system's name of an error, `EIO` for one without a common name.
pub(super) fn code(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => "EADDRINUSE",
        io::ErrorKind::AddrNotAvailable => "EADDRNOTAVAIL",
        io::ErrorKind::PermissionDenied => "EACCES",
        io::ErrorKind::Unsupported => "EAFNOSUPPORT",
        io::ErrorKind::OutOfMemory => "ENOMEM",
        io::ErrorKind::Interrupted => "EINTR",
        _ => match error.raw_os_error() {
            // EMFILE and ENFILE have the same numbers on all systems with these names.
            Some(24) if cfg!(unix) => "EMFILE",
            Some(23) if cfg!(unix) => "ENFILE",
            Some(97) if cfg!(target_os = "linux") => "EAFNOSUPPORT",
            // Winsock's numbers: WSAEMFILE, WSAEAFNOSUPPORT.
            Some(10024) if cfg!(windows) => "EMFILE",
            Some(10047) if cfg!(windows) => "EAFNOSUPPORT",
            _ => "EIO",
        },
    }
}

/// Writes why `address` cannot be listened on.
pub(super) fn write_listen_failure(out: &mut impl Write, address: SocketAddr, error: &io::Error) -> fmt::Result {
    match error.kind() {
        io::ErrorKind::AddrInUse => write!(out, "{address} is already in use by another program or server"),
        io::ErrorKind::AddrNotAvailable => write!(out, "{address} is not an address of this machine"),
        // Windows asks no rights for a port; this is one that another program holds for itself, or that the system set aside.
        io::ErrorKind::PermissionDenied if cfg!(windows) => {
            write!(out, "{address} is held by another program or reserved by Windows")
        }
        io::ErrorKind::PermissionDenied => write!(out, "{address} may not be used without more rights"),
        _ => write!(out, "{address} cannot be listened on: {error}"),
    }
}
