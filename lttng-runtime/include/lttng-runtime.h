/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Events that a program declares while it runs, recorded through LTTng-UST and USDT. C99 and C++11.
 *
 *	char error[256];
 *	lttng_runtime_provider *shop = lttng_runtime_open("shop", "sale(article: string group, took: u64 us)",
 *		error, sizeof(error));
 *	lttng_runtime_event *sale = lttng_runtime_find(shop, "sale", error, sizeof(error));
 *
 *	LTTNG_RUNTIME_EVENT(sale, lttng_runtime_text("book"), lttng_runtime_unsigned(12));
 *
 * Whatever fails writes one line to `error` if that is not NULL, and never ends the program: a provider that could not be
 * opened is NULL, which every function takes, and its events are never enabled. Where LTTng-UST is not installed nothing
 * is recorded, which is not a failure. All functions may be called from any thread; recording also from a signal handler.
 */
#ifndef LTTNG_RUNTIME_H
#define LTTNG_RUNTIME_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lttng_runtime_provider lttng_runtime_provider;

/* An event. `state` is not 0 while a session or a tracer wants it. */
typedef struct lttng_runtime_event {
	uint64_t reserved[3];
	uint64_t state;
} lttng_runtime_event;

enum { LTTNG_RUNTIME_INTEGER = 0, LTTNG_RUNTIME_FLOAT = 1, LTTNG_RUNTIME_TEXT = 2 };

/* A value for a field; made by the functions below. */
typedef struct lttng_runtime_value {
	uint32_t kind;
	uint32_t length;
	uint64_t bits;
} lttng_runtime_value;

/*
 * Opens a provider and registers its events, all or none; `events` may be NULL. Each event is `name(fields)`, each field
 * `name: type words`:
 *
 *	types	u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 bool string
 *	units	ns us ms s bytes
 *	hex	readers show the integer in base 16
 *	duration	how long the event took; the default is the only field with a unit of time
 *	sum	a duration that is a sum of pieces and not one interval
 *	group	readers sum up by the field's values
 *	client	on whose behalf the event happened
 *
 * The first call loads LTTng-UST, which may wait up to three seconds for a session daemon
 * (LTTNG_UST_REGISTER_TIMEOUT).
 */
lttng_runtime_provider *lttng_runtime_open(const char *name, const char *events, char *error, size_t size);

/* Registers further events, all or none; 0 on success, or else -1. One call for many is faster than one for each. */
int lttng_runtime_add(lttng_runtime_provider *provider, const char *events, char *error, size_t size);

/* Finds an event. It is never NULL: one that was not declared is never enabled. */
lttng_runtime_event *lttng_runtime_find(
	const lttng_runtime_provider *provider, const char *name, char *error, size_t size);

/*
 * Unregisters the provider's events, while other threads may emit them: they are recorded no more, and their memory
 * stays valid until the provider is freed.
 */
void lttng_runtime_close(lttng_runtime_provider *provider);

/* Frees the provider and its events, which no thread may use any more; closes it before. */
void lttng_runtime_free(lttng_runtime_provider *provider);

/*
 * Makes children of fork() record under their own process ID, and register and close providers. Not for programs that call
 * lttng_ust_before_fork() themselves.
 */
void lttng_runtime_follow_forks(void);

/* Records an event; 0, or -1 if the values do not fit its fields. Use the macros, which check the state before. */
int lttng_runtime_record(const lttng_runtime_event *event, const lttng_runtime_value *values, size_t count);

static inline int lttng_runtime_enabled(const lttng_runtime_event *event)
{
	return __builtin_expect(__atomic_load_n(&event->state, __ATOMIC_RELAXED) != 0, 0) != 0;
}

static inline lttng_runtime_value lttng_runtime_value_of(uint32_t kind, uint32_t length, uint64_t bits)
{
	lttng_runtime_value value;

	value.kind = kind;
	value.length = length;
	value.bits = bits;
	return value;
}

/* For integer fields and bool; a field keeps the bits that it has room for. */
static inline lttng_runtime_value lttng_runtime_unsigned(uint64_t value)
{
	return lttng_runtime_value_of(LTTNG_RUNTIME_INTEGER, 0, value);
}

static inline lttng_runtime_value lttng_runtime_signed(int64_t value)
{
	return lttng_runtime_value_of(LTTNG_RUNTIME_INTEGER, 0, (uint64_t) value);
}

/* For f32 and f64. */
static inline lttng_runtime_value lttng_runtime_float(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return lttng_runtime_value_of(LTTNG_RUNTIME_FLOAT, 0, bits);
}

/* For string: this number of bytes, of which at most 65,535 up to the first NUL are recorded. */
static inline lttng_runtime_value lttng_runtime_text_of(const char *text, size_t length)
{
	return lttng_runtime_value_of(
		LTTNG_RUNTIME_TEXT, length < 65535 ? (uint32_t) length : 65535, (uint64_t) (uintptr_t) text);
}

/* For string: as LTTng does, NULL is recorded as "(null)". */
static inline lttng_runtime_value lttng_runtime_text(const char *text)
{
	return lttng_runtime_text_of(text ? text : "(null)", text ? strlen(text) : 6);
}

/* Emits an event with fields; while it is not enabled no value is computed. */
#define LTTNG_RUNTIME_EVENT(event, ...)								\
	do {											\
		const lttng_runtime_event *lttng_runtime_event_ = (event);			\
												\
		if (lttng_runtime_enabled(lttng_runtime_event_)) {				\
			const lttng_runtime_value lttng_runtime_values_[] = { __VA_ARGS__ };	\
												\
			(void) lttng_runtime_record(lttng_runtime_event_, lttng_runtime_values_,	\
				sizeof(lttng_runtime_values_) / sizeof(lttng_runtime_values_[0]));	\
		}										\
	} while (0)

/* Emits an event without fields. */
#define LTTNG_RUNTIME_EVENT_0(event)								\
	do {											\
		const lttng_runtime_event *lttng_runtime_event_ = (event);			\
												\
		if (lttng_runtime_enabled(lttng_runtime_event_))				\
			(void) lttng_runtime_record(lttng_runtime_event_, NULL, 0);		\
	} while (0)

#ifdef __cplusplus
}
#endif

#endif
