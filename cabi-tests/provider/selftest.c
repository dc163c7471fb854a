/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The provider sees what it is there to see: each test misuses it on purpose,
 * as a wrong librpma would, and looks for the complaint.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "provider.h"

#undef ibv_reg_mr

static unsigned int checks, failures;

#define CHECK(condition) check(!!(condition), __LINE__, #condition)

static void check(int ok, int line, const char *what)
{
	checks++;
	if (ok)
		return;
	failures++;
	printf("    line %d: not so: %s\n", line, what);
}

/* exactly one misuse, and it says this */
static void complained(const char *part, int line)
{
	unsigned int found = 0;

	for (unsigned int n = 0; n < provider_misuses(); n++)
		found += strstr(provider_misuse(n), part) != NULL;
	check(found == 1, line, part);
	if (found != 1)
		for (unsigned int n = 0; n < provider_misuses(); n++)
			printf("      %s\n", provider_misuse(n));
}
#define COMPLAINED(part) complained(part, __LINE__)

static struct ibv_pd *pd;
static struct ibv_comp_channel *channel;
static struct ibv_cq *cq;
static struct rdma_event_channel *events;
static struct rdma_cm_id *id;

static void begin(void)
{
	pd = ibv_alloc_pd(provider_context());
	channel = ibv_create_comp_channel(provider_context());
	cq = ibv_create_cq(provider_context(), 10, NULL, channel, 0);
	events = rdma_create_event_channel();
	if (!pd || !channel || !cq || !events ||
			rdma_create_id(events, &id, NULL, RDMA_PS_TCP))
		abort();
}

static void make_qp(void)
{
	struct ibv_qp_init_attr_ex attr = {.qp_type = IBV_QPT_RC, .pd = pd,
		.send_cq = cq, .recv_cq = cq, .comp_mask = IBV_QP_INIT_ATTR_PD,
		.cap = {1, 1, 1, 1, 8}};

	if (rdma_create_qp_ex(id, &attr))
		abort();
}

static void end(void)
{
	CHECK(rdma_destroy_id(id) == 0);
	rdma_destroy_event_channel(events);
	CHECK(ibv_destroy_cq(cq) == 0);
	CHECK(ibv_destroy_comp_channel(channel) == 0);
	CHECK(ibv_dealloc_pd(pd) == 0);
}

static void right_use_is_no_misuse(void)
{
	begin();
	make_qp();
	CHECK(provider_alive() == 6);
	rdma_destroy_qp(id);
	end();
	CHECK(provider_alive() == 0);
	CHECK(provider_misuses() == 0);
}

static void object_never_destroyed_is_alive(void)
{
	begin();
	end();
	CHECK(ibv_alloc_pd(provider_context()) != NULL);
	CHECK(provider_alive() == 1);
	CHECK(strstr(provider_alive_names(), "pd2") != NULL);
}

static void destroyed_twice_is_a_misuse(void)
{
	begin();
	end();
	CHECK(ibv_dealloc_pd(pd) == EINVAL);
	COMPLAINED("pd1 was destroyed before");
}

static void used_after_destroyed_is_a_misuse(void)
{
	begin();
	end();
	CHECK(rdma_listen(id, 0) == -1);
	COMPLAINED("id1 was destroyed before");
}

static void every_kind_is_watched(void)
{
	struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = 1}};
	struct ibv_srq *srq;
	struct ibv_mr *mr;

	begin();
	srq = ibv_create_srq(pd, &srq_attr);
	mr = ibv_reg_mr(pd, provider_memory, 8, 0);
	CHECK(ibv_dereg_mr(mr) == 0 && ibv_dereg_mr(mr) != 0);
	CHECK(ibv_destroy_srq(srq) == 0 && ibv_destroy_srq(srq) != 0);
	end();
	CHECK(ibv_destroy_cq(cq) != 0);
	CHECK(ibv_destroy_comp_channel(channel) != 0);
	CHECK(rdma_destroy_id(id) != 0);
	rdma_destroy_event_channel(events);
	CHECK(provider_misuses() == 6);
}

