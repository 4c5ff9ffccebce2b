//! The header that an application includes: a check and a call for each event.

use lttng_catalog::lowered::{Argument, CParameter, Duration, Event, Provider};
use lttng_catalog::{Catalog, Extent};

use super::build_files::base_name;
use super::switch;
use crate::GeneratedFile;
use crate::c_text::{comment, list};

pub(super) fn header(catalog: &Catalog, providers: &[&Provider<'_>]) -> GeneratedFile {
    let base = base_name(catalog);
    let guard = format!("LTTNG_APPLICATION_{}_H", base.to_ascii_uppercase().replace(['-', '.'], "_"));
    let origin = providers.first().map(|provider| comment(&provider.origin())).unwrap_or_default();
    let parts: String = providers.iter().map(|provider| one(provider)).collect();
    let parts = parts + &switch::declarations(catalog);
    let text = format!(
        "{origin}#ifndef {guard}
#define {guard}

#include \"lttng_application.h\"

#ifdef __cplusplus
extern \"C\" {{
#endif
{parts}
#ifdef __cplusplus
}}
#endif

#endif
"
    );
    GeneratedFile { name: format!("{base}.h"), text }
}

fn one(provider: &Provider<'_>) -> String {
    let name = &provider.name;
    let doc = comment(&provider.source.doc);
    let events: String = provider.events.iter().map(event).collect();
    format!("\n{doc}#define {name}_trace(...) lttng_ust_tracepoint(__VA_ARGS__)\n{events}")
}

fn event(event: &Event<'_>) -> String {
    let Event { symbol, c_name, .. } = event;
    let sized = event.passed_c_parameters();
    let plain: Vec<CParameter> = event.passed().flat_map(Argument::c_parameters).collect();
    let emit = event.emit_function();
    let mut text = format!("\n{}", comment(&documentation(event)));
    text.push_str(&format!("LTTNG_APPLICATION_SWITCH({symbol});\n\n"));
    text.push_str("#if defined(USE_LTTNG) || defined(USE_USDT)\n");
    text.push_str(&function_head(
        "",
        &format!("extern void {emit}("),
        &sized,
        ") LTTNG_APPLICATION_HIDDEN;\n",
    ));
    text.push_str("#endif\n\n");
    text.push_str(&format!(
        "static inline bool trace_{c_name}_enabled(void)\n{{\n\treturn LTTNG_APPLICATION_ENABLED({symbol});\n}}\n\n"
    ));
    text.push_str(&switch(event));
    let callback = format!("lttng_ust_tracepoint_cb_{symbol}");
    text.push_str(&function(&callback, &plain, &emit, &measured(event)));
    text.push_str(&addresses(event, &callback, false));
    text.push_str(&call(&format!("trace_{c_name}"), c_name, &callback, &plain));
    if sized != plain {
        let name = format!("lttng_application_sized_{symbol}");
        text.push_str(&function(&name, &sized, &emit, &within(event)));
        text.push_str(&addresses(event, &name, true));
        text.push_str(&call(&format!("trace_{c_name}_with_lengths"), c_name, &name, &sized));
    }
    if event.probe.has_start {
        text.push_str(&start(event));
    }
    text.push_str(&stopwatch(event, &callback));
    text.push_str(&spelling(event, plain.len()));
    text
}

/// The switch that keeps an event off while the program runs, whatever tracers ask for.
fn switch(event: &Event<'_>) -> String {
    let Event { symbol, c_name, .. } = event;
    let function = |name: &str, off: bool| {
        format!(
            "static inline void trace_{c_name}_{name}(void)\n{{\n\tLTTNG_APPLICATION_FORCE({symbol}, {off});\n}}\n\n"
        )
    };
    function("force_off", true) + &function("release", false)
}

/// The catalog's documentation, and the call.
fn documentation(event: &Event<'_>) -> String {
    let lines = event.passed().map(|argument| {
        let parameters: Vec<_> = argument.c_parameters().iter().map(CParameter::declaration).collect();
        let network = if argument.is_swapped() { " (in the order of the machine)" } else { "" };
        let doc = argument.field.doc.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("\n{}{network}: {doc}", parameters.join(", "))
    });
    format!("{}{}", event.source.doc.trim(), lines.collect::<String>())
}

/// `static inline void name(a, b) { emit(…); }`
fn function(name: &str, parameters: &[CParameter], emit: &str, arguments: &[String]) -> String {
    let unused: String = parameters.iter().map(|p| format!("\t(void) {};\n", p.name)).collect();
    let unused = if unused.is_empty() { "\t/* No back end is on. */\n".to_owned() } else { unused };
    format!(
        "{head}{{\n#if defined(USE_LTTNG) || defined(USE_USDT)\n{call}\n\tLTTNG_APPLICATION_STAY;\n#else\n{unused}#endif\n}}\n\n",
        head = function_head("", &format!("LTTNG_APPLICATION_INLINE void {name}("), parameters, ")\n"),
        call = list("\t", &format!("{emit}("), arguments, ");"),
    )
}

fn function_head(indent: &str, start: &str, parameters: &[CParameter], end: &str) -> String {
    let declared: Vec<String> = match parameters {
        [] => vec!["void".to_owned()],
        _ => parameters.iter().map(CParameter::declaration).collect(),
    };
    list(indent, start, &declared, end)
}

