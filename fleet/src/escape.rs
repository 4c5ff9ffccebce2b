//! Names that hosts have in paths.

/// A name as part of a path, as Hive escapes it. A trace is untrusted: the name may be anything.
pub fn escaped(name: &str) -> String {
    const MOST: usize = 160;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let escape = |(place, byte): (usize, u8)| match is_plain(byte) || (byte == b'.' && place > 0) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    let escaped: String = name.bytes().enumerate().map(escape).collect();
    if escaped.len() <= MOST { escaped } else { format!("{}-{}", &escaped[..MOST], key(&[name])) }
}

/// What stands for texts: the same for the same ones.
pub fn key(texts: &[impl AsRef<str>]) -> String {
    let bytes = texts.iter().flat_map(|text| text.as_ref().bytes().chain([0]));
    // FNV-1a, twice as wide as would do.
    let hash = bytes.fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128, |hash, byte| {
        (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
    });
    format!("{hash:032x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_named_as_a_path_can_be() {
        assert_eq!(escaped("shard-1.example.org"), "shard-1.example.org");
        assert_eq!(escaped("../etc/x=y"), "%2E./etc/x=y".replace('/', "%2F").replace('=', "%3D"));
        assert_eq!(escaped("ü"), "%C3%BC");
        let (one, other) = (escaped(&"a".repeat(1000)), escaped(&"a".repeat(1001)));
        assert!(one.len() < 200 && one != other, "{one}");
    }
}
