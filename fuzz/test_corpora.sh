#!/bin/sh
# The inputs that fuzzing found worth keeping do no harm: each target runs over its committed corpus.
set -u
failed=0 total=0
for corpus in "$MSCACHE_SRC"/fuzz/corpus/*; do
    name=${corpus##*/}
    said=$("$MSCACHE_BUILD/fuzz/replay_$name" "$corpus") || failed=1
    echo "$name: $said"
    total=$((total + ${said%% *}))
done
echo "fuzz corpora: $total inputs replayed"
[ "$failed" = 0 ] && [ "$total" -gt 100 ]
