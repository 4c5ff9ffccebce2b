#![doc = include_str!("../README.md")]

mod ffi;
mod line;
mod timekeeper;
