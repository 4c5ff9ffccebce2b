//! The function that fires an event's USDT probe for C.

use lttng_catalog::lowered::{Event, ProbePart};

use super::signature::head;

/// The probe itself, in assembly, and the function that lays out its arguments.
pub(super) fn probe(provider: &str, event: &Event<'_>) -> String {
    let Event { symbol, probe, source, .. } = event;
    let function = event.probe_function();
    let parameters = event.sized_c_parameters();
    let mut copies = String::new();
    let mut values = String::new();
    for argument in &probe.arguments {
        let of = &parameters[argument.index];
        let name = &of[0].name;
        let value = match argument.part {
            ProbePart::Value if event.arguments[argument.index].shape.is_float() => {
                let kind = event.arguments[argument.index].shape.element.c_type();
                format!("lttng_usdt_bits_of_{kind}({name})")
            }
            ProbePart::Value => format!("(uint64_t) {name}"),
            ProbePart::Start => format!("(uint64_t) (uintptr_t) {name}"),
            ProbePart::Length if (1..8).contains(&argument.size) => {
                format!("lttng_usdt_least({}, UINT{}_MAX)", of[1].name, 8 * argument.size)
            }
            ProbePart::Length => format!("(uint64_t) {}", of[1].name),
            ProbePart::Text => {
                let copy = format!("lttng_copy_{}", argument.index);
                copies.push_str(&format!("\tchar {copy}[LTTNG_USDT_TEXT_MAX];\n"));
                format!("lttng_usdt_text({copy}, {name}, {})", of[1].name)
            }
        };
        values.push_str(&format!("\t\t{value},\n"));
    }
    if values.is_empty() {
        values.push_str("\t\t0,\n");
    }
    let start = match probe.has_start {
        true => format!(
            "LTTNG_USDT_PROBE({0}, {symbol}, {provider}, {1}__start, \"\", \"\")\n",
            event.start_function(),
            source.name
        ),
        false => String::new(),
    };
    format!(
        "
#if defined(USE_USDT)
LTTNG_USDT_SEMAPHORE({symbol})
LTTNG_USDT_PROBE({function}, {symbol}, {provider}, {name}, \"{x86_64}\", \"{aarch64}\")
{start}
{head}{{
{copies}\tconst uint64_t lttng_values[] = {{
{values}\t}};

\t{function}(lttng_values);
}}
#endif
",
        name = source.name,
        x86_64 = probe.x86_64(),
        aarch64 = probe.aarch64(),
        head = head(&format!("static __attribute__((noinline)) void lttng_usdt_fire_{symbol}("), event),
    )
}
