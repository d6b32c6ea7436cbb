#!/usr/bin/env bash
# What docs/pixels.md says holds: Pillow's pixels are ours on the photographs, and the page has a row for every operator.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
[ -z "${MSCACHE_TEST_FEW:-}" ] || skip 'pixels are compared with those of Pillow by builds that are not slow'
python=${MSCACHE_TEST_PYTHON:-/usr/bin/python3}
"$python" -c 'import torchvision, PIL, numpy' 2>/dev/null || skip "$python has no torchvision (apt-get install python3-torchvision)"

pixels() { "$python" "$src/docs/pixels.py" --mscache "$mscache" "$@" 2>"$dir/stderr"; }
pixels --operators >"$dir/operators"
same 'every operator is compared with torchvision' 0 $?
check "operators are listed ($(wc -l <"$dir/operators"))" test "$(wc -l <"$dir/operators")" -ge 20
same 'the page has the table of operators' '' "$(grep -vxFf "$src/docs/pixels.md" "$dir/operators")"
mkdir "$dir/some"
cp "$src"/photos/*/*_0[05].* "$dir/some"
pixels --check "$dir/some" >"$dir/table"
same 'where the page says so, pixels are equal to Pillow' 0 $? || cat "$dir/table" "$dir/stderr"
rows=$(grep -c '^| [a-z].* | equal |' "$dir/table")
check "rows that are equal ($rows)" test "$rows" -ge 9
finish
