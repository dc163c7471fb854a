// SPDX-License-Identifier: BSD-3-Clause
//! The library as a program uses it, from several threads, on a provider within the process.
//!
//! `make miri` runs these tests under Miri, which finds undefined behaviour and data races wherever
//! they get. Everything here goes through the C functions.

mod provider;

mod connections;
mod handles;
mod logging;
mod queues;

use core::ffi::CStr;
use core::ptr::{null, null_mut};
use std::ffi::CString;

use libc::{c_int, c_void};
use rdma_sys::{ibv_wc, ibv_wc_status};

use provider::{Device, Ptr};

/// The C functions and the types that they take, wherever they are.
mod api {
    pub(super) use crate::conn::*;
    pub(super) use crate::conn_cfg::*;
    pub(super) use crate::conn_req::*;
    pub(super) use crate::cq::*;
    pub(super) use crate::ep::*;
    pub(super) use crate::error::*;
    pub(super) use crate::flush::*;
    pub(super) use crate::log::*;
    pub(super) use crate::mr::*;
    pub(super) use crate::operations::*;
    pub(super) use crate::peer::*;
    pub(super) use crate::peer_cfg::*;
    pub(super) use crate::private_data::*;
    pub(super) use crate::srq::*;
    pub(super) use crate::srq_cfg::*;
    pub(super) use crate::utils::*;
}
use api::*;

/// Calls a C function, and gives what it returns.
macro_rules! call {
    ($call:expr) => {
        // SAFETY: the tests give live objects and their own variables.
        unsafe { $call }
    };
}
use call;

/// Calls a C function that must succeed.
macro_rules! ok {
    ($call:expr) => {
        assert_eq!($crate::scenarios::call!($call), 0, "{}", stringify!($call))
    };
}
use ok;

/// What a C function makes that gives it by an out-parameter.
macro_rules! made {
    ($function:ident($($argument:expr),* $(,)?)) => {{
        let mut made = core::ptr::null_mut();
        $crate::scenarios::ok!($function($($argument,)* &mut made));
        assert!(!made.is_null());
        $crate::scenarios::Ptr(made)
    }};
}
use made;

const PORT: &CStr = c"7204";

/// What the operations of these tests are called with.
const SIGNALED: c_int = RPMA_F_COMPLETION_ALWAYS;

/// A device and a peer on it.
struct Host {
    peer: Ptr<Peer>,
    // Last: it looks whether all is gone.
    device: Device,
}

impl Host {
    fn new() -> Self {
        logging::be_quiet();
        let device = Device::new();
        let address = device.address();
        let local = rpma_util_ibv_context_type::RPMA_UTIL_IBV_CONTEXT_LOCAL as c_int;
        let context = made!(rpma_utils_get_ibv_context(address.as_ptr(), local));
        Self { peer: made!(rpma_peer_new(*context)), device }
    }

    fn address(&self) -> CString {
        self.device.address()
    }

    fn listen(&self) -> Ptr<Ep> {
        made!(rpma_ep_listen(*self.peer, self.address().as_ptr(), PORT.as_ptr()))
    }

    fn request(&self, cfg: *const ConnCfg) -> Ptr<ConnReq> {
        made!(rpma_conn_req_new(*self.peer, self.address().as_ptr(), PORT.as_ptr(), cfg))
    }

    /// Both sides of a connection, which is established.
    fn connect(&self, cfg: *const ConnCfg) -> (Ptr<Conn>, Ptr<Conn>) {
        let mut ep = self.listen();
        let client = connect(self.request(cfg), &[]);
        let server = connect(made!(rpma_ep_next_conn_req(*ep, cfg)), &[]);
        expect(client, rpma_conn_event::RPMA_CONN_ESTABLISHED);
        expect(server, rpma_conn_event::RPMA_CONN_ESTABLISHED);
        ok!(rpma_ep_shutdown(ep.handle()));
        (client, server)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if !std::thread::panicking() && !self.peer.is_null() {
            ok!(rpma_peer_delete(self.peer.handle()));
        }
    }
}

