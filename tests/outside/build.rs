fn main() {
    lttng_provider_build::compile("shop.toml");
}
