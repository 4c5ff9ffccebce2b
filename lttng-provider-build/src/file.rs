//! What a generator returns.

/// A generated file, to be written by the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GeneratedFile {
    /// The name, without a folder.
    pub name: String,
    /// The text.
    pub text: String,
}

impl GeneratedFile {
    /// Whether the file is for the C compiler.
    pub fn is_c_source(&self) -> bool {
        self.name.ends_with(".c")
    }
}
