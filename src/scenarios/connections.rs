// SPDX-License-Identifier: BSD-3-Clause
//! Making and ending connections.

use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::Barrier;
use std::thread;

use super::*;

#[track_caller]
fn private_data(conn: Ptr<Conn>) -> Vec<u8> {
    let mut data = rpma_conn_private_data { ptr: null_mut(), len: 0 };
    ok!(rpma_conn_get_private_data(*conn, &mut data));
    if data.ptr.is_null() {
        assert_eq!(data.len, 0);
        return Vec::new();
    }
    // SAFETY: the connection's, and so long.
    unsafe { core::slice::from_raw_parts(data.ptr.cast(), data.len.into()) }.to_vec()
}

fn descriptor(region: &Region) -> [u8; 21] {
    let mut descriptor = [0; 21];
    ok!(rpma_mr_get_descriptor(*region.mr, descriptor.as_mut_ptr().cast()));
    descriptor
}

#[test]
fn both_sides_connect_in_threads_and_carry_data() {
    let host = Host::new();
    let mut ep = host.listen();
    thread::scope(|scope| {
        scope.spawn(|| {
            let region = Region::new(&host);
            let request = made!(rpma_ep_next_conn_req(*ep, null()));
            ok!(rpma_conn_req_recv(*request, *region.mr, 56, 8, context(7)));
            let mut server = connect(request, &descriptor(&region));
            assert_eq!(private_data(server), b"hello");
            expect(server, rpma_conn_event::RPMA_CONN_ESTABLISHED);
            let wc = completion(cq(server));
            assert_eq!((wc.wr_id, wc.byte_len), (7, 8));
            assert_eq!([0, 1, 7].map(|word| region.get(word)), [11, 12, 18]);
            expect(server, rpma_conn_event::RPMA_CONN_CLOSED);
            ok!(rpma_conn_disconnect(*server));
            ok!(rpma_conn_delete(server.handle()));
        });
        scope.spawn(|| {
            let region = Region::new(&host);
            (0..Region::WORDS).for_each(|word| region.set(word, 11 + word as u64));
            let mut client = connect(host.request(null()), b"hello");
            expect(client, rpma_conn_event::RPMA_CONN_ESTABLISHED);
            let data = private_data(client);
            let mut there = made!(rpma_mr_remote_from_descriptor(data.as_ptr().cast(), data.len()));
            let on_error = RPMA_F_COMPLETION_ON_ERROR;
            ok!(rpma_write(*client, *there, 0, *region.mr, 0, 8, on_error, null()));
            let word = 12_u64.to_ne_bytes();
            let word = word.as_ptr().cast();
            ok!(rpma_atomic_write(*client, *there, 8, word, on_error, null()));
            let kind = rpma_flush_type::RPMA_FLUSH_TYPE_VISIBILITY as c_int;
            ok!(rpma_flush(*client, *there, 0, 16, kind, SIGNALED, context(1)));
            ok!(rpma_read(*client, *region.mr, 16, *there, 0, 16, SIGNALED, context(2)));
            assert_eq!([completion(cq(client)).wr_id, completion(cq(client)).wr_id], [1, 2]);
            assert_eq!([2, 3].map(|word| region.get(word)), [11, 12]);
            ok!(rpma_send(*client, *region.mr, 56, 8, SIGNALED, context(3)));
            assert_eq!(completion(cq(client)).wr_id, 3);
            ok!(rpma_conn_disconnect(*client));
            expect(client, rpma_conn_event::RPMA_CONN_CLOSED);
            ok!(rpma_mr_remote_delete(there.handle()));
            ok!(rpma_conn_delete(client.handle()));
        });
    });
    ok!(rpma_ep_shutdown(ep.handle()));
}

