# denials: print what SELinux has denied since the boot, each kind once, as PROGRAM: ACCESS on CLASS TYPE; and what it would have denied.
denials() {
  out=$(timeout -k 1 30 ausearch --input-logs -m AVC,USER_AVC -ts boot 2>&1 </dev/null); code=$?
  case $out in *'<no matches>'*) code=0 out= ;; esac
  row denied all "code $code"
  out=$(printf '%s\n' "$out" | drop_own)
  # In permissive mode nothing was kept from anybody.
  printf '%s\n' "$out" | grep -v permissive=1 | kinds_of denied
  printf '%s\n' "$out" | grep permissive=1 | kinds_of permitted
}
drop_own() { # the records without those of the account that this script logged in as: scripts of ours do not harm the host
  own=
  read -r own 2>/dev/null </proc/self/loginuid
  [ "$own" != 4294967295 ] || own=
  awk -v own="$own" '
    function end_event() { if (!is_own) printf "%s", text; text = ""; is_own = 0 }
    /^----/ { end_event(); next }
    /^type=SYSCALL / && own != "" && index($0 " ", " auid=" own " ") { is_own = 1 }
    / denied / { text = text $0 "\n" }
    END { end_event() }'
}
kinds_of() { # kinds_of WORD: read records of denials, and print a row for each kind
  sed -n 's/.*denied  *{ \([^}]*\) }.* comm="\{0,1\}\([^" ]*\)"\{0,1\}.*tcontext=[^: ]*:[^: ]*:\([^: ]*\).*tclass=\([a-z0-9_]*\).*/\2: \1 on \4 \3/p' |
    sort -u | head -n 60 | while IFS= read -r line; do row "$1" all "$line"; done
}
