# Runs one script after another, each in a shell of its own. A line names the bytes that follow it, those of them that
# are the script (the others are its input), its seconds and a mark. The mark is written around the output.
while read -r size length seconds mark; do
  head -c "$size" | {
    printf '%s\n' "$mark"
    timeout -k 5 "$seconds" /bin/sh -c "eval \"\$(head -c $length)\""
    code=$?
    cat >/dev/null
    printf '%s\n' "$mark" >&2
    printf '%s %s\n' "$mark" "$code"
  }
done
