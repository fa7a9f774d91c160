# look LINES: what the probes cannot read off files, then the newest lines of the logs.
why=$(sshd -t 2>&1); printf 'sshd\t%s\t%s\n' "$?" "$(printf '%s' "$why" | tail -n 1)"
why=$(visudo -c 2>&1); printf 'visudo\t%s\t%s\n' "$?" "$(printf '%s' "$why" | head -n 1)"
missing=
for module in $(grep -hE '^[[:space:]]*[A-Za-z]' /etc/pam.d/* 2>/dev/null | grep -oE 'pam_[A-Za-z0-9_-]+\.so' | sort -u); do
  for at in /lib/security /lib64/security /usr/lib/security /usr/lib64/security /usr/lib/*/security; do
    [ -e "$at/$module" ] && continue 2
  done
  missing="$missing $module"
done
printf 'pam\t%s\t%s\n' "${#missing}" "$missing"
for log in secure auth.log messages syslog audit/audit.log; do
  [ -r "/var/log/$log" ] && tail -n "$1" -- "/var/log/$log" | while IFS= read -r line; do printf 'log\t%s\t%s\n' "$log" "$line"; done
done
exit 0
