//! Amounts and untrusted texts in words, for every view and for the reasons that findings give.

pub mod amount;
pub mod escape;
mod guess;

pub use guess::nearest;
