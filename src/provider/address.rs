// SPDX-License-Identifier: BSD-3-Clause
//! Addresses as a program gives them: looked up, and tried one after the other where a name stands
//! for several.

use core::ffi::CStr;
use core::mem::MaybeUninit;
use core::ptr::{NonNull, null_mut};

use libc::{addrinfo, c_char, c_int, sockaddr, sockaddr_in, sockaddr_in6, socklen_t};
use rdma_sys::{
    RAI_PASSIVE, ibv_qp_type, rdma_addrinfo, rdma_bind_addr, rdma_freeaddrinfo, rdma_getaddrinfo,
    rdma_listen, rdma_port_space, rdma_resolve_addr, rdma_resolve_route,
};

use super::cm::{CmId, EventChannel};
use super::device_nodes::blame;
use crate::error::{Failure, Result, errno};
use crate::log::{File, Level, Message, Origin, Part, Text, send};

const FILE: File = File::Address;

/// Where a program wants to listen or connect, or an address of the device that it looks for.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    /// What the program called.
    function: Text<'static>,
    node: Text<'a>,
    /// None where only the device is wanted.
    service: Option<Text<'a>>,
    /// An address of this host's.
    passive: bool,
    timeout_ms: c_int,
}

impl<'a> Place<'a> {
    pub(crate) const fn to_listen(node: Text<'a>, service: Text<'a>) -> Self {
        let function = Text::new(c"rpma_ep_listen");
        Self { function, node, service: Some(service), passive: true, timeout_ms: 0 }
    }

    pub(crate) const fn to_connect(node: Text<'a>, service: Text<'a>, timeout_ms: c_int) -> Self {
        let function = Text::new(c"rpma_conn_req_new");
        Self { function, node, service: Some(service), passive: false, timeout_ms }
    }

    pub(crate) const fn of_device(node: Text<'a>, passive: bool, timeout_ms: c_int) -> Self {
        let function = Text::new(c"rpma_utils_get_ibv_context");
        Self { function, node, service: None, passive, timeout_ms }
    }

