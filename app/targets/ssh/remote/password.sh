# password: try what people do with passwords, on a copy of /etc in a mount namespace of its own. A throwaway account
# that exists only there gets a password from root, changes it, changes it once it has expired, and chooses one that is
# too short. Prints rows of the step, `in` or an exit status, and the last words; or `none` and why it cannot be tried.
# The copy has no hash of the host's accounts, logs are muted, and nothing of it is left. The kernel's audit, if it is
# on, records the account temper-trial. The limits are those of a busy host.
timeout -k 2 110 unshare -m -- /bin/sh -s 2>&1 <<'INSIDE'
PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C
export PATH LC_ALL
umask 022
who=temper-trial first='Kx7-vQ2.mT9_wZ4+bR8=' second='gH3!dN6,pL5:yC1;fJ9?' short='aZ4!'
row() { printf 'password\t%s\t%s\n' "$1" "$2"; }
give_up() { row none "$1"; exit 0; }
for program in passwd su setpriv sed cp; do command -v $program >/dev/null || give_up "$program is not installed"; done
getent passwd "$who" >/dev/null && give_up "the host has an account $who"
[ -f /etc/shadow ] && [ -d /etc/pam.d ] || give_up "there is no /etc/shadow or no /etc/pam.d"
mount -t tmpfs -o mode=0755,size=16m temper /mnt || exit 1
mkdir /mnt/etc /mnt/was /mnt/none /mnt/log /mnt/plain && : >/mnt/mute || exit 1
chcon --reference=/etc /mnt /mnt/etc /mnt/plain 2>/dev/null
mount --bind /etc /mnt/was && mount -o remount,bind,ro /mnt/was || give_up "the host allows no read-only view of /etc"
mount --bind /mnt/log /var/log 2>/dev/null
mount --bind /mnt/mute /dev/log 2>/dev/null
# A failure counted, or a cache flushed, would be the host's own.
for at in /run/faillock /run/nscd; do [ ! -d $at ] || mount --bind /mnt/none $at; done
for at in /usr/sbin/sss_cache /usr/sbin/nscd; do [ ! -e $at ] || mount --bind /mnt/mute $at; done
cd /mnt/was || exit 1
for name in * .[!.]*; do
  case $name in
    passwd | group | login.defs) cp -p -- "$name" /mnt/etc ;;
    pam.d | security)
      mkdir "/mnt/etc/$name"
      chcon --reference="$name" "/mnt/etc/$name"
      for file in "$name"/*; do case $file in
        */opasswd) cp -p --attributes-only -- "$file" "/mnt/etc/$name" ;; # pam_unix with `remember` fails without it
        */opasswd?*) ;;
        *) cp -rLp -- "$file" "/mnt/etc/$name" ;;
      esac; done ;;
    shadow* | gshadow* | passwd- | group- | *.lock | nologin) ;;
    *) ln -s "/mnt/was/$name" /mnt/etc ;;
  esac
