#!/usr/bin/env bash
# The same seed gives the same bytes: with the cache, without it, while it fills, with any number of threads, at every CPU level, after a
# restart of the daemon, and when the daemon is killed in the middle.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

every_operator='decode | resize(256) | cache | random_resized_crop(224) | random_horizontal_flip(0.5) |
center_crop(200) | normalize(mean=[0.485,0.456,0.406], std=[0.229,0.224,0.225]) | to(float32, chw)'
# All that draws, in an order that is possible; batches are mixed.
all_random='decode | resize(96) | cache | random_crop(80, padding=4, pad_if_needed=true) | random_vertical_flip | random_rotation(20, interpolation=bilinear) |
random_affine(15, translate=[0.1,0.1], scale=0.8:1.2, shear=8) | random_perspective | gaussian_blur(5) | color_jitter(0.4, 0.4, 0.4, 0.1) |
random_grayscale(0.3) | random_invert | random_posterize(4) | random_solarize(128) | random_adjust_sharpness(2) | random_autocontrast |
random_equalize | trivial_augment_wide | rand_augment | auto_augment | augmix | random_erasing | pad(2, mode=reflect) |
normalize(0.5, 0.25) | random_erasing(value=random) | to(float16, chw) | mixup(0.2) | cutmix'
run_pipeline() { "$job" --dir "$src/photos" --pipeline "$1" --batch 5 --shuffle --seed 7 --epochs 2 "${@:2}" 2>"$dir/err"; }
run() { run_pipeline "$every_operator" "$@"; }
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
for level in none avx2 avx512 all; do
    same "without cache at CPU level $level" "$want" "$(MSCACHE_CPU=$level run | hashes)"
    same "from the cache at CPU level $level" "$want" "$(MSCACHE_CPU=$level run --dataset photos | hashes)"
done

want_random=$(run_pipeline "$all_random" --threads 1 | hashes)
check "all random operators give a hash" test "${#want_random}" -eq 65
check "and other bytes in another epoch" test "${want_random% *}" != "${want_random#* }"
same "all random operators while the cache fills" "$want_random" "$(run_pipeline "$all_random" --dataset random --threads 3 | hashes)"
for level in none all; do
    same "all random operators from the cache at CPU level $level" "$want_random" \
        "$(MSCACHE_CPU=$level run_pipeline "$all_random" --dataset random --threads 2 | hashes)"
done

before=$(daemon_pid)
"$mscache" stop >"$dir/stop"
out=$(run --dataset photos)
same "after a restart of the daemon" "$want" "$(hashes <<<"$out")"
same "still without decoding" 0 "$(field decodes 0 <<<"$out")"
check "it was another daemon" test "$before" != "$(daemon_pid)"
finish
