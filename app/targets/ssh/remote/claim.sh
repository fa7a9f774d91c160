# claim: the host is whose number is the highest. Who had it before and is late is refused from here on.
mkdir -p -m 700 -- "$home" 2>/dev/null || exit 0
locked
