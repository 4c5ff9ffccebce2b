//! The code for a function, which drops what it owns in the order of the plain one, whether tracing is on or off.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::Ident;

use super::future::FutureBlock;
use super::model::{Measured, Model};
use super::parse::{Function, Parameters};
use super::values::{Ended, above_threshold, entries, keep, mixed_site, record_kept, records};

/// Both forms of the function, of which `lttng-provider` takes the one for how it was built.
pub(super) fn expand(model: &Model<'_>) -> TokenStream {
    let future = model.function.future_block();
    let on = match (&model.events[..], future) {
        _ if model.function.is_stream() => streamed(model),
        (_, Some(future)) => returned_future(model, future),
        _ if model.function.is_async() => wrapped(model),
        _ if model.has_outcome() => called(model),
        ([event], _) => guarded_alone(model, event),
        _ => guarded(model),
    };
    let off = off(model);
    quote!(::lttng_provider::__private::traced! { { #off } { #on } })
}

/// The plain function. What is recorded is checked in a branch that is never taken; `impl Trait` cannot be checked.
fn off(model: &Model<'_>) -> TokenStream {
    let watch = &model.catalogs.watch;
    let (entries, targets, keeps) = entries(model);
    let duration = mixed_site("duration");
    let ret = Ident::new("ret", Span::call_site());
    let result = match (model.has_outcome() && !model.function.is_stream(), model.function.output()) {
        (false, _) => Some(TokenStream::new()),
        (true, None) => None,
        (true, Some(kind)) => Some(quote!(let #ret: &#kind = loop {};)),
    };
    let cancelled = Ident::new("cancelled", Span::call_site());
    let cancelled = model.function.is_stream().then(|| quote!(let #cancelled = false;));
    let ended = if model.function.is_stream() { Ended::Stream } else { Ended::WithResult };
    let records = records(model, &entries, &duration, ended);
    let check = result.map(|result| {
        quote! {
            #result
            #cancelled
            let #duration = ::core::time::Duration::ZERO;
            #records
        }
    });
    let statements = &model.function.statements;
    let block = quote! {
        #watch
        #[allow(unreachable_code, unused, clippy::all, clippy::ref_option_ref)]
        if false {
            #(
                let mut #entries = ::lttng_provider::__private::Entry::<#targets, _>::new();
                #entries.keep(#keeps);
            )*
            #check
        }
        #statements
    };
    model.function.with_block(&block)
}

/// One event, of which all but the duration is known at entry: a guard before the body.
fn guarded_alone(model: &Model<'_>, event: &Measured<'_>) -> TokenStream {
    let (entry, measurement) = (mixed_site("entry"), mixed_site("_measurement"));
    let (duration, kept) = (mixed_site("duration"), mixed_site("kept"));
    let watch = &model.catalogs.watch;
    let target = &event.target.path;
    let keep = keep(event);
    let record = record_kept(event, &quote!(#kept), &duration, Ended::WithResult);
    let record = above_threshold(model, &duration, record);
    let statements = &model.function.statements;
    let block = quote! {
        #watch
        let mut #entry = ::lttng_provider::__private::Entry::<#target, _>::new();
        #entry.keep(#keep);
        let #measurement = #entry.measure(|#duration, #kept| { #record });
        #statements
    };
    model.function.with_block(&block)
}

/// Several events from one measurement, of which all but the duration is known at entry.
fn guarded(model: &Model<'_>) -> TokenStream {
    let watch = &model.catalogs.watch;
    let (entries, targets, keeps) = entries(model);
    let (duration, guard) = (mixed_site("duration"), mixed_site("_guard"));
    let records = records(model, &entries, &duration, Ended::WithResult);
    let records = above_threshold(model, &duration, records);
    let statements = &model.function.statements;
    let block = quote! {
        #watch
        #(
            let mut #entries = ::lttng_provider::__private::Entry::<#targets, _>::new();
            #entries.keep(#keeps);
        )*
        let #guard = ::lttng_provider::__private::Clock::start(false #(|| #entries.is_enabled())*)
            .guard(|#duration| { #records });
        #statements
    };
    model.function.with_block(&block)
}

/// Events with values from the result of a function that is not async: its body is a closure with the function's parameters,
/// which drops them as the function does.
fn called(model: &Model<'_>) -> TokenStream {
    let (clock, duration, result) = (mixed_site("clock"), mixed_site("duration"), mixed_site("result"));
    let (entries, ..) = entries(model);
    let ret = Ident::new("ret", Span::call_site());
    let records = records(model, &entries, &duration, Ended::WithResult);
    let records = above_threshold(model, &duration, quote!(let #ret = &#result; #records));
    let start = quote! {
        *#clock = ::lttng_provider::__private::Clock::start(false #(|| #entries.is_enabled())*);
    };
    let clock_made = quote!(let mut #clock = ::lttng_provider::__private::Clock::start(false););
    with_closure(
        model,
        &clock_made,
        Some(&clock),
        &start,
        &result,
        &quote! {
            #[allow(unused)]
            if let ::core::option::Option::Some(#duration) = #clock.elapsed() {
                #records
            }
            #result
        },
    )
}

/// A stream that the function returns, measured from its first poll. Fields are evaluated when the function is called.
fn streamed(model: &Model<'_>) -> TokenStream {
    let (entries, ..) = entries(model);
    let (stream, duration) = (mixed_site("stream"), mixed_site("duration"));
    let cancelled = Ident::new("cancelled", Span::call_site());
    let records = records(model, &entries, &duration, Ended::Stream);
    let records = above_threshold(model, &duration, records);
    let polling = model.polling;
    let measured = quote! {
        ::lttng_provider::__private::TracedStream::<_, _, #polling>::new(
            #stream,
            false #(|| #entries.is_enabled())*,
            move |#duration, #[allow(unused)] #cancelled: bool| { #records },
        )
    };
    let measured = match model.function.is_boxed_stream() {
        true => quote!(::std::boxed::Box::pin(#measured)),
        false => measured,
    };
    with_closure(model, &TokenStream::new(), None, &TokenStream::new(), &stream, &measured)
}

/// A function whose body is a closure with the function's parameters. `start` runs in it, after what is kept.
fn with_closure(
    model: &Model<'_>,
    before: &TokenStream,
    lent: Option<&Ident>,
    start: &TokenStream,
    result: &Ident,
    after: &TokenStream,
) -> TokenStream {
    let watch = &model.catalogs.watch;
    let (entries, targets, keeps) = entries(model);
    let Parameters { arguments, patterns, receiver, .. } = model.function.parameters();
    let types: Vec<Ident> = (0..arguments.len()).map(|index| format_ident!("P{index}")).collect();
    let lent = lent.into_iter();
    let output = model.function.output().map(|kind| quote!(-> #kind));
    let statements = &model.function.statements;
    let receiver = capture(receiver.as_ref());
    let block = quote! {
        #watch
        // Its bound tells the compiler the types of the closure's parameters.
        #[inline(always)]
        #[allow(clippy::too_many_arguments)]
        fn __lttng_provider_call<#(#types,)* R>(#(#arguments: #types,)* body: impl FnOnce(#(#types),*) -> R) -> R {
            body(#(#arguments),*)
        }
        #(let mut #entries = ::lttng_provider::__private::Entry::<#targets, _>::new();)*
        #before
        let #result = {
            #(let #entries = &mut #entries;)*
            #(let #lent = &mut #lent;)*
            __lttng_provider_call(#(#arguments,)* move |#(#patterns),*| #output {
                #receiver
                #(#entries.keep(#keeps);)*
                #start
                #statements
            })
        };
        #after
    };
    model.function.with_arguments(&block)
}

/// An `async fn` that is polled through a wrapper: a function that returns it. The body's future owns the parameters, as
/// that of the plain function does.
fn wrapped(model: &Model<'_>) -> TokenStream {
    let watch = &model.catalogs.watch;
    let slot = mixed_site("slot");
    let (_, targets, keeps) = entries(model);
    let Parameters { bindings, receiver, .. } = model.function.parameters();
    let receiver = capture(receiver.as_ref());
    let output = output(model.function);
    let result = mixed_site("result");
    let statements = &model.function.statements;
    let future = quote! {
        async move {
            #output
            #receiver
            #(#bindings)*
            #slot.keep(|| (#(::lttng_provider::__private::Entry::<#targets, _>::kept_now(#keeps),)*));
            // What the last expression borrows from the parameters is dropped before them.
            let #result = { #statements };
            #[allow(unreachable_code, clippy::needless_return)]
            return #result;
        }
    };
    let measured = traced_future(model, &quote!(first_poll(#slot)), &future);
    // Another attribute may want the function to be `async`.
    let wait = model.function.has_foreign_attribute().then(|| quote!(.await));
    let block = quote! {
        #watch
        let #slot = ::lttng_provider::__private::Slot::new();
        #measured #wait
    };
    match wait {
        Some(_) => model.function.with_arguments(&block),
        None => model.function.returning_future(&block),
    }
}

/// A function that returns the future of an `async` block at its end. What is kept is evaluated when it is called.
fn returned_future(model: &Model<'_>, future: &FutureBlock) -> TokenStream {
    let watch = &model.catalogs.watch;
    let (entries, targets, keeps) = entries(model);
    let kept = mixed_site("kept");
    let before = &future.before;
    let future = future.replaced(traced_future(model, &quote!(entered(#kept)), &future.block));
    let block = quote! {
        #watch
        let #kept = {
            #(let #entries = ::lttng_provider::__private::Entry::<#targets, _>::kept_now(#keeps);)*
            (false #(|| #entries.is_enabled())*).then_some((#(#entries,)*))
        };
        #before
        #future
    };
    model.function.with_block(&block)
}

/// A future with its measurement.
fn traced_future(model: &Model<'_>, stage: &TokenStream, future: &TokenStream) -> TokenStream {
    let (entries, targets, _) = entries(model);
    let (duration, kept, result) = (mixed_site("duration"), mixed_site("kept"), mixed_site("result"));
    let ret = Ident::new("ret", Span::call_site());
    let ended = records(model, &entries, &duration, Ended::WithResult);
    // A future that panics has no outcome, and is not recorded if there should be one.
    let (polling, on_panic) = (model.polling, !model.has_outcome());
    let records = if model.has_outcome() {
        let cancelled = records(model, &entries, &duration, Ended::Cancelled);
        quote! {
            match #result {
                ::core::option::Option::Some(#ret) => { #ended }
                ::core::option::Option::None => { #cancelled }
            }
        }
    } else {
        quote!(let _ = #result; #ended)
    };
    let records = above_threshold(model, &duration, records);
    quote! {
        ::lttng_provider::__private::TracedFuture::<_, _, _, _, #polling, #on_panic>::new(
            ::lttng_provider::__private::Stage::#stage,
            #future,
            || false #(|| <#targets as ::lttng_provider::Event>::enabled())*,
            |#kept, #duration, #result| {
                let (#(#entries,)*) = #kept;
                #[allow(unused)]
                { #records }
            },
        )
    }
}

/// Has a closure or an `async` block own all of `self`, as the function does, and not only the fields that it uses.
fn capture(receiver: Option<&Ident>) -> TokenStream {
    receiver.map(|receiver| quote!(let _ = &#receiver;)).unwrap_or_default()
}

/// Tells the compiler the type of an async block, which `?` in it needs; not possible for `impl Trait`.
fn output(function: &Function) -> TokenStream {
    let Some(kind) = function.output() else { return TokenStream::new() };
    quote! {
        #[allow(unreachable_code, clippy::all)]
        if false {
            let output: #kind = loop {};
            return output;
        }
    }
}
