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

# What is told beside the contract.
json=$("$mscache" probe "$photo" --pipeline "$pipeline" --json | tr -d ' \n')
contains 'JSON: the format' "$json" '"format":{"name":"JPEG","width":'
same 'JSON: a stage for each operator and the output' 'decode resize center_crop random_horizontal_flip to output' \
    "$(sed 's/.*"stages":\[//; s/{/\n{/g' <<<"$json" | sed -n 's/^{"name":"\([a-z_]*\)","shape".*/\1/p' | xargs)"
contains 'JSON: shape and type of a stage' "$json" '{"name":"center_crop","shape":[56,56,3],"dtype":"uint8","ms":'
contains 'JSON: the sample' "$("$mscache" probe "$photo" --sample 7 --seed 5 --epoch 3 --json | tr -d ' \n')" '"sample":7'
text=$("$mscache" probe "$photo" --pipeline "$pipeline")
same 'words: the first line is the outcome' "$photo: ok" "$(head -n 1 <<<"$text")"
check 'words: the second line is shape, type and hash' grep -qE '^    3x56x56 float32 xxh3-128 [0-9a-f]{32}$' <<<"$(sed -n 2p <<<"$text")"
check 'words: what was drawn' grep -qE '^    random_horizontal_flip +56x56x3 uint8 .*flip=[01]$' <<<"$text"
contains 'words: five crops' "$("$mscache" probe "$photo" --pipeline 'decode | resize(64) | five_crop(32) | to(float32, chw)')" '5x3x32x32 float32'

# A sample's draws depend on seed, epoch and number alone.
random='decode | resize(80) | random_crop(32)'
drawn() { "$mscache" probe "$@" --pipeline "$random" --json | sed -n 's/.*"drawn": "\(crop.*\)".*/\1/p'; }
same 'the second file has the number after the first' "$(drawn "$photo" --sample 8 --seed 2)" "$(drawn "$other" "$photo" --sample 7 --seed 2 | tail -n 1)"
same 'seeds, epochs and numbers draw anew' 5 "$({ drawn "$photo"; drawn "$photo" --seed 1; drawn "$photo" --epoch 1; drawn "$photo" --sample 1; drawn "$photo" --seed 1 --epoch 1; } | sort -u | wc -l)"

# Warnings and errors are explained.
{ cat "$photo" && printf 'something else'; } >"$dir/tail.jpg"
text=$("$mscache" probe "$dir/tail.jpg")
contains 'a warning is explained' "$text" 'warning trailing-data: Something follows the image; all pixels are right.'
contains 'a warning says how to refuse such files' "$text" 'decode(strict=true)'
same 'and so it is refused' error:corrupt "$("$mscache" probe "$dir/tail.jpg" --pipeline 'decode(strict=true)' --json | sed -n 's/.*"outcome": "\(.*\)".*/\1/p')"
for file in text empty short nothing; do
    contains "$file.jpg: what to do" "$("$mscache" probe "$dir/$file.jpg")" '    what to do: '
done
contains 'a cut file: its format is told' "$("$mscache" probe "$dir/short.jpg")" '    image: JPEG of '
contains 'an operator that does not fit' "$("$mscache" probe "$photo" --pipeline 'decode | resize(20) | random_crop(50)')" 'change the pipeline'
contains 'operators on batches are not run' "$("$mscache" probe "$photo" --pipeline "$pipeline | mixup")" 'not run'
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
