/*
 * The loops of tests/fixtures/src/bin/shapes.rs with LTTng-UST's own macros: shapes EVENT SIZE COUNT. Its numbers are in the
 * order of the machine, too, so that it turns those that are recorded in network order.
 */
#include <endian.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "twin_c-tp.h"

struct data {
	size_t size;
	char *text;
	uint64_t *longs;
	int32_t *list;
	int32_t *turned;
};

#define REPEAT(...)							\
	for (uint32_t i = 0; i < count; i++) {				\
		uint32_t n = i;						\
									\
		__asm__ volatile("" : "+r"(n));				\
		__VA_ARGS__;						\
	}

__attribute__((noinline)) void loop_shape(const char *event, struct data *data, uint32_t count)
{
	const char *s = data->text;

	if (strcmp(event, "nothing") == 0)
		REPEAT(lttng_ust_tracepoint(twin_c, nothing))
	else if (strcmp(event, "numbers") == 0)
		REPEAT(lttng_ust_tracepoint(twin_c, numbers, 1, 2, n, 4, 5, 6, 0.5f, 0.25, 1, 1))
	else if (strcmp(event, "named") == 0)
		REPEAT(lttng_ust_tracepoint(twin_c, first, s, n))
	else if (strcmp(event, "ten") == 0)
		REPEAT(lttng_ust_tracepoint(twin_c, ten, s, s, s, s, s, s, s, s, s, s))
	else if (strcmp(event, "texts") == 0)
		REPEAT(lttng_ust_tracepoint(twin_c, texts, s, data->size, "", 0, "\0\0\0\0\0\0\0", NULL, 0, n))
	else if (strcmp(event, "lists") == 0)
		REPEAT(
			uint32_t three[3] = { n, 2, 3 };

			lttng_ust_tracepoint(twin_c, lists, data->longs, data->size, NULL, 0, three))
	else if (strcmp(event, "network") == 0)
		REPEAT(
			uint16_t two[2] = { htobe16(4), htobe16(5) };

			if (lttng_ust_tracepoint_enabled(twin_c, network)) {
				for (size_t j = 0; j < data->size; j++)
					data->turned[j] = (int32_t) htobe32((uint32_t) data->list[j]);
				lttng_ust_do_tracepoint(twin_c, network, htobe16(1), (int32_t) htobe32(n), htobe64(3), two,
					data->turned, data->size);
			})
	else
		exit(1);
}

int main(int argc, char **argv)
{
	struct data data;

	if (argc != 4)
		return 1;
	data.size = strtoul(argv[2], NULL, 10);
	data.text = calloc(data.size + 1, 1);
	data.longs = calloc(data.size + 1, sizeof(*data.longs));
	data.list = calloc(data.size + 1, sizeof(*data.list));
	data.turned = calloc(data.size + 1, sizeof(*data.turned));
	memset(data.text, 'x', data.size);
	for (size_t i = 0; i < data.size; i++)
		data.longs[i] = data.list[i] = (int32_t) i;
	loop_shape(argv[1], &data, (uint32_t) strtoul(argv[3], NULL, 10));
	return 0;
}
