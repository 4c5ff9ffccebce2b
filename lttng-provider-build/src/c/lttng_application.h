/*
 * What the generated headers for applications share. Written by lttng-provider-build; do not edit.
 *
 * An application needs none of LTTng-UST's headers; only the generated C files do. USE_LTTNG and USE_USDT select what
 * records events; without either, nothing does.
 */
#ifndef LTTNG_APPLICATION_H
#define LTTNG_APPLICATION_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LTTNG_APPLICATION_HIDDEN __attribute__((visibility("hidden")))

/* LTTng-UST's `ip` is the return address of the emitting function, so its caller must not tail-call it. */
#define LTTNG_APPLICATION_INLINE static inline __attribute__((always_inline))
#define LTTNG_APPLICATION_STAY __asm__ volatile("")

/* The longest text that is recorded. */
#define LTTNG_APPLICATION_TEXT_MAX 65536

/*
 * The start of LTTng-UST's struct lttng_ust_tracepoint, as the generated C files verify. Applications see it under another
 * symbol, because one symbol with two types is an error of link-time optimization.
 */
struct lttng_application_tracepoint {
	uint32_t struct_size;
	const char *provider_name;
	const char *event_name;
	int state;		/* not 0 while a session records the event */
#if UINTPTR_MAX > 0xffffffff
	uint16_t semaphore;	/* not 0 while a USDT tracer is attached; LTTng-UST has padding here */
	uint16_t padding;
#endif
};

/* Both of the above in one load. */
typedef uint64_t __attribute__((may_alias)) lttng_application_word;

/* Whether a tracer wants the event, and whether the application keeps it off. */
#if defined(USE_LTTNG)
#define LTTNG_APPLICATION_SWITCH(symbol) \
	extern bool lttng_application_off_##symbol LTTNG_APPLICATION_HIDDEN; \
	extern struct lttng_application_tracepoint lttng_application_tracepoint_##symbol LTTNG_APPLICATION_HIDDEN
#elif defined(USE_USDT)
#define LTTNG_APPLICATION_SWITCH(symbol) \
	extern bool lttng_application_off_##symbol LTTNG_APPLICATION_HIDDEN; \
	extern uint16_t lttng_provider_semaphore_##symbol LTTNG_APPLICATION_HIDDEN
#else
#define LTTNG_APPLICATION_SWITCH(symbol) struct lttng_application_tracepoint
#endif

#if defined(USE_LTTNG) && defined(USE_USDT)
#define LTTNG_APPLICATION_TRACED(symbol) \
	(*(const volatile lttng_application_word *) &lttng_application_tracepoint_##symbol.state != 0)
#elif defined(USE_LTTNG)
#define LTTNG_APPLICATION_TRACED(symbol) (*(const volatile int *) &lttng_application_tracepoint_##symbol.state != 0)
#elif defined(USE_USDT)
#define LTTNG_APPLICATION_TRACED(symbol) (*(const volatile uint16_t *) &lttng_provider_semaphore_##symbol != 0)
#endif

/*
 * A load and a branch; nothing without a back end. Whether the application keeps the event off is checked only while it
 * is traced, so that the switch costs nothing otherwise.
 */
#if defined(USE_LTTNG) || defined(USE_USDT)
#define LTTNG_APPLICATION_ENABLED(symbol) (__builtin_expect(LTTNG_APPLICATION_TRACED(symbol), 0) \
	&& !__atomic_load_n(&lttng_application_off_##symbol, __ATOMIC_RELAXED))
#define LTTNG_APPLICATION_FORCE(symbol, off) __atomic_store_n(&lttng_application_off_##symbol, off, __ATOMIC_RELAXED)
#else
#define LTTNG_APPLICATION_ENABLED(symbol) false
#define LTTNG_APPLICATION_FORCE(symbol, off) ((void) (off))
#endif

/*
 * <lttng/tracepoint.h>, included before or after, replaces the macros below, and its check reads `state` of what is called
 * lttng_ust_tracepoint_PROVIDER___EVENT. That is a macro for events of generated headers, so that USDT probes fire as well.
 */
struct lttng_application_state {
	int state;
};

static inline const struct lttng_application_state *lttng_application_state(bool is_enabled)
{
	static const struct lttng_application_state off = { 0 }, on = { 1 };

	return is_enabled ? &on : &off;
}

/* fork(2) for a program that emits events in the child as well: LTTng then records them as those of another process. */
#if defined(USE_LTTNG)
extern pid_t lttng_application_fork(void) LTTNG_APPLICATION_HIDDEN;
#else
static inline pid_t lttng_application_fork(void)
{
	return fork();
}
#endif

/*
 * A clock that never steps, in nanoseconds; a stopwatch that began while its event was off has 0. The definition is in the
 * generated C files, because <time.h> hides what it needs from ISO C.
 */
#if defined(USE_LTTNG) || defined(USE_USDT)
extern uint64_t lttng_application_now(void) LTTNG_APPLICATION_HIDDEN;
#define LTTNG_APPLICATION_CLOCK \
	__attribute__((weak, visibility("hidden"))) uint64_t lttng_application_now(void) \
	{ \
		struct timespec now; \
		\
		clock_gettime(CLOCK_MONOTONIC, &now); \
		return (uint64_t) now.tv_sec * 1000000000 + (uint64_t) now.tv_nsec; \
	}
#else
static inline uint64_t lttng_application_now(void)
{
	return 0;
}
#endif

/* How LTTng-UST records NULL. */
static inline const char *lttng_application_text(const char *text)
{
	return text ? text : "(null)";
}

/* The bytes of a string that are recorded. */
static inline size_t lttng_application_length(const char *text)
{
	size_t length = strlen(text);

	return length < LTTNG_APPLICATION_TEXT_MAX ? length : LTTNG_APPLICATION_TEXT_MAX;
}

/* The same for one that may lack a NUL and has at most `most` bytes. */
static inline size_t lttng_application_length_within(const char *text, size_t most)
{
	size_t length = most < LTTNG_APPLICATION_TEXT_MAX ? most : LTTNG_APPLICATION_TEXT_MAX;
	const char *end = length ? (const char *) memchr(text, 0, length) : NULL;

	return end ? (size_t) (end - text) : length;
}

/*
 * The spelling of LTTng-UST's macros. The empty argument at the end is for events without arguments: ISO C requires
 * one for an ellipsis.
 */
#ifndef lttng_ust_tracepoint
#if defined(USE_LTTNG) || defined(USE_USDT)
#define lttng_ust_tracepoint(provider, ...) LTTNG_APPLICATION_EMIT(provider, __VA_ARGS__, )
#else
#define lttng_ust_tracepoint(...) do { } while (0)
#endif
#endif

#ifndef lttng_ust_tracepoint_enabled
#define lttng_ust_tracepoint_enabled(provider, name) LTTNG_APPLICATION_ENABLED(provider##___##name)
#endif

#ifndef lttng_ust_do_tracepoint
#define lttng_ust_do_tracepoint(provider, ...) LTTNG_APPLICATION_RECORD(provider, __VA_ARGS__, )
#endif

#define LTTNG_APPLICATION_EMIT(provider, name, ...) lttng_application_emit_##provider##___##name(__VA_ARGS__)
#define LTTNG_APPLICATION_RECORD(provider, name, ...) lttng_application_record_##provider##___##name(__VA_ARGS__)

#ifdef __cplusplus
}
#endif

#endif
