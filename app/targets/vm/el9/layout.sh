# layout.sh, inside a new machine: RHEL 9's files, in the form in which RHEL's tools and DISA's checks look for them.
cat > /etc/os-release <<'RELEASE'
NAME="Stand-in for RHEL"
ID="el9-stand-in"
ID_LIKE="rhel fedora"
VERSION="9.6 (SIMULATED distribution)"
VERSION_ID="9.6"
PLATFORM_ID="platform:el9"
PRETTY_NAME="A stand-in for RHEL 9.6 (SIMULATED distribution, real kernel and daemons of Debian 12)"
RELEASE
echo 'Red Hat Enterprise Linux release 9.6 (stand-in, SIMULATED distribution)' > /etc/redhat-release
ln -sf redhat-release /etc/system-release
rm -f /etc/debian_version
echo 'A stand-in for RHEL 9 (SIMULATED distribution): Debian 12 underneath.' > /etc/motd
cp /etc/motd /etc/issue
cp /etc/motd /etc/issue.net
# Accounts keep their systemd manager: in software emulation each login would wait half a minute for a new one.
mkdir -p /var/lib/systemd/linger
for account in temper opsadmin root; do : > /var/lib/systemd/linger/$account; done
groupadd --system wheel 2>/dev/null || true
usermod -aG wheel opsadmin
# One list of locations: what this machine's daemons read is where RHEL has it.
mkdir -p /etc/chrony
printf 'pool 2.rhel.pool.ntp.org iburst\ndriftfile /var/lib/chrony/drift\nmakestep 1.0 3\nrtcsync\nlogdir /var/log/chrony\n' \
  > /etc/chrony.conf
ln -sf ../chrony.conf /etc/chrony/chrony.conf
ln -sf grub /boot/grub2
ln -sf ../boot/grub2/grub.cfg /etc/grub2.cfg
mkdir -p /usr/libexec
ln -sfn ../lib/openssh /usr/libexec/openssh
sed -i 's,=-/lib/systemd/systemd-sulogin-shell,=-/usr/lib/systemd/systemd-sulogin-shell,' \
  /usr/lib/systemd/system/emergency.service /usr/lib/systemd/system/rescue.service
mkdir -p /boot/loader/entries
cat > /etc/grub.d/45_loader_entries <<'HOOK'
#!/bin/sh
# RHEL's boot loader reads entries; this machine boots by grub.cfg, and keeps an entry with the same arguments.
set -e
. /etc/default/grub
{
  echo "title Stand-in for RHEL 9"
  echo "linux /vmlinuz"
  echo "initrd /initrd.img"
  echo "options root=LABEL=root ro $GRUB_CMDLINE_LINUX $GRUB_CMDLINE_LINUX_DEFAULT"
} > /boot/loader/entries/stand-in.conf
HOOK
chmod 0755 /etc/grub.d/45_loader_entries
ln -sf grub-mkconfig /usr/sbin/grub2-mkconfig
cat > /etc/bashrc <<'BASHRC'
# System-wide functions and aliases, read by bash in every interactive shell.
if [ "$PS1" ]; then
  PS1='[\u@\h \W]\$ '
