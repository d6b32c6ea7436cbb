#!/usr/bin/env bash
# Probe gives the pixels, outcomes and hashes that a job would get, without cache and daemon.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

photo=$(find "$src/photos" -name '*.jpg' | sort | head -n 1)
other=$(find "$src/photos" -name '*.jpg' | sort | sed -n 2p)
pipeline='decode | resize(64) | center_crop(56) | random_horizontal_flip(0.5) | to(float32, chw)'

out=$("$mscache" probe "$photo" --json)
same 'exit code' 0 $?
contains 'outcome' "$out" '"outcome": "ok"'
contains 'element type' "$out" '"dtype": "uint8"'
"$mscache" probe "$photo" --raw "$dir/a" >/dev/null
shape=$("$mscache" probe "$photo" --json | tr -d ' \n' | sed 's/.*"shape":\[\([0-9]*\),\([0-9]*\),3\].*/\1 \2/')
same 'raw bytes are height x width x 3' $((${shape% *} * ${shape#* } * 3)) "$(stat -c %s "$dir/a")"
if command -v xxhsum >/dev/null; then
    same 'the hash is XXH3-128 of the raw bytes' "$(xxhsum -H2 "$dir/a" | cut -d' ' -f1)" \
        "$("$mscache" probe "$photo" --json | sed -n 's/.*"xxh3": "\(.*\)".*/\1/p')"
fi
"$mscache" probe "$other" --raw "$dir/b" >/dev/null
"$mscache" probe "$photo" "$other" --raw - 2>/dev/null | cmp -s - <(cat "$dir/a" "$dir/b")
same 'several files are written one after another' '0 0' "${PIPESTATUS[*]}"
"$mscache" probe "$photo" --pipeline "$pipeline" --raw "$dir/f" >/dev/null
same 'a whole pipeline gives float32' $((3 * 56 * 56 * 4)) "$(stat -c %s "$dir/f")"
"$mscache" probe "$photo" --pipeline "$pipeline" --raw - 2>/dev/null | cmp -s - "$dir/f"
same 'random operators give the same bytes again' '0 0' "${PIPESTATUS[*]}"
MSCACHE_CPU=c "$mscache" probe "$photo" --pipeline "$pipeline" --raw - 2>/dev/null | cmp -s - "$dir/f"
same 'plain C gives the same bytes' '0 0' "${PIPESTATUS[*]}"

printf 'no picture' >"$dir/text.jpg"
: >"$dir/empty.jpg"
head -c 20000 "$photo" >"$dir/short.jpg"
outcome() { "$mscache" probe "$1" --json | sed -n 's/.*"outcome": "\(.*\)".*/\1/p'; }
same 'not an image' error:not-an-image "$(outcome "$dir/text.jpg")"
same 'an empty file' error:empty-file "$(outcome "$dir/empty.jpg")"
same 'a truncated file' error:truncated "$(outcome "$dir/short.jpg")"
same 'a missing file' error:not-found "$(outcome "$dir/nothing.jpg")"
same 'a directory' error:not-a-regular-file "$(outcome "$dir")"
"$mscache" probe "$photo" "$dir/text.jpg" >"$dir/out"
same 'one bad file of two: exit code' 1 $?
contains 'one bad file of two: the good one is told' "$(cat "$dir/out")" "$photo: ok"
check 'no store was made' test ! -e "$root"

folder=$data/imagefolder
if [ -f "$folder/MANIFEST.tsv" ]; then
    column=$(head -n 1 "$folder/MANIFEST.tsv" | tr '\t' '\n' | grep -nx rgb_sha256 | cut -d: -f1)
    wrong=0 files=0
    mapfile -t paths < <(tail -n +2 "$folder/MANIFEST.tsv" | cut -f1)
    (cd "$folder" && "$mscache" probe "${paths[@]}" --json --raw "$dir/all") >"$dir/json"
    exec 3<"$dir/all"
    while IFS=$'\t' read -r path want bytes; do
        got=$(head -c "$bytes" <&3 | sha256sum | cut -d' ' -f1)
        files=$((files + 1))
        [ "$got" = "$want" ] || { wrong=$((wrong + 1)) && echo "    $path differs"; }
    done < <(tail -n +2 "$folder/MANIFEST.tsv" | awk -F '\t' -v OFS='\t' -v column="$column" '{ print $1, $column, $4 * $5 * 3 }')
    same 'every file has an object in the JSON' "${#paths[@]}" "$(grep -c '"outcome": "ok' "$dir/json")"
    check "files read from the manifest ($files)" test "$files" -gt 0
    same "pixels of $files images are those of the manifest" 0 $wrong
else
    echo "skipped: $folder/MANIFEST.tsv is missing"
fi
finish
