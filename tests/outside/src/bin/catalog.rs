//! The events of a catalog, with their fields.

use lttng_catalog::{Catalog, Errors};

fn main() -> Result<(), Errors> {
    let catalog = Catalog::read("shop.toml")?;
    for provider in &catalog.providers {
        for event in &provider.events {
            let fields: Vec<&str> = event.fields.iter().map(|field| field.name.as_str()).collect();
            println!("{}:{}({})", provider.name, event.name, fields.join(", "));
        }
    }
    Ok(())
}
