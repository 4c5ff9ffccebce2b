//! Declares events while it runs.

use lttng_runtime::{Error, Provider};

fn main() -> Result<(), Error> {
    let shop = Provider::new("market")?;
    shop.add("sale(article: string group, took: u64 us)  refund()")?;
    shop.event("sale")?.emit(&["book".into(), 12.into()]);
    shop.event("refund")?.emit(&[]);
    Ok(())
}
