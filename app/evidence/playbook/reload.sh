# Nothing here would see the next boot and remove such an entry.
fallback_kept() { :; }
# temper_reload SERVICE: reloads as Temper does, with the functions above. It fails unless the reload is confirmed.
temper_reload() (
  PATH=/usr/sbin:/sbin:$PATH
  port=$(came_in_by)
  [ "$port" ] || port=$(sshd -T 2>/dev/null | sed -n 's/^port //p' | head -n 1)
  reload_one "$1"
)
