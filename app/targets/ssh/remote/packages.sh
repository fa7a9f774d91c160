# Packages, by dpkg and apt. Changes of package scripts are found by comparing with a list from before.
DEBIAN_FRONTEND=noninteractive DEBCONF_NONINTERACTIVE_SEEN=true APT_LISTCHANGES_FRONTEND=none NEEDRESTART_SUSPEND=1
export DEBIAN_FRONTEND DEBCONF_NONINTERACTIVE_SEEN APT_LISTCHANGES_FRONTEND NEEDRESTART_SUSPEND
# Paths, relative to the root, that package scripts write besides the package's files.
grounds='etc var/lib/pam var/lib/ucf var/lib/apt/extended_states var/lib/dpkg/alternatives
  var/lib/systemd/deb-systemd-helper-enabled var/lib/systemd/deb-systemd-helper-masked'
package_state() {
  # Print "installed VERSION", "config-files VERSION", or nothing if absent.
  dpkg-query -W -f '${db:Status-Status} ${Version}\n' "$1" 2>/dev/null | sed -n '/^not-installed/d; s/ *$//; p; q'
}
packages_now() { ! command -v dpkg-query >/dev/null 2>&1 || dpkg-query -W -f '${binary:Package}\t${db:Status-Status} ${Version}\n' | grep -v "${tab}not-installed" | sort; }
apt_get() {
  # Install nothing else, ask nothing, and keep changed configuration files.
  apt-get -q -y -o APT::Get::AutomaticRemove=false -o APT::Get::HideAutoRemove=true -o DPkg::Lock::Timeout=60 \
    -o Dpkg::Use-Pty=0 -o Dpkg::Options::=--force-confold "$@" </dev/null 9>&-
}
apt_foresees() {
  # apt_foresees install|remove NAME...: print each name and its future version, empty if removed.
  apt_get -s "$@" 2>&1 | sed -n \
    -e 's/^Inst \([^ ]*\) .*(\([^ ]*\) .*$/\1 \2/p' \
    -e 's/^\(Remv\|Purg\) \([^ ]*\) .*$/\2 -/p' -e 's/^E: \(.*\)$/! \1/p'
}
described() (
  # Print every watched path with kind, mode, owner and link target, then its digest.
  cd -- "$1/" || exit
  for ground in $grounds; do
    [ -e "$ground" ] || [ -L "$ground" ] || continue
    find "$ground" ! -name '*temper-undo-*' ! -name '*.temper-new' ! -name "*$tab*" -printf '%p\t%y %m %U:%G %l\n'
    find "$ground" ! -name '*temper-undo-*' ! -name '*.temper-new' ! -name "*$tab*" -type f -exec sha256sum {} + |
      sed "s/^\([0-9a-f]*\)  \(.*\)$/\2$tab\1/"
  done | sort
)
touched() {
  # touched JOURNAL: print the paths that changed since the journal began.
  described "$1/state" >"$1/then" && described / >"$1/now" || return 1
  comm -3 "$1/then" "$1/now" | sed "s/^$tab//" | cut -f 1 | sort -u
  rm -f -- "$1/then" "$1/now"
}
repacked() {
  # repacked NAME FOLDER: rebuild an installed package as a .deb.
  out=$2/tree
  mkdir -p -m 755 -- "$out/DEBIAN" || return 1
  for part in $(dpkg-query --control-list "$1"); do
    cp -p -- "$(dpkg-query --control-path "$1" "$part")" "$out/DEBIAN/$part" || return 1
  done
  dpkg-query -s "$1" | awk '/^[^ ]/ { skip = /^(Status|Conffiles|Config-Version):/ } !skip' >"$out/DEBIAN/control"
  dpkg-query -L "$1" | sed -n 's,^/,,p' | while IFS= read -r path; do
    if [ -L "/$path" ] || { [ -e "/$path" ] && [ ! -L "/$path" ]; }; then
      if [ ! -L "/$path" ] || [ ! -d "/$path" ]; then printf '%s\n' "$path"; fi
    fi
  done >"$2/list"
  tar -C / --no-recursion -cf - -T "$2/list" | tar -C "$out" -xpf - || return 1
  dpkg-deb -Znone -b "$out" "$2/$1.deb" >/dev/null || return 1
  rm -rf -- "$out" "$2/list"
}
package_kept() {
  # package_kept NAME FOLDER: save the package, from apt's cache or rebuilt.
  version=$(dpkg-query -W -f '${Version}' "$1") arch=$(dpkg-query -W -f '${Architecture}' "$1")
  for cached in "/var/cache/apt/archives/$1_$(printf %s "$version" | sed 's/:/%3a/')_$arch.deb"; do
    if [ -r "$cached" ] && dpkg-deb --contents "$cached" >/dev/null 2>&1; then cp -- "$cached" "$2/$1.deb"; return; fi
  done
  repacked "$1" "$2"
}
packages_kept() {
  # packages_kept JOURNAL: save package states, the paths that scripts can change, and the journal's packages.
  packages_now >"$1/packages" && mkdir -m 700 -- "$1/state" "$1/keep" || return 1
  ( cd / && for ground in $grounds; do
      [ ! -e "$ground" ] || cp -a --parents -- "$ground" "$1/state/" || exit 1
    done ) || return 1
  while IFS= read -r held; do
    case $held in
    package:*) case $(package_state "${held#package:}") in
      installed*) package_kept "${held#package:}" "$1/keep" >/dev/null || return 1 ;;
      esac ;;
    esac
  done <"$1/resources"
}
packages_back() {
  # packages_back JOURNAL: restore with dpkg alone, without a network. New packages are removed first.
  packages_now >"$1/packages.now"
  grep -q '^package:' "$1/resources" || return 0
  dpkg --force-confold --configure -a </dev/null >/dev/null 2>&1 9>&-
  packages_now >"$1/packages.now"
  others=$(comm -3 "$1/packages" "$1/packages.now" | sed "s/^$tab//" | cut -f 1 | sort -u)
  purge= remove= put=
  for other in $others; do
    case $(sed -n "s/^$other$tab//p" "$1/packages") in
    installed*) [ ! -r "$1/keep/${other%%:*}.deb" ] || put="$put $1/keep/${other%%:*}.deb" ;;
    '') purge="$purge $other" ;;
    *) remove="$remove $other" ;;
    esac
  done
  # shellcheck disable=SC2086
  {
    [ -z "$purge" ] || dpkg --force-depends --purge $purge
    [ -z "$remove" ] || dpkg --force-depends --remove $remove
    [ -z "$put" ] || dpkg --force-depends --force-confold --force-confmiss -i $put
    dpkg --force-confold --configure -a
  } </dev/null >"$1/dpkg.log" 2>&1 9>&-
  packages_now >"$1/packages.now"
}
resources_back() {
  # resources_back JOURNAL: restore paths; changes that were not made by our scripts stay.
  if [ ! -e "$1/others" ]; then
    if [ -r "$1/touched" ]; then touched "$1" | comm -23 - "$1/touched"; fi >"$1/others.new"
    mv -fT -- "$1/others.new" "$1/others"
  fi
  packages_back "$1"
  touched "$1" | comm -23 - "$1/others" >"$1/differ"
  sort -r "$1/differ" | while IFS= read -r path; do
    if [ -e "$1/state/$path" ] || [ -L "$1/state/$path" ]; then continue; fi
    if [ -d "/$path" ] && [ ! -L "/$path" ]; then rmdir -- "/$path"; else rm -f -- "/$path"; fi
  done 2>/dev/null
  while IFS= read -r path; do
    was=$1/state/$path
    if [ -d "$was" ] && [ ! -L "$was" ]; then
      [ -d "/$path" ] || mkdir -- "/$path"
      chown --reference="$was" -- "/$path" && chmod --reference="$was" -- "/$path"
    elif [ -e "$was" ] || [ -L "$was" ]; then
      temp=$(beside "/$path")
      rm -rf -- "$temp" && cp -a -- "$was" "$temp" && mv -fT -- "$temp" "/$path"
    fi
  done <"$1/differ"
  sync
}
resources_left() {
  # resources_left JOURNAL: print the resources that still differ, one a line.
  comm -3 "$1/packages" "$1/packages.now" | sed "s/^$tab//" | cut -f 1 | sort -u | sed 's/^/package:/'
  touched "$1" | comm -23 - "$1/others" | sed 's,^,/,'
}
