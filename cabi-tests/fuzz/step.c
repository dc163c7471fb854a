/* SPDX-License-Identifier: BSD-3-Clause */
/* one call: plans for it, and what the provider's log says about its result */
#define _GNU_SOURCE
#include <stdarg.h>
#include <unistd.h>
#include "fuzz.h"

#define FUNCTIONS(X) \
	X(rpma_utils_get_ibv_context) X(rpma_utils_ibv_context_is_odp_capable) \
	X(rpma_utils_conn_event_2str) X(rpma_err_2str) X(rpma_peer_cfg_new) \
	X(rpma_peer_cfg_delete) X(rpma_peer_cfg_set_direct_write_to_pmem) \
	X(rpma_peer_cfg_get_direct_write_to_pmem) \
	X(rpma_peer_cfg_get_descriptor) X(rpma_peer_cfg_get_descriptor_size) \
	X(rpma_peer_cfg_from_descriptor) X(rpma_peer_new) X(rpma_peer_delete) \
	X(rpma_mr_reg) X(rpma_mr_dereg) X(rpma_mr_get_descriptor) \
	X(rpma_mr_remote_from_descriptor) X(rpma_mr_get_descriptor_size) \
	X(rpma_mr_get_ptr) X(rpma_mr_get_size) X(rpma_mr_remote_get_size) \
	X(rpma_mr_remote_get_flush_type) X(rpma_mr_remote_delete) \
	X(rpma_mr_advise) X(rpma_conn_cfg_new) X(rpma_conn_cfg_delete) \
	X(rpma_conn_cfg_set_timeout) X(rpma_conn_cfg_get_timeout) \
	X(rpma_conn_cfg_set_cq_size) X(rpma_conn_cfg_get_cq_size) \
	X(rpma_conn_cfg_set_rcq_size) X(rpma_conn_cfg_get_rcq_size) \
	X(rpma_conn_cfg_set_sq_size) X(rpma_conn_cfg_get_sq_size) \
	X(rpma_conn_cfg_set_rq_size) X(rpma_conn_cfg_get_rq_size) \
	X(rpma_conn_cfg_set_compl_channel) X(rpma_conn_cfg_get_compl_channel) \
	X(rpma_conn_cfg_set_srq) X(rpma_conn_cfg_get_srq) X(rpma_conn_req_new) \
	X(rpma_conn_req_delete) X(rpma_conn_req_connect) X(rpma_conn_req_recv) \
	X(rpma_conn_req_get_private_data) X(rpma_conn_get_event_fd) \
	X(rpma_conn_next_event) X(rpma_conn_get_private_data) \
	X(rpma_conn_apply_remote_peer_cfg) X(rpma_conn_get_qp_num) \
	X(rpma_conn_get_cq) X(rpma_conn_get_rcq) X(rpma_conn_disconnect) \
	X(rpma_conn_delete) X(rpma_conn_get_compl_fd) X(rpma_conn_wait) \
	X(rpma_ep_listen) X(rpma_ep_shutdown) X(rpma_ep_get_fd) \
	X(rpma_ep_next_conn_req) X(rpma_srq_cfg_new) X(rpma_srq_cfg_delete) \
	X(rpma_srq_cfg_set_rq_size) X(rpma_srq_cfg_get_rq_size) \
	X(rpma_srq_cfg_set_rcq_size) X(rpma_srq_cfg_get_rcq_size) \
	X(rpma_srq_new) X(rpma_srq_delete) X(rpma_srq_recv) \
	X(rpma_srq_get_rcq) X(rpma_read) X(rpma_write) X(rpma_write_with_imm) \
	X(rpma_atomic_write) X(rpma_send) X(rpma_send_with_imm) X(rpma_recv) \
	X(rpma_flush) X(rpma_cq_get_fd) X(rpma_cq_wait) X(rpma_cq_get_wc) \
	X(rpma_log_set_threshold) X(rpma_log_get_threshold) \
	X(rpma_log_set_function)

static const char *const functions[] = {
#define X(name) #name,
	FUNCTIONS(X)
#undef X
};
#define FUNCTION_COUNT (sizeof(functions) / sizeof(functions[0]))
_Static_assert(FUNCTION_COUNT == 84, "all calls of the library");

static const char *const provider_calls[] = {
	"",
#define X(name) #name,
	PROVIDER_CALLS_THAT_CAN_FAIL(X)
#undef X
};
#define PROVIDER_CALL_COUNT \
	(sizeof(provider_calls) / sizeof(provider_calls[0]))

