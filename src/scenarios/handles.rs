// SPDX-License-Identifier: BSD-3-Clause
//! Handles and out-parameters wherever the caller has them.

use super::*;

/// A variable at an odd address.
#[repr(C, align(8))]
struct Odd<T>(Shifted<T>);

#[repr(C, packed)]
struct Shifted<T> {
    _shift: u8,
    value: T,
}

impl<T: Copy> Odd<T> {
    fn new(value: T) -> Self {
        Self(Shifted { _shift: 0, value })
    }

    fn at(&mut self) -> *mut T {
        let at = &raw mut self.0.value;
        assert_eq!(at.addr() % 2, 1);
        at
    }

    fn get(&self) -> T {
        self.0.value
    }
}

/// Makes an object by way of an odd out-parameter, and gives it and the handle.
macro_rules! odd {
    ($function:ident($($argument:expr),* $(,)?)) => {{
        let mut odd = Odd::new(null_mut());
        ok!($function($($argument,)* odd.at()));
        assert!(!odd.get().is_null());
        odd
    }};
}

#[test]
fn handles_and_out_parameters_may_be_at_any_address() {
    let mut host = Host::new();
    let (address, device) = (host.address(), &host.device);
    let (address, port) = (address.as_ptr(), PORT.as_ptr());
    let local = rpma_util_ibv_context_type::RPMA_UTIL_IBV_CONTEXT_LOCAL as c_int;
    let context = odd!(rpma_utils_get_ibv_context(address, local));
    let mut peer = odd!(rpma_peer_new(context.get()));
    let region = Region::new(&host);
    let memory = region.memory.cast::<c_void>();
    let mut mr = odd!(rpma_mr_reg(peer.get(), memory, Region::SIZE, 0xff));
    let (mut size, mut descriptor) = (Odd::new(0), Odd::new([0_u8; 21]));
    ok!(rpma_mr_get_descriptor_size(mr.get(), size.at()));
    assert_eq!(size.get(), 21);
    ok!(rpma_mr_get_descriptor(mr.get(), descriptor.at().cast()));
    let mut remote = odd!(rpma_mr_remote_from_descriptor(descriptor.at().cast(), 21));
    let mut peer_cfg = odd!(rpma_peer_cfg_new());
    let mut srq_cfg = odd!(rpma_srq_cfg_new());
    let mut srq = odd!(rpma_srq_new(peer.get(), srq_cfg.get()));
    let mut cfg = odd!(rpma_conn_cfg_new());
    ok!(rpma_conn_cfg_set_srq(cfg.get(), srq.get()));
    let back = odd!(rpma_conn_cfg_get_srq(cfg.get()));
    assert_eq!(back.get(), srq.get());

    let mut ep = odd!(rpma_ep_listen(peer.get(), address, port));
    let mut unused = odd!(rpma_conn_req_new(peer.get(), address, port, cfg.get()));
    ok!(rpma_conn_req_delete(unused.at()));
    let mut request = odd!(rpma_conn_req_new(peer.get(), address, port, cfg.get()));
    let mut data = Odd::new([7_u8; 3]);
    let data = rpma_conn_private_data { ptr: data.at().cast(), len: 3 };
    let mut client = odd!(rpma_conn_req_connect(request.at(), &data));
    let mut incoming = odd!(rpma_ep_next_conn_req(ep.get(), null()));
    let mut server = odd!(rpma_conn_req_connect(incoming.at(), null()));
    let mut event = Odd::new(-1);
    ok!(rpma_conn_next_event(client.get(), event.at()));
    assert_eq!(event.get(), rpma_conn_event::RPMA_CONN_ESTABLISHED as c_int);
    assert!(request.get().is_null() && incoming.get().is_null());
    let (rcq, mut number) = (odd!(rpma_srq_get_rcq(srq.get())), Odd::new(0));
    ok!(rpma_cq_get_fd(rcq.get(), number.at()));
    assert_eq!(number.get(), -1);

    ok!(rpma_conn_delete(server.at()));
    ok!(rpma_conn_delete(client.at()));
    ok!(rpma_ep_shutdown(ep.at()));
    ok!(rpma_conn_cfg_delete(cfg.at()));
    ok!(rpma_srq_delete(srq.at()));
    ok!(rpma_srq_cfg_delete(srq_cfg.at()));
    ok!(rpma_peer_cfg_delete(peer_cfg.at()));
    ok!(rpma_mr_remote_delete(remote.at()));
    ok!(rpma_mr_dereg(mr.at()));
    // With the region, the peer's flush buffer goes.
    assert_eq!(device.regions(), 2);
    ok!(rpma_peer_delete(peer.at()));
    assert_eq!(device.regions(), 1);
    let gone = [
        server.get().is_null(),
        client.get().is_null(),
        ep.get().is_null(),
        cfg.get().is_null(),
        srq.get().is_null(),
        srq_cfg.get().is_null(),
        peer_cfg.get().is_null(),
        remote.get().is_null(),
        mr.get().is_null(),
        peer.get().is_null(),
    ];
    assert_eq!(gone, [true; 10]);
    drop(region);
    ok!(rpma_peer_delete(host.peer.handle()));
}
