// SPDX-License-Identifier: BSD-3-Clause
//! Connection management: what the library calls of librdmacm.
//!
//! What the kernel knows is behind one lock. The library spends little time here.

use core::mem::zeroed;
use core::ptr::{null, null_mut};
use std::collections::{BTreeMap, VecDeque};
use std::ffi::CStr;
use std::net::Ipv4Addr;
use std::sync::{Condvar, Mutex, MutexGuard};

use libc::{
    AF_INET, ECONNRESET, EINVAL, ENODEV, c_char, c_int, c_void, in_addr, sockaddr, sockaddr_in,
};
use rdma_sys::rdma_cm_event_type::*;
use rdma_sys::*;

use super::{Ptr, fail, lock, verbs};

static CM: Mutex<Cm> =
    Mutex::new(Cm { devices: BTreeMap::new(), ids: BTreeMap::new(), channels: BTreeMap::new() });
static NEWS: Condvar = Condvar::new();

/// What the kernel knows. Ids and channels go by their addresses.
struct Cm {
    devices: BTreeMap<Ipv4Addr, Ptr<ibv_context>>,
    ids: BTreeMap<usize, Id>,
    channels: BTreeMap<usize, VecDeque<Event>>,
}

struct Id {
    raw: Ptr<rdma_cm_id>,
    /// Where it listens, or whom it asks.
    address: Option<(Ipv4Addr, u16)>,
    stage: Stage,
    /// The id at the other side, as long as there is one.
    other: Option<usize>,
    /// How many of its events were taken and not acknowledged.
    unacked: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    New,
    Listening,
    /// It asked the other side, or was answered and has not noticed yet.
    Asking,
    /// It came in and was not answered.
    Pending,
    Connected,
    Done,
}

struct Event {
    kind: rdma_cm_event_type::Type,
    id: usize,
    /// Where a request came in.
    listener: Option<usize>,
    private_data: Vec<u8>,
}

/// An event as the library gets it.
#[repr(C)]
struct Given {
    public: rdma_cm_event,
    /// The id that waits for it to be acknowledged.
    owner: usize,
    private_data: Vec<u8>,
}

pub(super) fn attach(address: Ipv4Addr, context: Ptr<ibv_context>) {
    lock(&CM).devices.insert(address, context);
}

pub(super) fn detach(address: Ipv4Addr, context: Ptr<ibv_context>) {
    let mut cm = lock(&CM);
    cm.devices.remove(&address);
    // SAFETY: what the kernel knows is alive.
    let on_it = |id: &Id| unsafe { (**id.raw).verbs } == *context;
    assert!(!cm.ids.values().any(on_it), "an id was left behind");
}

impl Cm {
    fn add(&mut self, raw: rdma_cm_id, stage: Stage) -> Ptr<rdma_cm_id> {
        let raw = Ptr(Box::into_raw(Box::new(raw)));
        let id = Id { raw, address: None, stage, other: None, unacked: 0 };
        self.ids.insert(raw.addr(), id);
        raw
    }

    /// The id of a call.
    fn id(&mut self, raw: *mut rdma_cm_id) -> &mut Id {
        self.ids.get_mut(&raw.addr()).expect("an id that was destroyed")
    }

    /// The channel that an id reports to.
    fn channel_of(&mut self, id: usize) -> &mut VecDeque<Event> {
        // SAFETY: what the kernel knows is alive.
        let channel = unsafe { (**self.ids[&id].raw).channel };
        self.channels.get_mut(&channel.addr()).expect("an id without an event channel")
    }

    fn tell(&mut self, id: usize, kind: rdma_cm_event_type::Type, private_data: &[u8]) {
        let event = Event { kind, id, listener: None, private_data: private_data.to_vec() };
        self.channel_of(id).push_back(event);
        NEWS.notify_all();
    }

    fn qp(&self, id: usize) -> *mut ibv_qp {
        // SAFETY: what the kernel knows is alive.
        unsafe { (**self.ids[&id].raw).qp }
    }

    /// Destroys what the kernel knows of an id, and tells the other side.
    fn remove(&mut self, key: usize) {
        // SAFETY: what the kernel knows is alive.
        if unsafe { !(**self.ids[&key].raw).channel.is_null() } {
            let queue = self.channel_of(key);
            let mine = |event: &Event| event.id == key || event.listener == Some(key);
            let (dropped, kept): (VecDeque<_>, _) =
                core::mem::take(queue).into_iter().partition(mine);
            *queue = kept;
            for event in dropped.iter().filter(|event| event.listener == Some(key)) {
                self.remove(event.id);
            }
        }
        let id = self.ids.remove(&key).expect("destroyed twice");
        assert_eq!(id.unacked, 0, "destroying would wait for acknowledgements for ever");
        // SAFETY: alive, and not used after this.
        let raw = unsafe { Box::from_raw(*id.raw) };
        assert!(raw.qp.is_null(), "the id still has its QP");
        let Some(other) = id.other else { return };
        self.ids.get_mut(&other).expect("the other side").other = None;
        match id.stage {
            Stage::Pending => self.tell(other, RDMA_CM_EVENT_REJECTED, &[]),
            Stage::Connected => self.tell(other, RDMA_CM_EVENT_DISCONNECTED, &[]),
            _ => (),
        }
    }

