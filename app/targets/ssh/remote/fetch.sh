# fetch all PATTERN... -- NAMED... | fetch some PATH...: print the files as a tar stream with owner names and modes.
# Pattern matches are sent whole; a pattern that ends in a slash sends a folder without its content. Files that only a rule names, if they are small and world-readable.
cd / || fail 9 "the root folder cannot be entered"
most=262144
ways() {
  # The path and its parent folders, each ended by a NUL.
  way=$1
  while :; do
    printf '%s\0' "$way"
    case $way in */*) way=${way%/*} ;; *) return ;; esac
  done
}
for_everybody() {
  set -- $(stat -L -c '%a %s' -- "$1" 2>/dev/null)
  case ${1:-0} in *[4567]) [ "${2:-0}" -le "$most" ] ;; *) return 1 ;; esac
}
matched() {
  named=
  for pattern; do
    [ "$pattern" = -- ] && { named=yes; continue; }
    held=$IFS
    IFS=
    for one in $pattern; do
      [ -e "$one" ] || [ -L "$one" ] || continue
      IFS=$held
      case $one in */)
        ways "${one%/}"
        real=$(readlink -f -- "$one") && [ "$real" != / ] && ways "${real#/}"
        continue ;;
      esac
      case ${one##*/} in .temper-trial | *.temper-new | *temper-undo-* | ssh_host_*_key) continue ;; esac
      if [ -z "$named" ] || [ -d "$one" ] || for_everybody "$one"; then ways "$one"; fi
    done
    IFS=$held
  done
}
case $1 in
all)
  shift
  matched "$@" | sort -zu | tar --hard-dereference --no-recursion --null -cf - -T -
  ;;
some)
  shift
  for one; do
    shift
    if [ -e "$one" ] || [ -L "$one" ]; then set -- "$@" "$one"; fi
  done
  [ "$#" = 0 ] || tar --hard-dereference --no-recursion -cf - -- "$@"
  ;;
esac
