//! The macros as users see them: what is recorded, what compiles with tracing off, and what is refused.

mod end_to_end;
mod off;
mod outside;
mod refused;
