# weaken.sh, inside a new machine: what hardening is to find, some of every family of rules.
set_option() { sed -i "/^#\{0,1\}[[:space:]]*$2\([[:space:]=].*\)\{0,1\}$/d" "$1"; printf '%s\n' "$3" >> "$1"; }
set_option /etc/login.defs PASS_MAX_DAYS 'PASS_MAX_DAYS	99999'
set_option /etc/login.defs PASS_MIN_DAYS 'PASS_MIN_DAYS	0'
set_option /etc/login.defs UMASK 'UMASK		022'
set_option /etc/login.defs ENCRYPT_METHOD 'ENCRYPT_METHOD SHA512'
set_option /etc/login.defs FAIL_DELAY 'FAIL_DELAY 0'
set_option /etc/default/useradd INACTIVE 'INACTIVE=-1'
printf 'PermitRootLogin yes\nX11Forwarding yes\nPermitEmptyPasswords no\nGSSAPIAuthentication yes\n' \
  > /etc/ssh/sshd_config.d/01-site.conf
sed -i 's/^gpgcheck=1/gpgcheck=0/; s/^clean_requirements_on_remove=.*/clean_requirements_on_remove=False/' /etc/dnf/dnf.conf
printf 'Defaults !targetpw\n%%wheel ALL=(ALL) ALL\nopsadmin ALL=(ALL) ALL\n' > /etc/sudoers.d/site
chmod 0440 /etc/sudoers.d/site
printf 'kernel.dmesg_restrict = 0\nkernel.kptr_restrict = 0\nnet.ipv4.conf.all.accept_redirects = 1\nfs.protected_hardlinks = 0\n' \
  > /etc/sysctl.d/90-site.conf
mkdir -p /etc/audit/rules.d
printf -- '-D\n-b 8192\n-f 1\n' > /etc/audit/rules.d/audit.rules
sed -i 's/^disk_full_action.*/disk_full_action = SUSPEND/; s/^space_left_action.*/space_left_action = SYSLOG/' /etc/audit/auditd.conf
chmod 0644 /etc/chrony.conf /etc/ssh/sshd_config
chmod 0755 /home/opsadmin
printf 'pool 2.rhel.pool.ntp.org iburst\nport 123\n' >> /etc/chrony.conf
echo 'auth optional pam_permit.so' >> /etc/pam.d/postlogin
systemctl --quiet enable debug-shell.service