static const struct error {
	const char *name;
	int number;
} errors[] = {
#define E(name) {#name, name}
	E(EIO), E(EINVAL), E(ENOMEM), E(EAGAIN), E(EINTR), E(EBUSY), E(EPERM),
	E(ENODEV), E(EOPNOTSUPP), E(ENOSYS), E(EFAULT), E(ETIMEDOUT),
	E(ENOSPC), E(ENODATA), E(EACCES), E(EADDRINUSE),
#undef E
};
#define ERROR_COUNT (sizeof(errors) / sizeof(errors[0]))

/* failures that one input may see: the provider remembers no more */
#define MOST_FAILURES 14
#define CODES 11
#define MOST_MESSAGES 64

struct last last;
struct figures figures;
int log_threshold;

static struct {
	int level;
	char text[300];
} messages[MOST_MESSAGES];
static unsigned int message_count;

static unsigned int function;
static unsigned int failures_before;
static unsigned long steps;
static unsigned char seen[84][CODES][64];
static unsigned int seen_count, seen_before;

static unsigned int function_of(const char *name)
{
	for (unsigned int n = 0; n < FUNCTION_COUNT; n++)
		if (strcmp(functions[n], name) == 0)
			return n;
	abort();
}

void wrong(const char *format, ...)
{
	va_list arguments;

	printf("FAILED %s, step %lu: ", input_name(), step_number());
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	puts("");
	for (unsigned int n = 0; n < provider_log_length(); n++)
		printf("    %s\n", provider_log_line(n));
	fflush(stdout);
	input_leave();
	_exit(1);
}

/* what a log function may do at its worst: change errno */
void on_message(enum rpma_log_level level, const char *file_name,
		const int line_no, const char *function_name,
		const char *message_format, ...)
{
	va_list arguments;

	MUST((int)level <= log_threshold);
	MUST(file_name && function_name && line_no > 0);
	MUST(message_count < MOST_MESSAGES);
	messages[message_count].level = level;
	va_start(arguments, message_format);
	vsnprintf(messages[message_count].text, sizeof(messages[0].text),
		message_format, arguments);
	va_end(arguments);
	message_count++;
	errno = 4444;
}

unsigned int messages_of(int level)
{
	unsigned int count = 0;

	for (unsigned int n = 0; n < message_count; n++)
		count += messages[n].level == level;
	return count;
}

/* ---- before and after a call ---- */

static void plan_failure(void)
{
	int error = errors[draw(ERROR_COUNT)].number;

	if (provider_failures() >= MOST_FAILURES)
		return;
	switch (draw(8)) {
	case 0:
	case 1:
		provider_fail_allocation(1 + draw(4));
		break;
	case 2:
		provider_fail(PROVIDER_ANY_CALL, 1 + draw(16), error);
		break;
	case 3:
		provider_fail((enum provider_call)
			(1 + draw(PROVIDER_CALL_COUNT - 1)), 1, error);
		break;
	default:
		provider_fail(PROVIDER_ANY_CALL, 1 + draw(4), error);
	}
}

void step_surely(const char *name)
{
	steps++;
	figures.steps++;
	function = function_of(name);
	last = (struct last){.name = functions[function]};
	failures_before = provider_failures();
	provider_log_clear();
	message_count = 0;
	errno = BEFORE;
}

void step_begin(const char *name)
{
	bool fails = chance(5);

	step_surely(name);
	if (fails)
		plan_failure();
	errno = BEFORE;
}

/* the errno that a line of the provider's log ends with, 0 when it succeeded */
static int error_in(const char *line)
{
	const char *result = strrchr(line, ' ');

	if (!result || result - line < 3 || strncmp(result - 2, " = ", 3) != 0)
		return 0;
	for (unsigned int n = 0; n < ERROR_COUNT; n++)
		if (strcmp(result + 1, errors[n].name) == 0)
			return errors[n].number;
	return 0;
}

static bool is_call(const char *line, const char *call)
{
	size_t length = strlen(call);

	return line && strncmp(line, call, length) == 0 && line[length] == '(';
}

/* what is called to undo or to end something */
static bool undoes(const char *line)
{
	static const char *const calls[] = {
		"ibv_dealloc_pd", "ibv_dereg_mr", "ibv_destroy_comp_channel",
		"ibv_destroy_cq", "ibv_destroy_srq", "rdma_destroy_id",
		"rdma_reject", "rdma_ack_cm_event",
	};

	for (unsigned int n = 0; n < sizeof(calls) / sizeof(calls[0]); n++)
		if (is_call(line, calls[n]))
			return true;
	return false;
}

