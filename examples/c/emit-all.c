/*
 * Emits each of Valkey's 35 events, COUNT times: emit-all [COUNT]. The example of the same name in Rust emits the same.
 *
 * valkey-trace.h is generated from the catalog; see the Makefile. This file is C99 and C++17.
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

	/* As Valkey's sources have it. */
	valkey_server_trace(valkey_server, command_unblocking, duration + 1);
	valkey_server_trace(valkey_server, while_blocked_cron, duration + 2);
	valkey_server_trace(valkey_server, eventloop, duration + 3);
	valkey_server_trace(valkey_server, eventloop_cron, duration + 4);
	valkey_server_trace(valkey_server, module_acquire_gil, duration + 5);
	valkey_server_trace(valkey_server, command, duration + 6);
	valkey_server_trace(valkey_server, fast_command, duration + 7);
	valkey_db_trace(valkey_db, expire_del, duration + 8);
	valkey_db_trace(valkey_db, active_defrag_cycle, duration + 9);
	valkey_db_trace(valkey_db, eviction_del, duration + 10);
	valkey_db_trace(valkey_db, eviction_lazyfree, duration + 11);
	valkey_db_trace(valkey_db, eviction_cycle, duration + 12);
	valkey_db_trace(valkey_db, expire_cycle, duration + 13);
	valkey_db_trace(valkey_db, expire_cycle_keys, duration + 14);
	valkey_db_trace(valkey_db, expire_cycle_fields, duration + 15);
	valkey_cluster_trace(valkey_cluster, cluster_config_open, duration + 16);
	valkey_cluster_trace(valkey_cluster, cluster_config_write, duration + 17);
	valkey_cluster_trace(valkey_cluster, cluster_config_fsync, duration + 18);
	valkey_cluster_trace(valkey_cluster, cluster_config_rename, duration + 19);
	valkey_cluster_trace(valkey_cluster, cluster_config_dir_fsync, duration + 20);
	valkey_cluster_trace(valkey_cluster, cluster_config_close, duration + 21);
	valkey_cluster_trace(valkey_cluster, cluster_config_unlink, duration + 22);
	valkey_cluster_trace(valkey_cluster, fork, duration + 23);
	valkey_rdb_trace(valkey_rdb, fork, duration + 24);
	valkey_rdb_trace(valkey_rdb, rdb_unlink_temp_file, duration + 25);
	valkey_aof_trace(valkey_aof, fork, duration + 26);
	valkey_aof_trace(valkey_aof, aof_write_pending_fsync, duration + 27);
	valkey_aof_trace(valkey_aof, aof_write_active_child, duration + 28);
	valkey_aof_trace(valkey_aof, aof_write_alone, duration + 29);
	valkey_aof_trace(valkey_aof, aof_write, duration + 30);
	valkey_aof_trace(valkey_aof, aof_fsync_always, duration + 31);
	valkey_aof_trace(valkey_aof, aof_fstat, duration + 32);
	valkey_aof_trace(valkey_aof, aof_rename, duration + 33);
	valkey_aof_trace(valkey_aof, aof_flush, duration + 34);
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
