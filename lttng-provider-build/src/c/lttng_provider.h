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
#include <string.h>

#include <lttng/ust-events.h>
#include <lttng/ust-tracer.h>

/*
 * LTTng-UST is loaded and not linked, so that a program with tracing built in starts where it is not
 * installed. A program that has loaded it keeps it: its threads run on.
 */
static inline void *lttng_provider_symbol(const char *name)
{
	void *library = dlopen(LTTNG_UST_LIB_SONAME, RTLD_NOW | RTLD_GLOBAL);

	return library ? dlsym(library, name) : NULL;
}

/* The constructor of <lttng/ust-tracepoint-event.h> takes NULL for a failure and aborts. */
#define LTTNG_PROVIDER_NOT_LOADED ((struct lttng_ust_registered_probe *) -1)

static inline struct lttng_ust_registered_probe *
lttng_provider_register(const struct lttng_ust_probe_desc *provider)
{
	struct lttng_ust_registered_probe *(*call)(const struct lttng_ust_probe_desc *);

	*(void **) &call = lttng_provider_symbol("lttng_ust_probe_register");
	return call ? call(provider) : LTTNG_PROVIDER_NOT_LOADED;
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