/* the library has another way after this failure, and took it */
static bool got_over(unsigned int n)
{
	const char *line = provider_log_line(n);
	const char *next = provider_log_line(n + 1);

	if (is_call(line, "ibv_qp_to_qp_ex") || is_call(line, "ibv_modify_qp"))
		return true;
	if (is_call(line, "ibv_query_device_ex"))
		return is_call(next, "ibv_query_device");
	/* the device that was looked for is found, whatever comes of the id */
	if (is_call(line, "rdma_destroy_id") &&
			strcmp(last.name, "rpma_utils_get_ibv_context") == 0)
		return last.code == 0;
	return (is_call(line, "ibv_reg_mr") && is_call(next, "ibv_reg_mr")) ||
		(is_call(line, "rdma_create_qp_ex") &&
		is_call(next, "rdma_create_qp_ex"));
}

static const char *name_in(const char *line)
{
	for (unsigned int n = 1; n < PROVIDER_CALL_COUNT; n++)
		if (is_call(line, provider_calls[n]))
			return provider_calls[n];
	return "";
}

/* being refused without inline data, too, does not change what the failure is */
static int first_said(unsigned int n, int error)
{
	if (!is_call(provider_log_line(n), "rdma_create_qp_ex") ||
			(error != EINVAL && error != EOPNOTSUPP && error != ENOSYS))
		return error;
	for (; n; n--) {
		const char *line = provider_log_line(n);

		if (!is_call(line, "rdma_create_qp_ex") ||
				!strstr(line, " inline=8,"))
			continue;
		/* made, and then not extended */
		return error_in(line) ? error_in(line) : EOPNOTSUPP;
	}
	return error;
}

/* first what fails on the way, then what fails on the way back */
static void find_cause(void)
{
	for (int back = 0; back < 2; back++) {
		for (unsigned int n = 0; n < provider_log_length(); n++) {
			const char *line = provider_log_line(n);
			int error = error_in(line);

			if (error && got_over(n) &&
					!is_call(line, "ibv_modify_qp"))
				last.left_errno = error;
			if (!error || undoes(line) != back || got_over(n))
				continue;
			last.cause = name_in(line);
			last.cause_error = first_said(n, error);
			last.cause_undoes = back;
			return;
		}
	}
}

void step_end(void)
{
	last.error = errno;
	provider_clear_plans();
	for (unsigned int n = failures_before; n < provider_failures(); n++) {
		last.injected = true;
		figures.failures++;
		if (!provider_failed_call(n))
			last.no_memory = true;
	}
	find_cause();
}

/* ---- outcomes ---- */

static unsigned int cause_number(const char *call)
{
	for (unsigned int n = 1; call && n < PROVIDER_CALL_COUNT; n++)
		if (strcmp(call, provider_calls[n]) == 0)
			return n;
	return 0;
}

static void note_outcome(void)
{
	unsigned int code = last.code == 0 ? 0 :
		(unsigned int)(RPMA_E_UNKNOWN - last.code) + 1;
	unsigned int cause = last.no_memory ? 63 : cause_number(last.cause);

	if (code >= CODES)
		wrong("%s returned %d", last.name, last.code);
	if (!seen[function][code][cause]) {
		seen[function][code][cause] = 1;
		seen_count++;
	}
}

unsigned int outcomes_seen(void)
{
	return seen_count;
}

bool outcomes_grew(void)
{
	bool grew = seen_count > seen_before;

	seen_before = seen_count;
	return grew;
}

static unsigned int times(unsigned int which, unsigned int code)
{
	unsigned int count = 0;

	for (unsigned int cause = 0; cause < 64; cause++)
		count += seen[which][code][cause];
	return count;
}

void outcomes_print(void)
{
	for (unsigned int n = 0; n < FUNCTION_COUNT; n++) {
		printf("%-40s", functions[n]);
		for (unsigned int code = 0; code < CODES; code++)
			printf(" %2u", times(n, code));
		putchar('\n');
	}
}

unsigned int calls_missing(bool print)
{
	unsigned int missing = 0;

	for (unsigned int n = 0; n < FUNCTION_COUNT; n++) {
		if (times(n, 0))
			continue;
		missing++;
		if (print)
			printf("never successful: %s\n", functions[n]);
	}
	return missing;
}

unsigned long step_number(void)
{
	return steps;
}

const char *step_name(void)
{
	return last.name ? last.name : "nothing";
}

void steps_reset(void)
{
	steps = 0;
	last = (struct last){.name = NULL};
}

