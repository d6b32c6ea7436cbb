#!/usr/bin/env bash
# Warm decodes every image once; a second warm decodes and reads nothing.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

train=$data/imagefolder/train
if [ -d "$train" ]; then
    n=$(find "$train" -type f | wc -l)
else
    echo "$train is missing: the bundled photographs are used"
    copies 2
    train=$dir/train
fi
pipeline='decode | resize(256) | center_crop(224)'
number() { tr -d ' \n' <"$1" | sed -n "s/.*\"$2\":\([0-9.]*\).*/\1/p"; }

out=$("$mscache" warm "$train" --dataset t --pipeline "$pipeline" 2>"$dir/err")
same 'warm: exit code' 0 $?
contains 'warm says the number of samples first' "$(head -n 1 <<<"$out")" "$n samples"
contains 'warm predicts the size' "$(head -n 1 <<<"$out")" 'predicted size'
contains 'warm says the budget' "$(head -n 1 <<<"$out")" 'budget'
same 'no progress bar without a terminal' '' "$(cat "$dir/err")"
same 'num_samples' "$n" "$(info num_samples --dataset t)"
same 'decodes' "$n" "$(info decodes --dataset t)"
same 'duplicate_decodes' 0 "$(info duplicate_decodes --dataset t)"
same 'status' ready "$(info status --dataset t)"
contains 'shape' "$("$mscache" info --dataset t)" '224x224x3 uint8'

"$mscache" warm "$train" --dataset t --pipeline "$pipeline" --json >"$dir/second" 2>"$dir/err"
same 'second warm: exit code' 0 $?
same 'second warm: nothing decoded' 0 "$(number "$dir/second" decoded)"
same 'second warm: all from the cache' "$n" "$(number "$dir/second" hits)"
same 'second warm: no byte of the source read' 0 "$(number "$dir/second" source_bytes)"
same 'second warm: nothing failed' 0 "$(number "$dir/second" failed)"
same 'decodes are still once per sample' "$n" "$(info decodes --dataset t)"

# What comes after the cut point does not matter to what is stored.
"$mscache" warm "$train" --dataset t --pipeline "$pipeline | random_horizontal_flip(0.5) | to(float32, chw)" --json >"$dir/third" 2>"$dir/err"
same 'another end of the pipeline: nothing decoded' 0 "$(number "$dir/third" decoded)"
same 'one cache' 1 "$("$mscache" list --json | grep -c '"dataset"')"

# The predicted size is near the real one.
predicted=$(grep -o 'predicted size [0-9.]* [kMG]B' <<<"$out" | awk '{ print $3 * ($4 == "kB" ? 1e3 : $4 == "MB" ? 1e6 : 1e9) }')
real=$(info size_bytes --dataset t)
check "predicted $predicted, taken $real" awk -v p="$predicted" -v r="$real" 'BEGIN { exit !(p > 0.9 * r && p < 1.1 * r) }'

# Warnings of the decoders are counted by kind, also once the samples come from the cache.
mkdir -p "$dir/odd/a"
cp "$src"/photos/animal/animal_00.jpg "$src"/photos/animal/animal_01.jpg "$dir/odd/a"
cat "$src/photos/animal/animal_02.jpg" - <<<'left by a tool' >"$dir/odd/a/longer.jpg"
for round in first second; do
    "$mscache" warm "$dir/odd" --dataset odd --pipeline 'decode | resize(64)' >"$dir/out" 2>"$dir/err"
    same "$round warm of odd files: exit code" 0 $?
    contains "info names the warnings after the $round" "$("$mscache" info --dataset odd | grep warnings)" '1 (trailing-data 1)'
done
contains 'JSON, too' "$("$mscache" info --dataset odd --json | tr -d ' \n')" '"warning_kinds":{"trailing-data":1}'
finish
