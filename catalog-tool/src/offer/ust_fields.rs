//! The fields of an event as its provider describes them, spelled as catalogs do.
//!
//! ```text
//! field:    struct_size · name · → type · flags (1: not recorded)
//! type:     kind, struct_size (u32 each), and then
//!   integer:  bits u32 · alignment u16 · signed:1, swapped:1 · base u32
//!   string:   encoding u32
//!   float:    exponent bits u32 · mantissa bits u32
//!   enum:     → enum (struct_size · name …) · → container
//!   array:    → element · length u32 · alignment u32 · encoding u32
//!   sequence: → name of the length field · → element · alignment u32 · encoding u32
//! ```

use super::image::Image;
use super::model::UstField;

const LONGEST_NAME: usize = 256;
/// Far more than the macros make from ten arguments.
const MOST_FIELDS: u64 = 256;

/// The fields in a table of pointers; `None` if this is not one.
pub fn fields(image: &Image<'_>, table: Option<u64>, count: u64) -> Option<Vec<UstField>> {
    if count == 0 {
        return Some(Vec::new());
    }
    let table = table.filter(|_| count <= MOST_FIELDS)?;
    let read = |index| field(image, image.pointer(table.checked_add(index * image.address_size)?)?);
    let mut fields: Vec<UstField> = (0..count).map(read).collect::<Option<_>>()?;
    // The macros record the length of a list in a field before it; it is a part of the list.
    let lengths: Vec<String> = fields.iter().map(|field| format!("_{}_length", field.name)).collect();
    let mut next = 0;
    fields.retain(|field| {
        next += 1;
        lengths.get(next).is_none_or(|length| field.name != *length)
    });
    Some(fields)
}

fn field(image: &Image<'_>, at: u64) -> Option<UstField> {
    let width = image.address_size;
    let name = image.text(image.pointer(at.checked_add(width)?)?, LONGEST_NAME)?;
    let kind = image.pointer(at.checked_add(2 * width)?)?;
    let flags = image.u32(at.checked_add(3 * width)?)?;
    Some(UstField { name, kind: spelling(image, kind)?, recorded: flags & 1 == 0 })
}

fn spelling(image: &Image<'_>, at: u64) -> Option<String> {
    let width = image.address_size;
    let pointer = |offset: u64| image.pointer(at.checked_add(offset)?);
    let number = |offset: u64| image.u32(at.checked_add(offset)?);
    Some(match image.u32(at)? {
        0 => integer(image, at)?,
        1 => "string".to_owned(),
        2 => if number(12)? == 24 { "f32" } else { "f64" }.to_owned(),
        4 => format!("enum {}", image.text(image.pointer(pointer(8)?.checked_add(width)?)?, LONGEST_NAME)?),
        5 => {
            let length = number(8 + width)?;
            let is_text = number(16 + width)? != 0;
            format!("[{}; {length}]", if is_text { "char".to_owned() } else { integer(image, pointer(8)?)? })
        }
        6 => {
            let is_text = number(12 + 2 * width)? != 0;
            match integer(image, pointer(8 + width)?)? {
                _ if is_text => "text".to_owned(),
                element if element == "u8 hex" => "bytes".to_owned(),
                element => format!("[{element}]"),
            }
        }
        _ => return None,
    })
}

fn integer(image: &Image<'_>, at: u64) -> Option<String> {
    if image.u32(at)? != 0 {
        return None;
    }
    let bits = image.u32(at.checked_add(8)?).filter(|bits| [8, 16, 32, 64].contains(bits))?;
    let flags = image.bytes(at.checked_add(14)?)?.first()?;
    let sign = if flags & 1 != 0 { 'i' } else { 'u' };
    let order = if flags & 2 != 0 { " network" } else { "" };
    let base = if image.u32(at.checked_add(16)?)? == 16 { " hex" } else { "" };
    Some(format!("{sign}{bits}{order}{base}"))
}
