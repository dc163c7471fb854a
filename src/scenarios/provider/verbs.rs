// SPDX-License-Identifier: BSD-3-Clause
//! A device: what the library calls of libibverbs.

use core::mem::{MaybeUninit, zeroed};
use core::ptr::{copy_nonoverlapping, null_mut, with_exposed_provenance};
use core::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering};
use std::collections::VecDeque;
use std::ffi::CString;
use std::net::Ipv4Addr;
use std::sync::{Arc, Condvar, Mutex};

use libc::{EBUSY, EINVAL, c_int, c_uint, c_void};
use rdma_sys::*;

use super::{Ptr, Public, cm, fail, inner, lock, unmake};

impl Public for verbs_context {
    type Inner = DeviceInner;
}

pub(crate) struct DeviceInner {
    device: *mut ibv_device,
    /// How many objects live on it.
    live: AtomicUsize,
    /// How many of them are MRs.
    regions: AtomicUsize,
    pds: Mutex<Vec<Ptr<ibv_pd>>>,
}

/// A device with an address of its own, for one test.
pub(crate) struct Device {
    context: Ptr<ibv_context>,
    address: Ipv4Addr,
}

impl Device {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU8 = AtomicU8::new(1);
        let address = Ipv4Addr::new(10, 0, 0, COUNT.fetch_add(1, Ordering::Relaxed));
        // SAFETY: all zero is a valid value: numbers, texts and NULL pointers.
        let (mut device, mut verbs): (ibv_device, verbs_context) = unsafe { (zeroed(), zeroed()) };
        device.transport_type = ibv_transport_type::IBV_TRANSPORT_IB;
        let device = Box::into_raw(Box::new(device));
        verbs.sz = size_of::<verbs_context>();
        verbs.query_device_ex = Some(query_device_ex);
        verbs.context.device = device;
        verbs.context.abi_compat = core::ptr::without_provenance_mut(usize::MAX);
        verbs.context.ops.poll_cq = Some(poll_cq);
        verbs.context.ops.req_notify_cq = Some(req_notify_cq);
        verbs.context.ops.post_send = Some(post_send);
        verbs.context.ops.post_recv = Some(post_recv);
        verbs.context.ops.post_srq_recv = Some(post_srq_recv);
        let own = DeviceInner {
            device,
            live: AtomicUsize::new(0),
            regions: AtomicUsize::new(0),
            pds: Mutex::new(Vec::new()),
        };
        let verbs = verbs.make(own);
        // SAFETY: just made.
        let context = Ptr(unsafe { &raw mut (*verbs).context });
        cm::attach(address, context);
        Self { context, address }
    }

    pub(crate) fn address(&self) -> CString {
        CString::new(self.address.to_string()).expect("no NUL")
    }

    /// How many MRs there are.
    pub(crate) fn regions(&self) -> usize {
        // SAFETY: the device is open.
        unsafe { of_device(*self.context) }.regions.load(Ordering::Relaxed)
    }

    /// Frees the PDs that the provider refused to free when the library wanted it.
    pub(crate) fn free_abandoned_pds(&self) -> usize {
        // SAFETY: the device is open, and so are its PDs.
        unsafe {
            let pds = lock(&of_device(*self.context).pds).clone();
            for pd in &pds {
                assert_eq!(ibv_dealloc_pd(**pd), 0, "something lives on the PD");
            }
            pds.len()
        }
    }
}

impl Drop for Device {
    /// Nothing may be left on it.
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        cm::detach(self.address, self.context);
        // SAFETY: the device is open, and nothing uses it any more.
        unsafe {
            let own = of_device(*self.context);
            assert_eq!(own.live.load(Ordering::Relaxed), 0, "objects were left behind");
            drop(Box::from_raw(own.device));
            unmake(verbs_get_ctx(*self.context));
        }
    }
}

/// # Safety
///
/// `context` is open.
unsafe fn of_device<'a>(context: *mut ibv_context) -> &'a DeviceInner {
    // SAFETY: an open device is one of ours.
    unsafe { inner(verbs_get_ctx(context)) }
}

