# confirm NAME: the changes stay; exit 4 if the host is taking them back.
locked
[ ! -e "$home/$1/taking" ] || fail 4 "the host is taking this run's changes back by itself"
unhooked "$1"
rm -rf -- "${home:?}/$1"
synced "$home"
fallback_dropped
