#!/usr/bin/env bash
# Verify finds a damaged record and says so by its exit code; repair makes the index anew.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

copies 1
warm() { "$mscache" warm "$dir/train" --dataset v --pipeline 'decode | resize(64) | center_crop(56)' "$@"; }
number() { tr -d ' \n' <"$dir/json" | sed -n "s/.*\"$1\":\([0-9]*\)[^\"]*}\$/\1/p"; }

warm >/dev/null
out=$("$mscache" verify)
same 'a sound store: exit code' 0 $?
contains 'every record is compared' "$out" "$n records compared, 0 damaged"

segment=$(find "$root/segments" -name '*.seg' -size +100k | head -n 1)
printf 'damage' | dd of="$segment" bs=1 seek=100000 conv=notrunc status=none
"$mscache" verify --json >"$dir/json"
same 'a damaged record: exit code' 5 $?
same 'a damaged record: counted' 1 "$(number damaged)"
out=$("$mscache" verify)
same 'it is forgotten: exit code' 0 $?
contains 'the others are still there' "$out" "$((n - 1)) records compared"
warm --json >"$dir/json"
contains 'its sample is decoded again, the others are not' "$(cat "$dir/json")" '"decoded": 1'

out=$("$mscache" repair)
same 'repair: exit code' 0 $?
contains 'repair: all records are back' "$out" "$n records"
warm --json >"$dir/json"
contains 'after repair nothing is decoded' "$(cat "$dir/json")" '"decoded": 0'
finish