fi
umask 022
BASHRC
printf '[ -f /etc/bashrc ] && . /etc/bashrc\n' > /etc/bash.bashrc
cat > /etc/profile <<'PROFILE'
# System-wide environment, read by login shells.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin
export PATH
umask 022
for i in /etc/profile.d/*.sh; do
  [ ! -r "$i" ] || . "$i"
done
unset i
if [ -n "$BASH_VERSION" ] && [ -r /etc/bashrc ]; then . /etc/bashrc; fi
PROFILE
echo 'umask 022' > /etc/csh.cshrc
printf 'mailer-daemon: postmaster\n' > /etc/aliases
printf '[import]\n[defaults]\ncrypt_style = sha512\n' > /etc/libuser.conf
# The stacks of RHEL, with the modules that Debian has. Services of Debian that include common-* go by them, too.
cat > /etc/pam.d/system-auth <<'STACK'
auth        required      pam_env.so
auth        sufficient    pam_unix.so nullok
auth        required      pam_deny.so

account     required      pam_unix.so
account     sufficient    pam_localuser.so
account     required      pam_permit.so

password    requisite     pam_pwquality.so local_users_only
password    sufficient    pam_unix.so yescrypt shadow nullok use_authtok
password    required      pam_deny.so

session     optional      pam_keyinit.so revoke
session     required      pam_limits.so
-session    optional      pam_systemd.so
session     required      pam_unix.so
STACK
cp /etc/pam.d/system-auth /etc/pam.d/password-auth
for kind in auth account password session; do printf '%s\tinclude\tsystem-auth\n' $kind > /etc/pam.d/common-$kind; done
# cron's jobs are no sessions for logind here: SELinux's policy of Debian would deny what that takes, at each job.
printf 'session\trequired\tpam_limits.so\nsession\trequired\tpam_unix.so\n' > /etc/pam.d/common-session-noninteractive
cat > /etc/pam.d/sshd <<'STACK'
auth       substack     password-auth
account    required     pam_nologin.so
account    include      password-auth
password   include      password-auth
session    required     pam_selinux.so close
session    required     pam_loginuid.so
session    required     pam_selinux.so open env_params
session    optional     pam_keyinit.so force revoke
session    include      password-auth
STACK
cat > /etc/pam.d/sudo <<'STACK'
auth       include      system-auth
account    include      system-auth
password   include      system-auth
session    include      system-auth
STACK
cat > /etc/pam.d/su <<'STACK'
auth       sufficient   pam_rootok.so
#auth      required     pam_wheel.so use_uid
auth       substack     system-auth
account    sufficient   pam_succeed_if.so uid = 0 use_uid quiet
account    include      system-auth
password   include      system-auth
session    include      system-auth
STACK
# System-wide policies for cryptography: OpenSSH's server and client really go by them.
policies=/usr/share/crypto-policies
cbc=aes256-cbc,aes128-cbc gcm=aes256-gcm@openssh.com,aes256-ctr,aes128-gcm@openssh.com,aes128-ctr
macs=hmac-sha2-256-etm@openssh.com,hmac-sha2-512-etm@openssh.com,hmac-sha2-256,hmac-sha2-512
for policy in DEFAULT LEGACY FIPS; do
  mkdir -p $policies/$policy
  for part in bind gnutls java javasystem krb5 libreswan libssh nss openssl opensslcnf; do
    echo "# $part by the policy $policy; nothing on this stand-in reads it" > $policies/$policy/$part.txt
  done
  case $policy in
  FIPS) ciphers=$gcm hashes=$macs ;;
  DEFAULT) ciphers=chacha20-poly1305@openssh.com,$gcm hashes=$macs,hmac-sha1 ;;
  LEGACY) ciphers=chacha20-poly1305@openssh.com,$gcm,$cbc hashes=$macs,hmac-sha1,hmac-md5 ;;
  esac
  printf 'Ciphers %s\nMACs %s\n' "$ciphers" "$hashes" | tee $policies/$policy/openssh.txt > $policies/$policy/opensshserver.txt
done
cat > /usr/bin/update-crypto-policies <<'TOOL'
#!/bin/sh
# update-crypto-policies of a stand-in for RHEL 9: --show, --check, --set POLICY.
set -eu
all=/usr/share/crypto-policies here=/etc/crypto-policies
link_policy() {
  mkdir -p "$here/back-ends" "$here/state"
  for file in "$all/$1"/*.txt; do
    part=$(basename "$file" .txt)
    if [ "$part" = nss ]; then cp "$file" "$here/back-ends/nss.config"
    else ln -sfn "$file" "$here/back-ends/$part.config"; fi
  done
  echo "$1" > "$here/config"
  echo "$1" > "$here/state/current"
}
case ${1:---show} in
--show) cat "$here/state/current" ;;
--check) [ "$(readlink "$here/back-ends/openssh.config")" = "$all/$(cat "$here/config")/openssh.txt" ] ;;
--set)
  [ -d "$all/${2:?name a policy}" ] || { echo "There is no policy $2: $(ls "$all")" >&2; exit 1; }
  link_policy "$2"
  echo "Setting system policy to $2"
  echo "Note: Applications read their policy when they start. Restart the system, or at least sshd." ;;
*) echo "usage: update-crypto-policies --show | --check | --set POLICY" >&2; exit 2 ;;
esac
TOOL
chmod 0755 /usr/bin/update-crypto-policies
update-crypto-policies --set DEFAULT >/dev/null
mkdir -p /etc/ssh/sshd_config.d /etc/ssh/ssh_config.d
printf 'Include /etc/crypto-policies/back-ends/opensshserver.config\nSyslogFacility AUTHPRIV\nUsePAM yes\n' \
  > /etc/ssh/sshd_config.d/50-redhat.conf
printf 'Include /etc/crypto-policies/back-ends/openssh.config\n' > /etc/ssh/ssh_config.d/50-redhat.conf
cat > /etc/rsyslog.conf <<'LOG'
module(load="imuxsock" SysSock.Use="off")
module(load="imjournal" StateFile="imjournal.state")
global(workDirectory="/var/lib/rsyslog")
include(file="/etc/rsyslog.d/*.conf" mode="optional")
*.info;mail.none;authpriv.none;cron.none                /var/log/messages
authpriv.*                                              /var/log/secure
mail.*                                                  -/var/log/maillog
cron.*                                                  /var/log/cron
*.emerg                                                 :omusrmsg:*
LOG
[ -e /usr/lib/x86_64-linux-gnu/rsyslog/imjournal.so ] || sed -i 's/^module(load="imuxsock".*/module(load="imuxsock")/; /imjournal/d' /etc/rsyslog.conf
mkdir -p /var/lib/rsyslog
for log in messages secure maillog cron; do : > /var/log/$log; chmod 0600 /var/log/$log; done
# SELinux by Debian's policy, under the name that RHEL gives it.
ln -sfn default /etc/selinux/targeted
[ ! -d /var/lib/selinux/default ] || ln -sfn default /var/lib/selinux/targeted
printf 'SELINUX=enforcing\nSELINUXTYPE=targeted\n' > /etc/selinux/config
# What RHEL's policy allows and Debian's does not: to map the status page, without which libselinux ends sshd at every
# login, and the session's keys. agetty asks for a capability that it does not need.
cat > /tmp/stand-in.cil <<'MODULE'
(allow domain security_t (file (map)))
(allow sshd_t userdomain (key (search link write)))
(dontaudit getty_t self (capability2 (checkpoint_restore)))
MODULE
semodule --noreload --store default --install /tmp/stand-in.cil
sed -i 's/^GRUB_CMDLINE_LINUX="/&security=selinux selinux=1 /' /etc/default/grub
# RHEL's audit belongs to root alone, and its augenrules writes a file that only root may read.
sed -i 's/^log_group.*/log_group = root/' /etc/audit/auditd.conf
chgrp -R root /var/log/audit
chmod 0700 /var/log/audit
sed -i 's/chmod 0640/chmod 0600/' /usr/sbin/augenrules
