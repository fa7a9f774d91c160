# Packages, by rpm and dnf. What dnf checks of a package's signature stays as the host has it: no option here touches it,
# and no key is imported on the way.
dnf_state() {
  # Print "installed VERSION", or nothing if absent.
  found=$(rpm -q --qf '%{EVR}\n' -- "$1" 2>/dev/null) || return 0
  printf 'installed %s\n' "$(printf '%s\n' "$found" | sort -u | paste -s -d , -)"
}
dnf_now() { rpm -qa --qf '%{NAME}\tinstalled %{EVR}.%{ARCH}\n' 2>/dev/null | grep -v '^gpg-pubkey' | sort; }
dnf_run() {
  # Install nothing else, ask nothing, and remove nothing that is only unused.
  dnf --setopt=clean_requirements_on_remove=False --setopt=install_weak_deps=False --setopt='*.gpgkey=' --color=never \
    "$@" </dev/null 9>&-
}
dnf_foresees() {
  # dnf_foresees install|remove NAME...: print each name and its future version, - if removed.
  dnf_run --assumeno "$@" 2>&1 | awk '
    /^(Installing|Upgrading|Downgrading|Reinstalling)[a-z ]*:$/ { section = "in"; next }
    /^Removing[a-z ]*:$/ { section = "out"; next }
    /^(Enabling|Switching) module streams:$/ { section = "module"; next }
    /^You have enabled checking of packages via GPG keys/ {
      print "! packages are to be signed, and no key is imported: a person imports the publisher'"'"'s with rpm --import"
    }
    /^Error: / { sub(/^Error: */, ""); if ($0 != "") print "! " $0; else problem = 1; next }
    problem && /Problem/ { sub(/^ *Problem[ 0-9]*: */, ""); print "! " $0; problem = 0; next }
    /^[^ ]/ || /^$/ { section = ""; next }
    section == "" { next }
    section == "module" { print "! the module stream " $1 ":" $NF " would be enabled, which is a person'"'"'s to decide"; next }
    $1 == "replacing" { sub(/\.[^.]*$/, "", $2); print $2, "-"; next }
    NF == 1 { name = $1; next }
    { if (name == "") { name = $1; version = $3 } else version = $2
      print name, (section == "in" ? version : "-"); name = "" }'
}
dnf_kept() {
  # dnf_kept NAME FOLDER: save the package as it was installed, from the cache or once more from where it came.
  nevra=$(rpm -q --qf '%{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}' -- "$1").rpm
  for cached in /var/cache/dnf/*/packages/"$nevra"; do
    if [ -r "$cached" ] && rpm -K -- "$cached" >/dev/null 2>&1; then cp -- "$cached" "$2/$1.rpm"; return; fi
  done
  dnf_run -y -q reinstall --downloadonly --destdir="$2" -- "$1" >/dev/null 2>&1 && mv -- "$2/$nevra" "$2/$1.rpm"
}
dnf_settled() { :; }
dnf_put_back() {
  # dnf_put_back PURGE REMOVE PUT: with rpm alone, without a network. New packages are removed first.
  # shellcheck disable=SC2086
  {
    [ -z "$1$2" ] || rpm -e --nodeps $1 $2
    [ -z "$3" ] || rpm -U --nodeps --oldpackage --replacepkgs --replacefiles $3
  } </dev/null 2>&1 9>&-
}
dnf_needed() {
  # dnf_needed PATH...: the packages of these programs, and those that the host protects.
  for path in "$@"; do rpm -qf --qf '%{NAME}\n' -- "$path" 2>/dev/null; done | grep -v ' '
  cat /etc/dnf/protected.d/*.conf 2>/dev/null | sed -n 's/^[[:space:]]*\([A-Za-z0-9][A-Za-z0-9._+-]*\)[[:space:]]*$/\1/p'
}
dnf_candidate() { dnf_run -q repoquery --available --latest-limit=1 --qf '%{evr}' -- "$1" 2>/dev/null | tail -n 1; }
dnf_locked() {
  # dnf_locked NAME: succeed if versionlock holds the package. A line is NAME-EPOCH:VERSION-RELEASE.ARCH.
  awk -v name="$1" '/^[[:space:]]*[#!]/ { next } { sub(/-[^-]*-[^-]*$/, ""); if ($0 == name) found = 1 } END { exit !found }' \
    /etc/dnf/plugins/versionlock.list 2>/dev/null
}
dnf_act() { dnf_run -y "$@"; }
