/* SPDX-License-Identifier: BSD-3-Clause */
/* rpma_conn_cfg_*: timeout, queue sizes, completion channel and SRQ */
#include <stdio.h>
#include "contract.h"

typedef int set_size(struct rpma_conn_cfg *cfg, uint32_t size);
typedef int get_size(const struct rpma_conn_cfg *cfg, uint32_t *size);

static const struct {
	const char *name;
	set_size *set;
	get_size *get;
	uint32_t preset;
} sizes[] = {
	{"cq", rpma_conn_cfg_set_cq_size, rpma_conn_cfg_get_cq_size, 10},
	{"rcq", rpma_conn_cfg_set_rcq_size, rpma_conn_cfg_get_rcq_size, 0},
	{"sq", rpma_conn_cfg_set_sq_size, rpma_conn_cfg_get_sq_size, 10},
	{"rq", rpma_conn_cfg_set_rq_size, rpma_conn_cfg_get_rq_size, 10},
};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static struct rpma_conn_cfg *a_cfg(void)
{
	struct rpma_conn_cfg *cfg = NULL;

	if (rpma_conn_cfg_new(&cfg))
		abort();
	return cfg;
}

TEST(conn_cfg_new, defaults)
{
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_srq *srq = UNTOUCHED;
	bool shared = true;
	int timeout = 0;

	watch();
	RETURNS(rpma_conn_cfg_new(&cfg), 0);
	RETURNS(rpma_conn_cfg_get_timeout(cfg, &timeout), 0);
	EQUAL(timeout, 1000);
	for (unsigned int n = 0; n < SIZES; n++) {
		uint32_t size = 77;

		RETURNS(sizes[n].get(cfg, &size), 0);
		EQUAL(size, sizes[n].preset);
	}
	RETURNS(rpma_conn_cfg_get_compl_channel(cfg, &shared), 0);
	EQUAL(shared, false);
	RETURNS(rpma_conn_cfg_get_srq(cfg, &srq), 0);
	SAME(srq, NULL);
	RETURNS(rpma_conn_cfg_delete(&cfg), 0);
	SAME(cfg, NULL);
	NO_CALLS();
	NO_LOG();
}

TEST(conn_cfg_new, null_pointer_is_invalid)
{
	INVALID(rpma_conn_cfg_new(NULL));
}

DIFFERS(conn_cfg_new, out_of_memory_is_not_logged, "OUTPUTS")
{
	struct rpma_conn_cfg *cfg = UNTOUCHED;

	provider_fail_allocation(1);
	watch();
	RETURNS(rpma_conn_cfg_new(&cfg), RPMA_E_NOMEM);
	SAME(cfg, UNTOUCHED);
	NO_LOG();
}

TEST(conn_cfg_delete, null_pointer_is_invalid_and_null_handle_is_fine)
{
	struct rpma_conn_cfg *cfg = NULL;

	INVALID(rpma_conn_cfg_delete(NULL));
	RETURNS(rpma_conn_cfg_delete(&cfg), 0);
	NO_LOG();
}

TEST(conn_cfg_set_timeout, any_but_a_negative_one_is_kept)
{
	static const int timeouts[] = {0, 1, 1000, INT_MAX};
	struct rpma_conn_cfg *cfg = a_cfg();

	for (unsigned int n = 0; n < 4; n++) {
		int timeout = -1;

		RETURNS(rpma_conn_cfg_set_timeout(cfg, timeouts[n]), 0);
		RETURNS(rpma_conn_cfg_get_timeout(cfg, &timeout), 0);
		EQUAL(timeout, timeouts[n]);
	}
	rpma_conn_cfg_delete(&cfg);
}

TEST(conn_cfg_set_timeout, negative_one_is_invalid_and_changes_nothing)
{
	struct rpma_conn_cfg *cfg = a_cfg();
	int timeout = 0;

	INVALID(rpma_conn_cfg_set_timeout(cfg, -1));
	INVALID(rpma_conn_cfg_set_timeout(cfg, INT_MIN));
	RETURNS(rpma_conn_cfg_get_timeout(cfg, &timeout), 0);
	EQUAL(timeout, 1000);
	rpma_conn_cfg_delete(&cfg);
}

