//! Return addresses, for events with a stack.

use lttng_catalog::lowered::Event;

use super::names::{parameter_list, passed};

/// The function that captures the stack where the event is called.
pub(super) fn wrapper(stem: &str, event: &Event<'_>) -> String {
    let mut captured = String::new();
    let mut given = Vec::new();
    for argument in &event.arguments {
        let names: Vec<String> = argument.c_parameters().into_iter().map(|p| p.name).collect();
        if let ([frames, length], false) = (&names[..], argument.is_passed()) {
            captured.push_str(&format!(
                "\tuint64_t {frames}[32];\n\tsize_t {length} = {stem}_stack({frames});\n"
            ));
        }
        given.extend(names);
    }
    format!(
        "static inline __attribute__((always_inline)) void trace_captured_{symbol}{parameters}
{{
{captured}
\ttrace_emit_{symbol}({given});
}}
",
        symbol = event.symbol,
        parameters = parameter_list(&passed(event)),
        given = given.join(", "),
    )
}

/// The function that captures, for one C file of a catalog.
pub(super) fn function(stem: &str) -> String {
    format!(
        "
/* The nearest 32 return addresses. Before glibc 2.35 the unwinder takes a lock, and signal handlers may emit events: none. */
#include <gnu/libc-version.h>
#include <string.h>
#include <unwind.h>

struct {stem}_frames {{
\tuint64_t *frames;
\tsize_t count, skip;
}};

static _Unwind_Reason_Code {stem}_frame(struct _Unwind_Context *context, void *data)
{{
\tstruct {stem}_frames *found = data;

\tif (found->skip) {{
\t\tfound->skip--;
\t\treturn _URC_NO_REASON;
\t}}
\tif (!_Unwind_GetIP(context) || found->count == 32)
\t\treturn _URC_END_OF_STACK;
\tfound->frames[found->count++] = _Unwind_GetIP(context);
\treturn _URC_NO_REASON;
}}

extern __attribute__((noinline, visibility(\"hidden\"))) size_t {stem}_stack(uint64_t *frames);
size_t {stem}_stack(uint64_t *frames)
{{
\tstruct {stem}_frames found = {{ frames, 0, 1 }};

\tif (strverscmp(gnu_get_libc_version(), \"2.35\") >= 0)
\t\t_Unwind_Backtrace({stem}_frame, &found);
\treturn found.count;
}}
"
    )
}
