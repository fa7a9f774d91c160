# Reloads a service and verifies that it took effect; sending a signal proves nothing.
unproven=7
came_in_by() {
  # The port: sshd sets it for its sessions and sudo drops it; our parent process still has it.
  said=${SSH_CONNECTION:-} up=$$
  if [ -z "$said" ]; then
    set --
    while [ "${up:-0}" -gt 1 ]; do
      next=
      while read -r word value; do [ "$word" != PPid: ] || next=$value; done 2>/dev/null <"/proc/$up/status"
      up=$next
      set -- "$@" "/proc/${up:-0}/environ"
    done
    said=$(cat "$@" 2>/dev/null | tr '\0' '\n' | sed -n '/^SSH_CONNECTION=/{s///p;q;}')
  fi
  printf '%s\n' "${said##* }"
}
ears() {
  # Print sockets that listen on a port, from the kernel's table. A restarted sshd has new ones.
  wanted=$(printf '%04X' "$1" 2>/dev/null) || return 0
  # The shell would read a table of many connections byte by byte.
  sed -nE "s/^ *[0-9]+: [0-9A-F]+:$wanted [0-9A-F:]+ 0A ([^ ]+ +){5}([0-9]+) .*/\\2/p" /proc/net/tcp /proc/net/tcp6 2>/dev/null
}
holders() {
  # Print processes that hold one of these sockets; sshd processes first, because there are many.
  some=
  for comm in /proc/[0-9]*/comm; do
    read -r called 2>/dev/null <"$comm" && [ "$called" = sshd ] && some="$some ${comm%comm}fd"
  done
  for where in "$some" "/proc/[0-9]*/fd"; do
    found=$(
      # shellcheck disable=SC2086
      ls -l /proc/self/fd $where 2>/dev/null | while read -r line; do
        case $line in
        /proc/*/fd:) pid=${line#/proc/} pid=${pid%%/*} ;;
        *'socket:['*) for inode; do case $line in *"socket:[$inode]") printf '%s\n' "$pid" ;; esac; done ;;
        esac
      done | sort -un
    )
    [ "$found" ] && { printf '%s\n' "$found"; return; }
  done
}
listeners() {
  # Print the holders of these sockets; if the kernel hides them, use the pid file, never the name.
  found=$(holders "$@")
  [ "$found" ] && { printf '%s\n' "$found"; return; }
  for file in "$(sshd -T 2>/dev/null | sed -n 's/^pidfile //p')" /run/sshd.pid /var/run/sshd.pid; do
    [ -r "$file" ] && read -r pid <"$file" && [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = sshd ] || continue
    printf '%s\n' "$pid"
    return
  done
}
told_by() {
  # Print arguments of a listening sshd that change its configuration, one a line.
  next=
  tr '\0 ' '\n\n' 2>/dev/null <"/proc/$1/cmdline" | while read -r word; do
    case $next$word in
    take*) next=; printf '%s\n' "$word" ;;
    -o | -f | -h | -c) next=take; printf '%s\n' "$word" ;;
    -o* | -f* | -h* | -c*) printf '%s\n' "$word" ;;
    '[listener]') break ;;
    esac
  done
}
other_file() {
  # Print the file that it reads instead of the changed one.
  told_by "$1" | { last=
    while read -r word; do
      case $last$word in
      -f/*) file=${word#-f} ;;
      *) file= ;;
      esac
      if [ -e "$file" ] && [ ! "$file" -ef /etc/ssh/sshd_config ]; then printf '%s\n' "$file"; fi
      last=; [ "$word" = -f ] && last=-f
    done; }
}
unit_of() { sed -n 's/^.*\/\([^/]*\.service\)$/\1/p' "/proc/$1/cgroup" 2>/dev/null | head -n 1; }
renewed() {
  # renewed PORT INODE...: succeed if the port has a listener on none of these sockets.
  now=$(ears "$1"); shift
  [ "$now" ] || return 1
  for old; do for one in $now; do [ "$one" != "$old" ] || return 1; done; done
}
reload_sshd() {
  why=$(sshd -t 2>&1) || { printf 'sshd would not start again: %s\n' "$why" >&2; return 8; }
  : "${port:=$(came_in_by)}"
  was=$(ears "$port")
  begun=
  # shellcheck disable=SC2086
  for pid in $(listeners $was); do
    other=$(other_file "$pid")
    [ -z "$other" ] || { printf 'the sshd that listens on port %s reads %s, not /etc/ssh/sshd_config\n' "$port" "$other" >&2; return 8; }
    if [ "$pid" = 1 ]; then begun=1; else kill -HUP "$pid" && begun=1; fi
  done
  [ "$begun" ] || { printf 'no sshd was found that listens on port %s\n' "${port:-?}" >&2; return $unproven; }
  tries=0
  while [ "$was" ] && [ "$tries" -lt 60 ]; do
    # shellcheck disable=SC2086
    if renewed "$port" $was; then return 0; fi
    sleep 0.05
    tries=$((tries + 1))
  done
  # systemd holds the socket: look for a new process instead of a new socket.
  # shellcheck disable=SC2086
  for pid in $(holders $was); do
    unit=$(unit_of "$pid")
    if [ "$pid" != 1 ] && [ "$unit" ] && [ -d /run/systemd/system ]; then restarted "$unit" && return 0; fi
  done
  printf 'nothing shows that the sshd on port %s read its files again\n' "${port:-?}" >&2
  return $unproven
}
running_state() { systemctl show -p MainPID -p ActiveState -p CanReload "$1" 2>/dev/null; }
property() { systemctl show -p "$1" --value "$2" 2>/dev/null; }
restarted() {
  # By systemd's record: the main process, or the end of a one-shot, is newer than before.
  started=$(property ExecMainStartTimestampMonotonic "$1")
  why=$(systemctl restart "$1" 2>&1) || { printf '%s does not start again: %s\n' "$1" "$why" >&2; return 8; }
  [ "$(property ExecMainStartTimestampMonotonic "$1")" != "$started" ] && [ "$(property Result "$1")" = success ] &&
    systemctl is-active -q "$1" && return 0
  printf '%s was not seen to start again\n' "$1" >&2
  return 8
}
load_audit_rules() {
  # auditd's own reload leaves the rules alone. Behind -e 2 the kernel takes none until the next boot.
  command -v augenrules >/dev/null 2>&1 || return 0
  case $(auditctl -s 2>/dev/null) in *'enabled 2'*) return 0 ;; esac
  previous=/etc/audit/audit.rules.prev
  had=; [ ! -e "$previous" ] || had=yes
  why=$(augenrules --load 2>&1); code=$?
  [ "$had" ] || rm -f -- "$previous"
  [ "$code" = 0 ] || { printf 'augenrules --load: %s\n' "$(printf %s "$why" | tail -n 1)" >&2; return 8; }
}
signalled() {
  # auditd may not be restarted, so it gets a signal: the same process must survive rereading.
  unit=$1 state=$(running_state "$1")
  # Debian's unit of auditd has no reload of its own.
  case $state in
  *CanReload=yes*) set -- reload ;;
  *) set -- kill --kill-who=main --signal=HUP ;;
  esac
  why=$(systemctl "$@" "$unit" 2>&1) || { printf '%s does not reload: %s\n' "$unit" "$why" >&2; return 8; }
  sleep 0.3
  case $state in *MainPID=0*) ;; *ActiveState=active*) [ "$(running_state "$unit")" = "$state" ] && return 0 ;; esac
  printf '%s did not outlive its reload\n' "$unit" >&2
  return 8
}
born() { sed 's/^.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20; }
pid_of() {
  for file in "/run/$1.pid" "/run/${1}d.pid" "/run/${1%d}/$1.pid" "/run/$1/$1.pid"; do
    [ -r "$file" ] && read -r pid <"$file" && [ -d "/proc/$pid" ] && { printf '%s\n' "$pid"; return; }
  done
}
fallback_mark='# Written by Temper, and removed by it once a reboot was seen. Boot:'
fallback_dropped() {
  # Remove the entry if the host has booted since it was written.
  for custom in /boot/grub/custom.cfg /boot/grub2/custom.cfg; do
    [ -f "$custom" ] && [ ! -L "$custom" ] && read -r mark <"$custom" || continue
    case $mark in "$fallback_mark "*) [ "${mark##* }" = "$(cat /proc/sys/kernel/random/boot_id)" ] || rm -f -- "$custom" ;; esac
  done
}
reload_grub() {
  # Write the boot menu anew, and have grub read it before it takes the place of the one that works. Where the host boots
  # by entries, grub reads those at the boot, and no menu has their arguments.
  for menu in /boot/grub/grub.cfg /boot/grub2/grub.cfg; do [ ! -f "$menu" ] || break; done
  [ -f "$menu" ] || { printf 'no boot menu of grub is on this host, so nobody read what was written\n' >&2; return 8; }
  if boots_by_entries; then
    for entry in /boot/loader/entries/*.conf; do
      grep -qE '^linux[[:space:]]' "$entry" && [ "$(grep -cE '^options[[:space:]]' "$entry")" = 1 ] ||
        { printf '%s is no entry that a kernel can be booted by\n' "$entry" >&2; return 8; }
    done
    fallback_kept "$menu" || { printf '%s cannot be written\n' "${menu%/*}/custom.cfg" >&2; return 8; }
    return
  fi
  for make in grub-mkconfig grub2-mkconfig; do ! command -v "$make" >/dev/null 2>&1 || break; done
  why=$("$make" -o "$menu.temper-new" 2>&1) || { rm -f "$menu.temper-new"; printf '%s: %s\n' "$make" "$(printf %s "$why" | tail -n 1)" >&2; return 8; }
  why=$(menu_read "$menu.temper-new" 2>&1) || { rm -f "$menu.temper-new"; printf 'grub-script-check: %s\n' "$why" >&2; return 8; }
  fallback_kept "$menu" || { rm -f "$menu.temper-new"; printf '%s cannot be written\n' "${menu%/*}/custom.cfg" >&2; return 8; }
  chmod --reference="$menu" -- "$menu.temper-new" && sync "$menu.temper-new" && mv -fT -- "$menu.temper-new" "$menu"
}
fallback_kept() {
  # fallback_kept MENU: keep the entry that this host booted by beside the new menu until a reboot was seen, so that a
  # person at the console can choose it. Somebody's own custom.cfg is left alone, and so is an entry of this boot.
  custom=${1%/*}/custom.cfg
  [ ! -e "$custom" ] && [ ! -L "$custom" ] || return 0
  if boots_by_entries; then entry=$(running_entry)
  else entry=$(awk '/^menuentry / { inside = 1 } inside { print } inside && /^}/ { exit }' "$1"); fi
  case $entry in 'menuentry '*'}') ;; *) return 0 ;; esac
  {
    printf '%s %s\n' "$fallback_mark" "$(cat /proc/sys/kernel/random/boot_id)"
    printf '%s\n' "$entry" | sed "1s/ \$menuentry_id_option *'[^']*'//
      1s/^menuentry *\('[^']*'\|\"[^\"]*\"\)/menuentry 'As it booted before the last change of its arguments'/"
  } >"$custom" 2>/dev/null && synced "$custom" || return 1
  menu_read "$custom" >/dev/null 2>&1 || rm -f -- "$custom"
}
running_entry() {
  # Print a menu's entry for the kernel that runs, by its own command line. Entries in the loader's folder must all have
  # the new arguments, so this one is none of them. Arguments that grub's language could read otherwise end it.
  read -r line </proc/cmdline
  case $line in *[\'\"\\\$\;\&\|\<\>\{\}\`]*) return ;; BOOT_IMAGE=*' '*) ;; *) return ;; esac
  image=${line%% *} image=${image#BOOT_IMAGE=}
  for entry in /boot/loader/entries/*.conf; do
    awk -v at="/${image#*/}" '$1 == "linux" && $2 == at { found = 1 } END { exit !found }' "$entry" || continue
    files=$(sed -n 's/^initrd[[:space:]]*//p' "$entry" | tr ' ' '\n' | sed -n "s|^/|${image%%/*}/|p" | tr '\n' ' ')
    printf "menuentry 'running' {\n\tlinux %s %s\n\tinitrd %s\n}\n" "$image" "${line#* }" "${files% }"
    return
  done
}
menu_read() {
  # menu_read FILE: have grub's own checker read it, if it is here.
  for check in grub-script-check grub2-script-check; do ! command -v "$check" >/dev/null 2>&1 || break; done
  ! command -v "$check" >/dev/null 2>&1 || "$check" "$1"
}
reload_one() {
  if [ "$1" = sshd ]; then reload_sshd; return; fi
  if [ "$1" = grub ]; then reload_grub; return; fi
  if [ -d /run/systemd/system ]; then
    for unit in "$1.service" "${1%d}.service"; do
      systemctl is-active -q "$unit" || continue
      if [ "$1" = auditd ]; then load_audit_rules && signalled "$unit"; else restarted "$unit"; fi
      return
    done
    printf 'no unit %s is active on this host, so nobody read what was written\n' "$1" >&2
    return 8
  fi
  if [ "$1" = systemd-sysctl ]; then
    # Where the kernel belongs to another system, the policy has seen that it has these values.
    [ -w /proc/sys/kernel/printk ] || return 0
    why=$(sysctl --system 2>&1 >/dev/null) && return 0
    printf 'sysctl --system: %s\n' "$why" >&2
    return 8
  fi
  was=$(pid_of "$1")
  [ "$was" ] || { printf '%s does not run on this host, so nobody read what was written\n' "$1" >&2; return 8; }
  if [ "$1" = auditd ]; then
    load_audit_rules && kill -HUP "$was" && sleep 0.3 && [ "$(pid_of auditd)" = "$was" ] && return 0
    printf 'auditd did not outlive its reload\n' >&2
    return 8
  fi
  for script in "/etc/init.d/$1" "/etc/init.d/${1%d}"; do
    [ -x "$script" ] || continue
    before="$was $(born "$was")"
    why=$("$script" restart 2>&1 </dev/null) || { printf '%s does not start again: %s\n' "$1" "$why" >&2; return 8; }
    now=$(pid_of "$1")
    [ "$now" ] && [ "$now $(born "$now")" != "$before" ] && return 0
  done
  printf '%s was not seen to start again, so nobody read what was written\n' "$1" >&2
  return 8
}
