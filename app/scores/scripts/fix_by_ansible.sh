set -u
content=$1 profile=$2
exec 3>&1 1>&2
command -v python3 || { echo 'it has no Python: choose a new name with --host, and it is built with one'; exit 9; }
cd "$(mktemp -d)"
scan() { oscap xccdf eval --profile "$profile" @RULES --results "$1" "$content" >/dev/null </dev/null; }
scan before
oscap xccdf generate fix --fix-type ansible --result-id '' --output fix.yml before </dev/null
[ -s fix.yml ] || { echo 'no playbook was generated'; exit 9; }
{ cat fix.yml; echo '<<playbook ends>>'; } >&3
read -r took || exit 9
@LOOK
