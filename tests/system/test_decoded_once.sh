#!/usr/bin/env bash
# However many jobs ask at once, each sample is decoded by one of them.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

copies 12
pipeline='decode | resize(1200) | center_crop(224)' # dear to decode, cheap to store

# One cold start of four jobs, round $1. Who is ahead at a moment stays ahead for a while, so shares are summed over rounds.
four_jobs() {
    local i pids=()
    rm -f "$dir"/start*
    for i in 1 2 3 4; do
        "$job" --dir "$dir/train" --dataset "once$1" --pipeline "$pipeline" --batch 8 --threads 1 --shuffle --seed 3 \
            --start "$dir/start" >"$dir/out$1.$i" 2>"$dir/err$1.$i" &
        pids+=($!)
        started+=($!)
    done
    check "round $1: four jobs are connected" await ready
    touch "$dir/start"
    for i in "${pids[@]}"; do wait "$i" || not_ok "a job failed: $(cat "$dir"/err*)"; done
    same "round $1: four jobs saw the same batches" 1 "$(cat "$dir/out$1".? | awk '{ print $4 }' | sort -u | wc -l)"
    same "round $1: four jobs from cold decoded each sample once" "$n" "$(decodes_of "$dir/out$1".?)"
    same "round $1: the daemon counted the same" "$n" "$(info decodes --dataset "once$1")"
}
ready() { [ "$(find "$dir" -maxdepth 1 -name 'start.*' | wc -l)" = 4 ]; }
decodes_of() { cat "$@" | awk '{ for (i = 3; i < NF; i += 2) if ($i == "decodes") s += $(i + 1) } END { print s }'; }

rounds=5
for round in $(seq $rounds); do four_jobs "$round"; done
for i in 1 2 3 4; do
    share=$(decodes_of "$dir"/out?."$i")
    check "job $i decoded at least a tenth ($share of $((rounds * n)))" test "$((share * 10))" -ge $((rounds * n))
done

# Two jobs in opposite orders, with room for one sample on its way into the store, end (nobody waits for the other for ever).
find "$dir/train" -type f | sort >"$dir/forward"
sort -r "$dir/forward" >"$dir/backward"
pids=()
for order in forward backward; do
    timeout 120 "$job" --list "$dir/$order" --dataset opposite --pipeline "$pipeline" --batch 4 --threads 1 --arena 152K \
        >"$dir/$order.out" 2>"$dir/$order.err" &
    pids+=($!)
    started+=($!)
done
wait "${pids[0]}"
same "the job in forward order ended" 0 $?
wait "${pids[1]}"
same "the job in backward order ended" 0 $?
decodes=$(($(field decodes <"$dir/forward.out") + $(field decodes <"$dir/backward.out")))
same "together they decoded each sample once" "$n" "$decodes"

# No message per batch in a warm job's second epoch, and records from segments that the daemon passed to another process than the filler.
out=$("$job" --dir "$dir/train" --dataset once1 --pipeline "$pipeline" --batch 8 --threads 2 --epochs 3 2>"$dir/err")
same "another process reads what the four jobs stored" "$n" "$(field hits 0 <<<"$out")"
for epoch in 1 2; do
    check "epoch $epoch: no message per batch ($(field messages $epoch <<<"$out") messages for $(field batches $epoch <<<"$out") batches)" \
        test "$(field messages $epoch <<<"$out")" -le 1
done
finish
