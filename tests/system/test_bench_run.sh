#!/usr/bin/env bash
# bench/run has a figure for every ratio that needs no peer, names the peers of the others, and counts one decode per sample.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip 'python3 is not installed'
[ -z "${MSCACHE_TEST_FEW:-}" ] || skip 'nothing is measured with a slow build'
names='warm_f32_1t_vs_limit warm_f32_2t_vs_limit warm_u8_1t_vs_limit warm_u8_2t_vs_limit first_pass_vs_limit f16_vs_f32 bf16_vs_f32
warm_f32_vs_best_peer cold_vs_full_decode cold_vs_torchvision rrc_vs_torchvision rrc_file_vs_full_decode resize_vs_pillow fill_wall fill_cpu
fill_decode_only_wall break_even_epochs jobs4_cpu jobs4_wall jobs8_decodes'

unset MSCACHE_PATH
"$src/bench/run" --smoke --json --data "$src/photos" --folder "$dir" --output "$dir/results" >"$dir/json" 2>"$dir/err"
same 'exit code' 0 $?
[ $status = 0 ] || cat "$dir/err"

# Lines "NAME value V met M missing P error E", then "NAME count PART MIN MAX" for what is counted.
python3 - "$dir/json" >"$dir/rows" <<'END'
import json, sys
results = json.load(open(sys.argv[1]))
for r in results["ratios"]:
    kind = "null" if r["value"] is None else "number"
    print(r["name"], "value", kind, "met", r["met"], "missing", ",".join(r.get("missing", [])), "error", r.get("error", "none"))
    for name, p in r["parts"].items():
        if isinstance(p, dict) and name.endswith("decodes per sample"):
            print(r["name"], "count", name.split()[1], p["min"], p["max"])
print("machine", " ".join(sorted(results["machine"])))
END
same 'every ratio is there' "$(tr ' \n' '\n\n' <<<"$names" | sort)" "$(awk '/ value / { print $1 }' "$dir/rows" | sort)"
same 'no row went wrong' '' "$(grep ' value ' "$dir/rows" | grep -v 'error none')"
same 'without peers, those that need one have no figure and name it' \
    'cold_vs_torchvision resize_vs_pillow rrc_vs_torchvision warm_f32_vs_best_peer' \
    "$(awk '$3 == "null" && $5 == "None" && $7 != "" { print $1 }' "$dir/rows" | sort | paste -sd ' ')"
same 'the others have one' 16 "$(grep -c ' value number met \(True\|False\)' "$dir/rows")"
for k in 2 4 8; do
    same "$k jobs at once: decodes per sample" "jobs8_decodes count $k 1.0 1.0" "$(grep "count $k " "$dir/rows")"
done
for fact in cpu flags cores memory_GiB kernel libraries peers; do
    check "the machine's $fact" grep -q "^machine.* $fact" "$dir/rows"
done
check 'the results are written, as Markdown, too' grep -q "^| .warm_f32_1t_vs_limit. |" "$dir/results/results.md"
check 'and as a picture' grep -q '^</svg>' "$dir/results/results.svg"
same 'the temporary folder is removed' '' "$(find "$dir" -name 'mscache-bench-*')"
finish
