// SPDX-License-Identifier: BSD-3-Clause
//! Posting, polling, waiting, acknowledging, and shared queues.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Barrier;
use std::thread;

use super::*;

/// More than the events that are acknowledged at once, twice.
const MANY: usize = 150;

#[test]
fn threads_post_poll_and_wait_at_one_connection() {
    let host = Host::new();
    let cfg = made!(rpma_conn_cfg_new());
    ok!(rpma_conn_cfg_set_cq_size(*cfg, 2 * MANY as u32));
    let (client, server) = host.connect(*cfg);
    let (here, there) = (Region::new(&host), Region::new(&host));
    let cq = cq(client);
    let (polled, woken) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let done = AtomicBool::new(false);
    let write = |word: usize| {
        let at = word % Region::WORDS * size_of::<u64>();
        let (dst, src) = (*there.remote, *here.mr);
        ok!(rpma_write(*client, dst, at, src, at, size_of::<u64>(), SIGNALED, context(word)));
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            while polled.load(Ordering::Relaxed) < MANY {
                match poll(cq) {
                    Some(wc) => {
                        assert_eq!(wc.status, ibv_wc_status::IBV_WC_SUCCESS);
                        assert_eq!(wc.wr_id, polled.fetch_add(1, Ordering::Relaxed) as u64);
                    }
                    None => thread::yield_now(),
                }
            }
        });
        let waiting = scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                ok!(rpma_cq_wait(*cq));
                woken.fetch_add(1, Ordering::Relaxed);
            }
        });
        scope.spawn(|| {
            // What does not change may be asked while all else goes on.
            let (mut number, mut fd, mut first) = (0, 0, None);
            while !done.load(Ordering::Relaxed) {
                ok!(rpma_conn_get_qp_num(*client, &mut number));
                assert_eq!(*first.get_or_insert(number), number);
                ok!(rpma_cq_get_fd(*cq, &mut fd));
                thread::yield_now();
            }
        });
        write(0);
        while woken.load(Ordering::Relaxed) == 0 {
            thread::yield_now();
        }
        (1..MANY).for_each(write);
        while polled.load(Ordering::Relaxed) < MANY {
            thread::yield_now();
        }
        done.store(true, Ordering::Release);
        // Who waits now is woken by this one.
        write(MANY);
        waiting.join().expect("every wait succeeds");
    });
    assert_eq!(poll(cq).map(|wc| wc.wr_id), Some(MANY as u64));
    disconnect(client, server);
    let mut cfg = cfg;
    ok!(rpma_conn_cfg_delete(cfg.handle()));
}

#[test]
fn numbers_are_asked_for_while_the_connection_comes_and_goes() {
    let host = Host::new();
    let mut ep = host.listen();
    let client = connect(host.request(null()), &[]);
    let server = connect(made!(rpma_ep_next_conn_req(*ep, null())), &[]);
    let (started, done) = (Barrier::new(2), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            let (mut client_number, mut server_number, mut fd) = (0, 0, 0);
            started.wait();
            while !done.load(Ordering::Relaxed) {
                ok!(rpma_conn_get_qp_num(*client, &mut client_number));
                ok!(rpma_conn_get_qp_num(*server, &mut server_number));
                assert_ne!(client_number, server_number);
                ok!(rpma_conn_get_event_fd(*client, &mut fd));
                thread::yield_now();
            }
        });
        started.wait();
        // Each of these changes the state in the QP's structure.
        expect(client, rpma_conn_event::RPMA_CONN_ESTABLISHED);
        expect(server, rpma_conn_event::RPMA_CONN_ESTABLISHED);
        ok!(rpma_conn_disconnect(*client));
        expect(server, rpma_conn_event::RPMA_CONN_CLOSED);
        ok!(rpma_conn_disconnect(*server));
        expect(client, rpma_conn_event::RPMA_CONN_CLOSED);
        done.store(true, Ordering::Relaxed);
    });
    let (mut client, mut server) = (client, server);
    ok!(rpma_conn_delete(client.handle()));
    ok!(rpma_conn_delete(server.handle()));
    ok!(rpma_ep_shutdown(ep.handle()));
}