    /// Does what librdmacm does when it takes an event off the channel.
    fn take(&mut self, event: Event) -> *mut rdma_cm_event {
        let qp = self.qp(event.id);
        let other = self.ids[&event.id].other;
        match (event.kind, other) {
            (RDMA_CM_EVENT_ESTABLISHED, Some(other)) => {
                let id = self.ids.get_mut(&event.id).expect("the id of an event");
                if id.stage == Stage::Asking {
                    id.stage = Stage::Connected;
                    // SAFETY: both QPs are alive.
                    unsafe { verbs::connect_qp(qp, self.qp(other)) };
                    self.tell(other, RDMA_CM_EVENT_ESTABLISHED, &[]);
                }
            }
            (RDMA_CM_EVENT_DISCONNECTED, _) if !qp.is_null() => {
                // SAFETY: alive.
                unsafe { verbs::break_qp(qp) };
            }
            _ => (),
        }
        let owner = event.listener.unwrap_or(event.id);
        self.ids.get_mut(&owner).expect("the id of an event").unacked += 1;
        // SAFETY: all zero is a valid value.
        let mut public: rdma_cm_event = unsafe { zeroed() };
        public.id = *self.ids[&event.id].raw;
        public.listen_id = event.listener.map_or(null_mut(), |listener| *self.ids[&listener].raw);
        public.event = event.kind;
        let given =
            Box::into_raw(Box::new(Given { public, owner, private_data: event.private_data }));
        // SAFETY: just made. The data have a place of their own on the heap.
        unsafe {
            let data = &(*given).private_data;
            let conn = &raw mut (*given).public.param.conn;
            (*conn).private_data = if data.is_empty() { null() } else { data.as_ptr().cast() };
            (*conn).private_data_len = u8::try_from(data.len()).expect("a u8 at the other side");
        }
        given.cast()
    }
}

/// The private data of a call.
unsafe fn private_data<'a>(param: *const rdma_conn_param) -> &'a [u8] {
    // SAFETY: the library gives parameters, and data of this length or none.
    unsafe {
        let (data, len) = ((*param).private_data, (*param).private_data_len);
        if data.is_null() { &[] } else { core::slice::from_raw_parts(data.cast(), len.into()) }
    }
}

// Event channels and events.

