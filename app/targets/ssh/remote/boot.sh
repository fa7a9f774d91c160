# Rolls an open change back at boot, because no timer survives a restart.
starts_by() {
  if [ -d /run/systemd/system ]; then echo systemd
  elif [ -d /etc/local.d ] && [ -e /etc/runlevels/default/local ]; then echo openrc
  elif [ -d /etc/rcS.d ] && ! command -v insserv >/dev/null 2>&1; then echo sysv
  elif [ -d /etc/cron.d ] && { command -v cron || command -v crond; } >/dev/null 2>&1; then echo cron
  else return 1
  fi
}
units=/etc/systemd/system wants=/etc/systemd/system/multi-user.target.wants
# A guard (guard.sh) waits after the start, and also where the host comes no further than to an emergency shell.
also_wants="/etc/systemd/system/emergency.target.wants /etc/systemd/system/rescue.target.wants"
is_guard() { [ -e "$home/$1/seconds" ]; }
booted_anew() {
  sync
  if [ -d /run/systemd/system ]; then systemctl reboot; else reboot; fi
}
hook_at() {
  case $1 in
  systemd) printf '%s/temper-undo-%s.service' "$units" "$2" ;;
  openrc) printf '/etc/local.d/temper-undo-%s.start' "$2" ;;
  sysv) printf '/etc/rcS.d/S99temper-undo-%s' "$2" ;;
  cron) printf '/etc/cron.d/temper-undo-%s' "$(printf %s "$2" | tr . _)" ;; # cron passes over names with dots
  esac
}
hook_text() {
  what="/bin/sh $home/$2/restore $2 boot"
  early="systemd-sysctl.service auditd.service sysinit.target " type=oneshot
  if is_guard "$2"; then early='' type=simple; fi
  case $1 in
  systemd) cat <<END ;;
[Unit]
Description=Takes back the change $2, which nobody kept
DefaultDependencies=no
RequiresMountsFor=$home
ConditionPathExists=$home/$2/restore
After=local-fs.target
Before=${early}shutdown.target
Conflicts=shutdown.target
[Service]
Type=$type
ExecStart=$what
END
  cron) printf '@reboot root %s\n' "$what" ;;
  *) printf '#!/bin/sh\nexec %s\n' "$what" ;;
  esac
}
hooked() {
  kind=$(starts_by) || return 1
  at_boot=$(hook_at "$kind" "$1")
  hook_text "$kind" "$1" 2>/dev/null >"$at_boot" || return 1
  if [ "$kind" = systemd ]; then
    [ -d "$wants" ] || mkdir -m 755 -- "$wants" || return 1
    ln -sf "$at_boot" "$wants/temper-undo-$1.service" && chmod 644 -- "$at_boot" || return 1
    synced "$wants"
    ! is_guard "$1" || for more in $also_wants; do
      [ -d "$more" ] || mkdir -m 755 -- "$more" || return 1
      ln -sf "$at_boot" "$more/temper-undo-$1.service" && synced "$more" || return 1
    done
  elif [ "$kind" = cron ]; then chmod 644 -- "$at_boot" || return 1
  else chmod 755 -- "$at_boot" || return 1
  fi
  synced "$at_boot" "${at_boot%/*}"
}
unhooked() {
  for kind in systemd openrc sysv cron; do
    at_boot=$(hook_at "$kind" "$1")
    [ ! -e "$at_boot" ] || { rm -f -- "$at_boot" && synced "${at_boot%/*}"; }
  done
  for more in $wants $also_wants; do
    [ -L "$more/temper-undo-$1.service" ] || continue
    rm -f -- "$more/temper-undo-$1.service"
    [ "$more" = "$wants" ] || rmdir -- "$more" 2>/dev/null
  done
  return 0
}