#[test]
fn a_descriptor_is_asked_for_while_events_are_acknowledged() {
    let host = Host::new();
    let (client, server) = host.connect(null());
    let region = Region::new(&host);
    let cq = cq(client);
    let (started, done) = (Barrier::new(2), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut fd = 0;
            started.wait();
            while !done.load(Ordering::Relaxed) {
                ok!(rpma_cq_get_fd(*cq, &mut fd));
                thread::yield_now();
            }
        });
        started.wait();
        for _ in 0..MANY {
            flush(client, &region);
            ok!(rpma_cq_wait(*cq));
            assert!(poll(cq).is_some());
        }
        done.store(true, Ordering::Relaxed);
    });
    disconnect(client, server);
}

/// The provider refuses to destroy a CQ with events that were taken and not acknowledged.
#[test]
fn all_events_are_acknowledged_when_a_connection_is_deleted() {
    let host = Host::new();
    let region = Region::new(&host);
    for events in [0, 1, 63, 64, 65, 128, 130] {
        let (client, server) = host.connect(null());
        for _ in 0..events {
            flush(client, &region);
            ok!(rpma_cq_wait(*cq(client)));
            assert!(poll(cq(client)).is_some());
        }
        // One that was never taken.
        flush(client, &region);
        disconnect(client, server);
    }
}

#[test]
fn either_queue_wakes_who_waits_at_their_shared_channel() {
    const MESSAGES: usize = 40;
    let host = Host::new();
    let mut cfg = made!(rpma_conn_cfg_new());
    ok!(rpma_conn_cfg_set_compl_channel(*cfg, 1));
    ok!(rpma_conn_cfg_set_rcq_size(*cfg, MESSAGES as u32));
    ok!(rpma_conn_cfg_set_cq_size(*cfg, MESSAGES as u32));
    let (client, server) = host.connect(*cfg);
    let region = Region::new(&host);
    let receive = |at: usize| {
        ok!(rpma_recv(*server, *region.mr, 0, 8, context(at)));
    };
    (0..MESSAGES).for_each(receive);
    let (mut cq, mut is_rcq, mut fd) = (null_mut(), 0, 0);
    assert_eq!(call!(rpma_cq_wait(*self::cq(server))), RPMA_E_SHARED_CHANNEL);
    ok!(rpma_conn_get_compl_fd(*server, &mut fd));
    let (mut got, mut got_received) = (0, 0);
    thread::scope(|scope| {
        scope.spawn(|| {
            for at in 0..MESSAGES {
                ok!(rpma_send(*client, *region.mr, 8, 8, SIGNALED, context(at)));
            }
        });
        scope.spawn(|| {
            for at in 0..MESSAGES {
                ok!(rpma_read(
                    *server,
                    *region.mr,
                    16,
                    *region.remote,
                    24,
                    8,
                    SIGNALED,
                    context(at)
                ));
            }
        });
        while got < MESSAGES || got_received < MESSAGES {
            ok!(rpma_conn_wait(*server, RPMA_W_WAIT_FOR_COMPLETION, &mut cq, &mut is_rcq));
            let count = if is_rcq == 1 { &mut got_received } else { &mut got };
            while let Some(wc) = poll(Ptr(cq)) {
                assert_eq!(wc.wr_id, *count as u64);
                *count += 1;
            }
        }
    });
    disconnect(client, server);
    ok!(rpma_conn_cfg_delete(cfg.handle()));
}

