#!/usr/bin/env bash
# With a window, an epoch over a store that is larger than memory reads it from the disk once; without, several times.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

copies 26
pipeline='decode | resize(256) | center_crop(224) | cache | normalize(0.5, 0.25) | to(float32, chw)'
"$mscache" warm "$dir/train" --dataset w --pipeline "$pipeline" >"$dir/warm" || not_ok "warm: $(cat "$dir/warm")"
bytes=$((n * (224 * 224 * 3 + 64)))

# The store's pages leave memory.
drop() {
    local f
    sync
    for f in "$root"/segments/*.seg; do dd of="$f" oflag=nocache conv=notrunc count=0 status=none; done
}
# One epoch in a process of its own, with room for a third of the store.
run() {
    drop
    "$job" --dir "$dir/train" --dataset w --pipeline "$pipeline" --batch 32 --shuffle --seed 3 --threads 2 \
        --memory $((bytes / 3)) "$@" 2>"$dir/err"
}

out=$(run)
full=$(field disk_bytes <<<"$out")
[ "${full:-0}" -gt $((bytes / 2)) ] || skip "pages of ${dir%/*} do not leave memory, or reads are not counted"
same 'full shuffle: all samples come from the cache' "$n 0" "$(field hits <<<"$out") $(field decodes <<<"$out")"
echo "# $n samples, $bytes bytes; full shuffle: $full read"
check 'full shuffle: the store is read more than twice' test "$full" -gt $((2 * bytes))

for window in 4M 12M; do
    out=$(run --window $window)
    read=$(field disk_bytes <<<"$out") ahead=$(field ahead_bytes <<<"$out") ranges=$(field ahead_ranges <<<"$out")
    echo "# window of $window: $read read, $ahead of them ahead in $ranges ranges; $(tail -1 "$dir/err")"
    same "window of $window: all samples come from the cache" "$n 0" "$(field hits <<<"$out") $(field decodes <<<"$out")"
    check "window of $window: at most 1.1 times the dataset is read" test "$read" -le $((bytes * 11 / 10))
    check "window of $window: and all of it" test "$read" -ge $((bytes * 98 / 100))
    check "window of $window: most of it ahead" test "$ahead" -ge $((bytes * 8 / 10))
    check "window of $window: in ranges of several samples" test $((ahead / ranges)) -ge $((2 * 224 * 224 * 3))
done

contains 'the report tells of the order' "$(cat "$dir/err")" 'shuffled in windows of 78 samples, quality 0.3'
same 'info: the window in samples' 78 "$(info window_samples --window 12M)"
same 'info: the bytes of a sample' 150592 "$(info sample_bytes --window 12M)"
same 'info: quality for batches of 32' 0.36 "$(info quality --window 12M --batch 32)"
same 'info: a window that holds all is a full shuffle' 1.0 "$(info quality --window 1G)"
contains 'info: the lines' "$("$mscache" info --dataset w --window 12M)" 'order_quality      0.217 for batches of 64'
same 'info: nothing of it without a window' '' "$(info quality)"

hash() { awk '$1 == "epoch" { print $4 }'; }
want=$("$job" --dir "$dir/train" --pipeline "$pipeline" --batch 32 --shuffle --seed 3 --threads 3 --window 12M 2>"$dir/err" | hash)
same 'the same bytes without cache' "$want" "$(hash <<<"$out")"
finish
