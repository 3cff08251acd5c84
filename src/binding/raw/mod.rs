//! Everything that speaks the Lua API: the one home of `unsafe`.
//!
//! What every function here has to respect, and its SAFETY comment refers to:
//!
//! - R1. A Lua error jumps: in PUC Lua it is a `longjmp` over the Rust frames, in LuaJIT a foreign exception. So in a
//!   frame that calls an API function which can raise, no value with a destructor is alive.
//! - R2. Rust that may panic, or that owns such values, runs inside [`guard::guard`] (or [`guard::contained`]), returns
//!   a `Copy` result, and calls inside only API functions that can neither raise nor run Lua code: `lua_type`,
//!   `lua_next` with a key it gave itself, `lua_rawgeti`, `lua_tolstring` of a string, `lua_objlen`, `lua_topointer`,
//!   `lua_getmetatable`, `lua_touserdata`, `lua_settop`, pushes of numbers and booleans.
//! - R3. Any allocation by Lua may collect garbage, and any finalizer may call any function of ours. So no reference
//!   into Rust memory and no borrow of a cell lives across an allocating call: bytes are first copied to the frame or
//!   to memory that Lua owns and the frame anchors ([`stack::push_bytes`]).
//! - R4. A pointer into a userdata is valid while the userdata is reachable. Every request and response handle has, as
//!   its environment, a table that holds the server's userdata. Only the debug library could cut that, or call what is
//!   not meant for a program; what a program can get at without it, by a metatable too, looks at its arguments.

// Each function here is one sequence of API calls: a block inside each would only repeat what its SAFETY comment says.
#![allow(unsafe_op_in_unsafe_fn)]

mod access_log;
mod answer;
mod body;
mod chain;
mod conditions;
mod dispatch;
mod entry;
mod events;
mod finish;
mod guard;
mod handle;
mod json;
mod json_decode;
mod json_encode;
mod json_order;
mod layers;
mod listen;
mod negotiation;
mod origin;
mod params;
mod render;
mod report;
mod request;
mod request_body;
mod request_cookies;
mod request_tables;
mod response;
mod response_cookies;
mod response_fields;
mod router;
mod server;
mod stack;
mod state;
mod tools;
mod traceback;
mod turn;
mod within;

pub(super) use body::HeldBody;
