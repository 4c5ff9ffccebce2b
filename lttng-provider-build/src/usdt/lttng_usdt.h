/*
 * USDT probes without <sys/sdt.h>. Written by lttng-provider-build; do not edit.
 *
 * A probe is a function that does nothing. Its first instruction is what a tracer replaces, and its argument points to
 * the values, so that the note describes each independently of the compiler. Function and note are one section group:
 * a linker keeps both or neither.
 */
#ifndef LTTNG_USDT_H
#define LTTNG_USDT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if !defined(__linux__) || !(defined(__x86_64__) || defined(__aarch64__))
#error "USDT probes are for Linux on x86_64 and aarch64: build without USE_USDT"
#endif

#ifdef __x86_64__
#define LTTNG_USDT_OPERANDS(x86_64, aarch64) x86_64
#else
#define LTTNG_USDT_OPERANDS(x86_64, aarch64) aarch64
#endif

/*
 * The semaphore is in the padding of LTTng-UST's tracepoint, so that one load reads both, or separate. The section
 * .probes exists either way, because bpftrace finds any semaphore by that section's position in the file.
 *
 * Both are `used`: assembly names them, and link-time optimization puts it into another partition of the program, from
 * which local symbols cannot be seen.
 */
/*
 * Linkers may map a page of the file twice, at the end of one segment and at the start of the next. The kernel counts in
 * the first mapping that it finds, so semaphores must not be in such a page: they begin on a page boundary.
 */
#ifdef __x86_64__
#define LTTNG_USDT_PAGE 4096
#else
#define LTTNG_USDT_PAGE 65536
#endif

#ifdef USE_LTTNG
#define LTTNG_USDT_SEMAPHORE(symbol)
#define LTTNG_USDT_ALIGN LTTNG_PROVIDER_ALIGN
#define LTTNG_USDT_SEMAPHORE_ADDRESS(symbol) "lttng_application_tracepoint_" #symbol " + 28"
#define LTTNG_USDT_ATTACHED(symbol) \
	(*(const volatile uint16_t *) ((const char *) &lttng_application_tracepoint_##symbol + 28) != 0)
#else
#define LTTNG_USDT_SEMAPHORE(symbol)										\
	extern uint16_t lttng_provider_semaphore_##symbol LTTNG_APPLICATION_HIDDEN;				\
	__attribute__((section(".probes"), used)) uint16_t lttng_provider_semaphore_##symbol;
#define LTTNG_USDT_ALIGN										\
	static uint16_t lttng_usdt_page __attribute__((section(".probes"), aligned(LTTNG_USDT_PAGE), used));
#define LTTNG_USDT_SEMAPHORE_ADDRESS(symbol) "lttng_provider_semaphore_" #symbol
#define LTTNG_USDT_ATTACHED(symbol) (*(const volatile uint16_t *) &lttng_provider_semaphore_##symbol != 0)
#endif

#define LTTNG_USDT_PROBE(function, symbol, provider, name, x86_64, aarch64) \
	extern void function(const uint64_t *values) LTTNG_APPLICATION_HIDDEN; \
	__asm__( \
		".pushsection .text." #function ",\"axG\",%progbits," #function ",comdat\n" \
		".globl " #function "\n" \
		".hidden " #function "\n" \
		".type " #function ", %function\n" \
		#function ":\n" \
		".cfi_startproc\n" \
		"990: nop\n" \
		"ret\n" \
		".cfi_endproc\n" \
		".size " #function ", . - " #function "\n" \
		".popsection\n" \
		".pushsection .probes,\"awG\",%progbits," #function ",comdat\n" \
		".balign 2\n" \
		".2byte 0\n" \
		".popsection\n" \
		".pushsection .note.stapsdt,\"G\",%note," #function ",comdat\n" \
		".balign 4\n" \
		".4byte 992f - 991f, 994f - 993f, 3\n" \
		"991: .asciz \"stapsdt\"\n" \
		"992: .balign 4\n" \
		"993: .8byte 990b\n" \
		".8byte _.stapsdt.base\n" \
		".8byte " LTTNG_USDT_SEMAPHORE_ADDRESS(symbol) "\n" \
		".asciz \"" #provider "\"\n" \
		".asciz \"" #name "\"\n" \
		".asciz \"" LTTNG_USDT_OPERANDS(x86_64, aarch64) "\"\n" \
		"994: .balign 4\n" \
		".popsection\n" \
		".ifndef _.stapsdt.base\n" \
		".pushsection .stapsdt.base,\"aG\",%progbits,.stapsdt.base,comdat\n" \
		".weak _.stapsdt.base\n" \
		".hidden _.stapsdt.base\n" \
		"_.stapsdt.base: .space 1\n" \
		".size _.stapsdt.base, 1\n" \
		".popsection\n" \
		".endif\n");

/* The longest text, with its NUL, that is copied. */
#define LTTNG_USDT_TEXT_MAX 256

/* A copy with a NUL after it; of a longer text the text itself, so that a tracer can read all of it. */
static inline uint64_t lttng_usdt_text(char *copy, const char *text, size_t length)
{
	if (length > LTTNG_USDT_TEXT_MAX - 1)
		return (uint64_t) (uintptr_t) text;
	if (length)
		memcpy(copy, text, length);
	copy[length] = 0;
	return (uint64_t) (uintptr_t) copy;
}

/* A length that its argument of the probe can hold. */
static inline uint64_t lttng_usdt_least(size_t length, uint64_t most)
{
	return length < most ? length : most;
}

static inline uint64_t lttng_usdt_bits_of_float(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline uint64_t lttng_usdt_bits_of_double(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

#endif
