//! What is in the parentheses of `#[traced(…)]`.

use std::time::Duration;

use lttng_catalog::Unit;
use proc_macro2::Span;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Ident, LitStr, Token, parenthesized};

use crate::expression::Expression;
use crate::target::Target;

/// `shop::delivered, fields(city = %address), slower_than = "1ms", polling`
pub(super) struct Options {
    /// The event of the function, and those of `also(…)`.
    pub(super) events: Vec<EventOption>,
    pub(super) catalog: Option<LitStr>,
    pub(super) slower_than: Duration,
    /// The word itself, for messages.
    pub(super) polling: Option<Ident>,
}

/// `shop::delivered, fields(city = %address), when = ret.is_ok()`
pub(super) struct EventOption {
    pub(super) target: Target,
    pub(super) fields: Vec<FieldOption>,
    /// Whether it is recorded at all.
    pub(super) when: Option<Expression>,
}

/// `city = %address`
pub(super) struct FieldOption {
    pub(super) name: Ident,
    pub(super) how: How,
    pub(super) expression: Expression,
}

/// How an expression is recorded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// As it is.
    Plain,
    /// `%`: as `Display` prints it.
    Display,
    /// `?`: as `Debug` prints it.
    Debug,
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.is_empty() {
            let message = "the event is missing: name it, as in `#[traced(shop::checkout)]`";
            return Err(syn::Error::new(Span::call_site(), message));
        }
        let event = EventOption { target: input.parse()?, fields: Vec::new(), when: None };
        let mut options =
            Options { events: vec![event], catalog: None, slower_than: Duration::ZERO, polling: None };
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
            "fields" => self.events[0].parse_fields(input)?,
            "also" => {
                let event;
                parenthesized!(event in input);
                self.events.push(event.parse()?);
            }
            "slower_than" => {
                input.parse::<Token![=]>()?;
                self.slower_than = duration(&input.parse()?)?;
            }
            "polling" => self.polling = Some(option),
            _ => {
                let message = format!(
                    "unknown option `{option}`; the options are `fields(name = value)`, `also(another::event)`, \
                     `slower_than = \"1ms\"`, `polling` and `catalog = \"path of the catalog\"`"
                );
                return Err(syn::Error::new(option.span(), message));
            }
        }
        Ok(())
    }
}

impl EventOption {
    fn parse_fields(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let fields;
        parenthesized!(fields in input);
        self.fields.extend(Punctuated::<_, Token![,]>::parse_terminated(&fields)?);
        Ok(())
    }
}

impl Parse for EventOption {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut event = EventOption { target: input.parse()?, fields: Vec::new(), when: None };
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let option: Ident = input.parse()?;
            match option.to_string().as_str() {
                "fields" => event.parse_fields(input)?,
                "when" => {
                    input.parse::<Token![=]>()?;
                    event.when = Some(input.parse()?);
                }
                _ => {
                    let message = format!(
                        "unknown option `{option}` for a further event; the options are `fields(name = value)` and \
                         `when = condition`"
                    );
                    return Err(syn::Error::new(option.span(), message));
                }
            }
        }
        Ok(event)
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
    let in_a_unit = Unit::from_name(unit.trim()).and_then(Unit::nanoseconds).unwrap_or(0);
    match number.parse::<u64>().ok().and_then(|number| number.checked_mul(in_a_unit)) {
        Some(nanoseconds) if nanoseconds > 0 => Ok(Duration::from_nanos(nanoseconds)),
        _ => {
            let message = format!(
                "invalid time `{value}`: write a whole number of `ns`, `us`, `ms` or `s`, as in `1ms`"
            );
            Err(syn::Error::new(text.span(), message))
        }
    }
}