TEST(conn_cfg_set_timeout, null_arguments_are_invalid)
{
	struct rpma_conn_cfg *cfg = a_cfg();
	int timeout = 77;

	INVALID(rpma_conn_cfg_set_timeout(NULL, 1));
	INVALID(rpma_conn_cfg_get_timeout(NULL, &timeout));
	EQUAL(timeout, 77);
	INVALID(rpma_conn_cfg_get_timeout(cfg, NULL));
	rpma_conn_cfg_delete(&cfg);
}

TEST(conn_cfg_set_sizes, any_size_is_kept_and_changes_no_other)
{
	static const uint32_t values[] = {0, 1, 11, INT_MAX,
		(uint32_t)INT_MAX + 1, UINT32_MAX};

	for (unsigned int n = 0; n < SIZES; n++) {
		struct rpma_conn_cfg *cfg = a_cfg();

		for (unsigned int v = 0; v < 6; v++) {
			uint32_t size = ~values[v];

			RETURNS(sizes[n].set(cfg, values[v]), 0);
			RETURNS(sizes[n].get(cfg, &size), 0);
			EQUAL(size, values[v]);
		}
		for (unsigned int other = 0; other < SIZES; other++) {
			uint32_t size = 77;

			if (other == n)
				continue;
			RETURNS(sizes[other].get(cfg, &size), 0);
			EQUAL(size, sizes[other].preset);
		}
		rpma_conn_cfg_delete(&cfg);
	}
}

TEST(conn_cfg_set_sizes, null_arguments_are_invalid)
{
	struct rpma_conn_cfg *cfg = a_cfg();
	uint32_t size = 77;

	for (unsigned int n = 0; n < SIZES; n++) {
		INVALID(sizes[n].set(NULL, 1));
		INVALID(sizes[n].get(NULL, &size));
		EQUAL(size, 77);
		INVALID(sizes[n].get(cfg, NULL));
	}
	rpma_conn_cfg_delete(&cfg);
}

TEST(conn_cfg_set_compl_channel, can_be_shared_and_taken_back)
{
	struct rpma_conn_cfg *cfg = a_cfg();
	bool shared = false;

	RETURNS(rpma_conn_cfg_set_compl_channel(cfg, true), 0);
	RETURNS(rpma_conn_cfg_get_compl_channel(cfg, &shared), 0);
	EQUAL(shared, true);
	RETURNS(rpma_conn_cfg_set_compl_channel(cfg, false), 0);
	RETURNS(rpma_conn_cfg_get_compl_channel(cfg, &shared), 0);
	EQUAL(shared, false);
	rpma_conn_cfg_delete(&cfg);
}

TEST(conn_cfg_set_compl_channel, null_arguments_are_invalid)
{
	struct rpma_conn_cfg *cfg = a_cfg();
	bool shared = true;

	INVALID(rpma_conn_cfg_set_compl_channel(NULL, true));
	INVALID(rpma_conn_cfg_get_compl_channel(NULL, &shared));
	EQUAL(shared, true);
	INVALID(rpma_conn_cfg_get_compl_channel(cfg, NULL));
	rpma_conn_cfg_delete(&cfg);
}

TEST(conn_cfg_set_srq, is_kept_and_null_is_refused)
{
	struct rpma_conn_cfg *cfg = a_cfg();
	struct rpma_srq *srq = NULL;

	RETURNS(rpma_conn_cfg_set_srq(cfg, OPAQUE(rpma_srq)), 0);
	RETURNS(rpma_conn_cfg_get_srq(cfg, &srq), 0);
	SAME(srq, OPAQUE(rpma_srq));
	INVALID(rpma_conn_cfg_set_srq(cfg, NULL));
	RETURNS(rpma_conn_cfg_get_srq(cfg, &srq), 0);
	SAME(srq, OPAQUE(rpma_srq));
	rpma_conn_cfg_delete(&cfg);
}

TEST(conn_cfg_set_srq, null_arguments_are_invalid)
{
	struct rpma_conn_cfg *cfg = a_cfg();
	struct rpma_srq *srq = UNTOUCHED;

	INVALID(rpma_conn_cfg_set_srq(NULL, OPAQUE(rpma_srq)));
	INVALID(rpma_conn_cfg_get_srq(NULL, &srq));
	SAME(srq, UNTOUCHED);
	INVALID(rpma_conn_cfg_get_srq(cfg, NULL));
	rpma_conn_cfg_delete(&cfg);
}

