# running KEY...: print the boot id, the listening sshd, these kernel settings, the loaded audit rules and
# modules, and mounts compared with fstab. Rows of a word, a name and a value.
row() { printf '%s\t%s\t%s\n' "$1" "$2" "$3"; }
row boot id "$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)"
ticks=$(getconf CLK_TCK 2>/dev/null || echo 100)
up_since=$(sed -n 's/^btime //p' /proc/stat)
newest() { # the file that changed last, by the time that nobody can set, and that time
  for file; do shift; [ ! -f "$file" ] || set -- "$@" "$file"; done
  [ "$#" = 0 ] || { stat -c '%.Z %n' -- "$@" 2>/dev/null || stat -c '%Z %n' -- "$@"; } | sort -n | tail -n 1
}
noted_by() { # the pid file of this process
  for file in "$(sshd -T 2>/dev/null | sed -n 's/^pidfile //p')" /run/sshd.pid /var/run/sshd.pid; do
    [ -r "$file" ] && read -r pid_there <"$file" && [ "$pid_there" = "$1" ] && { printf '%s\n' "$file"; return; }
  done
}
port=$(came_in_by)
# shellcheck disable=SC2046
for pid in $(listeners $(ears "$port")); do
  # Under socket activation each login has a new sshd, which has read everything.
  [ "$pid" != 1 ] || continue
  kept=$(noted_by "$pid")
  if [ "$kept" ]; then begun=$(stat -c %.Y -- "$kept" 2>/dev/null || stat -c %Y -- "$kept")
  else begun=$((up_since + $(born "$pid") / ticks))
  fi
  last=$(newest /etc/ssh/sshd_config /etc/ssh/sshd_config.d/*.conf /etc/crypto-policies/back-ends/opensshserver.config)
  # auditd writes its pid file at each start. Without one, a process newer than the files has read them;
  # of an older one nothing is known.
  if [ "$(printf '%s\n' "${last%% *}" "$begun" | sort -n | tail -n 1)" = "$begun" ]; then row sshd read ''
  elif [ "$kept" ]; then row sshd late "${last#* }"
  fi
  break
done
# One sysctl for all keys; it names a value of several lines on each. A name with a slash it would spell in its own way.
plain=
for key; do
  case $key in
    */*) value=$(sysctl -n -- "$key" 2>/dev/null) && row sysctl "$key" "$(printf '%s' "$value" | tr '\t\n' '  ')" ;;
    *) plain="$plain $key" ;;
  esac
done
# shellcheck disable=SC2086
[ -z "$plain" ] || sysctl -- $plain 2>/dev/null | awk '
  { gsub(/\t/, " "); at = index($0, " = "); key = substr($0, 1, at - 1) }
  key { if (!(key in said)) { order[++n] = key; said[key] = substr($0, at + 3) } else said[key] = said[key] " " substr($0, at + 3) }
  END { for (i = 1; i <= n; i++) printf "sysctl\t%s\t%s\n", order[i], said[order[i]] }'
if [ -w /proc/sys/kernel/printk ] && status=$(timeout -k 1 5 auditctl -s 2>/dev/null) && [ "$status" ]; then
  printf '%s\n' "$status" | while read -r name value; do row audit "$name" "$value"; done
  timeout -k 1 5 auditctl -l 2>/dev/null | head -n 2000 | while IFS= read -r line; do row rule - "$line"; done
fi
[ ! -r /etc/fstab ] || awk -v flags="$flags" '
  function named(options,   n, i, words, out) {
    n = split(flags, words, " ")
    for (i = 1; i <= n; i++) if (("," options ",") ~ ("," words[i] ",")) out = out " " words[i]
    return out ? out : " none"
  }
  FILENAME != "/etc/fstab" { live[$5] = $6; next }
  /^[ \t]*#/ || $2 !~ "^/" { next }
  !($2 in stated) { order[++count] = $2 }
  { stated[$2] = $4 }
  END {
    for (i = 1; i <= count; i++) if (live[order[i]])
      printf "mount\t%s\t%s |%s\n", order[i], named(stated[order[i]]), named(live[order[i]])
  }' /proc/self/mountinfo /etc/fstab
[ ! -r /proc/modules ] || while read -r module _; do row module "$module" loaded; done </proc/modules
exit 0
