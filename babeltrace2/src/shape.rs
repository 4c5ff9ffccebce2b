//! What classes of Babeltrace describe, as plain data.

/// The class of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    Boolean,
    Unsigned(Integer),
    Signed(Integer),
    /// A floating-point number of 32 bits.
    Single,
    /// One of 64.
    Double,
    Text,
    Structure(Vec<Member>),
    Array {
        length: u64,
        element: Box<Shape>,
    },
    /// An array whose length another field has, where one is named.
    Sequence {
        length: Option<Location>,
        element: Box<Shape>,
    },
    Optional {
        /// The field that says whether there is a value, and the values of that field that say so.
        selector: Option<(Location, Ranges)>,
        content: Box<Shape>,
    },
    Variant {
        selector: Option<Location>,
        options: Vec<(Member, Ranges)>,
    },
}

/// The class of an integer.
#[derive(Clone, Debug, PartialEq)]
pub struct Integer {
    pub bits: u64,
    /// The base that people read it in.
    pub base: u64,
    /// The labels of an enumeration, in its order.
    pub labels: Vec<(String, Ranges)>,
}

/// A member of a structure, or an option of a variant.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    pub name: String,
    pub shape: Shape,
}

/// Ranges of values, first and last.
pub type Ranges = Vec<(i128, i128)>;

/// Where a field is: positions of members, from a scope on.
#[derive(Clone, Debug, PartialEq)]
pub struct Location {
    pub scope: Scope,
    pub path: Vec<u64>,
}

/// What fields of an event belong to, in the order of a packet's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    PacketContext,
    CommonContext,
    SpecificContext,
    Payload,
}

/// A trace, with all classes that are known of it.
#[derive(Debug)]
pub struct TraceShape {
    pub uuid: Option<[u8; 16]>,
    pub environment: Vec<(String, Constant)>,
    pub streams: Vec<StreamShape>,
}

/// A value of a trace's environment.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    Integer(i64),
    Text(String),
}

/// The class of a stream.
#[derive(Clone, Debug)]
pub struct StreamShape {
    pub id: u64,
    pub clock: Option<Clock>,
    pub packet_context: Option<Shape>,
    pub common_context: Option<Shape>,
    pub events: Vec<EventShape>,
}

/// A clock.
#[derive(Clone, Debug, PartialEq)]
pub struct Clock {
    pub name: String,
    pub frequency: u64,
    pub offset_seconds: i64,
    pub offset_cycles: u64,
    pub is_unix_time: bool,
}

/// The class of an event.
#[derive(Clone, Debug)]
pub struct EventShape {
    pub id: u64,
    pub name: String,
    pub log_level: Option<i64>,
    pub emf_uri: Option<String>,
    pub specific_context: Option<Shape>,
    pub payload: Option<Shape>,
}