static void cq_before_its_qp_is_refused_and_a_misuse(void)
{
	begin();
	make_qp();
	CHECK(ibv_destroy_cq(cq) == EBUSY);
	COMPLAINED("cq1 destroyed while others use it");
	rdma_destroy_qp(id);
	end();
}

static void channel_before_its_cq_is_refused_and_a_misuse(void)
{
	begin();
	CHECK(ibv_destroy_comp_channel(channel) == EBUSY);
	COMPLAINED("channel1 destroyed while others use it");
	end();
}

static void id_before_its_qp_is_a_misuse(void)
{
	begin();
	make_qp();
	CHECK(rdma_destroy_id(id) == 0);
	COMPLAINED("id1 destroyed while others use it");
}

static void event_channel_before_its_id_is_a_misuse(void)
{
	begin();
	rdma_destroy_event_channel(events);
	COMPLAINED("ec1 destroyed while others use it");
	CHECK(rdma_destroy_id(id) == 0);
	COMPLAINED("id1 destroyed after its event channel");
}

static void pd_in_use_is_refused_and_the_callers_affair(void)
{
	struct ibv_mr *mr;

	begin();
	mr = ibv_reg_mr(pd, provider_memory, 8, 0);
	CHECK(ibv_dealloc_pd(pd) == EBUSY);
	CHECK(ibv_dereg_mr(mr) == 0);
	end();
	CHECK(provider_misuses() == 0);
}

static void what_a_failed_destruction_leaves_is_nobodys_fault(void)
{
	begin();
	provider_fail(CALL_ibv_destroy_cq, 1, EIO);
	CHECK(ibv_destroy_cq(cq) == EIO);
	CHECK(ibv_destroy_comp_channel(channel) == EBUSY);
	CHECK(rdma_destroy_id(id) == 0);
	rdma_destroy_event_channel(events);
	CHECK(ibv_dealloc_pd(pd) == 0);
	CHECK(provider_misuses() == 0);
	CHECK(provider_alive() == 0);
}

static void event_not_acked_is_a_misuse(void)
{
	struct rdma_cm_event *event;

	begin();
	provider_event(id, RDMA_CM_EVENT_REJECTED, 0, NULL, 0);
	CHECK(rdma_get_cm_event(events, &event) == 0);
	CHECK(rdma_destroy_id(id) == 0);
	COMPLAINED("id1 destroyed with 1 events not acked");
}

static void event_acked_twice_is_a_misuse(void)
{
	struct rdma_cm_event *event;

	begin();
	provider_event(id, RDMA_CM_EVENT_REJECTED, 0, "x", 1);
	CHECK(rdma_get_cm_event(events, &event) == 0);
	CHECK(rdma_ack_cm_event(event) == 0);
	CHECK(rdma_ack_cm_event(event) == -1);
	COMPLAINED("event1 was destroyed before");
	end();
}

static void cq_event_not_acked_is_a_misuse(void)
{
	struct ibv_wc wc = {.wr_id = 1};
	struct ibv_cq *source;
	void *context;

	begin();
	CHECK(ibv_req_notify_cq(cq, 0) == 0);
	provider_completion(cq, &wc);
	CHECK(ibv_get_cq_event(channel, &source, &context) == 0);
	CHECK(source == cq);
	CHECK(ibv_destroy_cq(cq) == 0);
	COMPLAINED("cq1 destroyed with 1 events not acked");
}

static void more_acks_than_events_are_a_misuse(void)
{
	begin();
	ibv_ack_cq_events(cq, 1);
	COMPLAINED("cq1: 1 events acked of 0");
	end();
}

static void endless_wait_is_a_misuse_and_ends(void)
{
	struct rdma_cm_event *event;

	begin();
	CHECK(rdma_get_cm_event(events, &event) == -1);
	COMPLAINED("rdma_get_cm_event: waits for ever");
	end();
}

static void non_blocking_wait_is_none(void)
{
	struct rdma_cm_event *event;

	begin();
	fcntl(events->fd, F_SETFL, O_NONBLOCK);
	CHECK(rdma_get_cm_event(events, &event) == -1 && errno == EAGAIN);
	CHECK(provider_misuses() == 0);
	end();
}

