# The system-wide crypto policy, by update-crypto-policies. The resource is named by the policy that is wanted.
crypto_policy_state() { update-crypto-policies --show 2>/dev/null | head -n 1; }
crypto_policy_foresee() {
  has update-crypto-policies || lacks "it has no update-crypto-policies"
  was=$(crypto_policy_state "$1")
  [ "$was" ] || lacks "its crypto policy cannot be read"
  for at in /etc/crypto-policies/policies /usr/share/crypto-policies/policies /usr/share/crypto-policies; do
    if [ -e "$at/${1%%:*}.pol" ] || [ -d "$at/${1%%:*}" ]; then there=1; fi
  done
  [ "${there:-}" ] || lacks "it has no crypto policy ${1%%:*}"
  row before "crypto_policy:$1" "$was"
  row after "crypto_policy:$1" "$1"
}
crypto_policy_perform() { saying update-crypto-policies --set "$1"; }
