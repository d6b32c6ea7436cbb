#!/usr/bin/env bash
# The README's C example compiles against the library as built and runs on the bundled photographs.
set -u
build=${MSCACHE_BUILD:?} src=${MSCACHE_SRC:?}
dir=$(mktemp -d)
trap '"$build"/mscache stop --path "$dir/store" >/dev/null 2>&1; rm -rf "$dir"' EXIT
export MSCACHE_PATH=$dir/store

awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$src/README.md" >"$dir/example.c"
lines=$(wc -l <"$dir/example.c")
[ "$lines" -ge 20 ] && [ "$lines" -le 45 ] || { echo "not ok the example has $lines lines"; exit 1; }
echo "ok the example has $lines lines"

flags=()
if nm "$build/.libs/libmscache.so" 2>/dev/null | grep -q __asan_init; then
    flags=(-fsanitize=address,undefined)
fi
"${CC:-cc}" -Wall -Wextra -Werror "${flags[@]}" -I"$build/client" "$dir/example.c" -o "$dir/example" \
    -L"$build/.libs" -lmscache -Wl,-rpath,"$build/.libs" || { echo "not ok the example compiles"; exit 1; }
echo "ok the example compiles"

(cd "$src" && "$dir/example") >"$dir/out" 2>"$dir/err" || {
    echo "not ok the example runs"
    cat "$dir/out" "$dir/err"
    exit 1
}
echo "ok the example runs"
[ "$(grep -c '^epoch 2:' "$dir/out")" = 3 ] || { echo "not ok 24 photographs give 3 batches of 8"; cat "$dir/out"; exit 1; }
echo "ok 24 photographs give 3 batches of 8"
