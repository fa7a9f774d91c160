# packages.sh, inside a new machine: rpm's database, and a repository for dnf, of packages made from what Debian put here.
# A package that is "installed" is registered with its real files; one that is "offered" has its files taken away again.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
work=/tmp/rpms
mkdir -p $work/lists /srv/rpms /etc/rpm /etc/pki/rpm-gpg /etc/yum.repos.d /var/lib/rpm
printf '%%_dbpath /var/lib/rpm\n' > /etc/rpm/macros
rpm --initdb
# RHEL's names of units are names of files; Debian has them as aliases, which DISA's checks do not follow.
for unit in ssh chrony; do
  [ -e "/lib/systemd/system/$unit.service" ] || continue
  systemctl --quiet disable $unit.service 2>/dev/null || true
  mv /lib/systemd/system/$unit.service /lib/systemd/system/${unit}d.service
  sed -i "s/^Alias=.*/Alias=$unit.service/" /lib/systemd/system/${unit}d.service
  systemctl --quiet enable ${unit}d.service 2>/dev/null || true
done
# How it stands at first | RHEL's name | its Debian packages, - for none | what it requires
packages='
installed redhat-release -
installed setup base-files base-passwd
installed bash bash
installed coreutils coreutils
installed util-linux util-linux mount
installed shadow-utils passwd login
installed pam libpam-modules libpam-runtime
installed libpwquality libpam-pwquality
installed systemd systemd
installed kernel -
installed openssh-server openssh-server
installed openssh-clients openssh-client
installed sudo sudo
installed audit auditd
installed rsyslog rsyslog
installed logrotate logrotate
installed chrony chrony
installed cronie cron
installed dnf dnf
installed rpm rpm
installed policycoreutils policycoreutils
installed selinux-policy-targeted selinux-policy-default
installed crypto-policies -
installed openssl-pkcs11 -
installed openscap-scanner openscap-scanner
installed telnet-server -
installed ftp -
installed gssproxy -
installed nfs-utils - : gssproxy
installed iprutils -
installed tuned -
installed quagga -
offered firewalld firewalld python3-firewall
offered fapolicyd fapolicyd
offered usbguard usbguard
offered aide aide
offered tmux tmux
offered opensc opensc
offered pcsc-lite pcscd
offered gnutls-utils gnutls-bin
offered nss-tools libnss3-tools
offered rng-tools rng-tools5
offered s-nail s-nail
offered rsyslog-gnutls rsyslog-gnutls : rsyslog
offered audispd-plugins audispd-plugins : audit
offered policycoreutils-python-utils policycoreutils-python-utils : policycoreutils
offered libreswan -
offered subscription-manager -
offered postfix -
offered vsftpd -
'
list_files() {
  # list_files DEBIAN_NAME...: the files that are there, with configuration marked as such.
  for deb in "$@"; do [ "$deb" = - ] || dpkg -L "$deb"; done | sed -E 's,^/(bin|sbin|lib|lib64)/,/usr&,; s,/(ssh|chrony)\.service$,/\1d.service,' | sort -u | while IFS= read -r path; do
    case $path in *[[:space:]]*|/etc/init.d/*|/etc/pam.d/*|/etc/dnf/dnf.conf|/etc/chrony/chrony.conf) continue ;; esac
    case $path in /bin|/sbin|/lib|/lib64) continue ;; esac  # links to folders of /usr
    if [ -d "$path" ] && [ ! -L "$path" ]; then continue; fi
    [ -e "$path" ] || [ -L "$path" ] || continue
    case $path in /etc/*) echo "%config(noreplace) $path" ;; *) echo "$path" ;; esac
  done
}
cat > $work/all.spec <<'SPEC'
%global debug_package %{nil}
%global __os_install_post %{nil}
%global _build_id_links none
Name: el9-stand-in
Version: 9.6
Release: 1.el9
Summary: Packages of a stand-in for RHEL 9
License: those of Debian's packages
AutoReqProv: no
%description
Made from Debian's files, and not Red Hat's.
SPEC
echo "$packages" | while read -r state name rest; do
  [ "$name" ] || continue
  requires= debs=${rest%% : *}
  case $rest in *' : '*) requires=${rest##* : } ;; esac
  # shellcheck disable=SC2086
  list_files $debs > "$work/lists/$name"
  version=$(dpkg-query -W -f '${Version}' "${debs%% *}" 2>/dev/null | sed 's/^[0-9]*://; s/[-+~].*//') || version=
  case $name in redhat-release|crypto-policies|kernel) version=9.6 ;; esac
  {
    printf '%%package -n %s\nVersion: %s\nSummary: %s of a stand-in for RHEL 9, not from Red Hat\nAutoReqProv: no\n' \
      "$name" "${version:-9.6}" "$name"
    [ -z "$requires" ] || printf 'Requires: %s\n' $requires
    [ "$name" != redhat-release ] || printf 'Provides: system-release = 9.6\nProvides: system-release(releasever) = 9\n'
    printf '%%description -n %s\nMade from Debian'"'"'s files, and not Red Hat'"'"'s.\n%%files -n %s' "$name" "$name"
    if [ -s "$work/lists/$name" ]; then echo " -f $work/lists/$name"; else echo; fi
  } >> $work/all.spec
