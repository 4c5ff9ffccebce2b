/* Preloaded into a program: counts the bytes that it has allocated and writes the most there have been to the file that
 * PEAK_FILE names. Unlike the size of the process, that does not depend on the machine. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static atomic_llong used, peak;

static void count(long long bytes)
{
	long long now = atomic_fetch_add(&used, bytes) + bytes, most = atomic_load(&peak);
	while (now > most && !atomic_compare_exchange_weak(&peak, &most, now))
		;
}

static void *counted(void *memory)
{
	if (memory)
		count(malloc_usable_size(memory));
	return memory;
}

void *malloc(size_t size) { return counted(__libc_malloc(size)); }
void *calloc(size_t number, size_t size) { return counted(__libc_calloc(number, size)); }

void *realloc(void *memory, size_t size)
{
	long long before = memory ? malloc_usable_size(memory) : 0;
	void *moved = __libc_realloc(memory, size);
	if (moved || size == 0)
		count(-before);
	return counted(moved);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
	*memory = counted(__libc_memalign(alignment, size));
	return *memory ? 0 : ENOMEM;
}

void *aligned_alloc(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }

void free(void *memory)
{
	if (memory)
		count(-(long long)malloc_usable_size(memory));
	__libc_free(memory);
}

__attribute__((destructor)) static void report(void)
{
	const char *path = getenv("PEAK_FILE");
	FILE *file = path ? fopen(path, "w") : NULL;
	if (file) {
		fprintf(file, "%lld\n", atomic_load(&peak));
		fclose(file);
	}
}
