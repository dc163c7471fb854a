/* SPDX-License-Identifier: BSD-3-Clause */
/* the scenarios; see scenarios.h */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "scenarios.h"

#define ADDRESS "10.0.0.1"
#define PORT "7471"
#define USAGE (RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_READ_DST | \
	RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_WRITE_DST | \
	RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV | \
	RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | \
	RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT)

/* the objects of one run */
static struct {
	struct rpma_peer *peer;
	struct rpma_mr_local *mr;
	struct rpma_mr_remote *remote;
	struct rpma_srq_cfg *srq_cfg;
	struct rpma_srq *srq;
	struct rpma_conn_cfg *cfg;
	struct rpma_ep *ep;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
} s;

static void begin(const struct scenario *scenario)
{
	memset(&s, 0, sizeof(s));
	/* what the library was told to use is there to be used */
	if (getenv("RPMA_FLUSH") && getenv("RPMA_ATOMIC_WRITE")) {
		provider_device.device_cap_flags_ex = 7ull << 38;
		provider_device.send_ops = 0x1800;
		provider_device.mr_access |= 0x300;
	}
	DO(rpma_peer_new(provider_context(), &s.peer));
	scenario_handle("peer", s.peer);
	if (s.peer) {
		DO(rpma_mr_reg(s.peer, provider_memory, 4096, USAGE, &s.mr));
		scenario_handle("mr", s.mr);
	}
	if (s.peer && scenario->srq) {
		DO(rpma_srq_cfg_new(&s.srq_cfg));
		scenario_handle("srq_cfg", s.srq_cfg);
		if (s.srq_cfg)
			DO(rpma_srq_cfg_set_rcq_size(s.srq_cfg,
				scenario->srq == 1 ? 9 : 0));
		if (s.srq_cfg) {
			DO(rpma_srq_new(s.peer, s.srq_cfg, &s.srq));
			scenario_handle("srq", s.srq);
		}
	}
	DO(rpma_conn_cfg_new(&s.cfg));
	scenario_handle("cfg", s.cfg);
	if (s.cfg) {
		DO(rpma_conn_cfg_set_compl_channel(s.cfg, scenario->shared));
		DO(rpma_conn_cfg_set_rcq_size(s.cfg, scenario->rcq ? 11 : 0));
		DO(rpma_conn_cfg_set_timeout(s.cfg, 2000));
		if (s.srq)
			DO(rpma_conn_cfg_set_srq(s.cfg, s.srq));
	}
}

static int ready(const struct scenario *scenario)
{
	return s.peer && s.cfg && (!scenario->srq || s.srq);
}

static void end(void)
{
	scenario_deletes();
	DO(rpma_conn_delete(&s.conn));
	scenario_output("conn is NULL", !s.conn);
	DO(rpma_conn_req_delete(&s.req));
	scenario_output("req is NULL", !s.req);
	DO(rpma_ep_shutdown(&s.ep));
	scenario_output("ep is NULL", !s.ep);
	DO(rpma_conn_cfg_delete(&s.cfg));
	DO(rpma_srq_delete(&s.srq));
	scenario_output("srq is NULL", !s.srq);
	DO(rpma_srq_cfg_delete(&s.srq_cfg));
	DO(rpma_mr_remote_delete(&s.remote));
	DO(rpma_mr_dereg(&s.mr));
	scenario_output("mr is NULL", !s.mr);
	DO(rpma_peer_delete(&s.peer));
	scenario_output("peer is NULL", !s.peer);
}

static struct rdma_cm_id *id_of_qp(void)
{
	for (unsigned int n = provider_count("id"); n; n--)
		if (provider_id(n) && provider_id(n)->qp)
			return provider_id(n);
	return NULL;
}

static struct rdma_cm_id *id_without_qp(void)
{
	for (unsigned int n = provider_count("id"); n; n--)
		if (provider_id(n) && !provider_id(n)->qp)
			return provider_id(n);
	return NULL;
}

static void next_event(enum rdma_cm_event_type type, const void *data,
		uint8_t len)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	provider_event(id_of_qp(), type, 0, data, len);
	if (DO(rpma_conn_next_event(s.conn, &event)) == 0)
		scenario_output("event", event);
}

static void take_completion(struct ibv_cq *source, struct rpma_cq *cq,
		const struct scenario *scenario)
{
	struct ibv_wc wc = {.wr_id = 0x55, .status = IBV_WC_SUCCESS,
		.opcode = IBV_WC_RDMA_READ};
	struct rpma_cq *waited = NULL;
	bool is_rcq = false;
	int got = 0;

	provider_completion(source, &wc);
	if (scenario->shared) {
		if (DO(rpma_conn_wait(s.conn, 0, &waited, &is_rcq)) == 0) {
			scenario_output("cq", waited == cq);
			scenario_output("is_rcq", is_rcq);
		}
	} else {
		DO(rpma_cq_wait(cq));
	}
	memset(&wc, 0, sizeof(wc));
	if (DO(rpma_cq_get_wc(cq, 1, &wc, &got)) == 0) {
		scenario_output("wr_id", (long long)wc.wr_id);
		scenario_output("got", got);
	}
}