#[unsafe(no_mangle)]
extern "C" fn rdma_create_event_channel() -> *mut rdma_event_channel {
    let channel = Box::into_raw(Box::new(rdma_event_channel { fd: -1 }));
    lock(&CM).channels.insert(channel.addr(), VecDeque::new());
    channel
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rdma_destroy_event_channel(channel: *mut rdma_event_channel) {
    let mut cm = lock(&CM);
    // SAFETY: what the kernel knows is alive, and so is the channel until here.
    unsafe {
        assert!(cm.ids.values().all(|id| (**id.raw).channel != channel), "an id reports to it");
        cm.channels.remove(&channel.addr()).expect("destroyed twice");
        drop(Box::from_raw(channel));
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rdma_get_cm_event(
    channel: *mut rdma_event_channel,
    event: *mut *mut rdma_cm_event,
) -> c_int {
    let wait = |cm: MutexGuard<'static, Cm>| NEWS.wait(cm).expect("no test failed before");
    let mut cm = lock(&CM);
    loop {
        let queue = cm.channels.get_mut(&channel.addr()).expect("a live channel");
        if let Some(next) = queue.pop_front() {
            // SAFETY: writable.
            unsafe { event.write(cm.take(next)) };
            return 0;
        }
        cm = wait(cm);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rdma_ack_cm_event(event: *mut rdma_cm_event) -> c_int {
    // SAFETY: `take` made it, and it is acknowledged once.
    let given = unsafe { Box::from_raw(event.cast::<Given>()) };
    lock(&CM).ids.get_mut(&given.owner).expect("an id with an event").unacked -= 1;
    0
}

#[unsafe(no_mangle)]
extern "C" fn rdma_event_str(event: rdma_cm_event_type::Type) -> *const c_char {
    let name = match event {
        RDMA_CM_EVENT_CONNECT_REQUEST => c"RDMA_CM_EVENT_CONNECT_REQUEST",
        RDMA_CM_EVENT_ESTABLISHED => c"RDMA_CM_EVENT_ESTABLISHED",
        RDMA_CM_EVENT_REJECTED => c"RDMA_CM_EVENT_REJECTED",
        RDMA_CM_EVENT_DISCONNECTED => c"RDMA_CM_EVENT_DISCONNECTED",
        _ => c"UNKNOWN EVENT",
    };
    name.as_ptr()
}

// Ids.

#[unsafe(no_mangle)]
unsafe extern "C" fn rdma_create_id(
    channel: *mut rdma_event_channel,
    id: *mut *mut rdma_cm_id,
    context: *mut c_void,
    ps: rdma_port_space::Type,
) -> c_int {
    // SAFETY: all zero is a valid value, and the library gives a place for the id.
    unsafe {
        let raw = rdma_cm_id { channel, context, ps, ..zeroed() };
        id.write(*lock(&CM).add(raw, Stage::New));
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rdma_destroy_id(id: *mut rdma_cm_id) -> c_int {
    lock(&CM).remove(id.addr());
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rdma_migrate_id(
    id: *mut rdma_cm_id,
    channel: *mut rdma_event_channel,
) -> c_int {
    let mut cm = lock(&CM);
    assert_eq!(cm.id(id).unacked, 0, "migrating would wait for acknowledgements for ever");
    // SAFETY: the library gives a live id.
    unsafe {
        if !(*id).channel.is_null() {
            let queue = cm.channel_of(id.addr());
            let mine = |event: &Event| event.id == id.addr();
            let (moved, kept): (VecDeque<_>, _) =
                core::mem::take(queue).into_iter().partition(mine);
            *queue = kept;
            cm.channels.get_mut(&channel.addr()).expect("a live channel").extend(moved);
        }
        (*id).channel = channel;
    }
    0
}

/// Ties an id to an address, and to the device that has it.
unsafe fn bind(id: *mut rdma_cm_id, addr: *const sockaddr) -> c_int {
    // SAFETY: the library gives an address of `rdma_getaddrinfo`.
    let addr = unsafe { addr.cast::<sockaddr_in>().read() };
    assert_eq!(addr.sin_family, AF_INET as u16);
    let ip = Ipv4Addr::from_bits(u32::from_be(addr.sin_addr.s_addr));
    let mut cm = lock(&CM);
    let Some(device) = cm.devices.get(&ip).copied() else { return fail(ENODEV) };
    cm.id(id).address = Some((ip, u16::from_be(addr.sin_port)));
    // SAFETY: the library gives a live id.
    unsafe { (*id).verbs = *device };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rdma_bind_addr(id: *mut rdma_cm_id, addr: *mut sockaddr) -> c_int {
    // SAFETY: passed on to the caller.
    unsafe { bind(id, addr) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rdma_resolve_addr(
    id: *mut rdma_cm_id,
    _src: *mut sockaddr,
    dst: *mut sockaddr,
    timeout_ms: c_int,
) -> c_int {
    assert!(timeout_ms >= 0);
    // SAFETY: passed on to the caller.
    unsafe {
        assert!((*id).channel.is_null(), "it would not block");
        bind(id, dst)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rdma_resolve_route(id: *mut rdma_cm_id, _timeout_ms: c_int) -> c_int {
    match lock(&CM).id(id).address {
        Some(_) => 0,
        None => fail(EINVAL),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rdma_create_qp_ex(
    id: *mut rdma_cm_id,
    attr: *mut ibv_qp_init_attr_ex,
) -> c_int {
    // SAFETY: the library gives a live id and attributes.
    unsafe {
        assert!((*id).qp.is_null(), "the id has a QP");
        let qp = verbs::create_qp((*id).verbs, attr);
        (*id).qp = qp;
        if qp.is_null() { -1 } else { 0 }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rdma_destroy_qp(id: *mut rdma_cm_id) {
    // Nobody who takes an event looks at the QP meanwhile.
    let _cm = lock(&CM);
    // SAFETY: the library gives a live id with a QP.
    unsafe {
        assert!(!(*id).qp.is_null(), "destroyed twice");
        verbs::destroy_qp((*id).qp);
        (*id).qp = null_mut();
    }
}

// Connecting.

#[unsafe(no_mangle)]
unsafe extern "C" fn rdma_listen(id: *mut rdma_cm_id, _backlog: c_int) -> c_int {
    let mut cm = lock(&CM);
    let address = cm.id(id).address;
    let taken = |id: &Id| id.stage == Stage::Listening && id.address == address;
    assert!(!cm.ids.values().any(taken), "the address is in use");
    cm.id(id).stage = Stage::Listening;
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rdma_connect(id: *mut rdma_cm_id, param: *mut rdma_conn_param) -> c_int {
    let mut cm = lock(&CM);
    let own = cm.id(id);
    own.stage = Stage::Asking;
    let address = own.address;
    let listens = |id: &&Id| id.stage == Stage::Listening && id.address == address;
    let Some(listener) = cm.ids.values().find(listens).map(|id| id.raw) else {
        cm.id(id).stage = Stage::Done;
        cm.tell(id.addr(), RDMA_CM_EVENT_REJECTED, &[]);
        return 0;
    };
    // SAFETY: both ids are alive; all zero is a valid value.
    unsafe {
        let (verbs, channel) = ((*id).verbs, (**listener).channel);
        let ps = rdma_port_space::RDMA_PS_TCP;
        let incoming = cm.add(rdma_cm_id { verbs, channel, ps, ..zeroed() }, Stage::Pending);
        cm.id(*incoming).other = Some(id.addr());
        cm.id(id).other = Some(incoming.addr());
        let event = Event {
            kind: RDMA_CM_EVENT_CONNECT_REQUEST,
            id: incoming.addr(),
            listener: Some(listener.addr()),
            private_data: private_data(param).to_vec(),
        };
        cm.channel_of(listener.addr()).push_back(event);
    }
    NEWS.notify_all();
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rdma_accept(id: *mut rdma_cm_id, param: *mut rdma_conn_param) -> c_int {
    let mut cm = lock(&CM);
    let own = cm.id(id);
    assert!(own.stage == Stage::Pending, "answered twice");
    let Some(other) = own.other else {
        own.stage = Stage::Done;
        return fail(ECONNRESET);
    };
    own.stage = Stage::Connected;
    // SAFETY: both QPs are alive: their ids are.
    unsafe {
        verbs::connect_qp((*id).qp, cm.qp(other));
        cm.tell(other, RDMA_CM_EVENT_ESTABLISHED, private_data(param));
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rdma_reject(id: *mut rdma_cm_id, _data: *const c_void, _len: u8) -> c_int {
    let mut cm = lock(&CM);
    let own = cm.id(id);
    assert!(own.stage == Stage::Pending, "answered twice");
    own.stage = Stage::Done;
    let Some(other) = own.other.take() else { return fail(ECONNRESET) };
    let other_id = cm.ids.get_mut(&other).expect("the other side");
    (other_id.stage, other_id.other) = (Stage::Done, None);
    cm.tell(other, RDMA_CM_EVENT_REJECTED, &[]);
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rdma_disconnect(id: *mut rdma_cm_id) -> c_int {
    let mut cm = lock(&CM);
    // SAFETY: the library gives a live id with a QP.
    unsafe { verbs::break_qp((*id).qp) };
    let own = cm.id(id);
    if own.stage == Stage::Connected {
        own.stage = Stage::Done;
        let other = own.other;
        cm.tell(id.addr(), RDMA_CM_EVENT_DISCONNECTED, &[]);
        if let Some(other) = other {
            cm.ids.get_mut(&other).expect("the other side").stage = Stage::Done;
            cm.tell(other, RDMA_CM_EVENT_DISCONNECTED, &[]);
        }
    }
    0
}

// Addresses: IPv4 in numbers only.

#[repr(C)]
struct Info {
    public: rdma_addrinfo,
    address: sockaddr_in,
}

unsafe fn parse<T: core::str::FromStr>(text: *const c_char) -> Option<T> {
    // SAFETY: the library gives C strings.
    unsafe { CStr::from_ptr(text) }.to_str().ok()?.parse().ok()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rdma_getaddrinfo(
    node: *const c_char,
    service: *const c_char,
    hints: *const rdma_addrinfo,
    res: *mut *mut rdma_addrinfo,
) -> c_int {
    // SAFETY: the library gives C strings, or no service, hints, and a place for the result.
    unsafe {
        let ip = parse::<Ipv4Addr>(node);
        let port = if service.is_null() { Some(0) } else { parse::<u16>(service) };
        let (Some(ip), Some(port)) = (ip, port) else { return libc::EAI_NONAME };
        let address = sockaddr_in {
            sin_family: AF_INET as u16,
            sin_port: port.to_be(),
            sin_addr: in_addr { s_addr: ip.to_bits().to_be() },
            ..zeroed()
        };
        let info = Box::into_raw(Box::new(Info { public: zeroed(), address }));
        let (public, address) = (&raw mut (*info).public, (&raw mut (*info).address).cast());
        let len = size_of::<sockaddr_in>() as u32;
        if (*hints).ai_flags & RAI_PASSIVE as c_int != 0 {
            ((*public).ai_src_addr, (*public).ai_src_len) = (address, len);
        } else {
            ((*public).ai_dst_addr, (*public).ai_dst_len) = (address, len);
        }
        (*public).ai_family = AF_INET;
        res.write(public);
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rdma_freeaddrinfo(res: *mut rdma_addrinfo) {
    // SAFETY: of `rdma_getaddrinfo`, and freed once.
    drop(unsafe { Box::from_raw(res.cast::<Info>()) });
}
