# FOLDER DIGESTS SIZE COMMAND...: run the command in a new folder inside FOLDER and print its result.xml, compressed.
# Unless SIZE is 0, standard input is a datastream.xml of that size and a tailoring.xml, compressed as one.
# DIGESTS are lines for sha256sum, of each file that is read.
umask 077
mkdir -p -m 0700 -- "$1" && at=$(mktemp -d "$1/scan.XXXXXXXX") && cd "$at" || exit 44
trap 'cd / && rm -rf -- "$at"' EXIT
trap 'exit 143' HUP INT TERM
[ "$3" = 0 ] || {
  gzip -dc >sent && head -c "$3" sent >datastream.xml && tail -c "+$(($3 + 1))" sent >tailoring.xml; }
printf '%s\n' "$2" | sha256sum -c --status 2>/dev/null || exit 45
shift 3
"$@"
code=$?
printf '\ntemper: report\n'
gzip -c result.xml 2>/dev/null
exit $code