/// The first connection of a peer makes the buffer that flushes read into.
#[test]
fn threads_that_connect_with_one_peer_share_one_flush_buffer() {
    const THREADS: usize = 4;
    for _ in 0..5 {
        let host = Host::new();
        let mut ep = host.listen();
        let region = Region::new(&host);
        let together = Barrier::new(2 * THREADS);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    let request = host.request(null());
                    together.wait();
                    let mut client = connect(request, &[]);
                    expect(client, rpma_conn_event::RPMA_CONN_ESTABLISHED);
                    flush(client, &region);
                    completion(cq(client));
                    together.wait();
                    // The region's and the buffer's.
                    assert_eq!(host.device.regions(), 2);
                    together.wait();
                    ok!(rpma_conn_delete(client.handle()));
                });
                // Requests are taken and answered in threads, too.
                scope.spawn(|| {
                    together.wait();
                    let mut server = connect(made!(rpma_ep_next_conn_req(*ep, null())), &[]);
                    expect(server, rpma_conn_event::RPMA_CONN_ESTABLISHED);
                    together.wait();
                    together.wait();
                    expect(server, rpma_conn_event::RPMA_CONN_CLOSED);
                    ok!(rpma_conn_delete(server.handle()));
                });
            }
        });
        ok!(rpma_ep_shutdown(ep.handle()));
    }
}

#[test]
fn private_data_are_read_while_they_arrive() {
    let host = Host::new();
    let mut ep = host.listen();
    let mut client = connect(host.request(null()), &[]);
    let mut server = connect(made!(rpma_ep_next_conn_req(*ep, null())), b"welcome");
    thread::scope(|scope| {
        scope.spawn(|| {
            loop {
                let data = private_data(client);
                if !data.is_empty() {
                    assert_eq!(data, b"welcome");
                    break;
                }
                thread::yield_now();
            }
        });
        expect(client, rpma_conn_event::RPMA_CONN_ESTABLISHED);
    });
    ok!(rpma_conn_delete(client.handle()));
    ok!(rpma_conn_delete(server.handle()));
    ok!(rpma_ep_shutdown(ep.handle()));
}

#[test]
fn requests_are_rejected_in_a_thread_while_another_connects() {
    const REQUESTS: usize = 6;
    let host = Host::new();
    let mut ep = host.listen();
    thread::scope(|scope| {
        // Every other request is deleted, in a thread of its own, while this one listens.
        scope.spawn(|| {
            for number in 0..REQUESTS {
                let mut request = made!(rpma_ep_next_conn_req(*ep, null()));
                scope.spawn(move || {
                    if number % 2 == 0 {
                        ok!(rpma_conn_req_delete(request.handle()));
                        return;
                    }
                    let mut server = connect(request, &[]);
                    expect(server, rpma_conn_event::RPMA_CONN_ESTABLISHED);
                    ok!(rpma_conn_delete(server.handle()));
                });
            }
        });
        let outcomes: Vec<c_int> = (0..REQUESTS)
            .map(|_| {
                let mut client = connect(host.request(null()), &[]);
                let mut event = -1;
                ok!(rpma_conn_next_event(*client, &mut event));
                if event == rpma_conn_event::RPMA_CONN_ESTABLISHED as c_int {
                    expect(client, rpma_conn_event::RPMA_CONN_CLOSED);
                }
                ok!(rpma_conn_delete(client.handle()));
                event
            })
            .collect();
        let of = |event: rpma_conn_event| {
            let event = event as c_int;
            outcomes.iter().filter(|outcome| **outcome == event).count()
        };
        assert_eq!(of(rpma_conn_event::RPMA_CONN_REJECTED), REQUESTS / 2);
        assert_eq!(of(rpma_conn_event::RPMA_CONN_ESTABLISHED), REQUESTS / 2);
    });
    ok!(rpma_ep_shutdown(ep.handle()));
}

