# temper_reload SERVICE: as Temper itself does, by what stands above. It fails unless the service is seen to begin anew.
temper_reload() (
  PATH=/usr/sbin:/sbin:$PATH
  port=$(came_in_by)
  [ "$port" ] || port=$(sshd -T 2>/dev/null | sed -n 's/^port //p' | head -n 1)
  reload_one "$1"
)
