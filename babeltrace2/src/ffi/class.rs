//! Classes: what is known of events and fields before their values.

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use super::bindings::*;
use super::text;

/// An event class.
#[derive(Clone, Copy)]
pub struct BtEventClass<'a> {
    class: *const bt_event_class,
    lifetime: PhantomData<&'a ()>,
}

impl<'a> BtEventClass<'a> {
    /// # Safety
    ///
    /// The pointer leads to an event class that lives for `'a`.
    pub(super) unsafe fn from_raw(class: *const bt_event_class) -> Self {
        Self { class, lifetime: PhantomData }
    }

    /// Its number within its stream class.
    pub fn id(self) -> u64 {
        // SAFETY: the class is alive.
        unsafe { bt_event_class_get_id(self.class) }
    }

    /// Its full name.
    pub fn name(self) -> String {
        // SAFETY: the class is alive; the name may be null.
        unsafe { text(bt_event_class_get_name(self.class)) }
    }

    /// Its log level, as LTTng numbers them.
    pub fn log_level(self) -> Option<i64> {
        let mut level = BT_EVENT_CLASS_LOG_LEVEL_DEBUG;
        // SAFETY: the class is alive.
        let known = unsafe { bt_event_class_get_log_level(self.class, &mut level) };
        (known == BT_PROPERTY_AVAILABILITY_AVAILABLE).then(|| i64::from(level.0))
    }

    /// Where its model is described.
    pub fn model_uri(self) -> Option<String> {
        // SAFETY: the class is alive; the address may be null.
        let uri = unsafe { bt_event_class_get_emf_uri(self.class) };
        // SAFETY: it is a text of the class, which is alive.
        (!uri.is_null()).then(|| unsafe { text(uri) })
    }

    /// The packet's context.
    pub fn packet_context(self) -> Option<BtStructureClass<'a>> {
        // SAFETY: an event class has a stream class; a context may be null.
        unsafe {
            let stream = bt_event_class_borrow_stream_class_const(self.class);
            if bt_stream_class_supports_packets(stream) == 0 {
                return None;
            }
            BtStructureClass::from_raw(bt_stream_class_borrow_packet_context_field_class_const(stream))
        }
    }

    /// The context that all events of the stream have.
    pub fn common_context(self) -> Option<BtStructureClass<'a>> {
        // SAFETY: as above.
        unsafe {
            let stream = bt_event_class_borrow_stream_class_const(self.class);
            BtStructureClass::from_raw(bt_stream_class_borrow_event_common_context_field_class_const(stream))
        }
    }

    /// The context of this class's events.
    pub fn specific_context(self) -> Option<BtStructureClass<'a>> {
        // SAFETY: as above.
        unsafe {
            BtStructureClass::from_raw(bt_event_class_borrow_specific_context_field_class_const(self.class))
        }
    }

    /// The events' own fields.
    pub fn payload(self) -> Option<BtStructureClass<'a>> {
        // SAFETY: as above.
        unsafe { BtStructureClass::from_raw(bt_event_class_borrow_payload_field_class_const(self.class)) }
    }
}

/// The class of a field.
#[derive(Clone, Copy)]
pub struct BtFieldClass<'a> {
    class: *const bt_field_class,
    lifetime: PhantomData<&'a ()>,
}

