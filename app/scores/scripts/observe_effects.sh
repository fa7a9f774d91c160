export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C
told() { printf '%s\t%s\n' "$1" "$(printf %s "$2" | tr '\n\t' '  ' | cut -c1-200)"; }
cp -p /etc/security/opasswd /run/deed.opasswd
useradd -m -s /bin/bash deed
chage -m 0 deed
one=Harbour-mint-42-Lantern two=kettle.Vow7.drums.Quay three=9Orchid,plaza,tonic,Bee short=Kq7-vexing-Jol
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
told home "$(stat -c %a /home/deed)"
told idle "$(timeout 40 su - deed -c 'echo $TMOUT')"
told exported "$(timeout 40 su - deed -c 'env | grep -c ^TMOUT=')"
told changed "$(timeout 40 su - deed -c '(TMOUT=0; echo $TMOUT) 2>/dev/null')"
# A login can leave processes of systemd behind, and an account that runs some is not deleted.
systemctl stop "user@$(id -u deed).service" >/dev/null 2>&1
pkill -KILL -u deed
userdel -rf deed >/dev/null 2>&1
cp -p /run/deed.opasswd /etc/security/opasswd; rm -f /run/deed.opasswd
groupadd deeds
echo deeds:Harbour-One-42-Lantern | chgpasswd >/dev/null 2>&1
told group "$(getent gshadow deeds | cut -d: -f2 | cut -d'$' -f1-2)"
groupdel deeds
told root "$(sshd -T -C user=root,host=deed,addr=127.0.0.1 2>/dev/null | sed -n 's/^permitrootlogin //p')"
told mode "$(stat -c '%a %U %G' /etc/ssh/sshd_config)"
for key in kernel.randomize_va_space net.ipv4.tcp_syncookies net.ipv4.icmp_ignore_bogus_error_responses; do
  told "now $key" "$(sysctl -n "$key")"
  told "boot $key" "$(sysctl --dry-run --system 2>/dev/null | sed -n "s/^$key *= *//p" | tail -n 1)"
done
told pwquality "$(dpkg-query -W -f '${db:Status-Status}' libpam-pwquality 2>/dev/null)"
