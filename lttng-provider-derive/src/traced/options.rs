//! What is in the parentheses of `#[traced(…)]`.

use std::time::Duration;

use proc_macro2::Span;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, LitStr, Token, parenthesized};

use crate::target::Target;

/// `shop::delivered, fields(city = %address), slower_than = "1ms", polling`
pub(super) struct Options {
    pub(super) target: Target,
    pub(super) catalog: Option<LitStr>,
    pub(super) fields: Vec<FieldOption>,
    pub(super) slower_than: Duration,
    /// The word itself, for messages.
    pub(super) polling: Option<Ident>,
}

/// `city = %address`
pub(super) struct FieldOption {
    pub(super) name: Ident,
    pub(super) how: How,
    pub(super) expression: Expr,
}

/// How an expression is recorded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// As it is.
    Plain,
    /// `%`: as what it prints as.
    Display,
    /// `?`: as what it prints as for programmers.
    Debug,
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.is_empty() {
            let message = "say which event, as in `#[traced(shop::checkout)]`";
            return Err(syn::Error::new(Span::call_site(), message));
        }
        let target = input.parse()?;
        let mut options =
            Options { target, catalog: None, fields: Vec::new(), slower_than: Duration::ZERO, polling: None };
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            options.parse_option(input)?;
        }
        Ok(options)
    }
}

impl Options {
    fn parse_option(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let option: Ident = input.parse()?;
        match option.to_string().as_str() {
            "catalog" => {
                input.parse::<Token![=]>()?;
                self.catalog = Some(input.parse()?);
            }
            "fields" => {
                let fields;
                parenthesized!(fields in input);
                self.fields.extend(Punctuated::<_, Token![,]>::parse_terminated(&fields)?);
            }
            "slower_than" => {
                input.parse::<Token![=]>()?;
                self.slower_than = duration(&input.parse()?)?;
            }
            "polling" => self.polling = Some(option),
            _ => {
                let message = format!(
                    "there is no option `{option}`; there are `fields(name = value)`, `slower_than = \"1ms\"`, \
                     `polling` and `catalog = \"path of the catalog\"`"
                );
                return Err(syn::Error::new(option.span(), message));
            }
        }
        Ok(())
    }
}

impl Parse for FieldOption {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        let how = if input.peek(Token![%]) {
            input.parse::<Token![%]>()?;
            How::Display
        } else if input.peek(Token![?]) {
            input.parse::<Token![?]>()?;
            How::Debug
        } else {
            How::Plain
        };
        Ok(FieldOption { name, how, expression: input.parse()? })
    }
}

/// `1ms`
fn duration(text: &LitStr) -> syn::Result<Duration> {
    let value = text.value();
    let digits = value.find(|character: char| !character.is_ascii_digit()).unwrap_or(value.len());
    let (number, unit) = value.split_at(digits);
    let in_a_unit: u64 = match unit.trim() {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => 0,
    };
    match number.parse::<u64>().ok().and_then(|number| number.checked_mul(in_a_unit)) {
        Some(nanoseconds) if nanoseconds > 0 => Ok(Duration::from_nanos(nanoseconds)),
        _ => {
            let message =
                format!("`{value}` is no time: write a whole number of `ns`, `us`, `ms` or `s`, as in `1ms`");
            Err(syn::Error::new(text.span(), message))
        }
    }
}