/// What kind of field a class describes.
pub enum BtFieldType<'a> {
    /// An integer, or a truth value.
    Integer,
    /// A floating-point number.
    Real,
    /// Text.
    Text,
    /// An enumeration.
    Enumeration(BtEnumerationClass<'a>),
    /// A structure.
    Structure(BtStructureClass<'a>),
    /// An array or sequence, with its elements' class.
    Array(BtFieldClass<'a>),
    /// A variant, with its options.
    Variant(Vec<(String, BtFieldClass<'a>)>),
    /// None that CTF 1.8 has.
    Unknown,
}

impl<'a> BtFieldClass<'a> {
    /// What it describes.
    pub fn view(self) -> BtFieldType<'a> {
        // SAFETY: the class is alive, and each function is called for its type alone.
        unsafe {
            let kind = bt_field_class_get_type(self.class);
            if is(kind, BT_FIELD_CLASS_TYPE_ENUMERATION) {
                BtFieldType::Enumeration(BtEnumerationClass(self))
            } else if is(kind, BT_FIELD_CLASS_TYPE_INTEGER) || kind == BT_FIELD_CLASS_TYPE_BOOL {
                BtFieldType::Integer
            } else if is(kind, BT_FIELD_CLASS_TYPE_REAL) {
                BtFieldType::Real
            } else if kind == BT_FIELD_CLASS_TYPE_STRING {
                BtFieldType::Text
            } else if kind == BT_FIELD_CLASS_TYPE_STRUCTURE {
                BtFieldType::Structure(BtStructureClass(self))
            } else if is(kind, BT_FIELD_CLASS_TYPE_ARRAY) {
                let class = bt_field_class_array_borrow_element_field_class_const(self.class);
                BtFieldType::Array(Self { class, lifetime: PhantomData })
            } else if is(kind, BT_FIELD_CLASS_TYPE_VARIANT) {
                let count = bt_field_class_variant_get_option_count(self.class);
                let option = |index| {
                    let option = bt_field_class_variant_borrow_option_by_index_const(self.class, index);
                    let class = bt_field_class_variant_option_borrow_field_class_const(option);
                    let name = text(bt_field_class_variant_option_get_name(option));
                    (name, Self { class, lifetime: PhantomData })
                };
                BtFieldType::Variant((0..count).map(option).collect())
            } else {
                BtFieldType::Unknown
            }
        }
    }
}

/// Whether a field class type is another one, or a kind of it.
pub(super) fn is(kind: bt_field_class_type, other: bt_field_class_type) -> bool {
    kind.0 & other.0 == other.0
}

/// The class of a structure.
#[derive(Clone, Copy)]
pub struct BtStructureClass<'a>(BtFieldClass<'a>);

impl<'a> BtStructureClass<'a> {
    /// # Safety
    ///
    /// The pointer is null, or leads to a structure's class that lives for `'a`.
    unsafe fn from_raw(class: *const bt_field_class) -> Option<Self> {
        (!class.is_null()).then_some(Self(BtFieldClass { class, lifetime: PhantomData }))
    }

    /// Its members with their names.
    pub fn members(self) -> Vec<(String, BtFieldClass<'a>)> {
        let class = self.0.class;
        // SAFETY: it is a structure's class, and indexes are below the count.
        unsafe {
            let member = |index| {
                let member = bt_field_class_structure_borrow_member_by_index_const(class, index);
                let class = bt_field_class_structure_member_borrow_field_class_const(member);
                let name = text(bt_field_class_structure_member_get_name(member));
                (name, BtFieldClass { class, lifetime: PhantomData })
            };
            (0..bt_field_class_structure_get_member_count(class)).map(member).collect()
        }
    }
}

/// The class of an enumeration.
#[derive(Clone, Copy)]
pub struct BtEnumerationClass<'a>(BtFieldClass<'a>);

/// Lists the labels of an enumeration: the same functions under two names. The casts are those of the
/// header's inline functions, from a mapping or set to its common part.
macro_rules! labels {
    ($class:expr, $mapping:ident, $ranges:ident, $range:ident, $lower:ident, $upper:ident) => {{
        let mut labels = Vec::new();
        for index in 0..bt_field_class_enumeration_get_mapping_count($class) {
            let mapping = $mapping($class, index);
            let label = text(bt_field_class_enumeration_mapping_get_label(mapping.cast()));
            let ranges = $ranges(mapping);
            for index in 0..bt_integer_range_set_get_range_count(ranges.cast()) {
                let range = $range(ranges, index);
                labels.push((label.clone(), $lower(range).into()..=$upper(range).into()));
            }
        }
        labels
    }};
}

impl BtEnumerationClass<'_> {
    /// Each label with a range of the values that carry it; a label may come several times.
    pub fn labels(self) -> Vec<(String, RangeInclusive<i128>)> {
        let class = self.0.class;
        // SAFETY: it is an enumeration's class, the functions are those for its sign, and indexes are below
        // their counts.
        unsafe {
            if is(bt_field_class_get_type(class), BT_FIELD_CLASS_TYPE_SIGNED_INTEGER) {
                labels!(
                    class,
                    bt_field_class_enumeration_signed_borrow_mapping_by_index_const,
                    bt_field_class_enumeration_signed_mapping_borrow_ranges_const,
                    bt_integer_range_set_signed_borrow_range_by_index_const,
                    bt_integer_range_signed_get_lower,
                    bt_integer_range_signed_get_upper
                )
            } else {
                labels!(
                    class,
                    bt_field_class_enumeration_unsigned_borrow_mapping_by_index_const,
                    bt_field_class_enumeration_unsigned_mapping_borrow_ranges_const,
                    bt_integer_range_set_unsigned_borrow_range_by_index_const,
                    bt_integer_range_unsigned_get_lower,
                    bt_integer_range_unsigned_get_upper
                )
            }
        }
    }
}
