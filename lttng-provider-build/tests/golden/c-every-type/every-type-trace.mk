# For a Makefile: `include DIR/every-type-trace.mk`, then compile $(EVERY_TYPE_TRACE_SOURCES) with $(EVERY_TYPE_TRACE_CFLAGS) and link with
# $(EVERY_TYPE_TRACE_LIBS). `make USE_LTTNG=yes` and `make USE_USDT=yes` turn tracing on.
EVERY_TYPE_TRACE_DIR := $(dir $(lastword $(MAKEFILE_LIST)))
EVERY_TYPE_TRACE_SOURCES := $(EVERY_TYPE_TRACE_DIR)every_type.c
EVERY_TYPE_TRACE_CFLAGS := -I$(EVERY_TYPE_TRACE_DIR)
EVERY_TYPE_TRACE_LIBS :=
ifeq ($(USE_LTTNG),yes)
EVERY_TYPE_TRACE_CFLAGS += -DUSE_LTTNG $(shell pkg-config --cflags lttng-ust)
EVERY_TYPE_TRACE_LIBS += -ldl
endif
ifeq ($(USE_USDT),yes)
EVERY_TYPE_TRACE_CFLAGS += -DUSE_USDT
endif
