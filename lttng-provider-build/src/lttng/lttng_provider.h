/*
 * What the generated providers share. Written by lttng-provider-build; do not edit.
 */
#ifndef LTTNG_PROVIDER_H
#define LTTNG_PROVIDER_H

/* For what C99 alone does not declare; this is the first file that a provider includes. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#ifdef __x86_64__
#include <cpuid.h>
#include <tmmintrin.h>
#endif
#include <dlfcn.h>
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

/*
 * A statically linked program has a private C library. LTTng-UST would load another one beside it, and the process would
 * crash before `main`. Such a program names no dynamic loader.
 */
unsigned long getauxval(unsigned long type);

static inline bool lttng_provider_is_static(void)
{
	/*
	 * Without <sys/auxv.h> and <elf.h>, whose macros could be names of fields: 3, 4 and 5 are AT_PHDR, AT_PHENT and AT_PHNUM.
	 * A program header begins with its type, and 3 is PT_INTERP.
	 */
	const char *headers = (const char *) getauxval(3);

	for (unsigned long i = 0; headers && i < getauxval(5); i++)
		if (*(const uint32_t *) (headers + i * getauxval(4)) == 3)
			return false;
	return headers != NULL;
}

static inline void *lttng_provider_open(const char *library, int mode)
{
	return lttng_provider_is_static() ? NULL : dlopen(library, mode);
}

/* LTTng-UST's headers have constructors that load its libraries. */
#define dlopen lttng_provider_open

#include <lttng/tracepoint.h>
#include <lttng/ust-events.h>
#include <lttng/ust-ringbuffer-context.h>
#include <lttng/ust-tracer.h>

/* LTTng-UST's macros define a type several times, which C99 does not allow, and take no argument for an ellipsis. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wtypedef-redefinition"
#pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments"
#endif

/* The ABI between providers and LTTng-UST that this file and lttng-provider's enabled check are made for. */
#ifndef LTTNG_PROVIDER_ABI
#define LTTNG_PROVIDER_ABI 3
#endif

#if LTTNG_UST_PROVIDER_MAJOR != LTTNG_PROVIDER_ABI
#error "unsupported provider ABI of the LTTng-UST headers, expected that of 2.13 to 2.15: update lttng-provider, or install one of these versions"
#endif

/*
 * LTTng-UST is loaded and not linked, so that a program with tracing built in starts where it is not
 * installed. It is never unloaded, because its threads keep running.
 */
static inline void *lttng_provider_symbol(const char *name)
{
	void *library = dlopen(LTTNG_UST_LIB_SONAME, RTLD_NOW | RTLD_GLOBAL);

	return library ? dlsym(library, name) : NULL;
}

/*
 * The constructor of <lttng/ust-tracepoint-event.h> takes NULL for a failure and aborts. A program must not end
 * for lack of a trace: if LTTng-UST rejects a provider, this is reported once and the program continues.
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
 * Spare memory for copies that are too large for the stack: mapped once, when LTTng-UST is loaded, because an event must
 * neither allocate nor call the system, be it in a signal handler, in a sandbox or where memory is limited. Pages that are not
 * used take no memory. It is never unmapped: at exit, other threads may still emit.
 *
 * A chunk is taken by setting its bit, so a signal handler that interrupts another event takes other chunks. Threads start
 * at different lanes, so that they seldom write to the same cache line.
 */
#define LTTNG_PROVIDER_LANES 4
#define LTTNG_PROVIDER_CHUNKS 64
#define LTTNG_PROVIDER_CHUNK 32768

struct lttng_provider_lane {
	uint64_t taken;
	char alone[120];
};

/* What the files of a program or shared library have in common; linkers merge common symbols into one. */
struct lttng_provider_shared {
	struct lttng_provider_lane lanes[LTTNG_PROVIDER_LANES];
	/* From a library that is never closed: at exit, LTTng's destructor clears its pointers while threads still emit. */
	void (*rcu_read_lock)(void);
	void (*rcu_read_unlock)(void);
	bool is_reset_after_fork;
	bool has_ssse3;
	bool is_static;
	/* LTTNG_PROVIDER_LANES of them; NULL if there is no memory. */
	char (*chunks)[LTTNG_PROVIDER_CHUNKS][LTTNG_PROVIDER_CHUNK];
};

struct lttng_provider_shared lttng_provider_shared
	__attribute__((common, visibility("hidden"), aligned(128)));

/* The threads that had chunks are not in the child. */
static void lttng_provider_reset_after_fork(void)
{
	for (size_t i = 0; i < LTTNG_PROVIDER_LANES; i++)
		__atomic_store_n(&lttng_provider_shared.lanes[i].taken, 0, __ATOMIC_RELAXED);
}

