# Password ageing of accounts, by chage.
account_state() {
  awk -F: -v name="$1" '$1 == name { printf "min %s, max %s, warn %s, inactive %s, changed %s\n", $4, $5, $6, $7, $3 }' /etc/shadow |
    sed 's/ ,/ -,/g; s/ $/ -/'
}
account_becomes() {
  # account_becomes NAME SETTING DAYS
  account_state "$1" | sed "s/$2 [^,]*/$2 $3/"
}
account_foresee() {
  command -v chage >/dev/null 2>&1 || lacks "it has no chage"
  was=$(account_state "$1")
  [ "$was" ] || lacks "it has no account $1 in /etc/shadow"
  row before "account:$1" "$was"
  row after "account:$1" "$(account_becomes "$1" "$2" "$3")"
}
account_perform() {
  case $2 in min) key=-m ;; max) key=-M ;; warn) key=-W ;; inactive) key=-I ;; *) fail 8 "chage has no $2" ;; esac
  # chage renews the backup with the owner and the mode of /etc/shadow, also if those of the backup were stricter
  backup=$(stat -c '%u:%g %a' /etc/shadow- 2>/dev/null)
  saying chage "$key" "$3" "$1"
  if [ "$backup" ]; then saying chown "${backup% *}" /etc/shadow- && saying chmod "${backup#* }" /etc/shadow-; fi
}
