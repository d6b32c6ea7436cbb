#!/usr/bin/env bash
# Clean removes what its conditions name, and nothing else.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

copies 1
warm() { "$mscache" warm "$dir/train" --dataset "$1" --pipeline "$2" >/dev/null || not_ok "warm $1"; }
fill() {
    warm a 'decode | resize(64) | center_crop(56)'
    warm a 'decode | resize(256) | center_crop(224)'
    warm b 'decode | resize(64) | center_crop(56)'
}
caches() { "$mscache" list --json | grep -c '"dataset":'; }
hash_of() { "$mscache" list | awk -v n="$1" 'NR > 1 && $1 == n { print $2 }' | sed -n "${2}p"; }
used() { du -s --block-size=1 "$root/segments" | cut -f1; }

fill
same 'three caches' 3 "$(caches)"
before=$(used)

out=$("$mscache" clean --all --dry-run)
same 'a dry run is success' 0 $?
contains 'a dry run says what would go' "$out" 'would remove b'
same 'a dry run removes nothing' 3 "$(caches)"

"$mscache" clean --dataset nosuch >"$dir/out"
same 'nothing to clean is success' 0 $?
same 'and removes nothing' 3 "$(caches)"

"$mscache" clean --dataset a --size 1000 >/dev/null
same 'conditions combine: a large dataset of that name is not there' 3 "$(caches)"
"$mscache" clean --size 1 >"$dir/out"
same 'larger than 1 MB: one cache' 2 "$(caches)"
contains 'the removed cache is named' "$(cat "$dir/out")" 'removed a'
contains 'the bytes are told' "$(cat "$dir/out")" 'given back'
check 'the space is given back' test "$(used)" -lt "$before"

"$mscache" clean --older-than 1d >/dev/null
same 'nothing is older than a day' 2 "$(caches)"

digits=$(hash_of b 1)
"$mscache" clean --dataset a --pipeline "$digits" >/dev/null
same 'name and hash combine' 1 "$(caches)"
same 'the other dataset of this hash stays' b "$("$mscache" list | awk 'NR > 1 { print $1 }')"
"$mscache" clean --dataset b --json >"$dir/json"
same 'the last one goes' 0 "$(caches)"
check 'JSON has the bytes' grep -q '"bytes": [1-9]' "$dir/json"

# A cache in use stays, unless forced.
fill
"$job" --dir "$dir/train" --pipeline 'decode | resize(64) | center_crop(56)' --dataset b --epochs 1000000 >/dev/null 2>&1 &
user=$!
started+=("$user")
in_use() { [ "$(info sessions --dataset b)" = 1 ]; }
check 'the job has the cache open' await in_use
"$mscache" clean --dataset b >"$dir/out" 2>"$dir/err"
same 'in use: exit code' 1 $?
contains 'in use: the message names --force' "$(cat "$dir/err")" --force
same 'in use: it stays' 3 "$(caches)"
"$mscache" clean --dataset b --force >/dev/null
same 'forced: exit code' 0 $?
same 'forced: it is gone' 2 "$("$mscache" list --json | grep -c '"dataset": "a"')"
check 'the job goes on' kill -0 "$user"
kill "$user"
await gone "$user"

# Stale entries only.
victim=$(find "$dir/train" -type f | head -n 1)
rm "$victim"
warm a 'decode | resize(64) | center_crop(56)'
same 'a removed file makes its cache stale' 1 "$("$mscache" list | grep -c ' stale ')"
"$mscache" clean --stale --dataset a >/dev/null
same 'clean --stale: exit code' 0 $?
same 'clean --stale: no stale cache is left' 0 "$("$mscache" list | grep -c ' stale ')"
warm a 'decode | resize(64) | center_crop(56)'
same 'the other samples are still there' $((n - 1)) "$(info num_samples --dataset a --pipeline "$digits")"

"$mscache" clean --path "$root" >/dev/null
same 'a path alone cleans the whole store' 0 "$(caches)"
finish