static void __attribute__((constructor)) lttng_provider_start(void)
{
	struct lttng_provider_shared *shared = &lttng_provider_shared;
	size_t size = (size_t) LTTNG_PROVIDER_LANES * LTTNG_PROVIDER_CHUNKS * LTTNG_PROVIDER_CHUNK;
	void *library, *lock, *chunks;

	if (!shared->is_reset_after_fork)
		shared->is_reset_after_fork = !pthread_atfork(NULL, NULL, lttng_provider_reset_after_fork);
	if (shared->rcu_read_lock || shared->is_static)
		return;
#ifdef __x86_64__
	unsigned int a, b, c, d;

	shared->has_ssse3 = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSSE3);
#endif
	shared->is_static = lttng_provider_is_static();
	if (shared->is_static)
		fputs("lttng-provider: nothing is recorded: LTTng-UST cannot be loaded into a statically linked program; "
			"link without -static\n", stderr);
	library = dlopen(LTTNG_UST_TRACEPOINT_LIB_SONAME, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
	if (!library)
		return;
	chunks = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	*(void **) &shared->chunks = chunks == MAP_FAILED ? NULL : chunks;
	*(void **) &shared->rcu_read_unlock = dlsym(library, "lttng_ust_tp_rcu_read_unlock");
	lock = dlsym(library, "lttng_ust_tp_rcu_read_lock");
	/* Events are recorded from here on. */
	if (shared->rcu_read_unlock)
		__atomic_store_n((void **) &shared->rcu_read_lock, lock, __ATOMIC_RELEASE);
}

/* Chunks that an event has taken. */
struct lttng_provider_taken {
	struct lttng_provider_lane *lane;
	uint64_t chunks;
};

/* Has a bit set where `count` of the bits begin that are set here. */
static inline uint64_t lttng_provider_runs(uint64_t bits, size_t count)
{
	for (size_t done = 1, step; done < count; done += step) {
		step = done < count - done ? done : count - done;
		bits &= bits >> step;
	}
	return bits;
}

/* Memory of this size until it is returned; NULL if too many threads have some, or if it is larger than a lane. */
static inline char *lttng_provider_take(struct lttng_provider_taken *taken, size_t size)
{
	struct lttng_provider_shared *shared = &lttng_provider_shared;
	size_t count = (size + LTTNG_PROVIDER_CHUNK - 1) / LTTNG_PROVIDER_CHUNK;
	/* Threads differ in where their stacks are. */
	size_t first = (size_t) (((uint64_t) (uintptr_t) taken >> 12) * 0x9e3779b97f4a7c15u >> 62);

	if (!shared->chunks || count > LTTNG_PROVIDER_CHUNKS)
		return NULL;
	for (size_t i = 0; i < LTTNG_PROVIDER_LANES; i++) {
		size_t lane = (first + i) % LTTNG_PROVIDER_LANES;
		uint64_t *bits = &shared->lanes[lane].taken;
		uint64_t before = __atomic_load_n(bits, __ATOMIC_RELAXED);
		uint64_t runs;

		while ((runs = lttng_provider_runs(~before, count))) {
			int at = __builtin_ctzll(runs);
			uint64_t chunks = (~(uint64_t) 0 >> (LTTNG_PROVIDER_CHUNKS - count)) << at;

			if (__atomic_compare_exchange_n(bits, &before, before | chunks, false, __ATOMIC_ACQUIRE,
					__ATOMIC_RELAXED)) {
				taken->lane = &shared->lanes[lane];
				taken->chunks = chunks;
				return shared->chunks[lane][at];
			}
		}
	}
	return NULL;
}

static inline void lttng_provider_return(const struct lttng_provider_taken *taken)
{
	if (taken->lane)
		__atomic_fetch_and(&taken->lane->taken, ~taken->chunks, __ATOMIC_RELEASE);
}

/*
 * LTTng finds tracepoints through pointers in a section that only weak symbols refer to. lld, rustc's linker
 * on x86-64 Linux, drops such a section, and the events are listed but never recorded. No linker drops a
 * constructor or what it refers to; one pointer keeps the section of the whole file.
 */
