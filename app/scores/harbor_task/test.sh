#!/bin/bash
# test.sh: 1 into reward.txt when the rule is met, in effect, and nobody is worse off; else 0.
set -u
tests=${TESTS:-/tests} logs=${LOGS:-/logs/verifier} host=${HOST_ROOT:-/srv/host} work=$(mktemp -d)
mkdir -p "$logs" "$work/before/root" "$work/after"
python3 -m zipfile -e "$tests/judge.zip" "$work/judge"
tar -C "$work/before/root" -xpf "$tests/before.tar"
cp -a "$host" "$work/after/root"
cp "$tests/owners.json" "$work/before/"; cp "$tests/owners.json" "$work/after/"
PYTHONPATH="$work/judge" python3 -P -m app.scores.judge "$work/before" "$work/after" RULE > "$logs/details.json"
case $? in
0) echo 1 > "$logs/reward.txt" ;;
3) echo 0 > "$logs/reward.txt" ;;
*) echo "the judge itself failed" >&2; exit 1 ;;
esac
cat "$logs/details.json"