done 2>/dev/null
cd /
id=59999
while getent passwd $id >/dev/null; do id=$((id - 1)); done
day=$(($(date +%s) / 86400))
printf '%s:x:%s:65534::/nonexistent:/bin/sh\n' $who $id >>/mnt/etc/passwd
cp -p --attributes-only /etc/shadow /mnt/etc/shadow || give_up "/etc/shadow cannot be read"
printf '%s:!:%s:0:99999:7:::\n' $who $day >/mnt/etc/shadow
# Nobody signs in here: of the stacks only those for accounts and passwords are tried. A module that could reach beyond
# the copy accepts everything instead. A missing one keeps its name, so that libpam reports it.
there=$(for at in /lib/security /lib64/security /usr/lib/security /usr/lib64/security /usr/lib/*/security; do ls $at; done 2>/dev/null |
  sed -n '/^pam_\(unix\|unix2\|pwquality\|cracklib\|passwdqc\|pwhistory\|deny\|permit\|succeed_if\|usertype\|localuser\|rootok\|faillock\|sss\|ldap\|krb5\|winbind\|systemd_home\|debug\|warn\)\.so$/!s/\.so$//p' | tr '\n' '|')
sed -E -i "/^[[:space:]]*-?(auth|session)[[:space:]]/Id
  s,(^|[[:space:]/])(${there}pam_exec)\\.so,\\1pam_permit.so,
  s,(pam_unix\\.so)([[:space:]]|$),\\1 nodelay\\2," /mnt/etc/pam.d/*
for service in login sshd su; do [ ! -f /mnt/etc/pam.d/$service ] || break; done
cp /mnt/etc/pam.d/$service /mnt/su && mv /mnt/su /mnt/etc/pam.d/su
printf '%s required pam_permit.so\n' auth session >>/mnt/etc/pam.d/su
printf '%s\n' 'auth required pam_permit.so' 'account required pam_unix.so' 'password required pam_unix.so nodelay sha512' \
  'session required pam_permit.so' >/mnt/plain/other
mount --bind /mnt/etc /etc || give_up "the host allows no copy in place of /etc"
plainly() { # plainly COMMAND...: on a stack of pam_unix alone
  mount --bind /mnt/plain /etc/pam.d; "$@"; plain=$?; umount /etc/pam.d; return $plain
}
as() { user=$1; shift; timeout -k 1 25 setpriv --reuid="$user" --regid=65534 --clear-groups "$@"; }
by_root() {
  if grep -q libpam.so "$(command -v chpasswd)"; then printf '%s:%s\n' $who "$1" | timeout -k 1 25 chpasswd
  else printf '%s\n' "$1" "$1" | timeout -k 1 25 passwd $who; fi
}
by_owner() { printf '%s\n' "$first" "$1" "$1" "$1" "$1" "$1" "$1" | as $id passwd; }
at_login() {
  sed -i "s/^\($who:[^:]*\):[^:]*:[^:]*:[^:]*/\1:$((day - 30)):0:10/" /etc/shadow
  printf '%s\n' "$first" "$second" "$second" | as 65534 su -s /bin/sh $who -c 'echo temper-is-in'
}
hash_of() { sed -n "s/^$who:\([^:]*\).*/\1/p" "$1"; }
attempt() { # attempt COMMAND...: from the same password each time; it counts if another one is stored
  cp -p /mnt/shadow /etc/shadow
  said=$("$@" 2>&1); code=$?
  said=$(printf '%s' "$said" | sed 's/.*[Pp]assword: //; /^Changing password/d' | tr '\t\n' '  ' | tail -c 160)
  if [ $code = 0 ] && [ "$(hash_of /etc/shadow)" = "$(hash_of /mnt/shadow)" ]; then
    code=1 said="it reports success, and the password is the old one"
  fi
}
try() { # try STEP COMMAND...: a step that fails on a plain stack too says nothing about the host's
  step=$1; shift
  attempt "$@"; found=$code words=$said
  [ $found = 0 ] && { row "$step" in; return 0; }
  attempt plainly "$@"
  [ $code = 0 ] || { row none "this fails on a plain stack, too: $step: $said"; return 1; }
  row "$step" "$found $words"
  return 1
}
said=$(plainly by_root "$first" 2>&1) || give_up "not even a plain stack sets a password: $(printf '%s' "$said" | tail -n 1)"
cp -p /etc/shadow /mnt/shadow
try root by_root "$second"
if try owner by_owner "$second"; then attempt by_owner "$short"; if [ $code = 0 ]; then row short in; else row short "$code $said"; fi; fi
try aged at_login
exit 0
INSIDE
code=$?
case $code in
  0) ;;
  124 | 137) printf 'password\tnone\tit took too long\n' ;;
  *) printf 'password\tnone\tthe host allows no mount namespace\n' ;;
esac
exit 0