fn connect(mut request: Ptr<ConnReq>, private_data: &[u8]) -> Ptr<Conn> {
    let data = rpma_conn_private_data {
        ptr: private_data.as_ptr().cast_mut().cast(),
        len: u8::try_from(private_data.len()).expect("little data"),
    };
    let data = if private_data.is_empty() { null() } else { &raw const data };
    let conn = made!(rpma_conn_req_connect(request.handle(), data));
    assert!(request.is_null());
    conn
}

#[track_caller]
fn expect(conn: Ptr<Conn>, expected: rpma_conn_event) {
    let mut event = rpma_conn_event::RPMA_CONN_UNDEFINED as c_int;
    ok!(rpma_conn_next_event(*conn, &mut event));
    assert_eq!(event, expected as c_int);
}

/// Ends a connection on both sides, as programs do.
fn disconnect(mut client: Ptr<Conn>, mut server: Ptr<Conn>) {
    ok!(rpma_conn_disconnect(*client));
    expect(server, rpma_conn_event::RPMA_CONN_CLOSED);
    ok!(rpma_conn_disconnect(*server));
    expect(client, rpma_conn_event::RPMA_CONN_CLOSED);
    ok!(rpma_conn_delete(client.handle()));
    ok!(rpma_conn_delete(server.handle()));
}

fn cq(conn: Ptr<Conn>) -> Ptr<Cq> {
    made!(rpma_conn_get_cq(*conn))
}

/// Memory that is registered for everything, and is what the other side sees of it.
struct Region {
    memory: Ptr<u64>,
    mr: Ptr<MrLocal>,
    remote: Ptr<MrRemote>,
}

impl Region {
    const WORDS: usize = 8;
    const SIZE: usize = Self::WORDS * size_of::<u64>();

    fn new(host: &Host) -> Self {
        let memory = Ptr(Box::into_raw(Box::new([0_u64; Self::WORDS])).cast::<u64>());
        let mr = made!(rpma_mr_reg(*host.peer, memory.cast::<c_void>(), Self::SIZE, 0xff));
        let mut descriptor = [0_u8; 21];
        ok!(rpma_mr_get_descriptor(*mr, descriptor.as_mut_ptr().cast()));
        let remote = made!(rpma_mr_remote_from_descriptor(descriptor.as_ptr().cast(), 21));
        Self { memory, mr, remote }
    }

    fn set(&self, word: usize, value: u64) {
        assert!(word < Self::WORDS);
        // SAFETY: inside; no operation uses it meanwhile.
        unsafe { self.memory.add(word).write(value) }
    }

    fn get(&self, word: usize) -> u64 {
        assert!(word < Self::WORDS);
        // SAFETY: as in `set`.
        unsafe { self.memory.add(word).read() }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            ok!(rpma_mr_remote_delete(self.remote.handle()));
            ok!(rpma_mr_dereg(self.mr.handle()));
        }
        // SAFETY: made in `new`, and registered no more.
        drop(unsafe { Box::from_raw(self.memory.cast::<[u64; Self::WORDS]>()) });
    }
}

/// The next completion, if there is one.
fn poll(cq: Ptr<Cq>) -> Option<ibv_wc> {
    // SAFETY: plain numbers.
    let mut wc: ibv_wc = unsafe { core::mem::zeroed() };
    match call!(rpma_cq_get_wc(*cq, 1, &mut wc, null_mut())) {
        0 => Some(wc),
        code => {
            assert_eq!(code, RPMA_E_NO_COMPLETION);
            None
        }
    }
}

/// The next completion, which must be a good one. Waits for it.
fn completion(cq: Ptr<Cq>) -> ibv_wc {
    loop {
        if let Some(wc) = poll(cq) {
            assert_eq!(wc.status, ibv_wc_status::IBV_WC_SUCCESS);
            return wc;
        }
        ok!(rpma_cq_wait(*cq));
    }
}

/// `op_context` of an operation.
fn context(number: usize) -> *const c_void {
    core::ptr::without_provenance(number)
}

fn flush(conn: Ptr<Conn>, region: &Region) {
    let kind = rpma_flush_type::RPMA_FLUSH_TYPE_VISIBILITY as c_int;
    ok!(rpma_flush(*conn, *region.remote, 0, Region::SIZE, kind, SIGNALED, null()));
}
