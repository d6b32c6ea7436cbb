#!/usr/bin/env bash
# The sheet of samples is a PNG of the size and with the pixels that its JSON says, the same again for the same seed.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

photos=$src/photos
pipeline='decode | resize(256) | cache | random_crop(224) | random_horizontal_flip(0.5)'
preview() { "$mscache" preview "$@" 2>"$dir/stderr"; }
# The cells of a sheet's JSON, one on a line: fields of the cell whose "file" and numbers are taken out with `of`.
cells() { tr -d '\n' <"$1" | sed 's/ //g; s/{"row"/\n{"row"/g' | grep '^{"row"'; }
of() { sed -n "s/.*\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/p"; }
number() { sed -n "s/^  \"$2\": \([0-9]*\),\$/\1/p" "$1"; } # of the whole sheet
pixels() { "$mscache" probe "$1" --pipeline "decode | crop($(of y <<<"$2"), $(of x <<<"$2"), $(of height <<<"$2"), $(of width <<<"$2"))" --raw - 2>/dev/null; }

preview "$photos" --pipeline "$pipeline" --output "$dir/a.png" --json --seed 3 --epoch 2 --rows 5 --cols 3 >"$dir/a.json"
same 'exit code' 0 $?
"$mscache" probe "$dir/a.png" --json >"$dir/probe.json"
same 'a PNG of the size that the JSON says' "$(number "$dir/a.json" height) $(number "$dir/a.json" width) 3 PNG" \
    "$(tr -d ' \n' <"$dir/probe.json" | sed 's/.*"shape":\[\([0-9]*\),\([0-9]*\),3\].*"format":{"name":"\([A-Z]*\)".*/\1 \2 3 \3/')"
if /usr/bin/python3 -c 'import PIL' 2>/dev/null; then
    same 'Pillow reads it, too' "$(number "$dir/a.json" width) $(number "$dir/a.json" height)" \
        "$(/usr/bin/python3 -c 'import sys; from PIL import Image; i = Image.open(sys.argv[1]); i.load(); print(*i.size)' "$dir/a.png")"
fi
same 'five rows of a file before and in three epochs' 20 "$(cells "$dir/a.json" | wc -l)"
same 'files of all classes' 'animal object person space' "$(cells "$dir/a.json" | of class | sort -u | xargs)"

equal=0
while read -r cell; do
    file=$(of file <<<"$cell") sample=$(of sample <<<"$cell" | tail -n 1) epoch=$(of epoch <<<"$cell")
    [ "$epoch" = null ] && continue
    "$mscache" probe "$file" --pipeline "$pipeline" --seed 3 --epoch "$epoch" --sample "$sample" --raw "$dir/want" >/dev/null
    pixels "$dir/a.png" "$cell" | cmp -s - "$dir/want" && equal=$((equal + 1)) || not_ok "$file in epoch $epoch"
done < <(cells "$dir/a.json")
same 'each sample is what probe gives for its number, seed and epoch' 15 $equal

preview "$photos" --pipeline "$pipeline" --output "$dir/b.png" --seed 3 --epoch 2 --rows 5 --cols 3 >/dev/null
check 'the same seed gives the same bytes' cmp -s "$dir/a.png" "$dir/b.png"
MSCACHE_CPU=c preview "$photos" --pipeline "$pipeline" --output - --seed 3 --epoch 2 --rows 5 --cols 3 >"$dir/b.png"
check 'on standard output and in plain C, too' cmp -s "$dir/a.png" "$dir/b.png"
preview "$photos" --pipeline "$pipeline" --output "$dir/b.png" --seed 4 --epoch 2 --rows 5 --cols 3 >/dev/null
check 'another seed gives other bytes' test "$(cmp "$dir/a.png" "$dir/b.png" | wc -l)" = 1

