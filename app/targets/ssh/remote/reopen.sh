# reopen NAME: open a committed change again, so that it can be rolled back. Its images must have been kept.
locked
case $(mark_of "$1") in
committed) ;;
open | undone | void) exit 0 ;;
*) fail 3 "there is no journal $1 on the host" ;;
esac
# Without its images a restored file would count as one that did not exist.
[ -e "$home/$1/kept" ] || fail 5 "the pre-images of the change $1 are gone, so it can no longer be rolled back"
rm -f -- "$home/$1/committed"
synced "$home/$1"
