set -u
content=$1 profile=$2
exec 3>&1 1>&2
cd "$(mktemp -d)"
scan() { oscap xccdf eval --profile "$profile" @RULES --results "$1" "$content" >/dev/null; }
scan before
took="$(date +%s.%N) $(date +%s.%N)"
@LOOK
