# close NAME committed|undone|void
locked
case $(mark_of "$1") in
open) marked "$1" "$2" ;;
"$2" | "") exit 0 ;;
void) exit 0 ;;
*) fail 3 "the journal $1 is $(mark_of "$1") on the host" ;;
esac
# A number alone may be another process by now.
if [ -r "$home/$1/timer.pid" ]; then
  read -r pid <"$home/$1/timer.pid"
  [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = sh ] && kill -- "-$pid" 2>/dev/null
  rm -f -- "$home/$1/timer.pid"
fi
exit 0