/* ---- the judgement ---- */

static bool told(const char *call)
{
	for (unsigned int n = 0; n < message_count; n++)
		if (messages[n].level == RPMA_LOG_LEVEL_ERROR &&
				strstr(messages[n].text, call))
			return true;
	return false;
}

static void expect(int code, int error, unsigned int least, unsigned int most)
{
	unsigned int told_errors = messages_of(RPMA_LOG_LEVEL_ERROR);

	if (last.code != code)
		wrong("%s: %s (%d), not %s (%d)", last.name,
			rpma_err_2str(last.code), last.code,
			rpma_err_2str(code), code);
	if (last.error != error)
		wrong("%s: %s: errno %d, not %d", last.name,
			rpma_err_2str(last.code), last.error, error);
	if (log_threshold < RPMA_LOG_LEVEL_ERROR)
		return;
	if (told_errors < least || told_errors > most)
		wrong("%s: %u ERROR messages, not %u to %u", last.name,
			told_errors, least, most);
}

/* what a failing call of the provider becomes */
static void expect_provider(bool goes_on)
{
	const char *call = last.cause;
	int error = last.cause_error;
	int code = RPMA_E_PROVIDER;

	if (strcmp(call, "ibv_alloc_pd") == 0 && error == ENOMEM) {
		expect(RPMA_E_NOMEM, error, 0, 0);
		return;
	}
	if (strcmp(call, "ibv_get_cq_event") == 0 &&
			(error == EAGAIN || error == EINTR)) {
		expect(RPMA_E_NO_COMPLETION, error, 0, 0);
		return;
	}
	if (strcmp(call, "rdma_get_cm_event") == 0 &&
			(error == EAGAIN || error == ENODATA)) {
		expect(RPMA_E_NO_EVENT, error, 0, 0);
		return;
	}
	if (strcmp(call, "rdma_get_cm_event") == 0 && error == EINTR) {
		expect(RPMA_E_PROVIDER, error, 0, 0);
		return;
	}
	if (strcmp(call, "ibv_advise_mr") == 0) {
		if (error == EOPNOTSUPP)
			code = RPMA_E_NOSUPP;
		if (error == EFAULT || error == EINVAL)
			code = RPMA_E_INVAL;
	}
	expect(code, error, 1, goes_on ? MOST_MESSAGES : 1);
	if (log_threshold >= RPMA_LOG_LEVEL_ERROR && !told(call))
		wrong("%s: no message names %s", last.name, call);
}

static void check_refusal(struct verdict verdict)
{
	if (last.injected)
		return;
	if (verdict.refused && !(last.cause &&
			strcmp(last.cause, verdict.refused) == 0))
		wrong("%s: %s should refuse", last.name, verdict.refused);
	if (!verdict.refused && last.cause && !verdict.may_refuse)
		wrong("%s: %s fails with %d, without a reason", last.name,
			last.cause, last.cause_error);
}

static bool judge_any(struct verdict verdict, bool goes_on)
{
	note_outcome();
	if (provider_misuses())
		wrong("%s: misuse: %s", last.name, provider_misuse(0));
	if (verdict.argument) {
		if (provider_log_length())
			wrong("%s: wrong argument, and yet: %s", last.name,
				provider_log_line(0));
		if (message_count)
			wrong("%s: wrong argument, and yet: %s", last.name,
				messages[0].text);
		expect(RPMA_E_INVAL, BEFORE, 0, 0);
		return false;
	}
	check_refusal(verdict);
	if (last.cause && !last.cause_undoes)
		expect_provider(goes_on);
	else if (last.no_memory)
		expect(RPMA_E_NOMEM, ENOMEM, 0, 0);
	else if (verdict.code)
		expect(verdict.code, verdict.error ? verdict.error : BEFORE,
			verdict.errors, verdict.errors);
	else if (last.cause)
		expect_provider(goes_on);
	else
		/* the library sets no errno, but the provider may have */
		expect(0, last.error == last.left_errno ? last.left_errno :
			BEFORE, 0, 0);
	return last.code == 0;
}

bool judge(struct verdict verdict)
{
	return judge_any(verdict, false);
}

bool judge_delete(struct verdict verdict)
{
	return judge_any(verdict, true);
}

void leave_unjudged(void)
{
	note_outcome();
}

const char *line_of(const char *call, unsigned int n)
{
	for (unsigned int line = 0; line < provider_log_length(); line++)
		if (is_call(provider_log_line(line), call) && n-- == 0)
			return provider_log_line(line);
	return NULL;
}
