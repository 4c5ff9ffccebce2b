/*
 * What the generated providers share. Written by lttng-provider-build; do not edit.
 */
#ifndef LTTNG_PROVIDER_H
#define LTTNG_PROVIDER_H

#include <alloca.h>
#include <dlfcn.h>
#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <lttng/tracepoint.h>
#include <lttng/ust-events.h>
#include <lttng/ust-ringbuffer-context.h>
#include <lttng/ust-tracer.h>

/* The ABI between providers and LTTng-UST that this file and lttng-provider's enabled check are made for. */
#ifndef LTTNG_PROVIDER_ABI
#define LTTNG_PROVIDER_ABI 3
#endif

#if LTTNG_UST_PROVIDER_MAJOR != LTTNG_PROVIDER_ABI
#error "these headers of LTTng-UST have another provider ABI than 2.13 to 2.15: update lttng-provider, or install those"
#endif

/*
 * LTTng-UST is loaded and not linked, so that a program with tracing built in starts where it is not
 * installed. A program that has loaded it keeps it: its threads run on.
 */
static inline void *lttng_provider_symbol(const char *name)
{
	void *library = dlopen(LTTNG_UST_LIB_SONAME, RTLD_NOW | RTLD_GLOBAL);

	return library ? dlsym(library, name) : NULL;
}

/*
 * The constructor of <lttng/ust-tracepoint-event.h> takes NULL for a failure and aborts. A program is not ended
 * for want of a trace: where LTTng-UST rejects a provider, that is said once and the program runs on.
 */
#define LTTNG_PROVIDER_NOT_LOADED ((struct lttng_ust_registered_probe *) -1)

static inline struct lttng_ust_registered_probe *
lttng_provider_register(const struct lttng_ust_probe_desc *provider)
{
	struct lttng_ust_registered_probe *(*call)(const struct lttng_ust_probe_desc *);
	struct lttng_ust_registered_probe *probe;

	*(void **) &call = lttng_provider_symbol("lttng_ust_probe_register");
	if (!call)
		return LTTNG_PROVIDER_NOT_LOADED;
	probe = call(provider);
	if (probe)
		return probe;
	fprintf(stderr, "lttng-provider: nothing of `%s` is recorded: the installed %s rejects provider ABI %u.%u; "
		"upgrade LTTng-UST\n", provider->provider_name, LTTNG_UST_LIB_SONAME, provider->major, provider->minor);
	return LTTNG_PROVIDER_NOT_LOADED;
}

static inline void lttng_provider_unregister(struct lttng_ust_registered_probe *probe)
{
	void (*call)(struct lttng_ust_registered_probe *);

	if (probe == LTTNG_PROVIDER_NOT_LOADED)
		return;
	*(void **) &call = lttng_provider_symbol("lttng_ust_probe_unregister");
	call(probe);
}

#define lttng_ust_probe_register lttng_provider_register
#define lttng_ust_probe_unregister lttng_provider_unregister

/*
 * LTTng finds tracepoints through pointers in a section that only weak symbols refer to. lld, rustc's linker
 * on x86-64 Linux, drops such a section and leaves events that are listed and never recorded. No linker drops
 * a constructor, nor what a constructor refers to; one pointer holds the section of the whole file.
 */
