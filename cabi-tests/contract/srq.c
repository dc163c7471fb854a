/* SPDX-License-Identifier: BSD-3-Clause */
/* rpma_srq_*: a shared RQ, its CQ and posting to it */
#include <stdio.h>
#include "contract.h"

static struct rpma_peer *peer;

static struct rpma_srq_cfg *a_cfg(uint32_t rq_size, uint32_t rcq_size)
{
	struct rpma_srq_cfg *cfg = NULL;

	if (rpma_srq_cfg_new(&cfg) ||
	    rpma_srq_cfg_set_rq_size(cfg, rq_size) ||
	    rpma_srq_cfg_set_rcq_size(cfg, rcq_size))
		abort();
	return cfg;
}

static struct rpma_srq *an_srq(uint32_t rcq_size)
{
	struct rpma_srq_cfg *cfg = a_cfg(20, rcq_size);
	struct rpma_srq *srq = NULL;

	peer = a_peer();
	if (rpma_srq_new(peer, cfg, &srq) || rpma_srq_cfg_delete(&cfg))
		abort();
	watch();
	return srq;
}

static void end(struct rpma_srq *srq)
{
	if (rpma_srq_delete(&srq))
		abort();
	no_peer(&peer);
}

TEST(srq_new, no_cfg_means_defaults)
{
	struct rpma_srq *srq = NULL;

	peer = a_peer();
	watch();
	RETURNS(rpma_srq_new(peer, NULL, &srq), 0);
	CHECK(srq != NULL);
	CALLS("ibv_create_srq(pd1, none, max_wr=20 max_sge=1 limit=0) = srq1",
		"ibv_create_comp_channel(context) = channel1",
		"ibv_create_cq(context, 20, none, channel1, 0) = cq1",
		"ibv_req_notify_cq(cq1, 0) = 0");
	NO_LOG();
	end(srq);
}

TEST(srq_new, sizes_are_those_of_the_cfg)
{
	struct rpma_srq_cfg *cfg = a_cfg(65536, 1);
	struct rpma_srq *srq = NULL;

	peer = a_peer();
	watch();
	RETURNS(rpma_srq_new(peer, cfg, &srq), 0);
	EQUAL(calls_with("max_wr=65536 "), 1);
	EQUAL(calls_with("ibv_create_cq(context, 1, "), 1);
	rpma_srq_cfg_delete(&cfg);
	end(srq);
}

TEST(srq_new, rcq_of_size_0_is_not_made)
{
	struct rpma_srq_cfg *cfg = a_cfg(20, 0);
	struct rpma_srq *srq = NULL;

	peer = a_peer();
	watch();
	RETURNS(rpma_srq_new(peer, cfg, &srq), 0);
	CALLS("ibv_create_srq(pd1, none, max_wr=20 max_sge=1 limit=0) = srq1");
	rpma_srq_cfg_delete(&cfg);
	end(srq);
}

TEST(srq_new, sizes_that_the_provider_refuses_are_a_provider_error)
{
	static const struct {
		uint32_t rq, rcq;
		const char *part;
	} cases[] = {
		{0, 0, "max_wr=0 "}, {UINT32_MAX, 0, "max_wr=4294967295 "},
		{20, UINT32_MAX, "ibv_create_cq(context, 2147483647, "},
		{20, (uint32_t)INT_MAX + 1,
			"ibv_create_cq(context, 2147483647, "},
	};

	peer = a_peer();
	for (unsigned int n = 0; n < 4; n++) {
		struct rpma_srq_cfg *cfg = a_cfg(cases[n].rq, cases[n].rcq);
		struct rpma_srq *srq = UNTOUCHED;

		watch();
		FAILS(rpma_srq_new(peer, cfg, &srq), RPMA_E_PROVIDER, EINVAL);
		EQUAL(calls_with(cases[n].part), 1);
		SAME(srq, UNTOUCHED);
		rpma_srq_cfg_delete(&cfg);
	}
	no_peer(&peer);
}

TEST(srq_new, null_arguments_are_invalid)
{
	struct rpma_srq *srq = UNTOUCHED;

	peer = a_peer();
	INVALID(rpma_srq_new(NULL, NULL, &srq));
	SAME(srq, UNTOUCHED);
	INVALID(rpma_srq_new(peer, NULL, NULL));
	no_peer(&peer);
}