#[test]
fn two_connections_take_messages_from_one_shared_receive_queue() {
    const MESSAGES: usize = 20;
    let host = Host::new();
    let mut srq_cfg = made!(rpma_srq_cfg_new());
    ok!(rpma_srq_cfg_set_rcq_size(*srq_cfg, 2 * MESSAGES as u32));
    let mut srq = made!(rpma_srq_new(*host.peer, *srq_cfg));
    let mut cfg = made!(rpma_conn_cfg_new());
    ok!(rpma_conn_cfg_set_srq(*cfg, *srq));
    ok!(rpma_conn_cfg_set_cq_size(*cfg, MESSAGES as u32));
    let pairs = [host.connect(*cfg), host.connect(*cfg)];
    let region = Region::new(&host);
    for at in 0..2 * MESSAGES {
        ok!(rpma_srq_recv(*srq, *region.mr, 0, 8, context(at)));
    }
    let rcq = made!(rpma_srq_get_rcq(*srq));
    let mut of_each = [0; 2];
    thread::scope(|scope| {
        for (at, (client, _)) in pairs.iter().enumerate() {
            let region = &region;
            scope.spawn(move || {
                for _ in 0..MESSAGES {
                    let (conn, imm) = (**client, at as u32);
                    ok!(rpma_send_with_imm(conn, *region.mr, 8, 8, SIGNALED, imm, null()));
                    assert_eq!(completion(cq(*client)).byte_len, 0);
                }
            });
        }
        for _ in 0..2 * MESSAGES {
            let wc = completion(rcq);
            // SAFETY: it came with immediate data.
            let imm = u32::from_be(unsafe { wc.imm_data_invalidated_rkey_union.imm_data });
            of_each[imm as usize] += 1;
            let mut number = 0;
            ok!(rpma_conn_get_qp_num(*pairs[imm as usize].1, &mut number));
            assert_eq!((wc.qp_num, wc.byte_len), (number, 8));
        }
    });
    assert_eq!(of_each, [MESSAGES; 2]);
    for (client, server) in pairs {
        disconnect(client, server);
    }
    ok!(rpma_srq_delete(srq.handle()));
    ok!(rpma_srq_cfg_delete(srq_cfg.handle()));
    ok!(rpma_conn_cfg_delete(cfg.handle()));
}

/// The configuration's field is all that puts the two threads in an order.
#[test]
fn a_configuration_hands_a_shared_receive_queue_to_another_thread() {
    let host = Host::new();
    let mut cfg = made!(rpma_conn_cfg_new());
    let region = Region::new(&host);
    let mut srq = thread::scope(|scope| {
        scope.spawn(|| {
            let mut srq: *mut Srq = null_mut();
            while srq.is_null() {
                ok!(rpma_conn_cfg_get_srq(*cfg, &mut srq));
                thread::yield_now();
            }
            ok!(rpma_srq_recv(srq, *region.mr, 0, 8, null()));
        });
        let srq = made!(rpma_srq_new(*host.peer, null_mut()));
        ok!(rpma_conn_cfg_set_srq(*cfg, *srq));
        srq
    });
    ok!(rpma_conn_cfg_delete(cfg.handle()));
    ok!(rpma_srq_delete(srq.handle()));
}

/// As above, where the queue is first met by making a request, which is refused because of it.
#[test]
fn a_request_meets_a_shared_receive_queue_of_another_thread() {
    let host = Host::new();
    let mut cfg = made!(rpma_conn_cfg_new());
    ok!(rpma_conn_cfg_set_compl_channel(*cfg, 1));
    let mut srq = thread::scope(|scope| {
        scope.spawn(|| {
            let (address, mut request) = (host.address(), null_mut());
            let (address, port) = (address.as_ptr(), PORT.as_ptr());
            let refused = loop {
                match call!(rpma_conn_req_new(*host.peer, address, port, *cfg, &mut request)) {
                    0 => ok!(rpma_conn_req_delete(&mut request)),
                    code => break code,
                }
            };
            assert_eq!(refused, RPMA_E_INVAL);
        });
        let srq = made!(rpma_srq_new(*host.peer, null_mut()));
        ok!(rpma_conn_cfg_set_srq(*cfg, *srq));
        srq
    });
    ok!(rpma_conn_cfg_delete(cfg.handle()));
    ok!(rpma_srq_delete(srq.handle()));
}
