//! The conversions from a program's values to what fields record, for the derive macros.

use std::borrow::Cow;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use crate::{Text, Unit};

/// A value that can be recorded as a `T`, the type of the field in the catalog.
///
/// | in the catalog | `T` | recorded from |
/// |---|---|---|
/// | `u8` … `i64`, `f32`, `f64`, `bool` | the same | the same, and numbers that always fit; `usize` as `u64` |
/// | an integer with a unit of time | [`Time`] | [`Duration`], and the above |
/// | `string`, `text`, `[char; N]` | [`Text`] | `str`, `[u8]`, `CStr`, `OsStr`, `Path` and their owned types |
/// | `[u16]`, `bytes` | `&[u16]`, `&[u8]` | slices, arrays, `Vec` |
/// | `[u16; 3]` | `&[u16; 3]` | the same array |
/// | `enum kind` | the generated enum | the same, and types that derive [`EventEnum`](crate::EventEnum) |
///
/// References, `Box`, `Rc`, `Arc` and `Cow` are recorded as what they refer to. An `Option` of text or of a
/// list is recorded as empty if it is `None`; for other types the field says what to record for `None`:
/// `#[event(none = 0)]`.
///
/// A newtype is recorded as what it wraps if it derives [`EventValue`](crate::EventValue); other types
/// implement this trait:
///
/// ```
/// use lttng_provider::{Text, Value};
///
/// struct Command {
///     name: String,
///     arguments: Vec<String>,
/// }
///
/// impl<'a> Value<'a, Text<'a>> for Command {
///     fn value(&'a self) -> Text<'a> {
///         self.name.value()
///     }
/// }
/// # let command = Command { name: "get".into(), arguments: vec![] };
/// # assert_eq!(command.value().bytes(), b"get");
/// # let _ = command.arguments;
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be recorded as `{T}`",
    label = "the catalog has `{T}` here",
    note = "`Text` is any string, bytes or path, and `Time` a `Duration` or a number in the unit of the field",
    note = "a number is recorded where every number of its type fits; convert others first",
    note = "a newtype needs `#[derive(EventValue)]`, and an enum `#[derive(EventEnum)]`",
    note = "a field that is an `Option`, but neither of text nor of a list, needs `#[event(none = …)]`"
)]
pub trait Value<'a, T> {
    /// The value as it is recorded.
    fn value(&'a self) -> T;
}

/// A [`Value`] in `#[traced]`, where the compiler gives other advice than for the field of a struct.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be recorded as `{T}`",
    label = "the catalog has `{T}` here",
    note = "`Text` is any string, bytes or path; of other types, `fields(name = %value)` records what `Display` prints, and \
            `?value` what `Debug` does",
    note = "a number is recorded where every number of its type fits, and `Time` is a `Duration` or a number in the unit of \
            the field; convert others: `fields(name = value as u32)`",
    note = "an `Option` is recorded if it is of text or of a list; say what `None` is for others: `fields(name = \
            value.unwrap_or(0))`",
    note = "a newtype needs `#[derive(EventValue)]`, and an enum `#[derive(EventEnum)]`"
)]
pub trait TracedValue<'a, T> {
    /// See [`Value::value`].
    fn traced_value(&'a self) -> T;
}

#[diagnostic::do_not_recommend]
impl<'a, T, V: Value<'a, T> + ?Sized> TracedValue<'a, T> for V {
    #[inline(always)]
    fn traced_value(&'a self) -> T {
        self.value()
    }
}

/// What a function returns whose `#[traced]` has fields with `err`.
#[diagnostic::on_unimplemented(
    message = "`err` is the error of a `Result`, but the function returns `{Self}`",
    label = "no error to record",
    note = "use `ret`, which is a reference to what the function returns"
)]
pub trait Fallible {
    /// The error.
    type Error;

    /// The error, if there is one.
    fn error(&self) -> Option<&Self::Error>;
}

impl<T, E> Fallible for Result<T, E> {
    type Error = E;

    #[inline(always)]
    fn error(&self) -> Option<&E> {
        self.as_ref().err()
    }
}

/// A time that a field records as a number: a [`Duration`], or a number in the field's unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Time<T> {
    /// A time that is converted to the field's unit.
    Duration(Duration),
    /// A number in the field's unit.
    Count(T),
}

/// Types that are recorded as themselves and as every type that holds all of their values.
macro_rules! numbers {
    ($($from:ident => $($to:ident)+;)+) => {
        $($(
            #[diagnostic::do_not_recommend]
            impl Value<'_, $to> for $from {
                #[inline]
                fn value(&self) -> $to {
                    *self as $to
                }
            }
        )+)+
    };
}

/// Numbers that may also be a time.
macro_rules! integers {
    ($($from:ident => $($to:ident)+;)+) => {
        numbers!($($from => $($to)+;)+);

        $($(
            #[diagnostic::do_not_recommend]
            impl Value<'_, Time<$to>> for $from {
                #[inline]
                fn value(&self) -> Time<$to> {
                    Time::Count(self.value())
                }
            }
        )+)+
    };
}