done
cat >> $work/all.spec <<SPEC
%install
mkdir -p %{buildroot}
sed 's/^%%config(noreplace) //' $work/lists/* | sort -u | tar -C / --no-recursion -cf - -T - | tar -C %{buildroot} -xpf -
SPEC
rpmbuild --quiet --define "_topdir $work" --define '_binary_payload w1.gzdio' -bb $work/all.spec > $work/log 2>&1 ||
  { tail -n 5 $work/log >&2; exit 1; }
export GNUPGHOME=$work/gnupg
mkdir -m 700 $GNUPGHOME
gpg --batch --quiet --passphrase '' --quick-gen-key 'Stand-in for RHEL 9' rsa3072 sign never
key=/etc/pki/rpm-gpg/RPM-GPG-KEY-el9-stand-in
gpg --armor --export > $key
rpmsign --define '_gpg_name Stand-in for RHEL 9' --define '__gpg /usr/bin/gpg' --addsign $work/RPMS/*/*.rpm >> $work/log 2>&1 ||
  { tail -n 5 $work/log >&2; exit 1; }
gpgconf --kill gpg-agent
rpm --import $key 2>/dev/null
echo "$packages" | while read -r state name rest; do
  [ "$name" ] || continue
  file=$(echo $work/RPMS/*/"$name"-[0-9]*.rpm)
  if [ "$state" = installed ]; then
    rpm -i --justdb --nodeps --noscripts "$file" 2>/dev/null
  else
    for unit in $(sed -n 's,.*/systemd/system/\([^/]*\.\(service\|socket\)\)$,\1,p' "$work/lists/$name"); do
      systemctl --quiet disable "$unit" 2>/dev/null || true
    done
    sed 's/^%config(noreplace) //' "$work/lists/$name" | tr '\n' '\0' | xargs -0r rm -f --
  fi
  mv "$file" /srv/rpms/
done
createrepo_c --quiet /srv/rpms
rm -rf $work
# fapolicyd is to trust what was here when the machine was made: most of it is in no rpm package.
mkdir -p /etc/fapolicyd/trust.d
find /usr -xdev -type f \( -perm /111 -o -name '*.so*' -o -name '*.py' \) ! -path '* *' -print0 | xargs -0 sha256sum |
  while read -r sum path; do echo "$path $(stat -c %s "$path") $sum"; done > /etc/fapolicyd/trust.d/made.trust
cat > /etc/yum.repos.d/stand-in.repo <<REPO
[stand-in]
name=Packages of a stand-in for RHEL 9
baseurl=file:///srv/rpms
enabled=1
gpgcheck=1
gpgkey=file://$key
REPO
cat > /etc/dnf/dnf.conf <<'CONF'
[main]
gpgcheck=1
installonly_limit=3
clean_requirements_on_remove=True
best=True
skip_if_unavailable=False
CONF
printf '[main]\nenabled = 1\nlocklist = /etc/dnf/plugins/versionlock.list\n' > /etc/dnf/plugins/versionlock.conf
: > /etc/dnf/plugins/versionlock.list
# RHEL has no such plugin, and its repository, which nobody has made, would fail every installation.
[ ! -e /etc/dnf/plugins/local.conf ] || printf '[main]\nenabled = false\n' > /etc/dnf/plugins/local.conf
mkdir -p /etc/dnf/protected.d
printf 'dnf\nsudo\nsystemd\nsetup\n' > /etc/dnf/protected.d/stand-in.conf
dnf -q makecache
# From here on this machine's packages are dnf's: what only Debian's tools know would contradict the rpm database.
mkdir -p /usr/libexec/debian
for tool in apt apt-get apt-cache apt-cdrom apt-config apt-key apt-mark dpkg dpkg-deb dpkg-query dpkg-divert \
  dpkg-statoverride dpkg-split dpkg-maintscript-helper dpkg-realpath dpkg-trigger update-alternatives; do
  [ ! -e "/usr/bin/$tool" ] || mv "/usr/bin/$tool" /usr/libexec/debian/
done
systemctl --quiet disable dpkg-db-backup.timer 2>/dev/null || true
