//! Whether a command was called, or only queued.
//!
//! After MULTI, and while clients are paused, commands pass the filter and are kept for later. The server does not tell a
//! module of it, but then it keeps their arguments as well, and frees them otherwise. So the module holds on to the name of a
//! command, and sees where the command ends whether anybody else still does.
//!
//! The number of holders is in the server's objects, not in its API. Where it is, and what one holder adds to it, is tried out
//! on an object that nobody else has.

use std::ptr::null_mut;

use super::api::{Api, Text};

/// The offset of the number in all releases up to Valkey 9, after type, encoding and age.
const OFFSET: usize = 4;

/// How holders are counted in this server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holders {
    /// What one holder adds; larger than 1 where the low bits are flags.
    one: u32,
}

impl Holders {
    /// Tries it out; `None` if objects are laid out in another way.
    ///
    /// # Safety
    /// The functions are those of the running server.
    pub unsafe fn find(api: &Api) -> Option<Holders> {
        // SAFETY: the object is ours; the server takes a null context.
        let counts = unsafe {
            let text = (api.create_text)(null_mut(), c"held".as_ptr(), 4);
            let mut counts = [read(text), 0, 0, 0];
            for count in &mut counts[1..3] {
                (api.hold_text)(null_mut(), text);
                *count = read(text);
            }
            (api.free_text)(null_mut(), text);
            (api.free_text)(null_mut(), text);
            counts[3] = read(text);
            (api.free_text)(null_mut(), text);
            counts
        };
        Holders::from_counts(counts)
    }

    /// From what is read with one, two, three and again one holder.
    fn from_counts([first, second, third, last]: [u32; 4]) -> Option<Holders> {
        let one = second.wrapping_sub(first);
        let is_regular = one.is_power_of_two() && third.wrapping_sub(second) == one && last == first;
        (is_regular && first & !(one - 1) == one).then_some(Holders { one })
    }

    /// Whether the text has no other holder.
    ///
    /// # Safety
    /// The text is held.
    pub unsafe fn is_last(self, text: *const Text) -> bool {
        // SAFETY: it is a valid object of the server.
        let count = unsafe { read(text) };
        count & !(self.one - 1) == self.one
    }
}

/// # Safety
/// The text is a valid object of a server, which has at least 16 bytes.
unsafe fn read(text: *const Text) -> u32 {
    // SAFETY: it lies within the object, and objects are aligned to 8 bytes.
    unsafe { text.cast::<u8>().add(OFFSET).cast::<u32>().read_volatile() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_of_released_servers_are_understood_and_others_refused() {
        assert_eq!(Holders::from_counts([1, 2, 3, 1]), Some(Holders { one: 1 }));
        assert_eq!(Holders::from_counts([4, 8, 12, 4]), Some(Holders { one: 4 }));
        assert_eq!(Holders::from_counts([5, 9, 13, 5]), Some(Holders { one: 4 }), "with a flag");
        for other in
            [[0, 0, 0, 0], [1, 2, 2, 1], [1, 2, 3, 2], [2, 3, 4, 2], [3, 6, 9, 3], [1, 0, u32::MAX, 1]]
        {
            assert_eq!(Holders::from_counts(other), None, "{other:?}");
        }
    }
}