static void check_failure(enum provider_call call, const char *name)
{
	struct rpma_srq *srq = UNTOUCHED;

	peer = a_peer();
	provider_fail(call, 1, EMFILE);
	watch();
	RETURNS(rpma_srq_new(peer, NULL, &srq), RPMA_E_PROVIDER);
	SAME(srq, UNTOUCHED);
	LOGGED(RPMA_LOG_LEVEL_ERROR, name);
	no_peer(&peer);
}

TEST(srq_new, failing_provider_calls_are_provider_errors_and_leave_nothing)
{
	check_failure(CALL_ibv_create_srq, "ibv_create_srq");
	check_failure(CALL_ibv_create_comp_channel, "ibv_create_comp_channel");
	check_failure(CALL_ibv_create_cq, "ibv_create_cq");
	check_failure(CALL_ibv_req_notify_cq, "ibv_req_notify_cq");
}

TEST(srq_new, errno_survives_the_undo)
{
	static const enum provider_call calls[] = {CALL_ibv_create_srq,
		CALL_ibv_create_comp_channel, CALL_ibv_create_cq,
		CALL_ibv_req_notify_cq};

	peer = a_peer();
	for (unsigned int n = 0; n < 4; n++) {
		struct rpma_srq *srq = UNTOUCHED;

		provider_fail(calls[n], 1, EMFILE);
		watch();
		FAILS(rpma_srq_new(peer, NULL, &srq), RPMA_E_PROVIDER,
			EMFILE);
		LOGGED(RPMA_LOG_LEVEL_ERROR, strerror(EMFILE));
	}
	no_peer(&peer);
}

TEST(srq_new, undo_is_rcq_then_srq)
{
	struct rpma_srq *srq = UNTOUCHED;

	peer = a_peer();
	provider_fail(CALL_ibv_req_notify_cq, 1, EIO);
	watch();
	RETURNS(rpma_srq_new(peer, NULL, &srq), RPMA_E_PROVIDER);
	CALLS("ibv_create_srq(pd1, none, max_wr=20 max_sge=1 limit=0) = srq1",
		"ibv_create_comp_channel(context) = channel1",
		"ibv_create_cq(context, 20, none, channel1, 0) = cq1",
		"ibv_req_notify_cq(cq1, 0) = EIO",
		"ibv_destroy_cq(cq1) = 0",
		"ibv_destroy_comp_channel(channel1) = 0",
		"ibv_destroy_srq(srq1) = 0");
	no_peer(&peer);
}

DIFFERS(srq_new, out_of_memory_is_not_logged_and_leaves_nothing, "OUTPUTS")
{
	unsigned int before;

	peer = a_peer();
	for (unsigned int nth = 1; nth < 10; nth++) {
		struct rpma_srq *srq = UNTOUCHED;

		provider_fail_allocation(nth);
		watch();
		before = provider_alive();
		if (rpma_srq_new(peer, NULL, &srq) == 0) {
			CHECK(nth > 1);
			EQUAL(provider_clear_plans(), 1);
			rpma_srq_delete(&srq);
			break;
		}
		SAME(srq, UNTOUCHED);
		EQUAL(provider_alive(), before);
		NO_LOG();
	}
	no_peer(&peer);
}

TEST(srq_delete, destroys_rcq_then_srq)
{
	struct rpma_srq *srq = an_srq(20);

	RETURNS(rpma_srq_delete(&srq), 0);
	SAME(srq, NULL);
	CALLS("ibv_destroy_cq(cq1) = 0",
		"ibv_destroy_comp_channel(channel1) = 0",
		"ibv_destroy_srq(srq1) = 0");
	NO_LOG();
	no_peer(&peer);
}

TEST(srq_delete, null_pointer_is_invalid_and_null_handle_is_fine)
{
	struct rpma_srq *srq = NULL;

	INVALID(rpma_srq_delete(NULL));
	RETURNS(rpma_srq_delete(&srq), 0);
	NO_CALLS();
}

