//! The fields that a consumer wants, and handles to their values.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::decode::fast::stretch::StoredField;
use crate::{ClassIndex, EventClass, FieldKind, Value};

/// A field of an event class that is decoded: where its value is in each event of that class, and of which type.
///
/// [`Wanted`] hands it out, once for each class; reading a value through it looks nothing up. The type is one of
/// [`FieldType`]: by default any [`Value`].
///
/// ```
/// # mod made { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/example.rs")); }
/// # use made::*;
/// use ctf_reader::{Field, Wanted, Window};
///
/// let reader = example();
/// let mut wanted = Wanted::of(reader.classes().next().unwrap());
/// let duration: Field<u64> = wanted.field("duration").unwrap();
/// let name: Field<[u8]> = wanted.field("name").unwrap();
/// assert_eq!(wanted.field::<u64>("name"), None, "it is a text");
///
/// let mut events = reader.in_order(Window::default(), move |_| Some(wanted.clone()));
/// let event = events.next_event().event().unwrap();
/// assert_eq!((event.value(name), event.value(duration)), (&b"Ada"[..], 12));
/// ```
pub struct Field<T: ?Sized = Value<'static>> {
    class: u32,
    slot: u32,
    kind: PhantomData<fn() -> T>,
}

impl<T: ?Sized> Field<T> {
    /// Where its value is among those that are wanted of events of this class.
    ///
    /// # Panics
    /// If it is a field of another class.
    #[inline(always)]
    pub(crate) fn slot(self, class: ClassIndex) -> usize {
        if self.class as ClassIndex != class {
            of_another_class();
        }
        self.slot as usize
    }
}

impl Field {
    /// The same field, read as a type that all values of its kind are of.
    #[doc(hidden)]
    pub fn of_kind<T: FieldType + ?Sized>(self, kind: FieldKind) -> Option<Field<T>> {
        T::fits(kind).then_some(Field { class: self.class, slot: self.slot, kind: PhantomData })
    }
}

#[cold]
fn of_another_class() -> ! {
    panic!("the field is one of another event class")
}

impl<T: ?Sized> Clone for Field<T> {
    fn clone(&self) -> Field<T> {
        *self
    }
}

impl<T: ?Sized> Copy for Field<T> {}

impl<T: ?Sized> PartialEq for Field<T> {
    fn eq(&self, other: &Field<T>) -> bool {
        (self.class, self.slot) == (other.class, other.slot)
    }
}

impl<T: ?Sized> Eq for Field<T> {}

impl<T: ?Sized> fmt::Debug for Field<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Field").field("class", &self.class).field("slot", &self.slot).finish_non_exhaustive()
    }
}

/// The fields of an event class that are to be decoded.
#[derive(Clone, Debug)]
pub struct Wanted {
    class: Arc<EventClass>,
    /// Each once, as indexes into the fields of the class.
    fields: Vec<usize>,
}

impl Wanted {
    /// The events of a class, with their times and no fields yet.
    pub fn of(class: &Arc<EventClass>) -> Wanted {
        Wanted { class: Arc::clone(class), fields: Vec::new() }
    }

    /// The events of a class with all of its fields.
    pub fn all(class: &Arc<EventClass>) -> Wanted {
        Wanted { fields: (0..class.fields.len()).collect(), ..Wanted::of(class) }
    }

    /// Asks for the field with this name, if the class has it and its values are of this type.
    pub fn field<T: FieldType + ?Sized>(&mut self, name: &str) -> Option<Field<T>> {
        self.class.field(name).and_then(|index| self.field_at(index))
    }

    /// Asks for the field with this index in [`EventClass::fields`], if its values are of this type.
    pub fn field_at<T: FieldType + ?Sized>(&mut self, index: usize) -> Option<Field<T>> {
        let fits = self.class.fields.get(index).is_some_and(|field| T::fits(field.kind));
        fits.then(|| self.slot(index))
    }

    /// Asks for the field with this index in [`EventClass::fields`], whatever its values are.
    ///
    /// # Panics
    /// If the class has no such field.
    pub fn value_at(&mut self, index: usize) -> Field {
        assert!(index < self.class.fields.len(), "the class has no field {index}");
        self.slot(index)
    }

    /// The fields that are wanted, as indexes into [`EventClass::fields`], in the order of [`Decoded::values`](crate::Decoded::values).
    pub fn indexes(&self) -> &[usize] {
        &self.fields
    }

    /// The same fields, to read their values.
    pub fn fields(&self) -> impl Iterator<Item = Field> {
        (0..self.fields.len()).map(|slot| self.handle(slot))
    }

    fn slot<T: ?Sized>(&mut self, index: usize) -> Field<T> {
        let known = self.fields.iter().position(|&wanted| wanted == index);
        let slot = known.unwrap_or_else(|| {
            self.fields.push(index);
            self.fields.len() - 1
        });
        self.handle(slot)
    }

    fn handle<T: ?Sized>(&self, slot: usize) -> Field<T> {
        Field { class: self.class.index as u32, slot: slot as u32, kind: PhantomData }
    }
}

/// Wants all fields of a class, for consumers that take everything.
pub fn all_fields(class: &Arc<EventClass>) -> Option<Wanted> {
    Some(Wanted::all(class))
}

