#!/usr/bin/env bash
# bench/scale makes a store that the daemon serves whole, and has a figure for every row.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip 'python3 is not installed'
[ -z "${MSCACHE_TEST_FEW:-}" ] || skip 'nothing is measured with a slow build'
"$build/bench/scale_make" "$root" many=3000 few=10 >"$dir/made"
same 'a store is made' 0 $?
"$MSCACHE_DAEMON" --root "$root" || not_ok 'the daemon starts'
same 'all its samples are known' 'few 10, many 3000' "$("$mscache" list --json | python3 -c '
import json, sys
print(", ".join(c["dataset"] + " " + str(c["num_samples"]) for c in json.load(sys.stdin)["caches"]))')"
"$mscache" verify >"$dir/out"
same 'and none is damaged' 0 $?
"$mscache" stop >/dev/null

"$src/bench/scale" --samples 20000 --build "$build" --folder "$dir" >"$dir/rows" 2>"$dir/err"
same 'exit code' 0 $?
cat "$dir/err"
same 'every row has a figure' 'scale_anon_mb scale_clean_pause_ms scale_fetch_ratio scale_info_ms scale_list_ms scale_listing_pause_ms
scale_location_bytes scale_rebuild_s scale_start_s' "$(python3 -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
print(" ".join(sorted(r["name"] for r in rows if r["value"] > 0)).replace("_ms scale_loc", "_ms\nscale_loc"))' <"$dir/rows")"
same 'nothing is left behind' '' "$(find "$dir" -maxdepth 1 -name 'mscache-scale-*')"
finish
