#!/usr/bin/env bash
# The same seed gives the same bytes: with the cache, without it, while it fills, with any number of threads, at every CPU level, after a
# restart of the daemon, and when the daemon is killed in the middle.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

every_operator='decode | resize(256) | cache | random_resized_crop(224) | random_horizontal_flip(0.5) |
center_crop(200) | normalize(mean=[0.485,0.456,0.406], std=[0.229,0.224,0.225]) | to(float32, chw)'
run() { "$job" --dir "$src/photos" --pipeline "$every_operator" --batch 5 --shuffle --seed 7 --epochs 2 "$@" 2>"$dir/err"; }
hashes() { awk '$1 == "epoch" { print $4 }' | paste -sd ' '; }

want=$(run --threads 1 | hashes)
check "an epoch without cache has a hash" test "${#want}" -eq 65
check "two epochs differ" test "${want% *}" != "${want#* }"
for threads in 2 7; do
    same "without cache, $threads threads" "$want" "$(run --threads $threads | hashes)"
done

out=$(run --dataset photos --threads 2)
same "while the cache fills" "$want" "$(hashes <<<"$out")"
same "the filling epoch decoded every sample" 24 "$(field decodes 0 <<<"$out")"
same "the epoch after it decoded none" 0 "$(field decodes 1 <<<"$out")"
for threads in 1 2 7; do
    out=$(run --dataset photos --threads $threads)
    same "from the cache, $threads threads" "$want" "$(hashes <<<"$out")"
    same "and without decoding" "0 24" "$(field decodes 0 <<<"$out") $(field hits 0 <<<"$out")"
done
for level in none avx2 all; do
    same "without cache at CPU level $level" "$want" "$(MSCACHE_CPU=$level run | hashes)"
    same "from the cache at CPU level $level" "$want" "$(MSCACHE_CPU=$level run --dataset photos | hashes)"
done

before=$(daemon_pid)
"$mscache" stop >"$dir/stop"
out=$(run --dataset photos)
same "after a restart of the daemon" "$want" "$(hashes <<<"$out")"
same "still without decoding" 0 "$(field decodes 0 <<<"$out")"
check "it was another daemon" test "$before" != "$(daemon_pid)"
finish
