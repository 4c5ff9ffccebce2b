//! Functions whose signatures are hard to parse, each with values from its parameters and from its result.

#![allow(clippy::boxed_local, reason = "that is what is hard to parse")]

use std::collections::HashMap;
use std::fmt::{Debug, Display};
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use lttng_provider::traced;
use market::shop;

struct Pair<A, B> {
    city: A,
    rest: B,
}

struct Block<const N: usize>;

#[traced(shop::delivered, fields(parcels = ret.len() as u32))]
pub(crate) fn of_generics<'a, const N: usize, F: Fn(&'a str) -> Vec<u8>, D>(
    Pair { city, rest: (_, [first, ..]) }: Pair<&'a str, (D, [F; 1 + 1])>,
    _: [u8; N],
    #[allow(unused)] mut unused: Block<{ 1 + 2 }>,
) -> Vec<u8>
where
    D: Display + Into<HashMap<u8, Vec<u8>>> + FromPair<{ 2 > 1 }, 3>,
    for<'b> &'b D: Debug,
{
    #![allow(clippy::needless_return)]
    return first(city);
}

trait FromPair<const A: bool, const B: u8> {}

#[traced(shop::delivered, fields(city = "pointer", parcels = ret(1).count_ones()))]
unsafe extern "Rust" fn of_pointers(
    ret: fn(u8) -> u8,
    _: *const dyn Fn(u8) -> u8,
) -> for<'a> fn(&'a str) -> u8 {
    match ret(1) {
        1 => |text| text.len() as u8,
        _ => |_| 0,
    }
}

impl Pair<u8, u8> {
    #[traced(shop::delivered, fields(city = "self", parcels = <u32 as From<u8>>::from(self.city) + Self::two::<u8, u8>()))]
    fn of_self(mut self: Box<Self>, r#fn: u8) -> u8 {
        self.rest += r#fn;
        self.rest
    }

    #[traced(shop::delivered, fields(city = %city, parcels = 2), polling)]
    async fn of_self_later<'s>(&'s mut self, city: impl Display + 's) -> Result<&'s mut u8, ()> {
        self.rest += self::one();
        Ok(&mut self.rest)
    }

    fn two<A, B>() -> u32 {
        (size_of::<A>() + size_of::<B>()) as u32
    }
}

fn one() -> u8 {
    1
}

#[traced(shop::delivered, fields(city = "boxed", parcels = *ret))]
fn of_a_future(parcels: u32) -> Pin<Box<dyn Future<Output = u32> + Send + 'static>> {
    if parcels == 0 {
        return Box::pin(async { 0 });
    }
    std::boxed::Box::pin(async move { parcels })
}

macro_rules! by_macro {
    ($(#[$attribute:meta])* $visibility:vis $name:ident, $pattern:pat, $kind:ty, $result:ty, $value:expr, $body:block) => {
        $(#[$attribute])*
        #[traced(shop::delivered, fields(city = "macro", parcels = $value))]
        $visibility fn $name($pattern: $kind) -> $result $body
    };
}

by_macro!(#[inline] pub(crate) of_a_macro, (a, mut b), (u8, u8), u8, u32::from(a) + 1, {
    b += a;
    b
});

fn finished<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("nothing is waited for"),
    }
}

fn main() {
    // SAFETY: it only calls what it is given.
    let length = unsafe { of_pointers(|number| number, &|number: u8| number) };
    assert_eq!(length("abc"), 3);
    let mut pair = Pair { city: 1, rest: 2 };
    assert_eq!(finished(pair.of_self_later("x")), Ok(&mut 3));
    assert_eq!(Box::new(pair).of_self(4), 7);
    assert_eq!(finished(of_a_future(5)), 5);
    assert_eq!(of_a_macro((1, 2)), 3);
    let _ = of_generics::<1, fn(&'static str) -> Vec<u8>, Never>;
}

#[derive(Debug)]
enum Never {}

impl Display for Never {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {}
    }
}

impl From<Never> for HashMap<u8, Vec<u8>> {
    fn from(never: Never) -> Self {
        match never {}
    }
}

impl FromPair<true, 3> for Never {}
