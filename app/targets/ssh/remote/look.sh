# look LINES: what the probes cannot read off files, then the newest lines of the logs.
why=$(sshd -t 2>&1); printf 'sshd\t%s\t%s\n' "$?" "$(printf '%s' "$why" | tail -n 1)"
why=$(visudo -c 2>&1); printf 'visudo\t%s\t%s\n' "$?" "$(printf '%s' "$why" | head -n 1)"
for log in secure auth.log messages syslog audit/audit.log; do
  [ -r "/var/log/$log" ] && tail -n "$1" -- "/var/log/$log" | while IFS= read -r line; do printf 'log\t%s\t%s\n' "$log" "$line"; done
done
exit 0
