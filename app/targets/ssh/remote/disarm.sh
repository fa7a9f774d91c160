# disarm NAME: leave a note that makes the timer do nothing.
locked
at=$home/$1
[ "$(mark_of "$1")" = open ] || fail 3 "the journal $1 is $(mark_of "$1")"
: >"$at/disarmed" || exit 9
synced "$at"
