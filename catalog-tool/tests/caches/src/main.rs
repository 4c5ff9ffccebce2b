//! Emits every event of memcached's and Redis' catalogs, and prints for each what must be in the trace.

lttng_provider::include_events!();

/// A value, and how Babeltrace shows it.
trait Value: Sized {
    type Passed;
    fn passed(self) -> Self::Passed;
    fn shown(&self) -> String;
}

macro_rules! numbers {
    ($($type:ty)*) => {$(
        impl Value for $type {
            type Passed = $type;
            fn passed(self) -> $type {
                self
            }
            fn shown(&self) -> String {
                self.to_string()
            }
        }
    )*};
}
numbers!(i32 i64 u64);

impl Value for &'static str {
    type Passed = &'static str;
    fn passed(self) -> &'static str {
        self
    }
    fn shown(&self) -> String {
        format!("{self:?}")
    }
}

/// An address is recorded as a number and shown in hexadecimal.
struct Address(u64);

impl Value for Address {
    type Passed = u64;
    fn passed(self) -> u64 {
        self.0
    }
    fn shown(&self) -> String {
        format!("{:#X}", self.0).replacen("0X", "0x", 1)
    }
}

macro_rules! emit {
    ($($provider:ident : $event:ident ($($field:ident = $value:expr),*);)*) => {$(
        print!("{}:{}", stringify!($provider), stringify!($event));
        $(print!("\t{}={}", stringify!($field), Value::shown(&$value));)*
        println!();
        $provider::$event::emit($(Value::passed($value)),*);
    )*};
}

fn main() {
    emit! {
        memcached:conn__allocate(connid = 1);
        memcached:conn__release(connid = i32::MIN);
        memcached:conn__create(ptr = Address(u64::MAX));
        memcached:conn__destroy(ptr = Address(0));
        memcached:conn__dispatch(connid = 2, threadid = -1_839_094_080_000_i64);
        memcached:slabs__allocate(size = 100, slabclass = 5, slabsize = 120, ptr = Address(0xF0));
        memcached:slabs__allocate__failed(size = 101, slabclass = 6);
        memcached:slabs__slabclass__allocate(slabclass = 7);
        memcached:slabs__slabclass__allocate__failed(slabclass = 8);
        memcached:slabs__free(size = 102, slabclass = 9, ptr = Address(0xABCDEF));
        memcached:assoc__find(key = "find me", depth = 4);
        memcached:assoc__insert(key = "");
        memcached:assoc__delete(key = "deleted");
        memcached:item__link(key = "link", size = 11);
        memcached:item__unlink(key = "unlink", size = 12);
        memcached:item__remove(key = "remove", size = 13);
        memcached:item__update(key = "update", size = i32::MAX);
        memcached:item__replace(oldkey = "old", oldsize = 14, newkey = "newer", newsize = 15);
        memcached:process__command__start(connid = 16, request = Address(0x10), size = 17);
        memcached:process__command__end(connid = 16, response = Address(0x20), size = 18);
        memcached:command__get(connid = 19, key = "get", size = -1, casid = i64::MIN);
        memcached:command__add(connid = 20, key = "add", size = 1, casid = 1_i64);
        memcached:command__set(connid = 21, key = "set", size = 2, casid = 2_i64);
        memcached:command__replace(connid = 22, key = "replace", size = 3, casid = 3_i64);
        memcached:command__prepend(connid = 23, key = "prepend", size = 4, casid = 4_i64);
        memcached:command__append(connid = 24, key = "append", size = 5, casid = 5_i64);
        memcached:command__touch(connid = 25, key = "touch", size = 6, casid = 6_i64);
        memcached:command__cas(connid = 26, key = "cas", size = 7, casid = i64::MAX);
        memcached:command__incr(connid = 27, key = "incr", val = 8_i64);
        memcached:command__decr(connid = 28, key = "decr", val = 9_i64);
        memcached:command__delete(connid = 29, key = "delete");
        redis:call__start(cmd_id = 30);
        redis:call__end(cmd_id = 31);
        redis:conn__create(ptr = Address(0x32));
        redis:conn__accept(ptr = Address(0x33));
        redis:conn__connect(conn = Address(0x34), addr = "10.0.0.1", port = 6379, srcaddr = "");
        redis:conn__closing(conn = Address(0x35), fd = 36);
        redis:conn__close(ptr = Address(0x37));
        redis:conn__dispatch(connid = 38, threadid = -39_i64);
        redis:process__command__start(connid = 40, request = Address(0x41));
        redis:process__command__end(connid = 40, response = Address(0x42));
        redis:command__get(client = Address(0x44), key = "get", size = -1);
        redis:command__set(client = Address(0x45), key = "set", size = 46);
        redis:command__del(client = Address(0x47), lazy = 1);
        redis:clients__paused(end = 48);
        redis:db__delete__key(db = 15, key = "key");
        redis:db__flush__start(db = -1);
        redis:db__flush__end(db = -1, count = 49);
        redis:client__output__buffer__written(connid = 51, size = 52);
        redis:client__output__buffer__overflow(client = Address(0x53));
        redis:replica__output__buffer__flushed(client = Address(0x54));
    }
}