static void check_delete(enum provider_call call, const char *name)
{
	struct rpma_srq *srq = NULL;
	unsigned int blocks;

	peer = a_peer();
	blocks = provider_blocks();
	if (rpma_srq_new(peer, NULL, &srq))
		abort();
	provider_fail(call, 1, EBUSY);
	watch();
	FAILS(rpma_srq_delete(&srq), RPMA_E_PROVIDER, EBUSY);
	SAME(srq, NULL);
	FIRST_LOGGED(RPMA_LOG_LEVEL_ERROR, name, strerror(EBUSY));
	EQUAL(calls_with("ibv_destroy_cq(cq1)"), 1);
	EQUAL(calls_with("ibv_destroy_comp_channel(channel1)"), 1);
	EQUAL(calls_with("ibv_destroy_srq(srq1)"), 1);
	EQUAL(provider_blocks(), blocks);
	rpma_peer_delete(&peer);
	provider_reset();
}

DIFFERS(srq_delete, failing_ibv_destroy_cq_does_not_stop_the_rest, "F27")
{
	check_delete(CALL_ibv_destroy_cq, "ibv_destroy_cq");
}

DIFFERS(srq_delete, failing_ibv_destroy_comp_channel_does_not_stop_the_rest,
	"F27")
{
	check_delete(CALL_ibv_destroy_comp_channel, "ibv_destroy_comp_channel");
}

TEST(srq_delete, failing_ibv_destroy_srq_is_a_provider_error)
{
	check_delete(CALL_ibv_destroy_srq, "ibv_destroy_srq");
}

TEST(srq_delete, before_its_connection_is_refused_and_the_connection_works_on)
{
	struct rpma_srq *srq = an_srq(0);
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_conn *conn;

	rpma_conn_cfg_new(&cfg);
	rpma_conn_cfg_set_srq(cfg, srq);
	conn = a_connection(peer, cfg);
	RETURNS(rpma_srq_delete(&srq), RPMA_E_PROVIDER);
	SAME(srq, NULL);
	RETURNS(rpma_conn_disconnect(conn), 0);
	RETURNS(rpma_conn_delete(&conn), 0);
	rpma_conn_cfg_delete(&cfg);
	rpma_peer_delete(&peer);
	provider_reset();
}

TEST(srq_delete, every_event_of_the_rcq_is_acked_before)
{
	struct rpma_srq *srq = an_srq(20);
	struct rpma_cq *rcq = NULL;

	rpma_srq_get_rcq(srq, &rcq);
	for (unsigned int n = 0; n < 5; n++) {
		struct ibv_wc wc = {.wr_id = n};

		provider_completion(newest_cq(), &wc);
		RETURNS(rpma_cq_wait(rcq), 0);
	}
	/* else the provider takes this for misuse */
	RETURNS(rpma_srq_delete(&srq), 0);
	no_peer(&peer);
}

TEST(srq_get_rcq, is_the_same_every_time)
{
	struct rpma_srq *srq = an_srq(20);
	struct rpma_cq *rcq = NULL, *again = NULL;
	int fd = -1;

	RETURNS(rpma_srq_get_rcq(srq, &rcq), 0);
	CHECK(rcq != NULL);
	RETURNS(rpma_srq_get_rcq(srq, &again), 0);
	SAME(again, rcq);
	RETURNS(rpma_cq_get_fd(rcq, &fd), 0);
	EQUAL(fd, provider_cq(1)->channel->fd);
	NO_CALLS();
	end(srq);
}

TEST(srq_get_rcq, is_null_when_there_is_none)
{
	struct rpma_srq *srq = an_srq(0);
	struct rpma_cq *rcq = UNTOUCHED;

	RETURNS(rpma_srq_get_rcq(srq, &rcq), 0);
	SAME(rcq, NULL);
	end(srq);
}

TEST(srq_get_rcq, null_arguments_are_invalid)
{
	struct rpma_srq *srq = an_srq(20);
	struct rpma_cq *rcq = UNTOUCHED;

	INVALID(rpma_srq_get_rcq(NULL, &rcq));
	SAME(rcq, UNTOUCHED);
	INVALID(rpma_srq_get_rcq(srq, NULL));
	end(srq);
}

