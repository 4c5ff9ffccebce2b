//! What is generated, and what is refused.

mod c_compiles;
mod golden;
mod made;
