/*
 * Emits each of Valkey's 35 events, COUNT times: emit-all [COUNT]. The example of the same name in Rust emits the same.
 *
 * valkey-trace.h is generated from the catalog; see the Makefile. This file is C99 and C++17, and includes nothing of
 * LTTng's.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "valkey-trace.h"

static void emit(uint64_t round)
{
	uint64_t duration = 1000 * round + 1;

	/* By the event's own name, here; nothing in the parentheses is evaluated unless the event is recorded. */
	trace_valkey_commands_command_call(1, "client:1", "server:2", "get", duration);

	/* In LTTng-UST's spelling, as Valkey's sources have it. */
	lttng_ust_tracepoint(valkey_server, command_unblocking, duration + 1);
	lttng_ust_tracepoint(valkey_server, while_blocked_cron, duration + 2);
	lttng_ust_tracepoint(valkey_server, eventloop, duration + 3);
	lttng_ust_tracepoint(valkey_server, eventloop_cron, duration + 4);
	lttng_ust_tracepoint(valkey_server, module_acquire_gil, duration + 5);
	lttng_ust_tracepoint(valkey_server, command, duration + 6);
	lttng_ust_tracepoint(valkey_server, fast_command, duration + 7);
	lttng_ust_tracepoint(valkey_db, expire_del, duration + 8);
	lttng_ust_tracepoint(valkey_db, active_defrag_cycle, duration + 9);
	lttng_ust_tracepoint(valkey_db, eviction_del, duration + 10);
	lttng_ust_tracepoint(valkey_db, eviction_lazyfree, duration + 11);
	lttng_ust_tracepoint(valkey_db, eviction_cycle, duration + 12);
	lttng_ust_tracepoint(valkey_db, expire_cycle, duration + 13);
	lttng_ust_tracepoint(valkey_db, expire_cycle_keys, duration + 14);
	lttng_ust_tracepoint(valkey_db, expire_cycle_fields, duration + 15);
	lttng_ust_tracepoint(valkey_cluster, cluster_config_open, duration + 16);
	lttng_ust_tracepoint(valkey_cluster, cluster_config_write, duration + 17);
	lttng_ust_tracepoint(valkey_cluster, cluster_config_fsync, duration + 18);
	lttng_ust_tracepoint(valkey_cluster, cluster_config_rename, duration + 19);
	lttng_ust_tracepoint(valkey_cluster, cluster_config_dir_fsync, duration + 20);
	lttng_ust_tracepoint(valkey_cluster, cluster_config_close, duration + 21);
	lttng_ust_tracepoint(valkey_cluster, cluster_config_unlink, duration + 22);
	lttng_ust_tracepoint(valkey_cluster, fork, duration + 23);
	lttng_ust_tracepoint(valkey_rdb, fork, duration + 24);
	lttng_ust_tracepoint(valkey_rdb, rdb_unlink_temp_file, duration + 25);
	lttng_ust_tracepoint(valkey_aof, fork, duration + 26);
	lttng_ust_tracepoint(valkey_aof, aof_write_pending_fsync, duration + 27);
	lttng_ust_tracepoint(valkey_aof, aof_write_active_child, duration + 28);
	lttng_ust_tracepoint(valkey_aof, aof_write_alone, duration + 29);
	lttng_ust_tracepoint(valkey_aof, aof_write, duration + 30);
	lttng_ust_tracepoint(valkey_aof, aof_fsync_always, duration + 31);
	lttng_ust_tracepoint(valkey_aof, aof_fstat, duration + 32);
	lttng_ust_tracepoint(valkey_aof, aof_rename, duration + 33);
	lttng_ust_tracepoint(valkey_aof, aof_flush, duration + 34);
}

int main(int argc, char **argv)
{
	unsigned long count = 1;

	if (argc > 1) {
		char *end;

		errno = 0;
		count = strtoul(argv[1], &end, 10);
		if (errno || *end || end == argv[1] || argv[1][0] == '-') {
			fprintf(stderr, "emit-all: `%s` is no count; usage: emit-all [COUNT], with a whole number\n", argv[1]);
			return 2;
		}
	}
	for (unsigned long round = 0; round < count; round++)
		emit(round);
	return 0;
}
