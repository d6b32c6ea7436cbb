#!/usr/bin/env bash
# SIGKILL and SIGSTOP of daemons and jobs: training goes on with the right bytes, and nothing committed is lost.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

copies 4
pipeline='decode | resize(256) | cache | center_crop(224) | to(float32, chw)'
run() { "$job" --dir "$dir/train" --pipeline "$pipeline" --batch 4 --threads 2 --prefetch 1 "$@"; }
want=$(run 2>"$dir/err" | field hash)

# The daemon, in the middle of a filling epoch.
out=$(run --dataset killed --epochs 2 --at 8 --pause-us 2000 \
    --after-batch "kill -KILL \$(tr -cd 0-9 <'$root/lock')" 2>"$dir/err")
same "the job ended with the right bytes although its daemon was killed" "$want" "$(field hash 0 <<<"$out")"
same "and its next epoch, too" "$want" "$(field hash 1 <<<"$out")"
check "it warned at most once" test "$(grep -c 'without cache' "$dir/err")" -le 1
out=$(run --dataset killed 2>"$dir/err")
same "the next daemon serves the right bytes" "$want" "$(field hash <<<"$out")"
check "it has what was committed ($(field hits <<<"$out") of $n)" test "$(field hits <<<"$out")" -ge 28

# The daemon between two jobs: all that was stored is still there.
out=$(run --dataset whole 2>"$dir/err")
pid=$(daemon_pid)
kill -KILL "$pid" && await gone "$pid"
out=$(run --dataset whole 2>"$dir/err")
same "after SIGKILL of an idle daemon nothing is decoded again" "0 $n" "$(field decodes <<<"$out") $(field hits <<<"$out")"

# A stopped daemon does not hold a job up.
pid=$(daemon_pid)
out=$(timeout 60 "$job" --dir "$dir/train" --pipeline "$pipeline" --batch 4 --dataset stopped --prefetch 1 --at 3 --pause-us 2000 \
    --after-batch "kill -STOP $pid" 2>"$dir/err")
same "a job whose daemon is stopped ends with the right bytes" "$want" "$(field hash <<<"$out")"
kill -CONT "$pid"

# Claimants that die: alone, and with a forked child that keeps the socket open.
for forked in "" --fork; do
    name=claimant$forked
    # One thread in the middle of decoding holds a claim; stopped, so that it surely holds it when it is killed.
    run --dataset "$name" --threads 2 --pause-us 20000 $forked >"$dir/victim.out" 2>"$dir/victim.err" &
    victim=$!
    started+=("$victim")
    await test -s "$root/lock"
    sleep 0.3
    kill -STOP "$victim"
    run --dataset "$name" >"$dir/other.out" 2>"$dir/other.err" &
    other=$!
    started+=("$other")
    sleep 0.2
    kill -KILL "$victim"
    wait "$other"
    same "the other job ends when a claimant is killed ${forked:+(its forked child lives)}" 0 $?
    same "with the right bytes" "$want" "$(field hash <"$dir/other.out")"
    for child in $(pgrep -f -- "--dataset $name " 2>/dev/null); do started+=("$child"); done
done
finish
