//! The same on a Valkey, if there is one: Debian has no package of it.

use crate::commands::*;
use crate::events::*;
use crate::support::Stock;

macro_rules! on_valkey {
    ($($name:ident: $claim:ident;)*) => {$(
        #[test]
        #[ignore = "make check: needs a Valkey"]
        fn $name() {
            if let Some(stock) = Stock::valkey() {
                $claim(&stock);
            }
        }
    )*};
}

on_valkey! {
    slow_commands_of_valkey: slow_commands_last_as_long_as_the_slow_log_says;
    counts_of_valkey: as_many_are_recorded_as_the_server_counts;
    addresses_of_valkey: addresses_are_those_of_the_clients;
    blocked_clients_of_valkey: blocked_client_is_not_charged_while_it_waits;
    paused_commands_of_valkey: paused_command_is_recorded_when_it_is_called;
    forks_of_valkey: forks_last_as_long_as_the_server_says;
    turns_of_valkey: turns_add_up_to_no_more_than_the_time_that_passed;
    stalls_of_valkey: each_stall_is_an_incident_with_its_cause;
}
