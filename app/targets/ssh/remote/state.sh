# state: print two digests. The first covers what logins and sudo depend on, the second what passwords depend on: all of /etc,
# the modules of libpam and the programs, packages, mounts, closed doors, the day and the boot. Left out of both is what none
# of these programs reads: kernel settings, which the real login of each look meets, and the files of the audit, the boot
# loader, logs, jobs, time, package sources, firewall and desktop, notices, and the shells' profiles (the shells started
# here are no login shells). The second is also without sshd's and sudo's files: passwords are tried with passwd and su.
state() {
  listed=$({
    cat /proc/sys/kernel/random/boot_id
    cut -d ' ' -f 4-6 /proc/self/mountinfo
    date +%F
    ls -lLn --full-time /lib/security /lib64/security /usr/lib/security /usr/lib64/security /usr/lib/*/security
    ls -ln --full-time /run/nologin
    # Each login touches its account's tally of failures: what a tally holds counts, not its time.
    find /run/faillock /var/lib/faillock /var/log/faillock -type f -size +0 -exec sha256sum {} + | sort
    set -- $(for one in passwd su sudo visudo sshd chpasswd setpriv; do command -v "$one"; done) /etc/selinux/*/policy/policy.*
    stat -L -c '%n %s %i %.Z' -- "$@" /var/lib/dpkg/status
    # A query alone touches rpm's lock and the two files of SQLite beside the database: what was written to them counts.
    for folder in /var/lib/rpm /usr/lib/sysimage/rpm; do
      find $folder -maxdepth 1 -type f ! -name '*-shm' ! -name .rpm.lock -printf '%p %s %i %T@\n' | sort
    done
    unread='-path /etc/sysctl.* -o -path /etc/modprobe.d -o -path /etc/audit -o -path /etc/grub.d -o -path /etc/default/grub*'
    unread="$unread -o -path /etc/aide -o -path /etc/rsyslog* -o -path /etc/logrotate* -o -path /etc/cron.*"
    unread="$unread -o -path /etc/issue* -o -path /etc/motd* -o -path /etc/profile* -o -path /etc/csh* -o -path /etc/bash*"
    unread="$unread -o -path /etc/chrony* -o -path /etc/dnf -o -path /etc/yum* -o -path /etc/apt -o -path /etc/dconf"
    unread="$unread -o -path /etc/firewalld -o -path /etc/nftables* -o -path /etc/usbguard -o -path /etc/tmpfiles.d"
    unread="$unread -o -path /etc/systemd/journald.conf* -o -path /etc/systemd/coredump.conf*"
    unread="$unread -o -path /etc/udev -o -path /etc/selinux/*/policy"
    unread="$unread -o -name *.temper-new -o -name *temper-undo-* -o -name .temper-trial"
    set -f
    find /etc -xdev \( $unread \) -prune -o -printf '%p %y %m %U %G %l\n' | sort
    find /etc -xdev \( $unread \) -prune -o -type f -print0 | sort -z | xargs -0 -r sha256sum --
  } 2>/dev/null)
  printf '%s' "$listed" | sha256sum | cut -d ' ' -f 1
  printf '%s' "$listed" | grep -vE '(^|  )/etc/(ssh/|sudoers)' | sha256sum | cut -d ' ' -f 1
}