#[test]
fn requests_end_in_every_way() {
    let host = Host::new();
    // Nobody listens.
    let mut client = connect(host.request(null()), &[]);
    expect(client, rpma_conn_event::RPMA_CONN_REJECTED);
    ok!(rpma_conn_delete(client.handle()));
    // Never connected.
    let mut request = host.request(null());
    ok!(rpma_conn_req_delete(request.handle()));
    // The endpoint goes before it takes the request.
    let mut ep = host.listen();
    let mut client = connect(host.request(null()), &[]);
    ok!(rpma_ep_shutdown(ep.handle()));
    expect(client, rpma_conn_event::RPMA_CONN_REJECTED);
    ok!(rpma_conn_delete(client.handle()));
    // The endpoint goes before it answers: that is still possible.
    let mut ep = host.listen();
    let client = connect(host.request(null()), &[]);
    let request = made!(rpma_ep_next_conn_req(*ep, null()));
    ok!(rpma_ep_shutdown(ep.handle()));
    let server = connect(request, &[]);
    expect(client, rpma_conn_event::RPMA_CONN_ESTABLISHED);
    expect(server, rpma_conn_event::RPMA_CONN_ESTABLISHED);
    disconnect(client, server);
    // The client goes before it is answered: neither yes nor no reaches it.
    for accept in [true, false] {
        let mut ep = host.listen();
        let mut client = connect(host.request(null()), &[]);
        let mut request = made!(rpma_ep_next_conn_req(*ep, null()));
        ok!(rpma_conn_delete(client.handle()));
        let mut server = null_mut();
        let code = match accept {
            true => call!(rpma_conn_req_connect(request.handle(), null(), &mut server)),
            false => call!(rpma_conn_req_delete(request.handle())),
        };
        assert_eq!(code, RPMA_E_PROVIDER);
        assert!(request.is_null() && server.is_null());
        ok!(rpma_ep_shutdown(ep.handle()));
    }
    // One that the library cannot take is rejected.
    let mut ep = host.listen();
    let mut cfg = made!(rpma_conn_cfg_new());
    let mut srq = made!(rpma_srq_new(*host.peer, null_mut()));
    ok!(rpma_conn_cfg_set_srq(*cfg, *srq));
    ok!(rpma_conn_cfg_set_compl_channel(*cfg, 1));
    let mut client = connect(host.request(null()), &[]);
    let mut request = null_mut();
    assert_eq!(call!(rpma_ep_next_conn_req(*ep, *cfg, &mut request)), RPMA_E_INVAL);
    expect(client, rpma_conn_event::RPMA_CONN_REJECTED);
    ok!(rpma_conn_delete(client.handle()));
    ok!(rpma_conn_cfg_delete(cfg.handle()));
    ok!(rpma_srq_delete(srq.handle()));
    ok!(rpma_ep_shutdown(ep.handle()));
}

#[test]
fn either_side_is_deleted_first_and_the_other_learns_of_it() {
    let host = Host::new();
    let region = Region::new(&host);
    for client_first in [true, false] {
        let (client, server) = host.connect(null());
        let (mut first, mut second) =
            if client_first { (client, server) } else { (server, client) };
        ok!(rpma_recv(*second, *region.mr, 0, 8, context(7)));
        let other_thread = |mut conn: Ptr<Conn>| {
            thread::scope(|scope| scope.spawn(move || ok!(rpma_conn_delete(conn.handle()))).join())
        };
        assert!(other_thread(first).is_ok());
        first.0 = null_mut();
        ok!(rpma_conn_delete(first.handle()));
        // An operation that comes too late fails, and then the receive does.
        flush(second, &region);
        let statuses = [poll(cq(second)), poll(cq(second))].map(|wc| wc.map(|wc| wc.status));
        let late = ibv_wc_status::IBV_WC_RETRY_EXC_ERR;
        assert_eq!(statuses, [Some(late), Some(ibv_wc_status::IBV_WC_WR_FLUSH_ERR)]);
        expect(second, rpma_conn_event::RPMA_CONN_CLOSED);
        ok!(rpma_conn_disconnect(*second));
        ok!(rpma_conn_delete(second.handle()));
    }
}

#[test]
fn a_peer_that_is_deleted_too_early_is_refused_and_its_connections_go_on() {
    let mut host = Host::new();
    let (client, server) = host.connect(null());
    let region = Region::new(&host);
    let started = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..20 {
                flush(client, &region);
                completion(cq(client));
                started.store(true, Ordering::Relaxed);
            }
        });
        while !started.load(Ordering::Relaxed) {
            thread::yield_now();
        }
        let mut peer = host.peer;
        assert_eq!(call!(rpma_peer_delete(peer.handle())), RPMA_E_PROVIDER);
        assert!(peer.is_null());
    });
    host.peer.0 = null_mut();
    disconnect(client, server);
    drop(region);
    assert_eq!(host.device.free_abandoned_pds(), 1);
}
