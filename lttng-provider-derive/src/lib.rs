//! Structs, enums and functions become LTTng-UST tracepoints, checked against the catalog at compile time.
//!
//! Use the macros through `lttng_provider`, which has what their code needs.
//!
//! Each macro is a pipeline: the input is parsed, matched with the catalog into a model, and expanded.
//! Names are compared here; types are left to the compiler, through the trait `lttng_provider::Value`.

mod catalogs;
mod enumeration;
mod errors;
mod event;
mod expression;
mod field;
mod newtype;
mod target;
mod traced;
mod words;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

// The macros' examples need a crate with a catalog: they run in tests/market, and are not tests of this crate.
#[cfg_attr(not(doctest), doc = include_str!("../doc/event.md"))]
#[proc_macro_derive(Event, attributes(event))]
pub fn event(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    code(event::derive(&input))
}

#[cfg_attr(not(doctest), doc = include_str!("../doc/event_enum.md"))]
#[proc_macro_derive(EventEnum, attributes(event))]
pub fn event_enum(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    code(enumeration::derive(&input))
}

#[cfg_attr(not(doctest), doc = include_str!("../doc/event_value.md"))]
#[proc_macro_derive(EventValue)]
pub fn event_value(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    code(newtype::derive(&input))
}

#[cfg_attr(not(doctest), doc = include_str!("../doc/traced.md"))]
#[proc_macro_attribute]
pub fn traced(options: TokenStream, function: TokenStream) -> TokenStream {
    let unchanged = function.clone();
    match traced::attribute(options.into(), function.into()) {
        Ok(code) => code.into(),
        // The function stays, so that its callers compile.
        Err(error) => [error.into_compile_error().into(), unchanged].into_iter().collect(),
    }
}

/// The code, or the errors as code.
fn code(result: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    result.unwrap_or_else(syn::Error::into_compile_error).into()
}
