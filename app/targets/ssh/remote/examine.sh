# examine STATES SUDO DOORS BECOME: probes that files cannot answer. Each argument is a list separated by blanks: states in
# which the answers after the row "state" are known, and names.
# Prints rows of a word, a code or name, and text. Changes no file of the host; all output is bounded.
row() { printf '%s\t%s\t%s\n' "$1" "$2" "$3"; }
said() { # said WORD COMMAND...: its exit status and its last line
  word=$1; shift
  why=$(timeout -k 1 15 "$@" 2>&1 </dev/null); code=$?
  row "$word" "$code" "$(printf '%s' "$why" | tail -n 1)"
}
lines() { # lines WORD NAME COMMAND...: its exit status, then each line
  word=$1 name=$2; shift 2
  out=$(timeout -k 1 15 "$@" 2>&1 </dev/null); row "$word" "$name" "code $?"
  printf '%s\n' "$out" | head -n 200 | while IFS= read -r line; do row "$word" "$name" "$line"; done
}
if command -v systemctl >/dev/null 2>&1; then
  said boot systemctl get-default
  masks
  [ -d /run/systemd/system ] && lines failed all systemctl list-units --no-legend --no-pager --plain --failed
fi
command -v getenforce >/dev/null 2>&1 && said selinux getenforce
# A kernel that is shared does not answer this, and the wait for it takes seconds.
[ -w /proc/sys/kernel/printk ] && command -v auditctl >/dev/null 2>&1 && lines audit all auditctl -s
at=$(sed -n 's/^[[:space:]]*log_file[[:space:]]*=[[:space:]]*\(\/[^[:space:]]*\)\/.*/\1/p' /etc/audit/auditd.conf 2>/dev/null | tail -n 1)
[ -r /etc/audit/auditd.conf ] && timeout -k 1 15 df -Pk -- "${at:-/var/log/audit}" 2>/dev/null | {
  read -r _; read -r _ size _ free _ && row fill "$size" "$free"
}
if command -v ausearch >/dev/null 2>&1 && [ -e /sys/fs/selinux/enforce ]; then denials; fi
states=$(state)
now=${states%%[!0-9a-f]*}
row state "$now" "${states##*[!0-9a-f]}"
[ "$now" ] && case " $1 " in *" $now "*) exit 0 ;; esac
shift
said sshd sshd -t
why=$(timeout -k 1 15 visudo -c 2>&1 </dev/null); row visudo "$?" "$(printf '%s' "$why" | head -n 1)"
missing=
for module in $(grep -hE '^[[:space:]]*[A-Za-z]' /etc/pam.d/* 2>/dev/null | grep -oE 'pam_[A-Za-z0-9_-]+\.so' | sort -u); do
  for at in /lib/security /lib64/security /usr/lib/security /usr/lib64/security /usr/lib/*/security; do
    [ -e "$at/$module" ] && continue 2
  done
  missing="$missing $module"
done
row pam "${#missing}" "$missing"
for account in $1; do lines sudo "$account" sudo -n -ll -U "$account"; done
# Ignore the three options that only restrict a mount: it may become stricter. Ignore a line for /dev/shm that
# says no more than that: systemd mounts it at every boot.
[ -r /etc/fstab ] && row fstab 0 "$(awk '{ $1 = $1; gsub(/,(nodev|nosuid|noexec)/, "", $4) }
  $2 == "/dev/shm" && $3 == "tmpfs" && $4 == "defaults" { next } { print }' /etc/fstab | sha256sum | cut -c -12)"
if [ -r /etc/selinux/config ]; then
  policy=$(sed -n 's/^SELINUXTYPE=[[:space:]]*\([A-Za-z0-9_-]*\).*/\1/p' /etc/selinux/config | tail -n 1)
  set -- "$1" "$2" "$3" "/etc/selinux/${policy:-targeted}"/policy/policy.*
  if [ -e "$4" ]; then row policy there "${policy:-targeted}"; else row policy absent "${policy:-targeted}"; fi
fi
# In a temporary mount namespace with muted logs, libpam gets a copy of the host's stacks in which the password
# module gives a fixed answer. This shows who could log in without a password, a failure count or a session
# on the host.
# The limits are those of a busy host, or of one whose processor is emulated.
timeout -k 2 75 unshare -m -- /bin/sh -s "$2" "$3" "$missing" 2>&1 <<'INSIDE'
PATH=/usr/sbin:/usr/bin:/sbin:/bin
row() { printf '%s\t%s\t%s\n' "$1" "$2" "$3"; }
mount -t tmpfs -o mode=0755,size=8m temper /mnt && mkdir /mnt/log /mnt/pam.d && : >/mnt/mute || exit 1
printf 'FAIL_DELAY 0\n' >/mnt/login.defs
# libpam writes to the tallies of failed logins, as nobody where it creates one: it gets copies.
cp -a /var/log/faillock /mnt/log 2>/dev/null
mount --bind /mnt/log /var/log 2>/dev/null
for at in /run /var/lib; do
  [ ! -d $at/faillock ] || { mkdir -p /mnt/tallies$at && cp -a $at/faillock /mnt/tallies$at && mount --bind /mnt/tallies$at/faillock $at/faillock; }
done 2>/dev/null
mount --bind /mnt/mute /dev/log 2>/dev/null
tell() { # tell WORD NAME COMMAND...: what was said, and `in` where it got that far
  word=$1 name=$2; shift 2
  out=$(timeout -k 1 12 "$@" 2>&1 </dev/null); code=$?
  case $out in *temper-is-in*) row "$word" "$name" in ;; *) row "$word" "$name" "$code $(printf '%s' "$out" | grep -v '^\(auth\|acct\)=' | tail -n 1)" ;; esac
}
for account in $2; do tell become "$account" su -s /bin/sh "$account" -c 'echo temper-is-in'; done
for at in /lib/security /lib64/security /usr/lib/security /usr/lib64/security /usr/lib/*/security; do
  [ -e "$at/pam_debug.so" ] && found=1
done
[ "${found:-}" ] || { row doors no "pam_debug.so is not installed"; exit 0; }
nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'
$nobody true 2>/dev/null || { row doors no "nobody can be had to try it as"; exit 0; }
mount --bind /mnt/login.defs /etc/login.defs || exit 1
mkdir /mnt/kept && cp -L /etc/pam.d/* /mnt/kept 2>/dev/null
mount --bind /mnt/pam.d /etc/pam.d || exit 1
flow='permit|deny|debug|succeed_if|usertype|localuser|rootok|nologin|access|listfile|wheel|shells|securetty|time|faillock'
proof='unix|unix2|sss|ldap|krb5|winbind|radius|tacplus|systemd_home|pkcs11|fprintd|u2f|yubico|oath|google_authenticator|duo|userdb|pwdb|tcb|himmelblau|aad'
# A missing module keeps its name: libpam reports it.
gone=$(printf '%s' "$3" | tr -s ' ' '|' | sed 's/^|//; s/\./\\./g')
for answer in success auth_err; do
  cp /mnt/kept/* /mnt/pam.d
  sed -E -i "/(${gone:-no module of this name})/b
    /^[[:space:]]*-?auth[[:space:]]/I {
      s,[^[:space:]]*pam_faillock\\.so(.*authfail),pam_debug.so auth=auth_err \\1,
      s,[^[:space:]]*pam_($proof)\\.so,pam_debug.so auth=$answer,
      /pam_($flow)\\.so/! s,[^[:space:]]*pam_[A-Za-z0-9_-]+\\.so,pam_debug.so auth=ignore,
      b
    }
    /^[[:space:]]*-?account[[:space:]]/I {
      s,[^[:space:]]*pam_faillock\\.so,pam_debug.so acct=success,
      /pam_($flow|unix)\\.so/! s,[^[:space:]]*pam_[A-Za-z0-9_-]+\\.so,pam_debug.so acct=success,
      b
    }
    /^[[:space:]]*-?(session|password)[[:space:]]/I s,[^[:space:]]*pam_[A-Za-z0-9_-]+\\.so,pam_permit.so," /mnt/pam.d/*
  for service in sshd login sudo; do
    [ -f "/mnt/pam.d/$service" ] || continue
    cp "/mnt/pam.d/$service" /mnt/pam.d/su
    names=$1
    [ "$answer" = success ] || names=${1%% *}
    for account in $names; do
      tell "$answer" "$service $account" $nobody su -s /bin/sh "$account" -c 'echo temper-is-in'
    done
  done
done
exit 0
INSIDE
code=$?
case $code in
  0) ;;
  124|137) row doors all "code $code" ;;
  *) row doors no "the host allows no mount namespace" ;;
esac
exit 0
