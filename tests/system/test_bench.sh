#!/usr/bin/env bash
# Bench measures its three phases, leaves a filled cache as it is, and its JSON has what scripts rely on.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

copies 1
pipeline='decode | resize(256) | cache | random_resized_crop(224) | random_horizontal_flip(0.5) | normalize(mean=[0.485,0.456,0.406], std=[0.229,0.224,0.225]) | to(float32, chw)'
bench() { "$mscache" bench "$dir/train" --dataset b --pipeline "$pipeline" --repeat 2 --seconds 1 "$@"; }
value() { tr -d ' \n' <"$dir/json" | sed -n "s/.*\"$1\":\([^,}]*\).*/\1/p"; }

bench --json >"$dir/json" 2>"$dir/err"
same 'exit code' 0 $?
same 'decodes per sample' 1.0 "$(value decodes_per_sample)"
for phase in uncached filling cached; do
    check "$phase has images_per_s and cpu_s" grep -qE "\"$phase\":\{\"images_per_s\":[0-9.]+,.*\"cpu_s\":[0-9.]+" <(tr -d ' \n' <"$dir/json")
done
check 'break_even_epochs is there' grep -qE '"break_even_epochs": ([1-9][0-9]*|null)' "$dir/json"
same 'the cached phase decodes nothing' 0 "$(tr -d ' \n' <"$dir/json" | sed 's/.*"cached"//' | sed -n 's/[^}]*"decodes":\([0-9]*\).*/\1/p')"
same 'the filled cache stays' "$n" "$(info num_samples --dataset b)"

out=$(bench)
same 'again: exit code' 0 $?
contains 'again: the filled cache is left alone' "$out" 'scratch cache'
contains 'again: decodes per sample' "$out" 'decodes per sample 1.00'
contains 'again: the rates are printed' "$out" 'from the cache'
same 'again: the scratch cache is gone' 1 "$("$mscache" list --json | grep -c '"dataset":')"
same 'again: the named cache is as it was' "$n" "$(info decodes --dataset b)"

out=$("$mscache" bench "$dir/train" --dataset sizes --pipeline 'decode | resize(64)' --repeat 1 --seconds 1)
same 'images of different sizes: exit code' 0 $?
contains 'images of different sizes: told what to add' "$out" 'center_crop'
finish