#define LTTNG_PROVIDER_KEEP(provider, event)							\
	static void __attribute__((constructor)) lttng_provider_keep(void)			\
	{											\
		__asm__ volatile("" : : "r"(&lttng_ust_tracepoint_ptr_##provider##___##event));	\
	}

/* How much is copied onto the stack for one argument, at most. */
#define LTTNG_PROVIDER_COPY_MAX ((size_t) 65536)

static inline size_t lttng_provider_min(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Text from Rust; the highest bit of its length says that there is a NUL behind it. */
struct lttng_provider_text {
	const char *start;
	size_t length;
};

#define LTTNG_PROVIDER_TERMINATED (~(SIZE_MAX >> 1))

/* The text with a NUL behind it: itself, or a copy that lives until the calling function returns. */
#define lttng_provider_string(text)								\
	((text).length & LTTNG_PROVIDER_TERMINATED						\
		? (text).start									\
		: lttng_provider_copy_string(							\
			alloca(lttng_provider_min((text).length, LTTNG_PROVIDER_COPY_MAX) + 1), text))

static inline const char *lttng_provider_copy_string(char *copy, struct lttng_provider_text text)
{
	size_t length = lttng_provider_min(text.length, LTTNG_PROVIDER_COPY_MAX);

	memcpy(copy, text.start, length);
	copy[length] = '\0';
	return copy;
}

/* How many bytes a string takes in a trace: those before its first NUL, and a NUL. */
static inline size_t lttng_provider_string_size(struct lttng_provider_text text)
{
	size_t length = text.length & ~LTTNG_PROVIDER_TERMINATED;

	return strnlen(text.start, lttng_provider_min(length, LTTNG_PROVIDER_COPY_MAX)) + 1;
}

/* Both write behind what is packed already, and return where the next field goes. */
static inline char *lttng_provider_pack_string(char *end, struct lttng_provider_text text, size_t size)
{
	memcpy(end, text.start, size - 1);
	end[size - 1] = '\0';
	return end + size;
}

#define lttng_provider_pack(end, value) ((char *) memcpy(end, &(value), sizeof(value)) + sizeof(value))

/*
 * Records fields that are packed as they lie in a trace, with one write. LTTng-UST's probe makes one for each
 * field, and looks for the end of each string once more.
 *
 * False: nothing was done, and the probe must do it. That is so if an event has a filter or no session but a
 * trigger, if several sessions record it, and where fields are aligned.
 */
static inline bool lttng_provider_record_to(
	const struct lttng_ust_event_common *event, const char *payload, size_t size, void *ip)
{
	struct lttng_ust_event_recorder *recorder = event->child;
	struct lttng_ust_probe_ctx probe = { .struct_size = sizeof(probe), .ip = ip };
	struct lttng_ust_ring_buffer_ctx context;
	struct lttng_ust_channel_buffer *channel;

	if (event->type != LTTNG_UST_EVENT_TYPE_RECORDER || CMM_ACCESS_ONCE(event->eval_filter))
		return false;
	channel = recorder->chan;
	if (!CMM_ACCESS_ONCE(channel->parent->session->active) || !CMM_ACCESS_ONCE(channel->parent->enabled)
			|| !CMM_ACCESS_ONCE(event->enabled))
		return true;
	lttng_ust_ring_buffer_ctx_init(&context, recorder, size, 1, &probe);
	if (channel->ops->event_reserve(&context) >= 0) {
		channel->ops->event_write(&context, payload, size, 1);
		channel->ops->event_commit(&context);
	}
	return true;
}

static inline bool lttng_provider_record(
	const struct lttng_ust_tracepoint *tracepoint, void (*own_probe)(void),
	const char *payload, const char *end, void *ip)
{
	const struct lttng_ust_tracepoint_probe *probe;
	bool recorded = false;

	if (lttng_ust_rb_alignof(uint64_t) != 1 || !LTTNG_UST_TP_RCU_LINK_TEST())
		return false;
	lttng_ust_tp_rcu_read_lock();
	probe = lttng_ust_tp_rcu_dereference(tracepoint->probes);
	if (probe && probe->func == own_probe && !probe[1].func)
		recorded = lttng_provider_record_to(probe->data, payload, (size_t) (end - payload), ip);
	lttng_ust_tp_rcu_read_unlock();
	return recorded;
}

#define LTTNG_PROVIDER_RECORD(provider, event, class, payload, end)				\
	lttng_provider_record(&lttng_ust_tracepoint_##provider##___##event,			\
		(void (*)(void)) lttng_ust__event_probe__##provider##___##class,		\
		payload, end, __builtin_return_address(0))

/* Elements from Rust. */
struct lttng_provider_list {
	const void *start;
	size_t length;
};

/* Exactly `length` bytes of text: cut, or filled up with NULs. */
static inline const char *
lttng_provider_copy_text(char *copy, size_t length, struct lttng_provider_list text)
{
	size_t used = lttng_provider_min(text.length, length);

	memcpy(copy, text.start, used);
	memset(copy + used, 0, length - used);
	return copy;
}

/* Copies integers and turns them into network order. */
#define LTTNG_PROVIDER_DEFINE_COPY_NETWORK(bits)						\
	static inline uint##bits##_t *								\
	lttng_provider_copy_network_##bits(uint##bits##_t *copy, const void *start, size_t length)	\
	{											\
		const uint##bits##_t *elements = start;						\
												\
		for (size_t i = 0; i < length; i++)						\
			copy[i] = htobe##bits(elements[i]);					\
		return copy;									\
	}

LTTNG_PROVIDER_DEFINE_COPY_NETWORK(16)
LTTNG_PROVIDER_DEFINE_COPY_NETWORK(32)
LTTNG_PROVIDER_DEFINE_COPY_NETWORK(64)

#endif