    pub(crate) const fn node(&self) -> Part<'a> {
        Part::Quoted(Some(self.node))
    }

    pub(crate) const fn service(&self) -> Part<'a> {
        Part::Quoted(self.service)
    }

    /// An id that is bound to the address, or for which the route to it is resolved. The caller
    /// frees the result of the lookup after it has used the id.
    #[inline(never)]
    pub(crate) fn open(&self) -> Result<(CmId, AddrInfo)> {
        let errno_before = errno::get();
        if self.service.is_some_and(is_no_port) {
            let text = c"port % is not between 0 and 65535";
            send(
                const { Origin::new(Level::Error, FILE, line!()) },
                self.function,
                Text::new(text),
                &[self.service()],
            );
            return Err(Failure::provider(libc::EINVAL));
        }
        // An endpoint has its id before the lookup, as in the C library.
        let early = if self.listens() { Some(self.id()?) } else { None };
        let info = AddrInfo::lookup(self)?;
        let id = match early {
            Some(id) => id,
            None => self.id()?,
        };
        let outcome = match self.settle(&id, info.source(), info.address(self)) {
            None if !id.verbs().is_null() => return Ok((id, info)),
            None => Ok(id),
            Some(miss) => {
                drop(id);
                Err(miss)
            }
        };
        let id = self.try_others(outcome, info.address(self))?;
        errno::set(errno_before);
        Ok((id, info))
    }

    /// Makes the opened id listen.
    pub(crate) fn listen(&self, id: &CmId) -> Result {
        // SAFETY: the id is alive. A backlog of 0 is librdmacm's default.
        match step(c"rdma_listen", unsafe { rdma_listen(id.as_ptr(), 0) }) {
            None => Ok(()),
            Some(miss) => Err(self.failed(miss, &Message::new())),
        }
    }

    const fn listens(&self) -> bool {
        self.passive && self.service.is_some()
    }

    fn id(&self) -> Result<CmId> {
        let listens = self.listens();
        let channel = if listens { Some(EventChannel::create(self.function)?) } else { None };
        CmId::create(channel, self.function)
    }

    /// Binds or resolves one address. If that fails, returns the reason.
    #[inline(never)]
    fn settle(&self, id: &CmId, source: *mut sockaddr, address: *mut sockaddr) -> Option<Miss> {
        let (raw, timeout_ms) = (id.as_ptr(), self.timeout_ms);
        // SAFETY: NULL or an address, which is ours to write.
        unsafe { ipv4_of_mapped(address) };
        let miss = if self.passive {
            // SAFETY: id and address are alive.
            step(c"rdma_bind_addr", unsafe { rdma_bind_addr(raw, address) })
        } else {
            // SAFETY: id and addresses are alive.
            let code = unsafe { rdma_resolve_addr(raw, source, address, timeout_ms) };
            match step(c"rdma_resolve_addr", code) {
                None if self.service.is_some() => {
                    // SAFETY: the id is alive.
                    let code = unsafe { rdma_resolve_route(raw, timeout_ms) };
                    step(c"rdma_resolve_route", code)
                }
                miss => miss,
            }
        };
        if miss.is_none() && !self.listens() && id.verbs().is_null() {
            let call = Text::new(c"an address of no RDMA device: rdma_bind_addr");
            return Some(Miss { call, errno: libc::ENODEV });
        }
        miss
    }

    /// The first address was none, or one to listen at that no device has, as a loopback one is.
    /// Goes through the others that the name stands for, in the resolver's order, each with a fresh
    /// id: one that failed may be bound already. librdmacm tells of the first alone, so the
    /// resolver is asked. Where no address is a device's, the first that can be bound stays.
    #[cold]
    #[inline(never)]
    fn try_others(
        &self,
        mut outcome: core::result::Result<CmId, Miss>,
        first: *mut sockaddr,
    ) -> Result<CmId> {
        // SAFETY: all zero is a valid `addrinfo`.
        let mut hints: addrinfo = unsafe { MaybeUninit::zeroed().assume_init() };
        hints.ai_flags = if self.passive { libc::AI_PASSIVE } else { 0 };
        hints.ai_socktype = libc::SOCK_STREAM;
        let mut list = List(null_mut());
        let (node, service) = (self.node.as_ptr(), Text::or_null(self.service));
        // SAFETY: C strings; hints and list are ours. A list that cannot be had is empty.
        unsafe { libc::getaddrinfo(node, service, &hints, &mut list.0) };
        let first_name = Name::of(first);
        let mut tried = Message::new();
        tried.append(Text::new(c" (%"), &[first_name.text().into()]);
        let mut is_alone = true;
        let mut next = list.0;
        // SAFETY: NULL or an entry of the list, which is alive.
        while let Some(info) = unsafe { next.as_ref() } {
            next = info.ai_next;
            let address = info.ai_addr;
            // SAFETY: an address of the list's, which is ours.
            unsafe { ipv4_of_mapped(address) };
            let name = Name::of(address);
            if name.text() == first_name.text() {
                continue;
            }
            // Leaves room for the cause, which follows.
            if tried.len() < 600 {
                tried.append(Text::new(c", %"), &[name.text().into()]);
            }
            is_alone = false;
            let id = self.id()?;
            match self.settle(&id, null_mut(), address) {
                None if !id.verbs().is_null() => return Ok(id),
                None if outcome.is_err() => outcome = Ok(id),
                Some(miss) if outcome.is_err() => outcome = Err(miss),
                _ => {}
            }
        }
        tried.append(Text::new(c")"), &[]);
        if is_alone && first_name.text() == self.node {
            tried = Message::new();
        }
        outcome.map_err(|miss| self.failed(miss, &tried))
    }

    #[cold]
    #[inline(never)]
    fn failed(&self, miss: Miss, tried: &Message) -> Failure {
        let blamed = blame(miss.errno);
        let text = if self.passive {
            c"%(%%, %) failed: %%"
        } else {
            c"%(%%, %) failed: %% (timeout % ms)"
        };
        let parts = [
            miss.call.into(),
            self.node(),
            tried.text().into(),
            self.service(),
            Part::Cause(miss.errno),
            blamed.text().into(),
            (self.timeout_ms as u64).into(),
        ];
        send(
            const { Origin::new(Level::Error, FILE, line!()) },
            self.function,
            Text::new(text),
            &parts,
        );
        Failure::provider(miss.errno)
    }
}

/// Why an address failed: the call and its `errno`.
#[derive(Clone, Copy)]
struct Miss {
    call: Text<'static>,
    errno: c_int,
}

fn step(call: &'static CStr, code: c_int) -> Option<Miss> {
    (code != 0).then(|| Miss { call: Text::new(call), errno: errno::get() })
}

/// What getaddrinfo(3) gave.
struct List(*mut addrinfo);

impl Drop for List {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: ours, and not used after this.
            unsafe { libc::freeaddrinfo(self.0) }
        }
    }
}

/// An address in numbers; empty where it is neither IPv4 nor IPv6.
struct Name([c_char; 64]);

impl Name {
    fn of(address: *const sockaddr) -> Self {
        let mut name = Self([0; 64]);
        let len = match family(address) {
            libc::AF_INET => size_of::<sockaddr_in>(),
            libc::AF_INET6 => size_of::<sockaddr_in6>(),
            _ => 0,
        };
        let (text, room) = (name.0.as_mut_ptr(), name.0.len() as socklen_t);
        // SAFETY: an address of that length, and a buffer with room for the longest text.
        unsafe {
            let (len, flags) = (len as socklen_t, libc::NI_NUMERICHOST);
            libc::getnameinfo(address, len, text, room, null_mut(), 0, flags)
        };
        name
    }

