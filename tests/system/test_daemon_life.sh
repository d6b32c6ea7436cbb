#!/usr/bin/env bash
# Private daemons: started by whoever comes first, one per root, gone when idle, leaving a store that can be rebuilt.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

pipeline='decode | resize(256) | center_crop(224)'
run() { "$job" --dir "$src/photos" --pipeline "$pipeline" --batch 8 --threads 1 "$@"; }

# 16 jobs at once on a root that does not exist yet.
pids=()
for i in $(seq 16); do
    run --dataset start >"$dir/out$i" 2>"$dir/err$i" &
    pids+=($!)
    started+=($!)
done
failed=0
for pid in "${pids[@]}"; do wait "$pid" || failed=$((failed + 1)); done
same "16 first starts at once: all jobs ended well" 0 "$failed"
same "all were served" 0 "$(cat "$dir"/err* | grep -c 'without cache')"
same "with the same bytes" 1 "$(cat "$dir"/out* | awk '{ print $4 }' | sort -u | wc -l)"
# On a machine that is busy with 16 jobs some may lose patience with another's decode; that is counted.
same "by one daemon" 24 $(($(info decodes --dataset start) - $(info duplicate_decodes --dataset start)))

# A second daemon is refused, or silent with --once.
pid=$(daemon_pid)
err=$("$MSCACHE_DAEMON" --root "$root" --foreground 2>&1)
same "a second daemon on the root fails" 1 $?
contains "and names the first" "$err" "$pid"
"$MSCACHE_DAEMON" --root "$root" --once
same "with --once it leaves the field without a word" 0 $?

# The index is lost: everything comes back without decoding.
want=$(field hash <"$dir/out1")
"$mscache" stop >"$dir/stop"
rm -r "$root/index"
out=$(run --dataset start 2>"$dir/err")
same "index deleted: all records are back without decoding" "24 0 $want" \
    "$(field hits <<<"$out") $(field decodes <<<"$out") $(field hash <<<"$out")"
"$mscache" verify >"$dir/verify"
same "and verify finds them whole" 0 $?

# A damaged record is decoded again.
pid=$(daemon_pid)
segment=$(find "$root/segments" -name '*.seg' | head -n 1)
printf '\377\000\377' | dd of="$segment" bs=1 seek=100000 conv=notrunc status=none
out=$(run --dataset start 2>"$dir/err")
same "a damaged record is decoded again, and the bytes are right" "1 $want" "$(field decodes <<<"$out") $(field hash <<<"$out")"
printf '\377\000\377' | dd of="$segment" bs=1 seek=300000 conv=notrunc status=none
"$mscache" verify >"$dir/verify"
same "verify finds damage" 5 $?

# SIGTERM ends it cleanly.
kill -TERM "$pid"
check "SIGTERM ends the daemon" await gone "$pid"
check "its socket is gone" test ! -e "$root/mscached.sock"

# With a limit of 256 descriptors a job over many segments works.
out=$(ulimit -n 256 && run --dataset start --epochs 2 2>"$dir/err")
same "256 descriptors are enough" "$want" "$(field hash 1 <<<"$out")"

# Idle exit.
"$mscache" stop >"$dir/stop"
"$MSCACHE_DAEMON" --root "$dir/idle" --once --idle_exit 1s
pid=$(daemon_pid "$dir/idle")
check "a private daemon serves" test -n "$pid"
check "and ends when idle" await gone "$pid"
finish
