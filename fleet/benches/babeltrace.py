"""The same columns of `command_call` by Babeltrace 2's Python bindings and pyarrow, for comparison with ltt-parquet.

    apt install python3-bt2
    /usr/bin/python3 -m venv --system-site-packages target/python-bt2 && target/python-bt2/bin/pip install pyarrow
    target/python-bt2/bin/python fleet/benches/babeltrace.py TRACE FILE
"""

import sys

import bt2
import pyarrow
import pyarrow.parquet

NAMES = "time_ns host pid tid cpu provider event client duration_ns text_enum_field text_addr text_laddr text_name".split()
ROWS = 131_072


def table(columns):
    return pyarrow.table({name: column for name, column in zip(NAMES, columns)})


def main():
    columns = [[] for _ in NAMES]
    writer = None
    for message in bt2.TraceCollectionMessageIterator(sys.argv[1]):
        if type(message) is not bt2._EventMessageConst:
            continue
        event = message.event
        payload, context = event.payload_field, event.common_context_field
        labels = payload["enum_field"].labels
        values = (
            message.default_clock_snapshot.ns_from_origin,
            str(event.stream.trace.environment["hostname"]),
            int(context["vpid"]),
            int(context["vtid"]),
            int(event.packet.context_field["cpu_id"]),
            event.name.split(":")[0],
            event.name,
            str(payload["addr"]),
            int(payload["duration"]) * 1000,
            labels[0] if labels else None,
            str(payload["addr"]),
            str(payload["laddr"]),
            str(payload["name"]),
        )
        for column, value in zip(columns, values):
            column.append(value)
        if len(columns[0]) == ROWS:
            writer = write(writer, columns)
            columns = [[] for _ in NAMES]
    if columns[0]:
        writer = write(writer, columns)
    writer.close()


def write(writer, columns):
    rows = table(columns)
    writer = writer or pyarrow.parquet.ParquetWriter(sys.argv[2], rows.schema, compression="snappy")
    writer.write_table(rows)
    return writer


if __name__ == "__main__":
    main()