# What is shown of floats is what uint8 would be, whatever the type, the layout and the normalisation.
base='decode | resize([96,128]) | cache | random_vertical_flip'
preview "$photos" --pipeline "$base" --output "$dir/a.png" --json --rows 2 --cols 2 >"$dir/a.json"
cells "$dir/a.json" >"$dir/a.cells"
for end in 'to(float32)' 'normalize(mean=[0.485,0.456,0.406], std=[0.229,0.224,0.225])' 'normalize(0.5, 0.25) | to(float32, chw)' 'to(uint16, chw)'; do
    preview "$photos" --pipeline "$base | $end" --output "$dir/b.png" --json --rows 2 --cols 2 >"$dir/b.json"
    wrong=0 n=0
    while read -r -u 3 cell && read -r -u 4 other; do
        n=$((n + 1))
        cmp -s <(pixels "$dir/a.png" "$cell") <(pixels "$dir/b.png" "$other") || wrong=$((wrong + 1))
    done 3<"$dir/a.cells" 4< <(cells "$dir/b.json")
    same "colours after $end" '0 6' "$wrong $n"
done
same 'small samples are magnified by a whole factor' 2 "$(head -n 1 "$dir/a.cells" | of scale | cut -d. -f1)"

mkdir -p "$dir/few/good" "$dir/few/bad"
cp "$photos"/animal/animal_0[01].jpg "$dir/few/good"
printf 'no picture' >"$dir/few/bad/text.jpg"
head -c 20000 "$photos/animal/animal_02.jpg" >"$dir/few/bad/short.jpg"
preview "$dir/few" --pipeline "$pipeline" --output "$dir/c.png" --json >"$dir/c.json"
same 'broken files: exit code' 0 $?
same 'broken files: the good ones are shown' 12 "$(cells "$dir/c.json" | grep -c '"outcome":"ok"')"
same 'broken files: cells say what is wrong' 'error:not-an-image error:truncated' \
    "$(cells "$dir/c.json" | grep -v '"outcome":"ok"' | of outcome | sort | xargs)"
same 'broken files: a line on standard error for each' 2 "$(wc -l <"$dir/stderr")"

preview "$photos" --pipeline 'decode | resize(64)' --output "$dir/d.png" --json --rows 2 --cols 3 >"$dir/d.json"
same 'nothing drawn: each cell is another file' 6 "$(cells "$dir/d.json" | of file | sort -u | wc -l)"
preview "$photos" --pipeline 'decode | resize([32,32]) | random_horizontal_flip | to(float32) | mixup(1, p=1)' --output "$dir/e.png" --json >"$dir/e.json"
same 'mixed batches: a weight for each epoch' 5 "$(tr -d ' \n' <"$dir/e.json" | grep -o '"weight":0\.[0-9]*' | wc -l)"
preview "$photos" --pipeline 'decode | resize(100) | ten_crop(64)' --output "$dir/f.png" --rows 1 --cols 1 --json >"$dir/f.json"
same 'ten crops side by side' "$((5 * 128 + 4 * 4)) $((2 * 128 + 4))" "$(cells "$dir/f.json" | of width) $(cells "$dir/f.json" | of height)"

preview "$photos" --pipeline "$pipeline" --output "$dir/none/a.png" >/dev/null
same 'a folder that is missing' 1 $?
preview "$photos" --pipeline 'decode | nonsense' --output "$dir/g.png"
same 'a pipeline that is wrong' 2 $?
check 'no file then' test ! -e "$dir/g.png"
ln -s target.png "$dir/link.png"
preview "$photos" --pipeline decode --output "$dir/link.png" --rows 1 >/dev/null
check 'a link is written through, not replaced' test -L "$dir/link.png" -a -s "$dir/target.png"
same 'no temporary files are left' '' "$(find "$dir" -name '*.png.*')"
same 'permissions are those of a new file' "$(umask 022 && touch "$dir/new" && stat -c %a "$dir/new")" \
    "$(umask 022 && preview "$photos" --pipeline decode --output "$dir/h.png" --rows 1 >/dev/null && stat -c %a "$dir/h.png")"
check 'no store was made' test ! -e "$root"
finish