TEST(conn_cfg, the_cq_size_reaches_the_provider_as_an_int)
{
	static const struct {
		uint32_t size;
		const char *part;
	} cases[] = {
		{0, "ibv_create_cq(context, 0, "},
		{1, "ibv_create_cq(context, 1, "},
		{INT_MAX, "ibv_create_cq(context, 2147483647, "},
		{(uint32_t)INT_MAX + 1, "ibv_create_cq(context, 2147483647, "},
		{UINT32_MAX, "ibv_create_cq(context, 2147483647, "},
	};
	struct rpma_peer *peer = a_peer();
	struct rpma_conn_cfg *cfg = a_cfg();

	for (unsigned int n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		struct rpma_conn_req *req = UNTOUCHED;
		int fine = cases[n].size == 1;

		rpma_conn_cfg_set_cq_size(cfg, cases[n].size);
		watch();
		RETURNS(rpma_conn_req_new(peer, ADDRESS, PORT, cfg, &req),
			fine ? 0 : RPMA_E_PROVIDER);
		EQUAL(calls_with(cases[n].part), 1);
		if (fine)
			rpma_conn_req_delete(&req);
		else
			SAME(req, UNTOUCHED);
	}
	rpma_conn_cfg_delete(&cfg);
	no_peer(&peer);
}

TEST(conn_cfg, the_rcq_size_reaches_the_provider_as_an_int)
{
	struct rpma_peer *peer = a_peer();
	struct rpma_conn_cfg *cfg = a_cfg();
	struct rpma_conn_req *req = UNTOUCHED;

	rpma_conn_cfg_set_rcq_size(cfg, UINT32_MAX);
	watch();
	RETURNS(rpma_conn_req_new(peer, ADDRESS, PORT, cfg, &req),
		RPMA_E_PROVIDER);
	EQUAL(calls_with("ibv_create_cq(context, 10, "), 1);
	EQUAL(calls_with("ibv_create_cq(context, 2147483647, "), 1);
	SAME(req, UNTOUCHED);
	rpma_conn_cfg_delete(&cfg);
	no_peer(&peer);
}

TEST(conn_cfg, the_timeout_is_that_of_resolving_address_and_route)
{
	static const int timeouts[] = {0, 1, 7000, INT_MAX};
	struct rpma_peer *peer = a_peer();
	struct rpma_conn_cfg *cfg = a_cfg();

	for (unsigned int n = 0; n < 4; n++) {
		struct rpma_conn_req *req;
		char part[64];

		rpma_conn_cfg_set_timeout(cfg, timeouts[n]);
		watch();
		req = a_request(peer, cfg);
		snprintf(part, sizeof(part), ":7471, %d) = 0", timeouts[n]);
		EQUAL(calls_with(part), 1);
		snprintf(part, sizeof(part), "rdma_resolve_route(id%u, %d)",
			n + 1, timeouts[n]);
		EQUAL(calls_with(part), 1);
		rpma_conn_req_delete(&req);
	}
	rpma_conn_cfg_delete(&cfg);
	no_peer(&peer);
}

DIFFERS(conn_cfg, the_sq_and_rq_sizes_are_those_of_the_qp, "F17")
{
	struct rpma_peer *peer = a_peer();
	struct rpma_conn_cfg *cfg = a_cfg();
	struct rpma_conn_req *req;

	rpma_conn_cfg_set_sq_size(cfg, 0);
	rpma_conn_cfg_set_rq_size(cfg, 65536);
	watch();
	req = a_request(peer, cfg);
	EQUAL(calls_with(", sq=0 rq=65536 "), 1);
	rpma_conn_req_delete(&req);
	rpma_conn_cfg_set_sq_size(cfg, UINT32_MAX);
	watch();
	req = UNTOUCHED;
	FAILS(rpma_conn_req_new(peer, ADDRESS, PORT, cfg, &req),
		RPMA_E_PROVIDER, EINVAL);
	EQUAL(calls_with(", sq=4294967295 rq=65536 send_sge=1 recv_sge=1 "
		"inline=8"), 1);
	SAME(req, UNTOUCHED);
	rpma_conn_cfg_delete(&cfg);
	no_peer(&peer);
}
