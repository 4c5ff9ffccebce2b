#!/bin/sh
# Records two builds in turns and compares them: what the machine does meanwhile is then in both sides.
# Fill in what runs each build with its load, for as long as one recording is to take, and the events.
before='./before/server --with its --load'
after='./after/server --with its --load'
events='*'
rounds=6
set -e
round=1
while [ "$round" -le "$rounds" ]; do
	# The other one comes first in every second round.
	order='before after'
	[ $((round % 2)) -eq 1 ] || order='after before'
	for side in $order; do
		eval "command=\$$side"
		ltt-top record --enable "$events" --output "$side-$round" -- sh -c "$command"
	done
	round=$((round + 1))
done
ltt-top compare --before before-* --after after-*