integers! {
    u8 => u8 u16 u32 u64 i16 i32 i64;
    u16 => u16 u32 u64 i32 i64;
    u32 => u32 u64 i64;
    u64 => u64;
    usize => u64;
    i8 => i8 i16 i32 i64;
    i16 => i16 i32 i64;
    i32 => i32 i64;
    i64 => i64;
    isize => i64;
}

numbers! {
    f32 => f32 f64;
    f64 => f64;
    bool => bool;
}

/// Integers that hold a time.
macro_rules! times {
    ($($integer:ident)+) => {
        $(
            #[diagnostic::do_not_recommend]
            impl Value<'_, Time<$integer>> for Duration {
                #[inline]
                fn value(&self) -> Time<$integer> {
                    Time::Duration(*self)
                }
            }

            impl Time<$integer> {
                /// The number in this unit; saturates.
                #[inline]
                pub fn count(self, unit: Unit) -> $integer {
                    match self {
                        Time::Duration(duration) => unit.count(duration).try_into().unwrap_or($integer::MAX),
                        Time::Count(count) => count,
                    }
                }
            }
        )+
    };
}

times!(u8 u16 u32 u64 i8 i16 i32 i64);

#[diagnostic::do_not_recommend]
impl<'a> Value<'a, Text<'a>> for Text<'_> {
    #[inline]
    fn value(&'a self) -> Text<'a> {
        *self
    }
}

/// Types that [`Text`] is made from.
macro_rules! texts {
    ($($type:ty)+) => {
        $(
            #[diagnostic::do_not_recommend]
            impl<'a> Value<'a, Text<'a>> for $type {
                #[inline]
                fn value(&'a self) -> Text<'a> {
                    Text::from(self)
                }
            }
        )+
    };
}

texts!(str String [u8] Vec<u8> CStr CString OsStr OsString Path PathBuf);

#[diagnostic::do_not_recommend]
impl<'a, const LENGTH: usize> Value<'a, Text<'a>> for [u8; LENGTH] {
    #[inline]
    fn value(&'a self) -> Text<'a> {
        Text::Bytes(self)
    }
}

#[diagnostic::do_not_recommend]
impl<'a, E> Value<'a, &'a [E]> for [E] {
    #[inline]
    fn value(&'a self) -> &'a [E] {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<'a, E> Value<'a, &'a [E]> for Vec<E> {
    #[inline]
    fn value(&'a self) -> &'a [E] {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<'a, E, const LENGTH: usize> Value<'a, &'a [E]> for [E; LENGTH] {
    #[inline]
    fn value(&'a self) -> &'a [E] {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<'a, E, const LENGTH: usize> Value<'a, &'a [E; LENGTH]> for [E; LENGTH] {
    #[inline]
    fn value(&'a self) -> &'a [E; LENGTH] {
        self
    }
}

/// Pointers are recorded as what they point to.
macro_rules! pointers {
    ($($pointer:ty),+) => {
        $(
            #[diagnostic::do_not_recommend]
            impl<'a, T, V: Value<'a, T> + ?Sized> Value<'a, T> for $pointer {
                #[inline]
                fn value(&'a self) -> T {
                    (**self).value()
                }
            }
        )+
    };
}

pointers!(&V, &mut V, Box<V>, Rc<V>, Arc<V>);

#[diagnostic::do_not_recommend]
impl<'a, T, V: Value<'a, T> + ToOwned + ?Sized> Value<'a, T> for Cow<'_, V> {
    #[inline]
    fn value(&'a self) -> T {
        (**self).value()
    }
}

#[diagnostic::do_not_recommend]
impl<'a, V: Value<'a, Text<'a>>> Value<'a, Text<'a>> for Option<V> {
    #[inline]
    fn value(&'a self) -> Text<'a> {
        self.as_ref().map(V::value).unwrap_or_default()
    }
}

#[diagnostic::do_not_recommend]
impl<'a, E, V: Value<'a, &'a [E]>> Value<'a, &'a [E]> for Option<V> {
    #[inline]
    fn value(&'a self) -> &'a [E] {
        self.as_ref().map(V::value).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duration_is_counted_in_the_unit_of_the_field() {
        let duration = Duration::from_micros(1_500);
        let time: Time<u64> = duration.value();
        assert_eq!(time.count(Unit::Microseconds), 1_500);
        assert_eq!(time.count(Unit::Milliseconds), 1);
        let small: Time<u8> = duration.value();
        assert_eq!(small.count(Unit::Microseconds), u8::MAX);
    }

    #[test]
    fn number_is_taken_to_be_in_the_unit_of_the_field() {
        let time: Time<u64> = 7_u32.value();
        assert_eq!(time.count(Unit::Seconds), 7);
    }

    #[test]
    fn no_text_and_no_list_are_empty() {
        let text: Text<'_> = None::<&str>.value();
        assert_eq!(text.bytes(), b"");
        let list: &[u16] = None::<Vec<u16>>.value();
        assert!(list.is_empty());
    }

    #[test]
    fn pointers_are_seen_through() {
        let shared: Arc<str> = "apples".into();
        let pointer = Some(&&shared);
        let text: Text<'_> = pointer.value();
        assert_eq!(text.bytes(), b"apples");
        let number: i64 = Box::new(Cow::Borrowed(&3_u8)).value();
        assert_eq!(number, 3);
    }
}
