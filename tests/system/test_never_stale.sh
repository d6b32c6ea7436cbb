#!/usr/bin/env bash
# Keys that cannot go stale: other pipelines, changed files, removed files, files that change while they are read.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

cp -r "$src/photos" "$dir/train"
rm "$dir/train/SOURCES.md"
n=$(find "$dir/train" -type f | wc -l)
small='decode | resize(224) | center_crop(224)' large='decode | resize(384) | center_crop(384)'
run() { "$job" --dir "$dir/train" --dataset shared --batch 6 --threads 2 "$@" 2>"$dir/err"; }

# Two pipelines under one dataset name, side by side.
run --pipeline "$small" >"$dir/small" &
first=$!
run --pipeline "$large" >"$dir/large" &
second=$!
wait $first && wait $second
same "each decoded all of its own" "$n $n" "$(field decodes <"$dir/small") $(field decodes <"$dir/large")"
same "the smaller one reads its own pixels" "$(field hash <"$dir/small")" "$(run --pipeline "$small" | field hash)"
same "the larger one, too" "$(field hash <"$dir/large")" "$(run --pipeline "$large" | field hash)"
same "they differ" 2 "$(cat "$dir/small" "$dir/large" | awk '{ print $4 }' | sort -u | wc -l)"
same "list shows two caches of the name" 2 "$("$mscache" list --json | tr ',' '\n' | grep -c '"dataset": *"shared"')"
"$mscache" clean --dataset shared >"$dir/clean"

# A changed file is decoded again, also with size and mtime as before.
run --pipeline "$small" >"$dir/first"
victim=$(find "$dir/train" -name '*.jpg' -printf '%s %p\n' | sort -n | tail -n 1 | cut -d' ' -f2-)
stamp=$(stat -c %y "$victim")
size=$(stat -c %s "$victim")
cp "$(find "$dir/train" -name '*.jpg' -printf '%s %p\n' | sort -n | head -n 1 | cut -d' ' -f2-)" "$dir/other"
truncate -s "$size" "$dir/other" # zeros after the image do not matter
cat "$dir/other" >"$victim"
touch -d "$stamp" "$victim"
same "size and mtime are as before" "$size $stamp" "$(stat -c '%s %y' "$victim")"
out=$(run --pipeline "$small")
check "the changed file was read again" test "$(field hits <<<"$out")" -eq $((n - 1))
check "and the batches changed" test "$(field hash <<<"$out")" != "$(field hash <"$dir/first")"

# A removed file is stale, and gone after clean --stale.
"$mscache" clean --all >"$dir/clean"
run --pipeline "$small" >"$dir/first"
same "the cache is ready" ready "$(info status --dataset shared)"
rm "$dir/train/space/space_00.jpg" "$dir/train/space/space_01.jpg"
run --pipeline "$small" >"$dir/second"
same "nothing was decoded again" 0 "$(field decodes <"$dir/second")"
same "removed files make it stale" stale "$(info status --dataset shared)"
contains "list says so" "$("$mscache" list)" stale
"$mscache" clean --stale >"$dir/clean"
same "after clean --stale it is ready" ready "$(info status --dataset shared)"
same "with the samples that are there" $((n - 2)) "$(info num_samples --dataset shared)"
same "which are still right" "$(field hash <"$dir/second")" "$(run --pipeline "$small" | field hash)"

# A file that changes after it was listed is used, and not stored.
"$mscache" clean --all >"$dir/clean"
last=$(find "$dir/train" -type f | sort | tail -n 1)
out=$(run --pipeline "$small" --threads 1 --batch 1 --prefetch 1 --after-open "touch '$last'")
same "the epoch is complete" "$((n - 2))" "$(field samples <<<"$out")"
same "the changed file was not stored" "$((n - 3))" "$(info num_samples --dataset shared)"
same "and that is counted" 1 "$(info not_stored --dataset shared)"
finish
