/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unknown_operation.c -- what becomes of both sides when the target's kernel gets an operation
 * that it does not know
 *
 *	unknown_operation server|client ADDRESS PORT
 *
 * NATIVE_CASE is the operation: flush or atomic-write, requested natively by RPMA_FLUSH or
 * RPMA_ATOMIC_WRITE, or opcode, a packet of its own making with an opcode that nobody has.
 *
 * The client writes before and after it and says what became of the later write or of the operation,
 * whichever completes first: "outcome: no completion" or the status. It deletes everything and ends,
 * whatever happened to the server. The server says "lives on" if it does.
 */

#include "common.h"
#include "machine.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#define SIZE		4096
#define OUTCOME_MS	5000	/* how long the outcome may take to come */
#define ROCE_PORT	4791
#define DATAGRAMS	20
#define UNKNOWN_OPCODE	0x1f	/* of a reliable connection, which has none above 0x1d */
#define PKEY		0xffff

static void
server(const char *address, const char *port)
{
	show_machine();
	struct rpma_peer *peer = peer_of_local(address);
	struct rpma_mr_local *mr = registered(peer, memory(SIZE), SIZE, RPMA_MR_USAGE_WRITE_DST |
			RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY);
	struct offer offer = { 0 };
	offer_region(&offer, 0, mr);
	struct rpma_conn_private_data pdata = offer_as_private_data(&offer);

	struct rpma_ep *ep = listening(peer, address, port);
	wait_for_client(ep);
	struct rpma_conn *conn = accepted(ep, NULL, &pdata);
	CHECK(event_pending(conn, 2 * WAIT_MS));
	close_second(&conn);
	OK(rpma_ep_shutdown(&ep));
	OK(rpma_mr_dereg(&mr));
	OK(rpma_peer_delete(&peer));
	printf("lives on\n");
}

static void
write_signalled(struct rpma_conn *conn, struct rpma_mr_remote *dst, struct rpma_mr_local *src)
{
	OK(rpma_write(conn, dst, 0, src, 0, SIZE, RPMA_F_COMPLETION_ALWAYS, src));
}

static bool
completes(struct rpma_cq *cq, struct ibv_wc *wc)
{
	long long end = now_ms() + OUTCOME_MS;
	int ret;

	while ((ret = rpma_cq_get_wc(cq, 1, wc, NULL)) == RPMA_E_NO_COMPLETION && now_ms() < end)
		usleep(1000);
	CHECK(ret == 0 || ret == RPMA_E_NO_COMPLETION);
	return ret == 0;
}

static uint32_t
remote_qp_num(const struct rpma_conn *conn)
{
	char command[64];
	unsigned num = 0;

	snprintf(command, sizeof(command), "rdma resource show qp lqpn %u", qp_num_of(conn));
	FILE *list = popen(command, "r");
	CHECK(list != NULL);
	CHECK(fscanf(list, "link %*s lqpn %*u rqpn %u", &num) == 1);
	CHECK(pclose(list) == 0);
	return num;
}

/* a base transport header of RoCE, some bytes after it, and no valid checksum */
static void
send_unknown_opcode(const struct rpma_conn *conn, const char *address)
{
	struct {
		uint8_t opcode, flags;
		uint16_t pkey;
		uint32_t qp_num, psn;
		uint8_t rest[32];
	} packet = {
		.opcode = UNKNOWN_OPCODE,
		.pkey = htons(PKEY),
		.qp_num = htonl(remote_qp_num(conn)),
	};
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(ROCE_PORT) };

	CHECK(inet_pton(AF_INET, address, &to.sin_addr) == 1);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	CHECK(fd >= 0);
	/* a datagram can be lost */
	for (int n = 0; n < DATAGRAMS; n++) {
		CHECK(sendto(fd, &packet, sizeof(packet), 0, (struct sockaddr *)&to,
				sizeof(to)) == sizeof(packet));
		CHECK(usleep(50000) == 0);
	}
	CHECK(close(fd) == 0);
}

static void
operate(struct rpma_conn *conn, struct rpma_mr_remote *dst, const char *address)
{
	static const char data[8] = "8 bytes";

	if (is_case("flush"))
		OK(rpma_flush(conn, dst, 0, SIZE, RPMA_FLUSH_TYPE_VISIBILITY,
				RPMA_F_COMPLETION_ON_ERROR, dst));
	else if (is_case("atomic-write"))
		OK(rpma_atomic_write(conn, dst, 0, data, RPMA_F_COMPLETION_ON_ERROR, dst));
	else if (is_case("opcode"))
		send_unknown_opcode(conn, address);
	else
		CHECK(!"NATIVE_CASE");
}

static void
client(const char *address, const char *port)
{
	show_machine();
	struct rpma_peer *peer = peer_of_remote(address);
	struct rpma_mr_local *src = registered(peer, memory(SIZE), SIZE, RPMA_MR_USAGE_WRITE_SRC);
	struct rpma_conn *conn = connected(peer, address, port, NULL, NULL);
	struct rpma_mr_remote *dst = offered_region(conn, 0);
	struct rpma_cq *cq = cq_of(conn);
	struct ibv_wc wc;

	write_signalled(conn, dst, src);
	expect_completion(cq, conn, IBV_WC_RDMA_WRITE, src);
	operate(conn, dst, address);
	write_signalled(conn, dst, src);
	printf("outcome: %s\n", completes(cq, &wc) ? ibv_wc_status_str(wc.status) : "no completion");

	/* who is gone does not answer: nothing here waits for it */
	OK(rpma_mr_remote_delete(&dst));
	OK(rpma_conn_delete(&conn));
	OK(rpma_mr_dereg(&src));
	OK(rpma_peer_delete(&peer));
	check_nothing_is_left();
}

int
main(int argc, char *argv[])
{
	return test_roles(argc, argv, server, client);
}