/// The macro that an application calls; its arguments are not evaluated unless something records.
fn call(name: &str, c_name: &str, function: &str, parameters: &[CParameter]) -> String {
    let (parameters, arguments) = if parameters.is_empty() { ("", "") } else { ("...", "__VA_ARGS__") };
    format!(
        "#define {name}({parameters}) \\
\tdo {{ \\
\t\tif (trace_{c_name}_enabled()) \\
\t\t\t{function}({arguments}); \\
\t}} while (0)

"
    )
}

/// A macro around a function with addresses among its arguments, so that it takes pointers as well as numbers.
fn addresses(event: &Event<'_>, function: &str, is_sized: bool) -> String {
    let each = event.arguments.iter().zip(event.sized_c_parameters()).filter(|(a, _)| a.is_passed());
    let each = each.flat_map(|(argument, sized)| {
        let count = if is_sized { sized.len() } else { argument.c_parameters().len() };
        vec![argument.is_address(); count]
    });
    let is_address: Vec<bool> = each.collect();
    if !is_address.contains(&true) {
        return String::new();
    }
    let names: Vec<String> = (0..is_address.len()).map(|index| format!("a{index}")).collect();
    let passed = names.iter().zip(is_address);
    let passed = passed.map(|(name, cast)| if cast { format!("(uint64_t) ({name})") } else { name.clone() });
    let passed: Vec<String> = passed.collect();
    format!("#define {function}({}) \\\n\t{function}({})\n\n", names.join(", "), passed.join(", "))
}

/// What `lttng_ust_tracepoint(provider, event, …)` becomes.
fn spelling(event: &Event<'_>, count: usize) -> String {
    let Event { symbol, c_name, .. } = event;
    let names: Vec<String> = (0..count).map(|index| format!("a{index}")).collect();
    let passed = names.join(", ");
    let taken = [names, vec!["none".to_owned()]].concat().join(", ");
    format!(
        "#define lttng_ust_tracepoint_{symbol} (*lttng_application_state(trace_{c_name}_enabled()))
#define lttng_application_emit_{symbol}({taken}) trace_{c_name}({passed})
#define lttng_application_record_{symbol}({taken}) lttng_ust_tracepoint_cb_{symbol}({passed})
"
    )
}

/// The probe at which a measurement begins.
fn start(event: &Event<'_>) -> String {
    let (c_name, function) = (&event.c_name, event.start_function());
    format!(
        "#if defined(USE_USDT)
extern void {function}(const uint64_t *values) LTTNG_APPLICATION_HIDDEN;
#define trace_{c_name}_start() \\
\tdo {{ \\
\t\tif (trace_{c_name}_enabled()) \\
\t\t\t{function}(NULL); \\
\t}} while (0)
#else
#define trace_{c_name}_start() do {{ }} while (0)
#endif

"
    )
}

/// Measures the duration of an event that has one.
fn stopwatch(event: &Event<'_>, callback: &str) -> String {
    let c_name = &event.c_name;
    let Some((duration, unit)) =
        event.duration.and_then(|Duration { index, unit }| Some((index, unit.nanoseconds()?)))
    else {
        return String::new();
    };
    let (mut names, mut passed) = (vec!["began".to_owned()], Vec::new());
    for (index, argument) in event.arguments.iter().enumerate().filter(|(_, argument)| argument.is_passed()) {
        for parameter in argument.c_parameters() {
            passed.push(if index == duration {
                format!("({}) ((lttng_application_now() - lttng_began) / {unit})", parameter.kind)
            } else {
                let name = format!("a{}", passed.len());
                names.push(name.clone());
                name
            });
        }
    }
    let start = if event.probe.has_start { format!("\ttrace_{c_name}_start();\n") } else { String::new() };
    format!(
        "static inline uint64_t trace_{c_name}_stopwatch(void)
{{
{start}\treturn trace_{c_name}_enabled() ? lttng_application_now() : 0;
}}

#define trace_{c_name}_stop({names}) \\
\tdo {{ \\
\t\tconst uint64_t lttng_began = (began); \\
\t\tif (lttng_began && trace_{c_name}_enabled()) \\
\t\t\t{callback}({passed}); \\
\t}} while (0)

",
        names = names.join(", "),
        passed = passed.join(", "),
    )
}

/// Arguments of the emitting function where texts end in a NUL.
fn measured(event: &Event<'_>) -> Vec<String> {
    let each = event.passed().flat_map(|argument| {
        let parameters = argument.c_parameters();
        let name = &parameters[0].name;
        match argument.shape.extent {
            Extent::Terminated => {
                let text = format!("lttng_application_text({name})");
                vec![text.clone(), format!("lttng_application_length({text})")]
            }
            Extent::Fixed(count) if argument.is_text() => {
                vec![name.clone(), format!("lttng_application_length_within({name}, {count})")]
            }
            _ => parameters.iter().map(|parameter| parameter.name.clone()).collect(),
        }
    });
    each.collect()
}

/// Arguments of the emitting function where texts come with their lengths.
fn within(event: &Event<'_>) -> Vec<String> {
    let parameters = event.sized_c_parameters();
    let each = event.arguments.iter().zip(&parameters).filter(|(a, _)| a.is_passed()).flat_map(
        |(argument, parameters)| {
            let names: Vec<String> = parameters.iter().map(|parameter| parameter.name.clone()).collect();
            match &names[..] {
                [start, length] if argument.is_text() && argument.field.length_argument().is_none() => {
                    vec![start.clone(), format!("lttng_application_length_within({start}, {length})")]
                }
                _ => names,
            }
        },
    );
    each.collect()
}
