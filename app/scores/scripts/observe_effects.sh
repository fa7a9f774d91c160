export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C
# Perform what rules are about, and print what happened. Set before are the KEYS of the kernel, the PLACES of mounts, the
# PACKAGES and the PROGRAMS that are asked about.
told() { printf '%s\t%s\n' "$1" "$(printf %s "$2" | tr '\n\t' '  ' | cut -c1-1000)"; }
# What is done without a login, at boot, counts as done by the first account that logs in.
[ "$(cat /proc/self/loginuid)" != 4294967295 ] || echo 1000 >/proc/self/loginuid
cp -p /etc/security/opasswd /run/deed.opasswd
useradd -m -s /bin/bash deed
chage -m 0 deed
# No more than four letters of a kind follow each other in those that every rule accepts.
one=Harb7-mint_42+Lan9 two=Kett9.Vow_w7-drum=Qu three=9Orch,plz2_Ton=beEk4 short=Kq7-vex_in-J0l
echo "deed:$one" | timeout 300 chpasswd >/dev/null 2>&1
# A digest of eleven rounds takes some seconds, and an old password is tried against each that is remembered.
change() {
  printf '%s\n' "$now" "$1" "$1" | timeout 300 su deed -c passwd >/dev/null 2>&1
  code=$?; [ $code -ne 0 ] || now=$1; told "$2" $code
}
now=$one
change $two second
change $three third
told digest "$(getent shadow deed | cut -d: -f2 | cut -d'$' -f1-3)"
change $one again
change $short short
change ko7-mist.42_la9=nts+v upper
change QU8-FR0G.31_ZE5=BLK+W lower
change Orch,plZ_za.Ton-Qu=ib digit
change Or7chPl2zaTo9niQu5tx other
change Ha7-mi+nTTTT.42_La9=n repeated
change Ha7-mixtures+nT.42_La row
told home "$(stat -c %a /home/deed)"
told idle "$(timeout 40 su - deed -c 'echo $TMOUT')"
told exported "$(timeout 40 su - deed -c 'env | grep -c ^TMOUT=')"
told changed "$(timeout 40 su - deed -c '(TMOUT=0; echo $TMOUT) 2>/dev/null')"
told login "$(timeout 40 su - deed -c umask)"
told bash "$(timeout 40 su deed -c 'bash -ic umask' 2>/dev/null)"
reads() { timeout 40 su deed -c "$*" >/dev/null 2>&1; echo $?; }
told sudoers "$(reads ls /etc/sudoers.d)"
told maps "$(reads "cat /boot/System.map-*")"
# After three wrong passwords the right one is refused.
knock() { printf '%s\n' "$1" | timeout 60 setpriv --reuid=65534 --clear-groups su deed -c true >/dev/null 2>&1; echo $?; }
told knocked "$(knock "$now")"
for wrong in 1 2 3; do knock "$wrong" >/dev/null; done
told locked "$(knock "$now")"
# A login can leave processes of systemd behind, and an account that runs some is not deleted.
systemctl stop "user@$(id -u deed).service" >/dev/null 2>&1
pkill -KILL -u deed
userdel -rf deed >/dev/null 2>&1
cp -p /run/deed.opasswd /etc/security/opasswd; rm -f /run/deed.opasswd /run/faillock/deed /var/log/faillock/deed
groupadd deeds
echo deeds:Harbour-One-42-Lantern | chgpasswd >/dev/null 2>&1
told group "$(getent gshadow deeds | cut -d: -f2 | cut -d'$' -f1-2)"
groupdel deeds
told umask "$(umask 022; sudo -n sh -c umask 2>/dev/null)"
told mode "$(stat -c '%a %U %G' /etc/ssh/sshd_config)"
sshd -T -C user=root,host=deed,addr=127.0.0.1 2>/dev/null | sed 's/^\([a-z0-9]*\) /sshd \1\t/'
sysctl $KEYS 2>/dev/null | sed 's/^\([^ ]*\) = /now \1\t/'
sysctl --dry-run --system 2>/dev/null | sed -n 's/^\([a-z][^ =]*\) *= */boot \1\t/p'
told arguments "$(cat /proc/cmdline)"
for place in $PLACES; do
  told "mounted $place" "$(awk -v at="$place" '$5 == at { told = $6 } END { print told }' /proc/self/mountinfo)"
done
told mounted "$(awk '$5 != "/" && / - [^ ]+ \/dev\// && $6 !~ /(^|,)nodev(,|$)/ { print $5 }' /proc/self/mountinfo)"
for package in $PACKAGES; do
  if command -v rpm >/dev/null; then found=$(rpm -q --qf installed "$package") || found=
  else found=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null); fi
  told "package $package" "$found"
done
told selinux "$(getenforce 2>/dev/null)"
told locks "$(auditctl -s 2>/dev/null | sed -n 's/^enabled //p')"
! command -v perl >/dev/null || observe_audit $PROGRAMS
