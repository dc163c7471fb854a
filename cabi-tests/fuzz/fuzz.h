/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model fuzzer: sequences of all calls, drawn from bytes, on the stand-in
 * provider, each call checked against a model of the contract.
 *
 * One input is a string of bytes; every decision takes the next one, and the
 * same bytes always make the same calls. Each of these files uses only those
 * before it: input.c has the input, step.c makes one call and judges it by what
 * the provider saw, model.c holds the objects and what they promise, main.c
 * runs one input after another.
 */
#ifndef FUZZ_H
#define FUZZ_H 1

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <librpma.h>
#include "provider.h"

/* ---- the input: input.c ---- */

/* the input of the calls that follow */
void input_from_seed(uint64_t seed);
void input_from_file(const char *path);
void input_read_corpus(const char *folder);
/* the n-th file of the corpus, 0 is the first; false when there is none */
bool input_from_corpus(unsigned int n);
/* the seed or the file */
const char *input_name(void);
/* as a file of the corpus, named after the seed */
void input_keep(const char *folder, uint64_t seed);
/* as fuzz-failing-input in the current folder */
void input_leave(void);

/* a number below the limit (at most 256); 0 when the bytes are used up */
unsigned int draw(unsigned int limit);
/* eight bytes of the input */
uint64_t draw_wide(void);
bool chance(unsigned int one_in);
bool bytes_left(void);

/* ---- one call: step.c ---- */

/* errno before each call, to see that nothing changes it without a reason */
#define BEFORE 7777

/* what the model says that a call gives when the provider obeys */
struct verdict {
	int code;
	/* an argument is wrong: no provider call, no message */
	bool argument;
	/* errno with a code that is not 0; 0: it is left alone */
	int error;
	/* this call of the provider's refuses what it is asked for */
	const char *refused;
	/* or one may refuse, because of what failed by plan before */
	bool may_refuse;
	/* messages of ERROR level that go with the code */
	unsigned int errors;
};

#define FINE ((struct verdict){.code = 0})
#define WRONG_ARGUMENT \
	((struct verdict){.code = RPMA_E_INVAL, .argument = true})
#define ARGUMENTS(good) ((good) ? FINE : WRONG_ARGUMENT)

/*
 * CALL(name, arguments...): plan a failure now and then, make the call, and
 * remember what it gave in `last`.
 */
#define CALL(name, ...) \
	(step_begin(#name), last.code = name(__VA_ARGS__), step_end())
#define CALL_SURELY(name, ...) \
	(step_surely(#name), last.code = name(__VA_ARGS__), step_end())

struct last {
	const char *name;
	int code;
	int error;
	/* the first provider call that counts as the cause of a failure */
	const char *cause;
	int cause_error;
	/* it only undoes or ends something */
	bool cause_undoes;
	/* errno of a failure that the library got over, 0 when there was none */
	int left_errno;
	bool no_memory;
	bool injected;
};
extern struct last last;

void step_begin(const char *name);
/* no failure is planned for this one */
void step_surely(const char *name);
void step_end(void);
/* compare with the verdict; true when the call succeeded */
bool judge(struct verdict verdict);
/* like judge(), for calls that go on after a failure and tell the first one */
bool judge_delete(struct verdict verdict);
/* after a call that takes part in no judgement */
void leave_unjudged(void);

/* the n-th (0 is the first) provider call of this name in the step, or NULL */
const char *line_of(const char *call, unsigned int n);
/* the messages of this level in the step */
unsigned int messages_of(int level);
extern int log_threshold;
extern rpma_log_function on_message;

/* the seed or file in use and the step are printed, and the program ends */
void wrong(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));
#define MUST(condition) ((condition) ? (void)0 : \
	wrong("%s:%d: not so: %s", __FILE_NAME__, __LINE__, #condition))

/* ---- what was reached: step.c ---- */

struct figures {
	unsigned long long inputs, steps, failures, objects;
};
extern struct figures figures;
/* how many different (call, code, cause) were seen, and whether some are new */
unsigned int outcomes_seen(void);
bool outcomes_grew(void);
void outcomes_print(void);
/* calls of the library that were never made, or never succeeded */
unsigned int calls_missing(bool print);
unsigned long step_number(void);
const char *step_name(void);
void steps_reset(void);

/* ---- many calls: model.c ---- */

/* run the input, from an empty provider to an empty provider */
void model_run(void);

#endif /* FUZZ_H */
