# For a Makefile: `include DIR/probing-trace.mk`, then compile $(PROBING_TRACE_SOURCES) with $(PROBING_TRACE_CFLAGS) and link with
# $(PROBING_TRACE_LIBS). `make USE_LTTNG=yes` and `make USE_USDT=yes` turn tracing on.
PROBING_TRACE_DIR := $(dir $(lastword $(MAKEFILE_LIST)))
PROBING_TRACE_SOURCES := $(PROBING_TRACE_DIR)probing.c
PROBING_TRACE_CFLAGS := -I$(PROBING_TRACE_DIR)
PROBING_TRACE_LIBS :=
ifeq ($(USE_LTTNG),yes)
PROBING_TRACE_CFLAGS += -DUSE_LTTNG $(shell pkg-config --cflags lttng-ust)
PROBING_TRACE_LIBS += -ldl
endif
ifeq ($(USE_USDT),yes)
PROBING_TRACE_CFLAGS += -DUSE_USDT
endif