#define LTTNG_PROVIDER_KEEP(provider, event)							\
	static void __attribute__((constructor)) lttng_provider_keep(void)			\
	{											\
		__asm__ volatile("" : : "r"(&lttng_ust_tracepoint_ptr_##provider##___##event));	\
	}

/*
 * With USDT probes, the padding of tracepoints has their semaphores. Linkers may map a page of the file twice, at the end
 * of one segment and at the start of the next, and the kernel counts in the first mapping that it finds; so semaphores must
 * not be in such a page: the tracepoints of a file begin on a page boundary.
 */
#ifdef __x86_64__
#define LTTNG_PROVIDER_PAGE 4096
#else
#define LTTNG_PROVIDER_PAGE 65536
#endif

#define LTTNG_PROVIDER_ALIGN								\
	static struct lttng_ust_tracepoint lttng_provider_page				\
		__attribute__((section("lttng_ust_tracepoints"), aligned(LTTNG_PROVIDER_PAGE), used));

/*
 * A field's value, as Rust passes it where packed bytes are not enough: a number in the order of the machine, or
 * the start and the number of elements. Texts need not end in a NUL here.
 */
struct lttng_provider_part {
	uint64_t value;
	const void *start;
	size_t length;
};

/* Where the first function of an event stopped; within an RCU section unless `probe` is NULL. */
struct lttng_provider_rest {
	void *ip;
	const struct lttng_ust_tracepoint_probe *probe;
};

enum lttng_provider_kind {
	LTTNG_PROVIDER_NUMBER,
	LTTNG_PROVIDER_STRING,		/* ends in a NUL */
	LTTNG_PROVIDER_TEXT,		/* a length and bytes */
	LTTNG_PROVIDER_CHARACTERS,	/* `count` bytes */
	LTTNG_PROVIDER_ARRAY,		/* `count` numbers */
	LTTNG_PROVIDER_SEQUENCE,	/* a length and numbers */
};

/* The layout of a field in a trace. */
struct lttng_provider_field {
	enum lttng_provider_kind kind;
	bool recorded;
	bool swapped;			/* numbers are in network order */
	uint8_t size;			/* of a number or an element */
	uint8_t length_size;
	size_t count;
};

/* The arguments of LTTng's macros take at most ten values. */
#define LTTNG_PROVIDER_FIELDS_MAX 10

/* What the second function of an event needs to know. */
struct lttng_provider_event {
	const struct lttng_provider_field *fields;
	size_t count;
	/* Whether filters read some values where they are packed, and whether they need copies of others. */
	bool is_read_packed;
	bool has_copies;
	/* LTTng's probe for the event. */
	void (*probe)(void);
	/* Lays out the values for filters and captures. */
	void (*prepare)(char *stack, const struct lttng_provider_part *parts);
	/* The same from the packed event, if filters can read all values there; otherwise NULL. */
	void (*prepare_packed)(char *stack, const char *payload);
	/* Calls a probe as C would. */
	void (*call)(void (*probe)(void), void *data, const struct lttng_provider_part *parts);
	/*
	 * Writes an event that is too large to be packed, if it has no texts and nothing in network order; otherwise NULL. LTTng's
	 * probe is slow on the others, and a loop over the fields writes them with less code.
	 */
	void (*write)(struct lttng_ust_event_recorder *recorder, const struct lttng_provider_part *parts,
		struct lttng_ust_probe_ctx *probe);
};

/* Fields are packed as LTTng-UST packs them where it aligns none; elsewhere its own probe is called. */
static inline bool lttng_provider_packs(void)
{
	return lttng_ust_rb_alignof(uint64_t) == 1;
}

/* Whether the event's session and channel record at the moment. */
static inline bool lttng_provider_is_active(const struct lttng_ust_event_common *event)
{
	const struct lttng_ust_event_recorder *recorder = (const struct lttng_ust_event_recorder *) event->child;
	const struct lttng_ust_channel_common *channel = recorder->chan->parent;

	return CMM_ACCESS_ONCE(channel->session->active) && CMM_ACCESS_ONCE(channel->enabled);
}

/* Writes packed fields with one call, where LTTng-UST's probe needs one for each. */
static inline void lttng_provider_write_packed(
	struct lttng_ust_event_recorder *recorder, const char *payload, size_t size,
	struct lttng_ust_probe_ctx *probe)
{
	const struct lttng_ust_channel_buffer_ops *ops = recorder->chan->ops;
	struct lttng_ust_ring_buffer_ctx context;

	lttng_ust_ring_buffer_ctx_init(&context, recorder, size, 1, probe);
	if (ops->event_reserve(&context) < 0)
		return;
	if (size)
		ops->event_write(&context, payload, size, 1);
	ops->event_commit(&context);
}

static void lttng_provider_write_parts(
	struct lttng_ust_event_recorder *recorder, const struct lttng_provider_event *event,
	const struct lttng_provider_part *parts, bool is_swapped, struct lttng_ust_probe_ctx *probe);

/* What filters and captures read: an address and a length for each field. */
#define LTTNG_PROVIDER_STACK (2 * sizeof(unsigned long) * LTTNG_PROVIDER_FIELDS_MAX)

/*
 * The first function: writes an event to all sessions, packed or else from its parts, up to the first probe that needs more.
 * If there is one, the RCU section stays open, and the second function ends it. Filters of an event whose values can all be
 * read where they are packed need nothing more.
 */
static inline __attribute__((always_inline)) struct lttng_provider_rest lttng_provider_record(
	const struct lttng_ust_tracepoint *tracepoint, const struct lttng_provider_event *own,
	const char *payload, size_t size, const struct lttng_provider_part *parts, void *ip)
{
	bool can_filter = payload ? own->prepare_packed != NULL : !own->is_read_packed && !own->has_copies;
	struct lttng_provider_rest rest = { ip, NULL };
	struct lttng_ust_probe_ctx context = { sizeof(context), ip };
	const struct lttng_ust_tracepoint_probe *probe;
	char stack[LTTNG_PROVIDER_STACK];

	if (caa_unlikely(!__atomic_load_n(&lttng_provider_shared.rcu_read_lock, __ATOMIC_ACQUIRE)))
		return rest;
	lttng_provider_shared.rcu_read_lock();
	/* What LTTng's rcu_dereference does, without the call that it takes outside of the library. */
	probe = __atomic_load_n(&tracepoint->probes, __ATOMIC_CONSUME);
	if (caa_unlikely(!probe))
		goto end;
	do {
		struct lttng_ust_event_common *event = (struct lttng_ust_event_common *) probe->data;
		bool is_filtered;

		if (caa_unlikely(!lttng_provider_packs() || probe->func != own->probe
				|| event->type != LTTNG_UST_EVENT_TYPE_RECORDER)) {
			rest.probe = probe;
			return rest;
		}
		is_filtered = CMM_ACCESS_ONCE(event->eval_filter);
		if (caa_unlikely(is_filtered) && !can_filter) {
			rest.probe = probe;
			return rest;
		}
		if (!lttng_provider_is_active(event) || !CMM_ACCESS_ONCE(event->enabled))
			continue;
		if (caa_unlikely(is_filtered)) {
			if (payload)
				own->prepare_packed(stack, payload);
			else
				own->prepare(stack, parts);
			if (event->run_filter(event, stack, &context, NULL) != LTTNG_UST_EVENT_FILTER_ACCEPT)
				continue;
		}
		if (payload)
			lttng_provider_write_packed(
				(struct lttng_ust_event_recorder *) event->child, payload, size, &context);
		else if (own->write)
			own->write((struct lttng_ust_event_recorder *) event->child, parts, &context);
		else
			lttng_provider_write_parts(
				(struct lttng_ust_event_recorder *) event->child, own, parts, false, &context);
	} while ((++probe)->func);
end:
	lttng_provider_shared.rcu_read_unlock();
	return rest;
}

/* The bytes that a field takes in a trace. Inlined where the field is a constant, as is `lttng_provider_put_field`. */
static inline __attribute__((always_inline)) size_t lttng_provider_field_size(
	const struct lttng_provider_field *field, const struct lttng_provider_part *part)
{
	if (!field->recorded)
		return 0;
	switch (field->kind) {
	case LTTNG_PROVIDER_STRING:
		return part->length + 1;
	case LTTNG_PROVIDER_TEXT:
	case LTTNG_PROVIDER_SEQUENCE:
		return field->length_size + part->length * field->size;
	case LTTNG_PROVIDER_CHARACTERS:
	case LTTNG_PROVIDER_ARRAY:
		return field->count * field->size;
	default:
		return field->size;
	}
}

/* Lays out a number of one, two, four or eight bytes. */
static inline void lttng_provider_store(char *to, uint64_t value, size_t size, bool swapped)
{
	uint16_t two = swapped ? htobe16((uint16_t) value) : (uint16_t) value;
	uint32_t four = swapped ? htobe32((uint32_t) value) : (uint32_t) value;
	uint64_t eight = swapped ? htobe64(value) : value;

	switch (size) {
	case 1:
		*to = (char) value;
		break;
	case 2:
		memcpy(to, &two, 2);
		break;
	case 4:
		memcpy(to, &four, 4);
		break;
	default:
		memcpy(to, &eight, 8);
		break;
	}
}

/*
 * Turns as many numbers as fill vectors into network order, and returns how many bytes these take. Every x86-64 of the last
 * years has the instruction, but compilers may not use it unasked.
 */
#ifdef __x86_64__
static __attribute__((unused, noinline, target("ssse3"))) size_t lttng_provider_swap_vectors(
	char *to, const char *from, size_t length, size_t size)
{
	__m128i order = size == 2 ? _mm_set_epi8(14, 15, 12, 13, 10, 11, 8, 9, 6, 7, 4, 5, 2, 3, 0, 1)
		: size == 4 ? _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3)
		: _mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
	size_t at = 0;

	for (; at + 16 <= length; at += 16)
		_mm_storeu_si128((__m128i *) (to + at),
			_mm_shuffle_epi8(_mm_loadu_si128((const __m128i *) (from + at)), order));
	return at;
}
#endif

/* Copies numbers and turns them into network order. */
#define LTTNG_PROVIDER_SWAP(type, swap)							\
	for (size_t i = 0; i < count; i++) {						\
		type lttng_provider_number;						\
											\
		memcpy(&lttng_provider_number, from + i * sizeof(type), sizeof(type));	\
		lttng_provider_number = swap(lttng_provider_number);			\
		memcpy(to + i * sizeof(type), &lttng_provider_number, sizeof(type));	\
	}

static inline void lttng_provider_copy_swapped(
	char *__restrict__ to, const char *__restrict__ from, size_t count, size_t size)
{
#ifdef __x86_64__
	if (size > 1 && count * size >= 16 && lttng_provider_shared.has_ssse3) {
		size_t done = lttng_provider_swap_vectors(to, from, count * size, size);

		to += done;
		from += done;
		count -= done / size;
	}
#endif
	switch (size) {
	case 2:
		LTTNG_PROVIDER_SWAP(uint16_t, htobe16)
		break;
	case 4:
		LTTNG_PROVIDER_SWAP(uint32_t, htobe32)
		break;
	case 8:
		LTTNG_PROVIDER_SWAP(uint64_t, htobe64)
		break;
	default:
		memcpy(to, from, count);
		break;
	}
}

/*
 * Gathers the small fields of an event that is too large to be packed, so that few calls write it. Nothing keeps a pointer to
 * this, so that it is in registers.
 */
struct lttng_provider_gathered {
	const struct lttng_ust_channel_buffer_ops *ops;
	struct lttng_ust_ring_buffer_ctx *context;
	char *bytes;
	char *end;
};

#define LTTNG_PROVIDER_GATHERED_MAX 1024

static inline __attribute__((always_inline)) void lttng_provider_flush(struct lttng_provider_gathered *gathered)
{
	if (gathered->end != gathered->bytes)
		gathered->ops->event_write(gathered->context, gathered->bytes, (size_t) (gathered->end - gathered->bytes), 1);
	gathered->end = gathered->bytes;
}

/* Where the next few bytes go. */
static inline __attribute__((always_inline)) char *lttng_provider_next(struct lttng_provider_gathered *gathered, size_t size)
{
	char *next;

	if (caa_unlikely((size_t) (gathered->end - gathered->bytes) > LTTNG_PROVIDER_GATHERED_MAX - size))
		lttng_provider_flush(gathered);
	next = gathered->end;
	gathered->end += size;
	return next;
}

static inline __attribute__((always_inline)) void lttng_provider_put(
	struct lttng_provider_gathered *gathered, const void *from, size_t size)
{
	if (size > LTTNG_PROVIDER_GATHERED_MAX / 2) {
		lttng_provider_flush(gathered);
		gathered->ops->event_write(gathered->context, (const char *) from, size, 1);
	} else if (size) {
		memcpy(lttng_provider_next(gathered, size), from, size);
	}
}

static __attribute__((unused, noinline)) char *lttng_provider_put_swapped(
	struct lttng_provider_gathered gathered, const char *from, size_t count, size_t size)
{
	size_t most = LTTNG_PROVIDER_GATHERED_MAX / 2 / size;

	for (size_t now; count; count -= now, from += now * size) {
		now = count < most ? count : most;
		lttng_provider_copy_swapped(lttng_provider_next(&gathered, now * size), from, now, size);
	}
	return gathered.end;
}

/* Not inlined, so that an event with many strings has no more code than in C. */
static __attribute__((unused, noinline)) char *lttng_provider_put_string(
	struct lttng_provider_gathered gathered, const char *start, size_t length)
{
	lttng_provider_put(&gathered, start, length);
	*lttng_provider_next(&gathered, 1) = 0;
	return gathered.end;
}

/* Bytes up to the first NUL, and NULs up to `size`. */
static __attribute__((unused, noinline)) char *lttng_provider_put_padded(
	struct lttng_provider_gathered gathered, const char *start, size_t length, size_t size)
{
	size_t used = length ? strnlen(start, length) : 0;

	lttng_provider_put(&gathered, start, used);
	for (size_t left = size - used, now; left; left -= now) {
		now = left < 64 ? left : 64;
		memset(lttng_provider_next(&gathered, now), 0, now);
	}
	return gathered.end;
}

static inline __attribute__((always_inline)) void lttng_provider_put_field(
	struct lttng_provider_gathered *gathered, const struct lttng_provider_field *field,
	const struct lttng_provider_part *part, bool is_swapped)
{
	size_t count = field->kind == LTTNG_PROVIDER_ARRAY ? field->count : part->length;
	const char *start = (const char *) part->start;

	if (!field->recorded)
		return;
	if (field->kind == LTTNG_PROVIDER_NUMBER) {
		lttng_provider_store(lttng_provider_next(gathered, field->size), part->value, field->size, field->swapped);
		return;
	}
	if (field->length_size)
		lttng_provider_store(lttng_provider_next(gathered, field->length_size), count, field->length_size, false);
	if (field->kind == LTTNG_PROVIDER_STRING)
		gathered->end = lttng_provider_put_string(*gathered, start, count);
	else if (field->kind == LTTNG_PROVIDER_TEXT || field->kind == LTTNG_PROVIDER_CHARACTERS)
		gathered->end = lttng_provider_put_padded(*gathered, start, count, field->count ? field->count : count);
	else if (field->swapped && !is_swapped)
		gathered->end = lttng_provider_put_swapped(*gathered, start, count, field->size);
	else if (field->count && field->count * field->size <= 64)
		memcpy(lttng_provider_next(gathered, field->count * field->size), start, field->count * field->size);
	else
		lttng_provider_put(gathered, start, count * field->size);
}

/* Writes an event that is too large to be packed. `is_swapped`: lists are in network order already. */
static __attribute__((unused, noinline)) void lttng_provider_write_parts(
	struct lttng_ust_event_recorder *recorder, const struct lttng_provider_event *event,
	const struct lttng_provider_part *parts, bool is_swapped, struct lttng_ust_probe_ctx *probe)
{
	const struct lttng_ust_channel_buffer_ops *ops = recorder->chan->ops;
	char bytes[LTTNG_PROVIDER_GATHERED_MAX];
	struct lttng_ust_ring_buffer_ctx context;
	struct lttng_provider_gathered gathered = { ops, &context, bytes, bytes };
	size_t size = 0;

	for (size_t i = 0; i < event->count; i++)
		size += lttng_provider_field_size(&event->fields[i], &parts[i]);
	lttng_ust_ring_buffer_ctx_init(&context, recorder, size, 1, probe);
	if (ops->event_reserve(&context) < 0)
		return;
	for (size_t i = 0; i < event->count; i++)
		lttng_provider_put_field(&gathered, &event->fields[i], &parts[i], is_swapped);
	lttng_provider_flush(&gathered);
	ops->event_commit(&context);
}

/* Has LTTng count an event as discarded: it takes it for one that is larger than any sub-buffer. */
static __attribute__((unused, noinline)) void lttng_provider_discard(
	struct lttng_ust_event_recorder *recorder, struct lttng_ust_probe_ctx *probe)
{
	const struct lttng_ust_channel_buffer_ops *ops = recorder->chan->ops;
	struct lttng_ust_ring_buffer_ctx context;

	lttng_ust_ring_buffer_ctx_init(&context, recorder, (size_t) 1 << (sizeof(size_t) * 8 - 2), 1, probe);
	if (ops->event_reserve(&context) >= 0)
		ops->event_commit(&context);
}

/*
 * The values as filters, captures and other probes read them: numbers in the order that the trace has, and a
 * NUL after every text, also after one that has a length; a capture looks for it.
 *
 * Small copies are on the stack and larger ones in spare chunks.
 */
struct lttng_provider_values {
	/* The values, once they are complete: these, or those of Rust. */
	const struct lttng_provider_part *complete;
	struct lttng_provider_part parts[LTTNG_PROVIDER_FIELDS_MAX];
	char few[512];
	struct lttng_provider_taken taken;
	/* Whether copies were made, of which lists are in network order. */
	bool copied;
	bool failed;
	char stack[LTTNG_PROVIDER_STACK];
	bool prepared;
};

/* Whether filters read a value where it is packed: strings have their NUL there, and lists are in network order. */
static inline bool lttng_provider_is_read_packed(const struct lttng_provider_field *field)
{
	bool is_list = field->kind == LTTNG_PROVIDER_ARRAY || field->kind == LTTNG_PROVIDER_SEQUENCE;

	return field->recorded && (field->kind == LTTNG_PROVIDER_STRING || (is_list && field->swapped));
}

/* The bytes that a copy of a value takes; 0 if none is needed. */
static inline size_t lttng_provider_copy_size(
	const struct lttng_provider_field *field, const struct lttng_provider_part *part, bool is_packed)
{
	if (is_packed && lttng_provider_is_read_packed(field))
		return 0;
	switch (field->kind) {
	case LTTNG_PROVIDER_STRING:
	case LTTNG_PROVIDER_TEXT:
		return part->length + 1;
	case LTTNG_PROVIDER_CHARACTERS:
		return field->count + 1;
	case LTTNG_PROVIDER_ARRAY:
		return field->swapped ? field->count * field->size : 0;
	case LTTNG_PROVIDER_SEQUENCE:
		return field->swapped ? part->length * field->size : 0;
	default:
		return 0;
	}
}

static inline void lttng_provider_copy(
	char *copy, size_t size, const struct lttng_provider_field *field, struct lttng_provider_part *part)
{
	if (field->kind == LTTNG_PROVIDER_ARRAY || field->kind == LTTNG_PROVIDER_SEQUENCE) {
		lttng_provider_copy_swapped(copy, (const char *) part->start, size / field->size, field->size);
	} else {
		memcpy(copy, part->start, part->length);
		memset(copy + part->length, 0, size - part->length);
	}
	part->start = copy;
}

/* Elements are aligned. */
static inline size_t lttng_provider_aligned(size_t size)
{
	return (size + 7) & ~(size_t) 7;
}

/* With copies: either all or none. */
static __attribute__((unused, noinline)) const struct lttng_provider_part *lttng_provider_copy_all(
	struct lttng_provider_values *values, const struct lttng_provider_event *event,
	const char *payload, const struct lttng_provider_part *parts)
{
	char *copy = (char *) lttng_provider_aligned((size_t) values->few);
	size_t size = 0;

	for (size_t i = 0; i < event->count; i++)
		size += lttng_provider_aligned(lttng_provider_copy_size(&event->fields[i], &parts[i], payload));
	if (size > sizeof(values->few) - 8) {
		copy = lttng_provider_take(&values->taken, size);
		if (!copy) {
			values->failed = true;
			return NULL;
		}
	}
	values->copied = true;
	for (size_t i = 0; i < event->count; i++) {
		const struct lttng_provider_field *field = &event->fields[i];
		size_t copied = lttng_provider_copy_size(field, &parts[i], payload);

		values->parts[i] = parts[i];
		if (copied)
			lttng_provider_copy(copy, copied, field, &values->parts[i]);
		else if (payload && lttng_provider_is_read_packed(field))
			values->parts[i].start = payload + field->length_size;
		copy += lttng_provider_aligned(copied);
		if (payload)
			payload += lttng_provider_field_size(field, &parts[i]);
	}
	return values->parts;
}

/* Without copies, because all that filters read is packed. */
static inline const struct lttng_provider_part *lttng_provider_point_into(
	struct lttng_provider_values *values, const struct lttng_provider_event *event,
	const char *payload, const struct lttng_provider_part *parts)
{
	for (size_t i = 0; i < event->count; i++) {
		values->parts[i] = parts[i];
		if (lttng_provider_is_read_packed(&event->fields[i]))
			values->parts[i].start = payload + event->fields[i].length_size;
		payload += lttng_provider_field_size(&event->fields[i], &parts[i]);
	}
	return values->parts;
}

/* False if there is no memory for copies. */
static inline bool lttng_provider_complete(
	struct lttng_provider_values *values, const struct lttng_provider_event *event,
	const char *payload, const struct lttng_provider_part *parts)
{
	if (values->complete || values->failed)
		return !values->failed;
	if (!event->is_read_packed && !event->has_copies)
		values->complete = parts;
	else if (payload && !event->has_copies)
		values->complete = lttng_provider_point_into(values, event, payload, parts);
	else
		values->complete = lttng_provider_copy_all(values, event, payload, parts);
	return values->complete;
}

static inline bool lttng_provider_prepare(
	struct lttng_provider_values *values, const struct lttng_provider_event *event,
	const char *payload, const struct lttng_provider_part *parts)
{
	if (!lttng_provider_complete(values, event, payload, parts))
		return false;
	if (!values->prepared)
		event->prepare(values->stack, values->complete);
	values->prepared = true;
	return true;
}

/* As LTTng's probe, with values that are packed or prepared once for all sessions. */
static inline void lttng_provider_deliver_to(
	struct lttng_ust_event_common *to, struct lttng_provider_values *values,
	const struct lttng_provider_event *event, const char *payload, size_t size,
	const struct lttng_provider_part *parts, void *ip)
{
	struct lttng_ust_probe_ctx context = { sizeof(context), ip };
	struct lttng_ust_event_recorder *recorder = (struct lttng_ust_event_recorder *) to->child;
	bool is_recorder = to->type == LTTNG_UST_EVENT_TYPE_RECORDER;

	if ((is_recorder && !lttng_provider_is_active(to)) || !CMM_ACCESS_ONCE(to->enabled))
		return;
	if (CMM_ACCESS_ONCE(to->eval_filter)) {
		if (caa_unlikely(!lttng_provider_prepare(values, event, payload, parts))) {
			if (is_recorder)
				lttng_provider_discard(recorder, &context);
			return;
		}
		if (to->run_filter(to, values->stack, &context, NULL) != LTTNG_UST_EVENT_FILTER_ACCEPT)
			return;
	}
	if (is_recorder && payload) {
		lttng_provider_write_packed(recorder, payload, size, &context);
	} else if (is_recorder) {
		lttng_provider_write_parts(recorder, event, values->copied ? values->parts : parts,
			values->copied, &context);
	} else if (to->type == LTTNG_UST_EVENT_TYPE_NOTIFIER) {
		struct lttng_ust_event_notifier *notifier = (struct lttng_ust_event_notifier *) to->child;
		struct lttng_ust_notification_ctx notification = {
			sizeof(notification),
			CMM_ACCESS_ONCE(notifier->eval_capture),
		};

		if (notification.eval_capture && !lttng_provider_prepare(values, event, payload, parts))
			return;
		notifier->notification_send(notifier, values->stack, &context, &notification);
	}
}

/* The second function: continues where the first has stopped, and ends the RCU section. */
static void __attribute__((unused, noinline)) lttng_provider_deliver(
	const struct lttng_provider_event *event, struct lttng_provider_rest rest,
	const char *payload, size_t size, const struct lttng_provider_part *parts)
{
	const struct lttng_ust_tracepoint_probe *probe = rest.probe;
	struct lttng_provider_values values;

	values.complete = NULL;
	values.taken.lane = NULL;
	values.copied = false;
	values.failed = false;
	values.prepared = false;
	do {
		if (lttng_provider_packs() && probe->func == event->probe)
			lttng_provider_deliver_to((struct lttng_ust_event_common *) probe->data, &values, event, payload, size, parts, rest.ip);
		else if (lttng_provider_complete(&values, event, payload, parts))
			event->call(probe->func, probe->data, values.complete);
	} while ((++probe)->func);
	lttng_provider_shared.rcu_read_unlock();
	lttng_provider_return(&values.taken);
}

/* The second function, and before it the first for an event that is too large to be packed. */
static void __attribute__((unused, noinline)) lttng_provider_continue_apart(
	const struct lttng_ust_tracepoint *tracepoint, const struct lttng_provider_event *event,
	struct lttng_provider_rest rest, const char *payload, size_t size, const struct lttng_provider_part *parts)
{
	if (!payload)
		rest = lttng_provider_record(tracepoint, event, NULL, 0, parts, rest.ip);
	if (rest.probe)
		lttng_provider_deliver(event, rest, payload, size, parts);
}

static inline __attribute__((always_inline)) void lttng_provider_continue(
	const struct lttng_ust_tracepoint *tracepoint, const struct lttng_provider_event *event,
	struct lttng_provider_rest rest, const char *payload, size_t size, const struct lttng_provider_part *parts)
{
	if (!event->write) {
		lttng_provider_continue_apart(tracepoint, event, rest, payload, size, parts);
		return;
	}
	if (!payload)
		rest = lttng_provider_record(tracepoint, event, NULL, 0, parts, rest.ip);
	if (caa_unlikely(rest.probe))
		lttng_provider_deliver(event, rest, payload, size, parts);
}

/* The second function for an event of which all values are numbers: they are unpacked. */
static void __attribute__((unused, noinline, cold)) lttng_provider_deliver_packed(
	const struct lttng_provider_event *event, struct lttng_provider_rest rest, const char *payload, size_t size)
{
	struct lttng_provider_part parts[LTTNG_PROVIDER_FIELDS_MAX];
	const char *at = payload;

	memset(parts, 0, sizeof(parts));
	for (size_t i = 0; i < event->count; i++) {
		const struct lttng_provider_field *field = &event->fields[i];
		uint8_t one;
		uint16_t two;
		uint32_t four;

		switch (field->size) {
		case 1:
			memcpy(&one, at, 1);
			parts[i].value = one;
			break;
		case 2:
			memcpy(&two, at, 2);
			parts[i].value = field->swapped ? be16toh(two) : two;
			break;
		case 4:
			memcpy(&four, at, 4);
			parts[i].value = field->swapped ? be32toh(four) : four;
			break;
		default:
			memcpy(&parts[i].value, at, 8);
			if (field->swapped)
				parts[i].value = be64toh(parts[i].value);
			break;
		}
		at += field->size;
	}
	lttng_provider_deliver(event, rest, payload, size, parts);
}

static inline float lttng_provider_float(const struct lttng_provider_part *part)
{
	uint32_t bits = (uint32_t) part->value;
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline double lttng_provider_double(const struct lttng_provider_part *part)
{
	double value;

	memcpy(&value, &part->value, sizeof(value));
	return value;
}

/* If two crates of a program compile a provider of one name, the linker says so in these words. */
#define LTTNG_PROVIDER_ONCE(provider)									\
	__attribute__((visibility("hidden"), used)) const char						\
	two_crates_compile_the_provider_##provider##__compile_its_catalog_in_one_and_use_the_events_of_that_one_in_the_other = 0;

/*
 * The two functions that Rust calls. They are hidden: two libraries in one program may have two versions of a
 * catalog, and each must call its own.
 */
#define LTTNG_PROVIDER_RUST_EVENT(symbol)								\
	__attribute__((visibility("hidden"))) struct lttng_provider_rest				\
	lttng_provider_record_##symbol(const char *payload, size_t size, void *ip)			\
	{												\
		return lttng_provider_record(&lttng_ust_tracepoint_##symbol,				\
			&lttng_provider_event_##symbol, payload, size, NULL, ip);			\
	}												\
													\
	__attribute__((visibility("hidden"))) void							\
	lttng_provider_deliver_##symbol(struct lttng_provider_rest rest,				\
		const char *payload, size_t size, const struct lttng_provider_part *parts)		\
	{												\
		lttng_provider_continue(&lttng_ust_tracepoint_##symbol, &lttng_provider_event_##symbol,	\
			rest, payload, size, parts);							\
	}

/* The one function for an event of a few numbers. */
#define LTTNG_PROVIDER_RUST_NUMBERS(symbol, size)							\
	__attribute__((visibility("hidden"))) void							\
	lttng_provider_record_##symbol(const char *payload, void *ip)					\
	{												\
		struct lttng_provider_rest rest = lttng_provider_record(&lttng_ust_tracepoint_##symbol,	\
			&lttng_provider_event_##symbol, payload, size, NULL, ip);			\
													\
		if (caa_unlikely(rest.probe))								\
			lttng_provider_deliver_packed(&lttng_provider_event_##symbol, rest, payload, size);	\
	}

#endif
