/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * f14_address_of_no_device.c -- an address that no RDMA device has is an error of
 * rpma_utils_get_ibv_context(), whether it is a wildcard or a loopback address
 *
 * Fault F14: the call succeeds and gives NULL.
 */

#include "common.h"

#include <netdb.h>

/* the errno for an address of no device, or for a host that is unknown; errno is the caller's */
static int
expected_errno(const char *host)
{
	struct addrinfo *info = NULL;
	int errno_before = errno;
	int code = getaddrinfo(host, NULL, NULL, &info);

	if (code == 0)
		freeaddrinfo(info);
	errno = errno_before;
	return code == 0 ? ENODEV : code == EAI_AGAIN ? EAGAIN : EINVAL;
}

int
main(void)
{
	test_begin();
	static const char *const addresses[] = {
		"0.0.0.0", "::", "127.0.0.1", "::1", "localhost",
	};
	struct ibv_context *device;

	count_errors();
	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		struct ibv_context *none = (void *)&none;

		device = none;
		errno = 0;
		int ret = rpma_utils_get_ibv_context(addresses[i], RPMA_UTIL_IBV_CONTEXT_LOCAL,
				&device);
		if (ret == 0)
			fault("F14", "rpma_utils_get_ibv_context(\"%s\", LOCAL) returned 0 and %s",
					addresses[i], device == NULL ? "NULL" : "a device");
		/* a machine without /etc/hosts does not know localhost: then the lookup fails */
		CHECK(errno == expected_errno(addresses[i]));
		RETURNS(ret, RPMA_E_PROVIDER);
		CHECK(device == none);
		printf("%s", last_error_logged());
		CHECK(errors_logged() == (int)i + 1);
		CHECK(strstr(last_error_logged(), addresses[i]) != NULL);
	}

	/* an address that the device has */
	OK(rpma_utils_get_ibv_context(test_address(), RPMA_UTIL_IBV_CONTEXT_LOCAL, &device));
	CHECK(device != NULL);

	/* what leads to this host goes through its device */
	struct ibv_context *to_self = NULL;
	OK(rpma_utils_get_ibv_context("127.0.0.1", RPMA_UTIL_IBV_CONTEXT_REMOTE, &to_self));
	CHECK(to_self != NULL);
	return test_end();
}
