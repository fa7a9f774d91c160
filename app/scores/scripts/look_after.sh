# What a reboot does sooner or later: the SSH server reads what it was given.
kill -HUP "$(cat /run/sshd.pid)"
scan after
sh 2>/dev/null <<'DEEDS' >deeds
@DEEDS
DEEDS
{ echo '<<before>>'; cat before; echo; echo '<<after>>'; cat after; echo; echo '<<deeds>>'; cat deeds
  echo '<<took>>'; echo "$took"; } >&3