TEST(srq_recv, posts_one_receive)
{
	struct rpma_srq *srq = an_srq(20);
	struct rpma_mr_local *mr = a_region(peer, 4096, RPMA_MR_USAGE_RECV);

	watch();
	RETURNS(rpma_srq_recv(srq, mr, 16, 100, (void *)0x1234), 0);
	CALLS("ibv_post_srq_recv(srq1, 0x1234, [mem+16, 100, 0x1001]) = 0");
	watch();
	RETURNS(rpma_srq_recv(srq, mr, 0, 0, NULL), 0);
	CALLS("ibv_post_srq_recv(srq1, 0x0, [mem+0, 0, 0x1001]) = 0");
	watch();
	RETURNS(rpma_srq_recv(srq, mr, 0, UINT32_MAX, NULL), 0);
	CALLS("ibv_post_srq_recv(srq1, 0x0, [mem+0, 4294967295, 0x1001]) = 0");
	NO_LOG();
	rpma_mr_dereg(&mr);
	end(srq);
}

TEST(srq_recv, without_region_posts_no_sge)
{
	struct rpma_srq *srq = an_srq(20);

	RETURNS(rpma_srq_recv(srq, NULL, 0, 0, (void *)1), 0);
	CALLS("ibv_post_srq_recv(srq1, 0x1, no sge) = 0");
	end(srq);
}

TEST(srq_recv, wrong_arguments_are_invalid)
{
	struct rpma_srq *srq = an_srq(20);
	struct rpma_mr_local *mr = a_region(peer, 4096, RPMA_MR_USAGE_RECV);

	INVALID(rpma_srq_recv(NULL, mr, 0, 8, NULL));
	INVALID(rpma_srq_recv(srq, NULL, 1, 0, NULL));
	INVALID(rpma_srq_recv(srq, NULL, 0, 1, NULL));
	INVALID(rpma_srq_recv(srq, NULL, SIZE_MAX, SIZE_MAX, NULL));
	rpma_mr_dereg(&mr);
	end(srq);
}

DIFFERS(srq_recv, length_over_32_bits_is_invalid, "F6")
{
	struct rpma_srq *srq = an_srq(20);
	struct rpma_mr_local *mr = a_region(peer, SIZE_MAX >> 20,
		RPMA_MR_USAGE_RECV);

	INVALID(rpma_srq_recv(srq, mr, 0, (size_t)UINT32_MAX + 1, NULL));
	INVALID(rpma_srq_recv(srq, mr, 0, (size_t)UINT32_MAX + 9, NULL));
	INVALID(rpma_srq_recv(srq, mr, 0, SIZE_MAX, NULL));
	rpma_mr_dereg(&mr);
	end(srq);
}

DIFFERS(srq_recv, address_over_64_bits_is_invalid, "F22")
{
	struct rpma_srq *srq = an_srq(20);
	struct rpma_mr_local *mr = a_region(peer, 4096, RPMA_MR_USAGE_RECV);

	INVALID(rpma_srq_recv(srq, mr, SIZE_MAX, 8, NULL));
	INVALID(rpma_srq_recv(srq, mr,
		SIZE_MAX - (size_t)provider_memory - 7, 16, NULL));
	rpma_mr_dereg(&mr);
	end(srq);
}

TEST(srq_recv, failing_post_is_a_provider_error)
{
	struct rpma_srq *srq = an_srq(20);

	provider_fail(CALL_ibv_post_srq_recv, 1, ENOMEM);
	RETURNS(rpma_srq_recv(srq, NULL, 0, 0, NULL), RPMA_E_PROVIDER);
	LOGGED(RPMA_LOG_LEVEL_ERROR, "ibv_post_srq_recv", strerror(ENOMEM));
	end(srq);
}

DIFFERS(srq_recv, failing_post_has_its_code_in_errno, "F17")
{
	struct rpma_srq *srq = an_srq(20);

	provider_fail(CALL_ibv_post_srq_recv, 1, ENOMEM);
	FAILS(rpma_srq_recv(srq, NULL, 0, 0, NULL), RPMA_E_PROVIDER, ENOMEM);
	end(srq);
}