/// A type that fields can be read as: `u64` and `i64` (any integer, in two's complement), `f64`, `bool`, `[u8]` (text, which is
/// not always UTF-8) and [`Value`], which is any of these and all others.
pub trait FieldType: sealed::Read {}

pub(crate) mod sealed {
    use super::{FieldKind, StoredField, Value};

    /// How a value becomes one of the type.
    pub trait Read {
        type Read<'a>;

        /// Whether all values of this kind are of the type.
        fn fits(kind: FieldKind) -> bool;

        /// The value, which is of such a kind.
        fn read(value: Value<'_>) -> Self::Read<'_>;

        /// The value of a field in an event with these marks.
        #[inline(always)]
        fn read_stored<'a>(field: &'a StoredField, bytes: &'a [u8], marks: &[u32]) -> Self::Read<'a> {
            Self::read(field.value(bytes, marks))
        }
    }
}

impl FieldType for Value<'static> {}

impl sealed::Read for Value<'static> {
    type Read<'a> = Value<'a>;

    fn fits(_: FieldKind) -> bool {
        true
    }

    #[inline(always)]
    fn read(value: Value<'_>) -> Value<'_> {
        value
    }
}

macro_rules! read_integers_as {
    ($($type:ty),*) => {$(
        impl FieldType for $type {}

        impl sealed::Read for $type {
            type Read<'a> = $type;

            fn fits(kind: FieldKind) -> bool {
                kind == FieldKind::Integer
            }

            #[inline(always)]
            fn read(value: Value<'_>) -> $type {
                value.integer().unwrap_or_default() as $type
            }

            #[inline(always)]
            fn read_stored<'a>(field: &'a StoredField, bytes: &'a [u8], marks: &[u32]) -> $type {
                field.integer(bytes, marks).unwrap_or_default() as $type
            }
        }
    )*};
}

read_integers_as! { u64, i64 }

macro_rules! read_as {
    ($($type:ty => $read:ty, $kind:ident, $pattern:pat => $value:expr;)*) => {$(
        impl FieldType for $type {}

        impl sealed::Read for $type {
            type Read<'a> = $read;

            fn fits(kind: FieldKind) -> bool {
                kind == FieldKind::$kind
            }

            #[inline(always)]
            fn read(value: Value<'_>) -> Self::Read<'_> {
                match value {
                    $pattern => $value,
                    _ => Default::default(),
                }
            }
        }
    )*};
}

read_as! {
    f64 => f64, Float, Value::Float(number) => number;
    bool => bool, Bool, Value::Bool(truth) => truth;
}

impl FieldType for [u8] {}

impl sealed::Read for [u8] {
    type Read<'a> = &'a [u8];

    fn fits(kind: FieldKind) -> bool {
        kind == FieldKind::Text
    }

    #[inline(always)]
    fn read(value: Value<'_>) -> &[u8] {
        if let Value::Text(text) = value { text } else { &[] }
    }

    #[inline(always)]
    fn read_stored<'a>(field: &'a StoredField, bytes: &'a [u8], marks: &[u32]) -> &'a [u8] {
        field.text(bytes, marks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Base, Decoded, FieldClass, Scope};

    /// A class of one integer and one text.
    fn class(index: ClassIndex) -> Arc<EventClass> {
        let field = |(name, kind): (&str, FieldKind)| FieldClass {
            name: name.into(),
            scope: Scope::Payload,
            kind,
            base: Base::Decimal,
        };
        let fields = [("size", FieldKind::Integer), ("name", FieldKind::Text)].map(field);
        let name = "e".to_owned();
        let fields = fields.into_iter().collect();
        Arc::new(EventClass { index, name, log_level: None, model_uri: None, fields, trace: 0 })
    }

    #[test]
    fn fields_are_wanted_once_and_only_as_what_they_are() {
        let mut wanted = Wanted::of(&class(0));
        let name = wanted.field::<[u8]>("name").unwrap();
        let any = wanted.value_at(0);
        assert_eq!(wanted.field_at::<[u8]>(1), Some(name));
        assert_eq!((wanted.field::<u64>("name"), wanted.field::<bool>("size")), (None, None));
        assert_eq!((wanted.field::<f64>("missing"), wanted.field_at::<u64>(2)), (None, None));
        assert_eq!(wanted.fields, [1, 0]);
        let values = [Value::Text(b"Ada"), Value::Signed(-1)];
        let decoded = Decoded { timestamp: 0, values: &values };
        let event = decoded.events(0).get(0);
        assert_eq!((event.value(name), event.value(any)), (&b"Ada"[..], Value::Signed(-1)));
        let (unsigned, signed) = (wanted.field::<u64>("size").unwrap(), wanted.field::<i64>("size").unwrap());
        assert_eq!((event.value(unsigned), event.value(signed)), (u64::MAX, -1));
    }

    #[test]
    #[should_panic(expected = "another event class")]
    fn a_field_of_another_class_is_refused() {
        let field = Wanted::of(&class(1)).value_at(0);
        let decoded = Decoded { timestamp: 0, values: &[Value::Unsigned(1)] };
        _ = decoded.events(0).get(0).value(field);
    }
}
