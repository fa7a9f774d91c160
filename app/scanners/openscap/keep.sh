# FOLDER DIGEST: keep standard input, which is compressed, as DIGEST.xml in FOLDER.
umask 077
mkdir -p -m 0700 -- "$1" && cd "$1" || exit 44
gzip -dc >"$2.part" && printf '%s  %s\n' "$2" "$2.part" | sha256sum -c --status && mv -f -- "$2.part" "$2.xml" || {
  rm -f -- "$2.part"; exit 45; }
