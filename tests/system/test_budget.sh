#!/usr/bin/env bash
# A budget of half the dataset: filled, then kept, so that every epoch finds half of its samples.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

copies 5
run() {
    "$job" --dir "$dir/train" --pipeline 'decode | resize(256) | center_crop(224)' --batch 8 --threads 2 --shuffle --epochs 4 "$@" 2>"$dir/err"
}
want=$(run)
run --dataset whole >"$dir/whole"
bytes=$(info size_bytes --dataset whole)
out=$(run --dataset half --budget $((bytes / 2)))
for epoch in 1 2 3; do
    hits=$(field hits $epoch <<<"$out")
    check "epoch $epoch: hit rate 0.50 ($hits of $n)" test $((hits * 100)) -ge $((n * 48)) -a $((hits * 100)) -le $((n * 51))
    same "epoch $epoch has the right bytes" "$(field hash $epoch <<<"$want")" "$(field hash $epoch <<<"$out")"
done
same "status" partial "$(info status --dataset half)"
check "size within the budget" test "$(info size_bytes --dataset half)" -le $((bytes / 2))
contains "list says partial" "$("$mscache" list)" partial
finish
