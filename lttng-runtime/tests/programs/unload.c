/* Loads the library, records, and unloads it, again and again: `unload LIBRARY`. */
#include <lttng-runtime.h>

#include <dlfcn.h>
#include <stdio.h>

#define FUNCTION(type, name) type name = (type) (uintptr_t) dlsym(library, "lttng_runtime_" #name)

typedef lttng_runtime_provider *(*open_function)(const char *, const char *, char *, size_t);
typedef lttng_runtime_event *(*find_function)(const lttng_runtime_provider *, const char *, char *, size_t);
typedef int (*record_function)(const lttng_runtime_event *, const lttng_runtime_value *, size_t);
typedef void (*free_function)(lttng_runtime_provider *);

static int is_mapped(const char *name)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[1024];
	int found = 0;

	while (fgets(line, sizeof(line), maps))
		found |= strstr(line, name) != NULL;
	fclose(maps);
	return found;
}

int main(int argc, char **argv)
{
	for (int round = 0; round < 20 && argc > 1; round++) {
		void *library = dlopen(argv[1], RTLD_NOW);
		FUNCTION(open_function, open);
		FUNCTION(find_function, find);
		FUNCTION(record_function, record);
		FUNCTION(free_function, free);
		lttng_runtime_provider *shop = open("shop", "loaded(round: u8)", NULL, 0);
		lttng_runtime_value value = lttng_runtime_unsigned((uint64_t) round);
		const lttng_runtime_event *loaded = find(shop, "loaded", NULL, 0);

		if (lttng_runtime_enabled(loaded))
			record(loaded, &value, 1);
		/* Every second provider is left to the library. */
		if (round % 2)
			free(shop);
		dlclose(library);
		if (is_mapped("liblttng_runtime")) {
			fprintf(stderr, "round %d: still loaded\n", round);
			return 1;
		}
	}
	return 0;
}