static void migration_with_events_not_acked_is_a_misuse(void)
{
	struct rdma_event_channel *other;
	struct rdma_cm_event *event;

	begin();
	other = rdma_create_event_channel();
	provider_event(id, RDMA_CM_EVENT_REJECTED, 0, NULL, 0);
	CHECK(rdma_get_cm_event(events, &event) == 0);
	CHECK(rdma_migrate_id(id, other) == 0);
	COMPLAINED("id1 migrated with 1 events not acked");
}

static void pending_events_migrate_with_the_id(void)
{
	struct rdma_event_channel *other;
	struct rdma_cm_event *event;

	begin();
	other = rdma_create_event_channel();
	provider_event(id, RDMA_CM_EVENT_REJECTED, 0, NULL, 0);
	CHECK(rdma_migrate_id(id, other) == 0);
	fcntl(events->fd, F_SETFL, O_NONBLOCK);
	CHECK(rdma_get_cm_event(events, &event) == -1 && errno == EAGAIN);
	CHECK(rdma_get_cm_event(other, &event) == 0);
	CHECK(rdma_ack_cm_event(event) == 0);
	end();
	rdma_destroy_event_channel(other);
	CHECK(provider_misuses() == 0);
	CHECK(provider_alive() == 0);
}

static void connecting_without_a_channel_is_a_misuse(void)
{
	struct rdma_conn_param param = {.retry_count = 7};
	struct rdma_cm_id *alone;

	begin();
	CHECK(rdma_create_id(NULL, &alone, NULL, RDMA_PS_TCP) == 0);
	CHECK(rdma_connect(alone, &param) == 0);
	COMPLAINED("id2 connects without an event channel");
	COMPLAINED("id2 connects without a QP");
}

static void nth_call_fails_with_its_errno(void)
{
	begin();
	provider_fail(PROVIDER_ANY_CALL, 2, EIO);
	CHECK(rdma_listen(id, 0) == 0);
	errno = 0;
	CHECK(rdma_listen(id, 0) == -1 && errno == EIO);
	CHECK(rdma_listen(id, 0) == 0);
	CHECK(strcmp(provider_failed_call(0), "rdma_listen") == 0);
	CHECK(provider_clear_plans() == 0);
	provider_fail(CALL_ibv_reg_mr, 1, EIO);
	CHECK(rdma_listen(id, 0) == 0);
	CHECK(provider_clear_plans() == 1);
	end();
}

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
#define TEST(name) {#name, name}
	TEST(right_use_is_no_misuse),
	TEST(object_never_destroyed_is_alive),
	TEST(destroyed_twice_is_a_misuse),
	TEST(used_after_destroyed_is_a_misuse),
	TEST(every_kind_is_watched),
	TEST(cq_before_its_qp_is_refused_and_a_misuse),
	TEST(channel_before_its_cq_is_refused_and_a_misuse),
	TEST(id_before_its_qp_is_a_misuse),
	TEST(event_channel_before_its_id_is_a_misuse),
	TEST(pd_in_use_is_refused_and_the_callers_affair),
	TEST(what_a_failed_destruction_leaves_is_nobodys_fault),
	TEST(event_not_acked_is_a_misuse),
	TEST(event_acked_twice_is_a_misuse),
	TEST(cq_event_not_acked_is_a_misuse),
	TEST(more_acks_than_events_are_a_misuse),
	TEST(endless_wait_is_a_misuse_and_ends),
	TEST(non_blocking_wait_is_none),
	TEST(migration_with_events_not_acked_is_a_misuse),
	TEST(pending_events_migrate_with_the_id),
	TEST(connecting_without_a_channel_is_a_misuse),
	TEST(nth_call_fails_with_its_errno),
};

int main(void)
{
	for (unsigned int n = 0; n < sizeof(tests) / sizeof(tests[0]); n++) {
		unsigned int before = failures;

		provider_reset();
		tests[n].run();
		printf("%s provider.%s\n", failures == before ? "ok" : "FAILED",
			tests[n].name);
	}
	provider_reset();
	printf("%u checks, %u failed\n", checks, failures);
	return failures != 0;
}