static void operate(const struct scenario *scenario)
{
	struct rpma_peer_cfg *pcfg = NULL;
	unsigned char descriptor[21] = {0};
	struct rpma_cq *cq = NULL, *rcq = NULL;
	int flags = RPMA_F_COMPLETION_ALWAYS;

	DO(rpma_peer_cfg_from_descriptor("\1", 1, &pcfg));
	scenario_handle("pcfg", pcfg);
	if (pcfg)
		DO(rpma_conn_apply_remote_peer_cfg(s.conn, pcfg));
	DO(rpma_peer_cfg_delete(&pcfg));
	if (s.mr) {
		DO(rpma_mr_get_descriptor(s.mr, descriptor));
		DO(rpma_mr_remote_from_descriptor(descriptor,
			sizeof(descriptor), &s.remote));
		scenario_handle("remote", s.remote);
	}
	if (s.remote) {
		DO(rpma_read(s.conn, s.mr, 0, s.remote, 8, 16, flags,
			(void *)1));
		DO(rpma_write(s.conn, s.remote, 0, s.mr, 8, 16, flags,
			(void *)2));
		DO(rpma_write_with_imm(s.conn, s.remote, 0, s.mr, 8, 16, flags,
			0x1234, (void *)3));
		DO(rpma_atomic_write(s.conn, s.remote, 8, "12345678", flags,
			(void *)4));
		DO(rpma_flush(s.conn, s.remote, 0, 64,
			RPMA_FLUSH_TYPE_VISIBILITY, flags, (void *)5));
		DO(rpma_send(s.conn, s.mr, 0, 8, flags, (void *)6));
		DO(rpma_send_with_imm(s.conn, s.mr, 0, 8, flags, 7,
			(void *)7));
		DO(rpma_recv(s.conn, s.mr, 0, 8, (void *)8));
		if (s.srq)
			DO(rpma_srq_recv(s.srq, s.mr, 0, 8, (void *)9));
		DO(rpma_mr_advise(s.mr, 0, 64, 0, 0));
	}
	if (DO(rpma_conn_get_cq(s.conn, &cq)) == 0)
		take_completion(id_of_qp()->qp->send_cq, cq, scenario);
	if (DO(rpma_conn_get_rcq(s.conn, &rcq)) == 0 && rcq)
		take_completion(id_of_qp()->qp->recv_cq, rcq, scenario);
	if (s.srq && DO(rpma_srq_get_rcq(s.srq, &rcq)) == 0 && rcq) {
		struct ibv_wc wc = {.wr_id = 0x66};

		provider_completion(id_of_qp()->qp->recv_cq, &wc);
		DO(rpma_cq_wait(rcq));
		DO(rpma_cq_get_wc(rcq, 1, &wc, NULL));
	}
}

static void run_connection(const struct scenario *scenario)
{
	next_event(RDMA_CM_EVENT_ESTABLISHED, "hello", 5);

	struct rpma_conn_private_data data = {NULL, 0};

	DO(rpma_conn_get_private_data(s.conn, &data));
	scenario_output("private data", data.len);
	operate(scenario);
	DO(rpma_conn_disconnect(s.conn));
	next_event(RDMA_CM_EVENT_DISCONNECTED, NULL, 0);
}

static void connect_with(const char *text)
{
	struct rpma_conn_private_data data = {(void *)text, 3};

	DO(rpma_conn_req_connect(&s.req, &data, &s.conn));
	scenario_handle("conn", s.conn);
	scenario_output("req is NULL", !s.req);
}

static void outgoing_request(const struct scenario *scenario)
{
	begin(scenario);
	if (!ready(scenario))
		return;
	DO(rpma_conn_req_new(s.peer, ADDRESS, PORT, s.cfg, &s.req));
	scenario_handle("req", s.req);
	if (s.req && s.mr)
		DO(rpma_conn_req_recv(s.req, s.mr, 0, 8, (void *)1));
}

static void incoming_request(const struct scenario *scenario)
{
	struct rpma_conn_private_data data = {NULL, 0};

	begin(scenario);
	if (!ready(scenario))
		return;
	DO(rpma_ep_listen(s.peer, ADDRESS, PORT, &s.ep));
	scenario_handle("ep", s.ep);
	if (!s.ep)
		return;
	provider_connect_request(id_without_qp(), "abc", 3);
	DO(rpma_ep_next_conn_req(s.ep, s.cfg, &s.req));
	scenario_handle("req", s.req);
	if (!s.req)
		return;
	DO(rpma_conn_req_get_private_data(s.req, &data));
	scenario_output("private data", data.len);
	if (s.mr)
		DO(rpma_conn_req_recv(s.req, s.mr, 0, 8, (void *)1));
}