/// Makes an object on a device.
unsafe fn make<P: Public>(context: *mut ibv_context, public: P, own: P::Inner) -> *mut P {
    // SAFETY: the library gives open devices.
    unsafe { of_device(context) }.live.fetch_add(1, Ordering::Relaxed);
    public.make(own)
}

unsafe fn destroy<P: Public>(context: *mut ibv_context, object: *mut P) -> c_int {
    // SAFETY: the library gives open devices, and uses no object that it destroyed.
    unsafe {
        of_device(context).live.fetch_sub(1, Ordering::Relaxed);
        unmake(object);
    }
    0
}

unsafe extern "C" fn query_device_ex(
    _context: *mut ibv_context,
    _input: *const ibv_query_device_ex_input,
    attr: *mut ibv_device_attr_ex,
    size: usize,
) -> c_int {
    assert_eq!(size, size_of::<ibv_device_attr_ex>());
    // SAFETY: writable. It can do nothing special.
    unsafe { attr.write_bytes(0, 1) };
    0
}

// PDs. Behind each is the count of what lives on it.

impl Public for ibv_pd {
    type Inner = AtomicUsize;
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_alloc_pd(context: *mut ibv_context) -> *mut ibv_pd {
    // SAFETY: the library gives an open device.
    unsafe {
        let pd = make(context, ibv_pd { context, handle: 0 }, AtomicUsize::new(0));
        lock(&of_device(context).pds).push(Ptr(pd));
        pd
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_dealloc_pd(pd: *mut ibv_pd) -> c_int {
    // SAFETY: the library gives a live PD.
    unsafe {
        if inner(pd).load(Ordering::Relaxed) != 0 {
            return EBUSY;
        }
        let context = (*pd).context;
        lock(&of_device(context).pds).retain(|known| **known != pd);
        destroy(context, pd)
    }
}

// MRs. Behind each is the access that it grants.

impl Public for ibv_mr {
    type Inner = c_uint;
}

const LOCAL_KEY: u32 = 0x1000;
const REMOTE_KEY: u32 = 0x2000;

/// All MRs, by their keys less the first one. Found without a lock, for the sake of races.
static REGIONS: [AtomicPtr<ibv_mr>; 0x100] = [const { AtomicPtr::new(null_mut()) }; 0x100];

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_reg_mr(
    pd: *mut ibv_pd,
    addr: *mut c_void,
    length: usize,
    access: c_int,
) -> *mut ibv_mr {
    // It takes long, so that others come in between.
    std::thread::yield_now();
    // SAFETY: the library gives a live PD. Nobody knows the MR yet when its keys are written.
    unsafe {
        let context = (*pd).context;
        let public = ibv_mr { context, pd, addr, length, handle: 0, lkey: 0, rkey: 0 };
        let mr = make(context, public, access as c_uint);
        let order = Ordering::AcqRel;
        let free = |slot: &AtomicPtr<ibv_mr>| {
            slot.compare_exchange(null_mut(), mr, order, Ordering::Relaxed).is_ok()
        };
        let number = REGIONS.iter().position(free).expect("not so many MRs") as u32;
        (*mr).lkey = LOCAL_KEY + number;
        (*mr).rkey = REMOTE_KEY + number;
        inner(pd).fetch_add(1, Ordering::Relaxed);
        of_device(context).regions.fetch_add(1, Ordering::Relaxed);
        mr
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_dereg_mr(mr: *mut ibv_mr) -> c_int {
    // SAFETY: the library gives a live MR.
    unsafe {
        let context = (*mr).context;
        let slot = &REGIONS[((*mr).lkey - LOCAL_KEY) as usize];
        assert_eq!(slot.swap(null_mut(), Ordering::AcqRel), mr, "deregistered twice");
        inner((*mr).pd).fetch_sub(1, Ordering::Relaxed);
        of_device(context).regions.fetch_sub(1, Ordering::Relaxed);
        destroy(context, mr)
    }
}

/// The memory of so many bytes at `addr`, where a region grants it.
fn memory(first_key: u32, key: u32, addr: u64, len: u32, access: c_uint) -> Option<*mut u8> {
    if len == 0 {
        return Some(null_mut());
    }
    let mr = REGIONS.get(key.checked_sub(first_key)? as usize)?.load(Ordering::Acquire);
    if mr.is_null() {
        return None;
    }
    // SAFETY: alive: a program does not deregister what operations use.
    unsafe {
        let offset = addr.checked_sub((*mr).addr as u64)? as usize;
        let inside = offset.checked_add(len as usize)? <= (*mr).length;
        let granted = *inner(mr) & access == access;
        (inside && granted).then(|| (*mr).addr.cast::<u8>().add(offset))
    }
}

/// Copies as a device does, which races with nobody.
unsafe fn dma(to: *mut u8, from: *mut u8, len: u32) {
    for at in 0..len as usize {
        // SAFETY: both are memory of regions, or of a work request.
        unsafe {
            let byte = AtomicU8::from_ptr(from.add(at)).load(Ordering::Relaxed);
            AtomicU8::from_ptr(to.add(at)).store(byte, Ordering::Relaxed);
        }
    }
}

// Completion channels. Behind each are the CQs that have an event.

impl Public for ibv_comp_channel {
    type Inner = Events;
}

pub(crate) struct Events {
    queue: Mutex<VecDeque<Ptr<ibv_cq>>>,
    arrived: Condvar,
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_create_comp_channel(context: *mut ibv_context) -> *mut ibv_comp_channel {
    let events = Events { queue: Mutex::new(VecDeque::new()), arrived: Condvar::new() };
    // SAFETY: the library gives an open device.
    unsafe { make(context, ibv_comp_channel { context, fd: -1, refcnt: 0 }, events) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_destroy_comp_channel(channel: *mut ibv_comp_channel) -> c_int {
    // SAFETY: the library gives a live channel.
    unsafe {
        assert_eq!((*channel).refcnt, 0, "a CQ uses the channel");
        destroy((*channel).context, channel)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_get_cq_event(
    channel: *mut ibv_comp_channel,
    cq: *mut *mut ibv_cq,
    cq_context: *mut *mut c_void,
) -> c_int {
    // SAFETY: the library gives a live channel and two pointers to write to; a CQ takes its events
    // with it.
    unsafe {
        let events = inner(channel);
        let mut queue = lock(&events.queue);
        let ready = loop {
            match queue.pop_front() {
                Some(ready) => break *ready,
                None => queue = events.arrived.wait(queue).expect("no test failed before"),
            }
        };
        inner(ready).taken.fetch_add(1, Ordering::Relaxed);
        cq.write(ready);
        cq_context.write((*ready).cq_context);
    }
    0
}

// CQs.

impl Public for ibv_cq {
    type Inner = CqInner;
}

pub(crate) struct CqInner {
    entries: Mutex<Entries>,
    /// How many events were taken off the channel.
    taken: AtomicU32,
    /// How many QPs use it, for sends or for receives.
    qps: AtomicUsize,
}

struct Entries {
    queue: VecDeque<ibv_wc>,
    armed: bool,
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_create_cq(
    context: *mut ibv_context,
    cqe: c_int,
    cq_context: *mut c_void,
    channel: *mut ibv_comp_channel,
    _comp_vector: c_int,
) -> *mut ibv_cq {
    // SAFETY: the library gives an open device and a live channel; all zero is a valid `ibv_cq`.
    unsafe {
        let public = ibv_cq { context, channel, cq_context, cqe, ..zeroed() };
        let entries = Mutex::new(Entries { queue: VecDeque::new(), armed: false });
        let own = CqInner { entries, taken: AtomicU32::new(0), qps: AtomicUsize::new(0) };
        let _locked = lock(&inner(channel).queue);
        (*channel).refcnt += 1;
        make(context, public, own)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_destroy_cq(cq: *mut ibv_cq) -> c_int {
    // SAFETY: the library gives a live CQ.
    unsafe {
        let (own, channel) = (inner(cq), (*cq).channel);
        assert_eq!(own.qps.load(Ordering::Relaxed), 0, "a QP uses the CQ");
        let taken = own.taken.load(Ordering::Relaxed);
        assert_eq!(
            (*cq).comp_events_completed,
            taken,
            "destroying would wait for the rest for ever"
        );
        let mut queue = lock(&inner(channel).queue);
        queue.retain(|ready| **ready != cq);
        (*channel).refcnt -= 1;
        destroy((*cq).context, cq)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_ack_cq_events(cq: *mut ibv_cq, count: c_uint) {
    // SAFETY: the library gives a live CQ, whose lock is held.
    unsafe {
        let _locked = lock(&inner(cq).entries);
        (*cq).comp_events_completed += count;
        // Only a read-modify-write is sure to see what other threads took.
        let taken = inner(cq).taken.fetch_add(0, Ordering::Relaxed);
        assert!((*cq).comp_events_completed <= taken, "acknowledged more than there were");
    }
}

unsafe extern "C" fn poll_cq(cq: *mut ibv_cq, count: c_int, wc: *mut ibv_wc) -> c_int {
    // SAFETY: the library gives a live CQ and room for so many.
    unsafe {
        let queue = &mut lock(&inner(cq).entries).queue;
        let got = queue.len().min(count as usize);
        for (at, done) in queue.drain(..got).enumerate() {
            wc.add(at).write(done);
        }
        got as c_int
    }
}

unsafe extern "C" fn req_notify_cq(cq: *mut ibv_cq, _solicited_only: c_int) -> c_int {
    // SAFETY: the library gives a live CQ.
    lock(&unsafe { inner(cq) }.entries).armed = true;
    0
}

/// Adds a completion to a CQ, and an event if one was asked for.
unsafe fn complete(cq: *mut ibv_cq, done: ibv_wc) {
    // SAFETY: a CQ lives longer than its QPs, and its channel longer than itself.
    unsafe {
        let mut entries = lock(&inner(cq).entries);
        assert!(entries.queue.len() < (*cq).cqe as usize, "the CQ overran");
        entries.queue.push_back(done);
        if core::mem::take(&mut entries.armed) {
            let events = inner((*cq).channel);
            lock(&events.queue).push_back(Ptr(cq));
            events.arrived.notify_one();
        }
    }
}

// Receives and SRQs.

struct Receive {
    wr_id: u64,
    data: ibv_sge,
}

unsafe fn receives(mut wr: *mut ibv_recv_wr, queue: &Mutex<VecDeque<Receive>>) -> c_int {
    let mut queue = lock(queue);
    while !wr.is_null() {
        // SAFETY: the library gives requests with one segment or none.
        unsafe {
            let data = match (*wr).num_sge {
                0 => ibv_sge { addr: 0, length: 0, lkey: 0 },
                _ => (*wr).sg_list.read(),
            };
            queue.push_back(Receive { wr_id: (*wr).wr_id, data });
            wr = (*wr).next;
        }
    }
    0
}

impl Public for ibv_srq {
    type Inner = SrqInner;
}

pub(crate) struct SrqInner {
    receives: Mutex<VecDeque<Receive>>,
    /// How many QPs use it.
    qps: AtomicUsize,
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_create_srq(pd: *mut ibv_pd, attr: *mut ibv_srq_init_attr) -> *mut ibv_srq {
    // SAFETY: the library gives a live PD and attributes; all zero is a valid `ibv_srq`.
    unsafe {
        assert!((*attr).attr.max_wr > 0 && (*attr).attr.max_sge == 1);
        inner(pd).fetch_add(1, Ordering::Relaxed);
        let own = SrqInner { receives: Mutex::new(VecDeque::new()), qps: AtomicUsize::new(0) };
        make((*pd).context, ibv_srq { context: (*pd).context, pd, ..zeroed() }, own)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_destroy_srq(srq: *mut ibv_srq) -> c_int {
    // SAFETY: the library gives a live SRQ.
    unsafe {
        assert_eq!(inner(srq).qps.load(Ordering::Relaxed), 0, "a QP uses the SRQ");
        inner((*srq).pd).fetch_sub(1, Ordering::Relaxed);
        destroy((*srq).context, srq)
    }
}

unsafe extern "C" fn post_srq_recv(
    srq: *mut ibv_srq,
    wr: *mut ibv_recv_wr,
    _bad_wr: *mut *mut ibv_recv_wr,
) -> c_int {
    // SAFETY: the library gives a live SRQ and requests.
    unsafe { receives(wr, &inner(srq).receives) }
}

// QPs. The other side's outlives its `ibv_qp`.

impl Public for ibv_qp {
    type Inner = Arc<End>;
}

/// One end of a connection.
pub(crate) struct End {
    number: u32,
    send_cq: Ptr<ibv_cq>,
    recv_cq: Ptr<ibv_cq>,
    srq: Ptr<ibv_srq>,
    receives: Mutex<VecDeque<Receive>>,
    link: Mutex<Link>,
}

enum Link {
    /// Not connected yet.
    Down,
    Up(Arc<End>),
    Broken,
}

pub(super) unsafe fn create_qp(
    context: *mut ibv_context,
    attr: *mut ibv_qp_init_attr_ex,
) -> *mut ibv_qp {
    static COUNT: AtomicU32 = AtomicU32::new(17);
    // SAFETY: the library gives an open device, attributes, and live objects in these; all zero is
    // a valid `ibv_qp`.
    unsafe {
        let ibv_qp_init_attr_ex { send_cq, recv_cq, srq, pd, qp_type, .. } = attr.read();
        if qp_type != ibv_qp_type::IBV_QPT_RC || pd.is_null() {
            fail(EINVAL);
            return null_mut();
        }
        for count in users(pd, send_cq, recv_cq, srq) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let qp_num = COUNT.fetch_add(1, Ordering::Relaxed);
        let end = Arc::new(End {
            number: qp_num,
            send_cq: Ptr(send_cq),
            recv_cq: Ptr(recv_cq),
            srq: Ptr(srq),
            receives: Mutex::new(VecDeque::new()),
            link: Mutex::new(Link::Down),
        });
        let zero = zeroed();
        make(context, ibv_qp { context, pd, send_cq, recv_cq, srq, qp_num, qp_type, ..zero }, end)
    }
}

/// What counts the QPs that use these objects.
unsafe fn users<'a>(
    pd: *mut ibv_pd,
    send_cq: *mut ibv_cq,
    recv_cq: *mut ibv_cq,
    srq: *mut ibv_srq,
) -> impl Iterator<Item = &'a AtomicUsize> {
    // SAFETY: the library gives live objects, or no SRQ.
    unsafe {
        let srq = if srq.is_null() { None } else { Some(&inner(srq).qps) };
        [inner(pd), &inner(send_cq).qps, &inner(recv_cq).qps].into_iter().chain(srq)
    }
}

pub(super) unsafe fn destroy_qp(qp: *mut ibv_qp) {
    // SAFETY: the library gives a live QP, and what it uses lives as well.
    unsafe {
        // From here on the other side's operations fail, and complete nothing here.
        *lock(&inner(qp).link) = Link::Broken;
        for count in users((*qp).pd, (*qp).send_cq, (*qp).recv_cq, (*qp).srq) {
            count.fetch_sub(1, Ordering::Relaxed);
        }
        destroy((*qp).context, qp);
    }
}

/// Connects a QP to the other side's.
pub(super) unsafe fn connect_qp(qp: *mut ibv_qp, other: *mut ibv_qp) {
    // SAFETY: both are alive.
    unsafe {
        *lock(&inner(qp).link) = Link::Up(Arc::clone(inner(other)));
        (*qp).state = ibv_qp_state::IBV_QPS_RTS;
    }
}

/// Moves a QP to its error state.
pub(super) unsafe fn break_qp(qp: *mut ibv_qp) {
    // SAFETY: alive.
    unsafe {
        inner(qp).fail();
        (*qp).state = ibv_qp_state::IBV_QPS_ERR;
    }
}

/// Sets a timer, which this provider does without.
#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_modify_qp(_qp: *mut ibv_qp, _attr: *mut c_void, _mask: c_int) -> c_int {
    0
}

unsafe extern "C" fn post_recv(
    qp: *mut ibv_qp,
    wr: *mut ibv_recv_wr,
    _bad_wr: *mut *mut ibv_recv_wr,
) -> c_int {
    // SAFETY: the library gives a live QP and requests.
    unsafe { receives(wr, &inner(qp).receives) }
}

unsafe extern "C" fn post_send(
    qp: *mut ibv_qp,
    wr: *mut ibv_send_wr,
    bad_wr: *mut *mut ibv_send_wr,
) -> c_int {
    // SAFETY: the library gives a live QP and one request, of which it writes only the fields that
    // are read here.
    unsafe {
        assert!((*wr).next.is_null(), "the library posts one by one");
        let (end, opcode) = (inner(qp), (*wr).opcode);
        let other = match &*lock(&end.link) {
            Link::Down => {
                bad_wr.write(wr);
                return EINVAL;
            }
            Link::Up(other) => Some(Arc::clone(other)),
            Link::Broken => None,
        };
        let status = match other {
            Some(other) => transfer(wr, &other),
            None => ibv_wc_status::IBV_WC_WR_FLUSH_ERR,
        };
        let good = status == ibv_wc_status::IBV_WC_SUCCESS;
        if !good || (*wr).send_flags & ibv_send_flags::IBV_SEND_SIGNALED.0 != 0 {
            let opcode = match opcode {
                ibv_wr_opcode::IBV_WR_RDMA_READ => ibv_wc_opcode::IBV_WC_RDMA_READ,
                ibv_wr_opcode::IBV_WR_SEND | ibv_wr_opcode::IBV_WR_SEND_WITH_IMM => {
                    ibv_wc_opcode::IBV_WC_SEND
                }
                _ => ibv_wc_opcode::IBV_WC_RDMA_WRITE,
            };
            complete(*end.send_cq, end.completion((*wr).wr_id, opcode, status));
        }
        if !good {
            end.fail();
        }
    }
    0
}

/// Carries out a request, and gives its status.
unsafe fn transfer(wr: *mut ibv_send_wr, other: &End) -> ibv_wc_status::Type {
    const REMOTE_READ: c_uint = ibv_access_flags::IBV_ACCESS_REMOTE_READ.0;
    const REMOTE_WRITE: c_uint = ibv_access_flags::IBV_ACCESS_REMOTE_WRITE.0;
    const LOCAL_WRITE: c_uint = ibv_access_flags::IBV_ACCESS_LOCAL_WRITE.0;
    if matches!(*lock(&other.link), Link::Broken) {
        return ibv_wc_status::IBV_WC_RETRY_EXC_ERR;
    }
    let mut inline = [0_u8; 8];
    // SAFETY: the library gives a request with one segment or none, whose data, where they are
    // inline, can be read.
    unsafe {
        let opcode = (*wr).opcode;
        let imm = (*wr).imm_data_invalidated_rkey_union;
        let rdma_t { remote_addr, rkey } = (*wr).wr.rdma;
        let (local, len) = match (*wr).num_sge {
            0 => (Some(null_mut()), 0),
            _ if (*wr).send_flags & ibv_send_flags::IBV_SEND_INLINE.0 != 0 => {
                let ibv_sge { addr, length, .. } = (*wr).sg_list.read();
                assert!(length as usize <= inline.len(), "more than the QP was made for");
                let data = with_exposed_provenance::<u8>(addr as usize);
                copy_nonoverlapping(data, inline.as_mut_ptr(), length as usize);
                (Some(inline.as_mut_ptr()), length)
            }
            _ => {
                let ibv_sge { addr, length, lkey } = (*wr).sg_list.read();
                let reads = opcode == ibv_wr_opcode::IBV_WR_RDMA_READ;
                let access = if reads { LOCAL_WRITE } else { 0 };
                (memory(LOCAL_KEY, lkey, addr, length, access), length)
            }
        };
        let Some(local) = local else { return ibv_wc_status::IBV_WC_LOC_PROT_ERR };
        let remote = |access| memory(REMOTE_KEY, rkey, remote_addr, len, access);
        match opcode {
            ibv_wr_opcode::IBV_WR_RDMA_READ => match remote(REMOTE_READ) {
                Some(from) => dma(local, from, len),
                None => return ibv_wc_status::IBV_WC_REM_ACCESS_ERR,
            },
            ibv_wr_opcode::IBV_WR_RDMA_WRITE | ibv_wr_opcode::IBV_WR_RDMA_WRITE_WITH_IMM => {
                match remote(REMOTE_WRITE) {
                    Some(to) => dma(to, local, len),
                    None => return ibv_wc_status::IBV_WC_REM_ACCESS_ERR,
                }
                if opcode == ibv_wr_opcode::IBV_WR_RDMA_WRITE_WITH_IMM {
                    let kind = ibv_wc_opcode::IBV_WC_RECV_RDMA_WITH_IMM;
                    return other.receive(kind, local, len, Some(imm));
                }
            }
            ibv_wr_opcode::IBV_WR_SEND => {
                return other.receive(ibv_wc_opcode::IBV_WC_RECV, local, len, None);
            }
            ibv_wr_opcode::IBV_WR_SEND_WITH_IMM => {
                return other.receive(ibv_wc_opcode::IBV_WC_RECV, local, len, Some(imm));
            }
            _ => unreachable!("opcode {opcode}"),
        }
    }
    ibv_wc_status::IBV_WC_SUCCESS
}

impl End {
    fn completion(
        &self,
        wr_id: u64,
        opcode: ibv_wc_opcode::Type,
        status: ibv_wc_status::Type,
    ) -> ibv_wc {
        // SAFETY: plain numbers.
        let zero = unsafe { MaybeUninit::zeroed().assume_init() };
        ibv_wc { wr_id, status, opcode, qp_num: self.number, ..zero }
    }

    /// Takes what the other side sends. Gives the status of its request.
    unsafe fn receive(
        &self,
        opcode: ibv_wc_opcode::Type,
        data: *mut u8,
        len: u32,
        imm: Option<imm_data_invalidated_rkey_union_t>,
    ) -> ibv_wc_status::Type {
        // Held to the end: as long as it is not broken, its CQ and SRQ live.
        let link = lock(&self.link);
        if matches!(*link, Link::Broken) {
            return ibv_wc_status::IBV_WC_RETRY_EXC_ERR;
        }
        // SAFETY: as above.
        let queue =
            unsafe { if self.srq.is_null() { &self.receives } else { &inner(*self.srq).receives } };
        let Some(Receive { wr_id, data: room }) = lock(queue).pop_front() else {
            return ibv_wc_status::IBV_WC_RNR_RETRY_EXC_ERR;
        };
        let mut done = self.completion(wr_id, opcode, ibv_wc_status::IBV_WC_SUCCESS);
        done.byte_len = len;
        if let Some(imm) = imm {
            done.imm_data_invalidated_rkey_union = imm;
            done.wc_flags = ibv_wc_flags::IBV_WC_WITH_IMM.0;
        }
        if opcode == ibv_wc_opcode::IBV_WC_RECV {
            let access = ibv_access_flags::IBV_ACCESS_LOCAL_WRITE.0;
            assert!(len <= room.length, "the message is too long");
            let to = memory(LOCAL_KEY, room.lkey, room.addr, len, access);
            // SAFETY: regions of this length.
            unsafe { dma(to.expect("a region for receives"), data, len) };
        }
        // SAFETY: as above.
        unsafe { complete(*self.recv_cq, done) };
        ibv_wc_status::IBV_WC_SUCCESS
    }

    /// Ends the connection here: what waits for messages completes with an error.
    fn fail(&self) {
        let mut link = lock(&self.link);
        if matches!(*link, Link::Broken) {
            return;
        }
        *link = Link::Broken;
        for Receive { wr_id, .. } in lock(&self.receives).drain(..) {
            let (opcode, status) = (ibv_wc_opcode::IBV_WC_RECV, ibv_wc_status::IBV_WC_WR_FLUSH_ERR);
            // SAFETY: its CQ lives, since the QP does.
            unsafe { complete(*self.recv_cq, self.completion(wr_id, opcode, status)) };
        }
    }
}
