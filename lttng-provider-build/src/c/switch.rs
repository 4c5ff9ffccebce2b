//! The switch of all events of a catalog, for applications in C.

use lttng_catalog::Catalog;
use lttng_catalog::lowered::Provider;

/// What the header declares.
pub(super) fn declarations(catalog: &Catalog) -> String {
    let name = stem(catalog);
    format!(
        "
/*
 * All events at once: keeps them off, or lets tracers decide again. On a signal: from now on each such signal does one of
 * these, the first keeps them off; returns 0, or -1 with errno.
 */
#if defined(USE_LTTNG) || defined(USE_USDT)
extern void {name}_force_off(void) LTTNG_APPLICATION_HIDDEN;
extern void {name}_release(void) LTTNG_APPLICATION_HIDDEN;
extern int {name}_toggle_on_signal(int number) LTTNG_APPLICATION_HIDDEN;
#else
static inline void {name}_force_off(void)
{{
}}

static inline void {name}_release(void)
{{
}}

static inline int {name}_toggle_on_signal(int number)
{{
	/* Not to be ended by it. */
	return signal(number, SIG_IGN) == SIG_ERR ? -1 : 0;
}}
#endif
"
    )
}

/// The functions, for the C file of the first of the catalog's providers.
pub(super) fn functions(catalog: &Catalog, providers: &[&Provider<'_>]) -> String {
    let name = stem(catalog);
    let symbols = |providers: &[&Provider<'_>], start: &str, end: &str| -> String {
        let events = providers.iter().flat_map(|provider| &provider.events);
        events.map(|event| format!("{start}lttng_application_off_{}{end}\n", event.symbol)).collect()
    };
    let others =
        symbols(providers.get(1..).unwrap_or_default(), "extern bool ", " LTTNG_APPLICATION_HIDDEN;");
    let all = symbols(providers, "\t&", ",");
    format!(
        "
#if defined(USE_LTTNG) || defined(USE_USDT)
{others}
static bool *const lttng_application_switches[] = {{
{all}}};

static void lttng_application_force(bool off)
{{
	size_t index;

	for (index = 0; index < sizeof(lttng_application_switches) / sizeof(*lttng_application_switches); index++)
		__atomic_store_n(lttng_application_switches[index], off, __ATOMIC_RELAXED);
}}

static void lttng_application_toggle(int number)
{{
	(void) number;
	lttng_application_force(!__atomic_load_n(lttng_application_switches[0], __ATOMIC_RELAXED));
}}

LTTNG_APPLICATION_HIDDEN void {name}_force_off(void);
LTTNG_APPLICATION_HIDDEN void {name}_release(void);
LTTNG_APPLICATION_HIDDEN int {name}_toggle_on_signal(int number);

void {name}_force_off(void)
{{
	lttng_application_force(true);
}}

void {name}_release(void)
{{
	lttng_application_force(false);
}}

int {name}_toggle_on_signal(int number)
{{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = lttng_application_toggle;
	action.sa_flags = SA_RESTART;
	return sigaction(number, &action, NULL);
}}
#endif
"
    )
}

/// `valkey_trace`
fn stem(catalog: &Catalog) -> String {
    format!("{}_trace", catalog.name.replace(['-', '.'], "_"))
}
