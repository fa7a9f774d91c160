# FOLDER DIGESTS SIZE IDLE COMMAND...: run the command in a new folder inside FOLDER and print its result.xml, compressed.
# Unless SIZE is 0, standard input is a datastream.xml of that size and a tailoring.xml, compressed as one.
# DIGESTS are lines for sha256sum, of each file that is read.
# OpenSCAP's threads sometimes wait for each other for good. A program that COMMAND runs and that uses no processor time
# for IDLE seconds, without a child or a disk that it waits for, is ended and begun again, twice at most. So is a program
# that crashed.
umask 077
mkdir -p -m 0700 -- "$1" && at=$(mktemp -d "$1/scan.XXXXXXXX") && cd "$at" || exit 44
main= watch=
trap 'cd / && rm -rf -- "$at"' EXIT
trap 'kill $main $watch 2>/dev/null; exit 143' HUP INT TERM
[ "$3" = 0 ] || {
  gzip -dc >sent && head -c "$3" sent >datastream.xml && tail -c "+$(($3 + 1))" sent >tailoring.xml; }
printf '%s\n' "$2" | sha256sum -c --status 2>/dev/null || exit 45
idle=$4
shift 4
# Print how much processor time a process has used, and nothing if it waits for a child, a disk or what is not known.
time_used() {
  for task in /proc/"$1"/task/*; do
    [ -r "$task/children" ] && children= && read -r line <"$task/stat" || return
    read -r children <"$task/children"
    case ${line##*) } in D*) return ;; esac
    [ -z "$children" ] || return
  done
  read -r line <"/proc/$1/stat" && set -- ${line##*) } && echo "${12} ${13}"
}
end_if_idle() {
  step=$((idle / 20 + 1)) waited=0 before=
  while [ "$waited" -lt "$idle" ]; do
    sleep "$step" & wait $!
    [ -d "/proc/$1" ] || exit
    program=
    read -r program others <"/proc/$1/task/$1/children"
    now=$(time_used "$program")
    if [ -n "$now" ] && [ "$now" = "$before" ]; then waited=$((waited + step)); else waited=0; fi
    before=$now
  done
  touch hung && kill -KILL "$program"
}
for begun in 1 2 3; do
  rm -f hung
  "$@" &
  main=$!
  (trap 'kill $!; exit' TERM; end_if_idle "$main") </dev/null >/dev/null 2>&1 &
  watch=$!
  wait "$main"
  code=$?
  kill "$watch" 2>/dev/null
  wait "$watch" 2>/dev/null
  [ ! -e hung ] || code=46
  case $code in 46 | 13[2-6] | 139) ;; *) break ;; esac # 132 to 136 and 139: the signals of a crash
done
printf '\ntemper: report\n'
gzip -c result.xml 2>/dev/null
exit $code