static void active(const struct scenario *scenario)
{
	outgoing_request(scenario);
	if (s.req)
		connect_with("abc");
	if (s.conn)
		run_connection(scenario);
	end();
}

static void passive(const struct scenario *scenario)
{
	incoming_request(scenario);
	if (s.req)
		connect_with("xyz");
	if (s.conn)
		run_connection(scenario);
	end();
}

static void cancel(const struct scenario *scenario)
{
	outgoing_request(scenario);
	end();
}

static void reject(const struct scenario *scenario)
{
	incoming_request(scenario);
	end();
}

static void rejected(const struct scenario *scenario)
{
	outgoing_request(scenario);
	if (s.req)
		connect_with("abc");
	if (s.conn)
		next_event(RDMA_CM_EVENT_REJECTED, NULL, 0);
	end();
}

/* the invalid connect deletes the request */
static void nowhere_to_put_it(const struct scenario *scenario)
{
	outgoing_request(scenario);
	if (s.req) {
		DO(rpma_conn_req_connect(&s.req, NULL, NULL));
		scenario_output("req is NULL", !s.req);
	}
	end();
}

static void incoming_nowhere_to_put_it(const struct scenario *scenario)
{
	incoming_request(scenario);
	if (s.req) {
		DO(rpma_conn_req_connect(&s.req, NULL, NULL));
		scenario_output("req is NULL", !s.req);
	}
	end();
}

/* the endpoint goes before the connection that it brought */
static void shutdown_first(const struct scenario *scenario)
{
	incoming_request(scenario);
	if (s.req)
		connect_with("xyz");
	DO(rpma_ep_shutdown(&s.ep));
	if (s.conn)
		run_connection(scenario);
	end();
}

static void find_device(const struct scenario *scenario)
{
	struct ibv_context *context = NULL;
	int capable = 0;

	(void)scenario;
	DO(rpma_utils_get_ibv_context(ADDRESS, RPMA_UTIL_IBV_CONTEXT_LOCAL,
		&context));
	scenario_output("context", context != NULL);
	context = NULL;
	DO(rpma_utils_get_ibv_context(ADDRESS, RPMA_UTIL_IBV_CONTEXT_REMOTE,
		&context));
	scenario_output("context", context != NULL);
	if (context &&
	    DO(rpma_utils_ibv_context_is_odp_capable(context, &capable)) == 0)
		scenario_output("capable", capable);
}

static void two_connections(const struct scenario *scenario)
{
	struct rpma_conn_req *req = NULL;
	struct rpma_conn *conn = NULL;

	outgoing_request(scenario);
	if (s.req)
		connect_with("abc");
	if (s.conn) {
		DO(rpma_conn_req_new(s.peer, ADDRESS, PORT, s.cfg, &req));
		scenario_handle("second req", req);
	}
	if (req) {
		DO(rpma_conn_req_connect(&req, NULL, &conn));
		scenario_handle("second conn", conn);
		scenario_output("second req is NULL", !req);
	}
	scenario_deletes();
	DO(rpma_conn_delete(&conn));
	scenario_output("second conn is NULL", !conn);
	end();
}

struct scenario scenarios[160];
unsigned int scenario_count;

static void add(const char *name, void (*run)(const struct scenario *),
		int shared, int rcq, int srq)
{
	struct scenario *next = &scenarios[scenario_count];

	if (scenario_count == sizeof(scenarios) / sizeof(scenarios[0]))
		abort();
	snprintf(next->name, sizeof(next->name), "%s%s%s%s", name,
		shared ? "/shared" : "", rcq ? "/rcq" : "",
		srq == 1 ? "/srq_with_rcq" : srq == 2 ? "/srq" : "");
	next->run = run;
	next->shared = shared;
	next->rcq = rcq;
	next->srq = srq;
	scenario_count++;
}

void scenarios_fill(void)
{
	static const struct {
		const char *name;
		void (*run)(const struct scenario *);
	} kinds[] = {
		{"active", active}, {"passive", passive}, {"cancel", cancel},
		{"reject", reject}, {"rejected", rejected},
		{"connect_to_null", nowhere_to_put_it},
		{"accept_to_null", incoming_nowhere_to_put_it},
		{"shutdown_first", shutdown_first},
		{"two_connections", two_connections},
	};

	add("find_device", find_device, 0, 0, 0);
	for (unsigned int n = 0; n < sizeof(kinds) / sizeof(kinds[0]); n++)
		for (int shared = 0; shared < 2; shared++)
			for (int rcq = 0; rcq < 2; rcq++)
				for (int srq = 0; srq < 3; srq++)
					add(kinds[n].name, kinds[n].run, shared,
						rcq, srq);
}
