/*
 * A faster way to record LTTng-UST's events. Written by lttng-catalog; do not edit.
 *
 * An event is packed on the stack and written with one call, where LTTng-UST's probe makes one for each field. LTTng-UST is
 * loaded and not linked, so that a program with tracing built in starts where it is not installed.
 */
#ifndef LTTNG_FAST_H
#define LTTNG_FAST_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A statically linked program has a private C library. LTTng-UST would load another one beside it, and the process would
 * crash before `main`. Such a program names no dynamic loader: 3, 4 and 5 are AT_PHDR, AT_PHENT and AT_PHNUM, whose headers
 * have macros that could be names of fields; a program header begins with its type, and 3 is PT_INTERP.
 */
#ifdef __cplusplus
extern "C"
#endif
unsigned long getauxval(unsigned long type);

static inline void *lttng_fast_open(const char *library, int mode)
{
	const char *headers = (const char *) getauxval(3);
	unsigned long index;

	for (index = 0; headers && index < getauxval(5); index++)
		if (*(const uint32_t *) (headers + index * getauxval(4)) == 3)
			return dlopen(library, mode);
	return headers ? NULL : dlopen(library, mode);
}

/* LTTng-UST's header has constructors that load its libraries. */
#define dlopen lttng_fast_open
#include <lttng/tracepoint.h>
#undef dlopen

#ifdef LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include <lttng/ust-events.h>
#include <lttng/ust-ringbuffer-context.h>
#include <lttng/ust-tracer.h>
#include <stdio.h>
#include <string.h>

#if LTTNG_UST_PROVIDER_MAJOR != 3
#error "made for the provider ABI of LTTng-UST 2.13 to 2.15: generate these files without --fast, or install one of these"
#endif

#define LTTNG_FAST_FUNCTION extern __attribute__((noinline, visibility("hidden")))

/*
 * The constructor of LTTng-UST's header takes NULL for a failure and aborts. A program must not end for lack of a trace: if
 * LTTng-UST is absent or rejects a provider, the program continues.
 */
#define LTTNG_FAST_NOT_LOADED ((struct lttng_ust_registered_probe *) -1)

static inline void *lttng_fast_symbol(const char *name)
{
	void *library = lttng_fast_open(LTTNG_UST_LIB_SONAME, RTLD_NOW | RTLD_GLOBAL);

	return library ? dlsym(library, name) : NULL;
}

static inline struct lttng_ust_registered_probe *lttng_fast_register(const struct lttng_ust_probe_desc *provider)
{
	struct lttng_ust_registered_probe *(*call)(const struct lttng_ust_probe_desc *);
	struct lttng_ust_registered_probe *probe;

	*(void **) &call = lttng_fast_symbol("lttng_ust_probe_register");
	if (!call)
		return LTTNG_FAST_NOT_LOADED;
	probe = call(provider);
	if (probe)
		return probe;
	fprintf(stderr, "nothing of `%s` is recorded: the installed %s rejects provider ABI %u.%u; upgrade LTTng-UST\n",
		provider->provider_name, LTTNG_UST_LIB_SONAME, provider->major, provider->minor);
	return LTTNG_FAST_NOT_LOADED;
}

static inline void lttng_fast_unregister(struct lttng_ust_registered_probe *probe)
{
	void (*call)(struct lttng_ust_registered_probe *);

	if (probe == LTTNG_FAST_NOT_LOADED)
		return;
	*(void **) &call = lttng_fast_symbol("lttng_ust_probe_unregister");
	if (call)
		call(probe);
}

#define lttng_ust_probe_register lttng_fast_register
#define lttng_ust_probe_unregister lttng_fast_unregister

/*
 * LTTng finds tracepoints through pointers in a section that only weak symbols refer to. lld drops such a section under
 * --gc-sections, and the events are listed but never recorded. No linker drops a constructor or what it refers to.
 */
#define LTTNG_FAST_KEEP(provider, event)								\
	static void __attribute__((constructor)) lttng_fast_keep(void)				\
	{											\
		__asm__ volatile("" : : "r"(&lttng_ust_tracepoint_ptr_##provider##___##event));	\
	}

/* Whether a probe is nothing but the packed event in a ring buffer. */
static inline bool lttng_fast_takes(const struct lttng_ust_tracepoint_probe *probe, void (*own)(void))
{
	const struct lttng_ust_event_common *event = (const struct lttng_ust_event_common *) probe->data;

	return probe->func == own && event->type == LTTNG_UST_EVENT_TYPE_RECORDER && !CMM_ACCESS_ONCE(event->eval_filter);
}

static inline void lttng_fast_write(const struct lttng_ust_tracepoint_probe *probe, const char *payload, size_t size, void *ip)
{
	struct lttng_ust_event_common *event = (struct lttng_ust_event_common *) probe->data;
	struct lttng_ust_event_recorder *recorder = (struct lttng_ust_event_recorder *) event->child;
	struct lttng_ust_channel_common *channel = recorder->chan->parent;
	struct lttng_ust_probe_ctx call = { sizeof(call), ip };
	struct lttng_ust_ring_buffer_ctx context;

	if (!CMM_ACCESS_ONCE(channel->session->active) || !CMM_ACCESS_ONCE(channel->enabled)
			|| !CMM_ACCESS_ONCE(event->enabled))
		return;
	lttng_ust_ring_buffer_ctx_init(&context, recorder, size, 1, &call);
	if (recorder->chan->ops->event_reserve(&context) < 0)
		return;
	if (size)
		recorder->chan->ops->event_write(&context, payload, size, 1);
	recorder->chan->ops->event_commit(&context);
}

/* Records an event, or is false if LTTng-UST's own probe has to: where it aligns fields, and for filters and triggers. */
static inline __attribute__((always_inline)) bool lttng_fast_record(const struct lttng_ust_tracepoint *tracepoint,
	void (*own)(void), const char *payload, size_t size, void *ip)
{
	const struct lttng_ust_tracepoint_probe *first, *probe;
	bool is_taken = true;

	if (lttng_ust_rb_alignof(uint64_t) != 1 || !LTTNG_UST_TP_RCU_LINK_TEST())
		return false;
	lttng_ust_tp_rcu_read_lock();
	first = __atomic_load_n(&tracepoint->probes, __ATOMIC_CONSUME);
	for (probe = first; is_taken && probe && probe->func; probe++)
		is_taken = lttng_fast_takes(probe, own);
	for (probe = first; is_taken && probe && probe->func; probe++)
		lttng_fast_write(probe, payload, size, ip);
	lttng_ust_tp_rcu_read_unlock();
	return is_taken;
}

#define LTTNG_FAST_NUMBER(end, type, number)		\
	do {						\
		type lttng_number = (type) (number);	\
							\
		memcpy(end, &lttng_number, sizeof(type));	\
		end += sizeof(type);			\
	} while (0)

/* How LTTng-UST records NULL. */
static inline const char *lttng_fast_text(const char *text)
{
	return text ? text : "(null)";
}

static inline char *lttng_fast_bytes(char *end, const void *bytes, size_t size)
{
	if (size)
		memcpy(end, bytes, size);
	return end + size;
}

/* Text up to its first NUL, and NULs up to `size`. */
static inline char *lttng_fast_padded(char *end, const char *text, size_t size)
{
	size_t used = size ? strnlen(text, size) : 0;

	memset(lttng_fast_bytes(end, text, used), 0, size - used);
	return end + size;
}

/* The bytes that elements take; larger than any buffer if there are too many. */
static inline size_t lttng_fast_room(size_t count, size_t size)
{
	return count > 65536 ? 65536 : count * size;
}
#endif

#endif
