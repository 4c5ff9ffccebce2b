#![allow(unused)]

use lttng_provider::traced;
use market::shop;

trait Till {
    #[traced(shop::checkout)]
    fn pay(&self);
}

fn main() {}
