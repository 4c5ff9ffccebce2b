//! Amounts, names and untrusted texts in words, for every view and for the reasons that findings give.

pub mod amount;
pub mod escape;
mod guess;
mod name;

pub use guess::suggestion;
pub use name::short_name;