    fn text(&self) -> Text<'_> {
        // SAFETY: a C string, which lives as long as the buffer.
        unsafe { Text::from_ptr(self.0.as_ptr()) }
    }
}

/// Whether the resolver takes `service` for a number, as strtoul(3) does, that is no port.
fn is_no_port(service: Text) -> bool {
    let (mut number, mut negative, mut begun) = (0_u64, false, false);
    for byte in service.bytes().skip_while(|byte| matches!(byte, b' ' | b'\t'..=b'\r')) {
        match byte {
            b'0'..=b'9' => number = (number * 10 + u64::from(byte - b'0')).min(1 << 32),
            b'+' | b'-' if !begun => negative = byte == b'-',
            _ => return false,
        }
        begun = true;
    }
    number > if negative { 0 } else { 0xffff }
}

/// The outcome of an address lookup: the first address that the name stands for.
pub(crate) struct AddrInfo(NonNull<rdma_addrinfo>);

impl AddrInfo {
    fn lookup(place: &Place) -> Result<Self> {
        // SAFETY: all zero is a valid `rdma_addrinfo`.
        let mut hints: rdma_addrinfo = unsafe { MaybeUninit::zeroed().assume_init() };
        hints.ai_flags = if place.passive { RAI_PASSIVE as c_int } else { 0 };
        hints.ai_qp_type = ibv_qp_type::IBV_QPT_RC as c_int;
        hints.ai_port_space = rdma_port_space::RDMA_PS_TCP as c_int;
        let mut info = null_mut();
        let (node, service) = (place.node.as_ptr(), Text::or_null(place.service));
        let (code, errno) = errno::cleared(|| {
            // SAFETY: C strings; hints and `info` are ours.
            unsafe { rdma_getaddrinfo(node, service, &hints, &mut info) }
        });
        match NonNull::new(info) {
            Some(info) if code == 0 => Ok(Self(info)),
            _ => Err(Self::lookup_failed(place, code, errno)),
        }
    }

    #[cold]
    #[inline(never)]
    fn lookup_failed(place: &Place, code: c_int, errno: c_int) -> Failure {
        // If librdmacm itself or the system below the resolver fails, the code is -1 or EAI_SYSTEM,
        // and errno is set. Every other code is an EAI code.
        let (cause, errno) = match code {
            -1 | libc::EAI_SYSTEM if errno != 0 => (Part::Cause(errno), errno),
            libc::EAI_AGAIN => (Part::Resolver(code), libc::EAGAIN),
            _ => (Part::Resolver(code), libc::EINVAL),
        };
        let blamed = blame(errno);
        let parts = [place.node(), place.service(), cause, blamed.text().into()];
        send(
            const { Origin::new(Level::Error, FILE, line!()) },
            place.function,
            Text::new(c"rdma_getaddrinfo(%, %) failed: %%"),
            &parts,
        );
        Failure::provider(errno)
    }

    fn source(&self) -> *mut sockaddr {
        // SAFETY: alive while we own it.
        unsafe { (*self.0.as_ptr()).ai_src_addr }
    }

    /// The one that was asked for.
    fn address(&self, place: &Place) -> *mut sockaddr {
        if place.passive {
            return self.source();
        }
        // SAFETY: as above.
        unsafe { (*self.0.as_ptr()).ai_dst_addr }
    }
}

impl Drop for AddrInfo {
    fn drop(&mut self) {
        // SAFETY: ours, and not used after this.
        unsafe { rdma_freeaddrinfo(self.0.as_ptr()) }
    }
}

fn family(address: *const sockaddr) -> c_int {
    // SAFETY: NULL or an address; every kind begins with its family.
    if address.is_null() { libc::AF_UNSPEC } else { unsafe { c_int::from((*address).sa_family) } }
}

/// Makes an IPv4 address of one that is written as IPv6 (`::ffff:10.0.0.1`), in its place: no
/// route leads there as IPv6, and RDMA devices do not know it.
///
/// # Safety
///
/// `address` is NULL or an address that is ours to write.
#[inline(never)]
unsafe fn ipv4_of_mapped(address: *mut sockaddr) {
    if family(address) != libc::AF_INET6 {
        return;
    }
    // SAFETY: an IPv6 address by its family; read as a whole, since it is not aligned for sure.
    let wide: sockaddr_in6 = unsafe { address.cast::<sockaddr_in6>().read_unaligned() };
    if let [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, ipv4 @ ..] = wide.sin6_addr.s6_addr {
        let narrow = sockaddr_in {
            sin_family: libc::AF_INET as _,
            sin_port: wide.sin6_port,
            sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(ipv4) },
            sin_zero: [0; 8],
        };
        // SAFETY: it is shorter than what is there.
        unsafe { address.cast::<sockaddr_in>().write_unaligned(narrow) };
    }
}
