# close NAME committed|undone|void [keep]: with keep the pre-images stay, for a rollback after a reboot.
locked
case $(mark_of "$1") in
open) marked "$1" "$2" "${3:-}" ;;
"$2" | void | "") unhooked "$1"; exit 0 ;;
*) fail 3 "the journal $1 is $(mark_of "$1") on the host" ;;
esac
# The pid alone may belong to another process by now.
if [ -r "$home/$1/timer.pid" ]; then
  read -r pid <"$home/$1/timer.pid"
  case $(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline") in *"$home/$1/restore "*) kill -- "-$pid" 2>/dev/null ;; esac
  rm -f -- "$home/$1/timer.pid"
fi
exit 0
