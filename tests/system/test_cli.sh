#!/usr/bin/env bash
# What the command says and how it ends when something is wrong: one clear message, the right exit code, nothing lost.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

run() {
    out=$("$mscache" "$@" 2>"$dir/err")
    rc=$?
    err=$(cat "$dir/err")
}
# what, exit code, part of the message, command ...
refuses() {
    local what=$1 code=$2 part=$3
    shift 3
    run "$@"
    same "$what: exit code" "$code" $rc
    contains "$what: message" "$err" "$part"
    same "$what: nothing on standard output" "" "$out"
}
pipeline='decode | resize(64) | center_crop(56)'
warm() { run warm "$1" --dataset "${2:-d}" --pipeline "${3:-$pipeline}" "${@:4}"; }

# ---- usage ----
refuses 'no command' 2 'Usage: mscache'
refuses 'unknown command' 2 "no command 'frobnicate'" frobnicate
refuses 'unknown option' 2 '--frob' list --frob
refuses 'option of another command' 2 'takes no --stale' list --stale
refuses 'missing option' 2 'needs --dataset' warm "$dir" --pipeline decode
refuses 'bad size' 2 '512M' clean --size lots
refuses 'bare clean' 2 'mscache clean --dataset NAME' clean
refuses 'dataset name with a slash' 2 "'/'" warm "$dir" --dataset a/b --pipeline decode
refuses 'dataset name with a control character' 2 'control character' warm "$dir" --dataset $'a\tb' --pipeline decode
run --help
same 'help' 0 $rc
run --version
contains 'version' "$out" 'mscache '

# ---- no store ----
for command in list info 'clean --all' verify; do
    # shellcheck disable=SC2086 # a list of words
    run $command
    same "no store: $command is success" 0 $rc
done
run list --json
same 'no store: list --json' '{"caches":[]}' "$(tr -d ' \n' <<<"$out")"
refuses 'no store: ping' 3 'no daemon' ping
refuses 'no store: stop' 3 'no daemon' stop
refuses 'no daemon behind a socket' 3 "$dir/nothing" ping --socket "$dir/nothing"
check 'asking made no store' test ! -e "$root"
mkdir "$dir/plain"
run clean --path "$dir/plain"
same 'a directory that is no store: clean is success' 0 $rc
same 'a directory that is no store stays as it is' "" "$(ls -A "$dir/plain")"

# ---- pipelines ----
warm "$src/photos" d 'decode | resize(64'
same 'broken pipeline: exit code' 2 $rc
same 'broken pipeline: the caret is under the place' '                  ^' "$(tail -n 1 <<<"$err" | sed 's/ *$//')"
warm "$src/photos" d 'decode | resise(64)'
same 'unknown operator: exit code' 2 $rc
contains 'unknown operator: the message names the right one' "$err" "resize"
warm "$src/photos" d 'decode | resize(64) | random_horizontal_flip(1.5)'
same 'value out of range: exit code' 2 $rc
contains 'value out of range: the message has the range' "$err" '1.5'
check 'a broken pipeline made no store' test ! -e "$root"
refuses 'ops of an unknown operator' 2 "did you mean 'resize'" ops resise
mapfile -t ops < <("$mscache" ops --json | sed -n 's/^      "name": "\(.*\)",$/\1/p')
check "there are operators (${#ops[@]})" test "${#ops[@]}" -ge 20
"$mscache" ops >"$dir/ops"
same 'ops: every operator is listed once' "$(printf '%s\n' "${ops[@]}" | sort)" "$(sed -n 's/^  \([a-z][a-z_0-9]*\) .*/\1/p' "$dir/ops" | sort)"
for op in "${ops[@]}"; do "$mscache" ops "$op"; done >>"$dir/ops"
same 'ops: no line is wider than 80 columns' "" "$(awk 'length > 80' "$dir/ops")"
same 'ops: what is said of each' "${#ops[@]} ${#ops[@]} ${#ops[@]} ${#ops[@]}" \
    "$(for what in random 'works on' torchvision example; do grep -c "^  $what  *[^ ]" "$dir/ops"; done | xargs)"
run ops random_crop
contains 'ops: words beside numbers, with the limits' "$(xargs <<<"$out")" \
    'a list of whole numbers [a,b,..] of 1 to 4, from 0 to 1000000, or none; default none'
run ops random_crop --json
contains 'ops: the same as JSON' "$(tr -d ' \n' <<<"$out")" '"words":["none"],"min":0.0,"max":1000000.0,"count_min":1,"count_max":4'
contains 'ops: what it works on as JSON' "$(tr -d ' \n' <<<"$out")" '"takes":["pixels"],"gives":"pixels","only_8_bit_grey_or_rgb":false'

# ---- directories ----
warm "$dir/missing"
same 'missing directory: exit code' 1 $rc
contains 'missing directory: named' "$err" "$dir/missing"
mkdir -p "$dir/empty" "$dir/hollow/class"
warm "$dir/empty"
same 'empty directory: exit code' 1 $rc
contains 'empty directory: named' "$err" "$dir/empty"
warm "$dir/hollow"
same 'class without images: exit code' 1 $rc
contains 'class without images: named' "$err" class
if [ "$(id -u)" != 0 ]; then
    mkdir -p "$dir/locked/class"
    chmod 0 "$dir/locked"
    warm "$dir/locked"
    chmod 700 "$dir/locked"
    same 'unreadable directory: exit code' 4 $rc
    contains 'unreadable directory: named' "$err" "$dir/locked"
elif command -v setpriv >/dev/null; then
    mkdir -p "$dir/locked/class"
    chmod 700 "$dir/locked"
    mkdir "$dir/nobody"
    chown 65534:65534 "$dir/nobody"
    chmod 755 "$dir"
    as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
    # The programs may be where only root can look.
    if as_nobody test -x "$mscache"; then
        as_nobody "$mscache" warm "$dir/locked" --dataset d --pipeline decode --path "$dir/nobody/store" >/dev/null 2>"$dir/err"
        same 'unreadable directory: exit code' 4 $?
        contains 'unreadable directory: named' "$(cat "$dir/err")" "$dir/locked"
    else
        echo "unreadable directory: not tried, another user cannot run the programs here"
    fi
    # ---- a store of another user ----
    mkdir -p "$dir/foreign"
    chown 65534:65534 "$dir/foreign"
    warm "$src/photos" d "$pipeline" --path "$dir/foreign"
    same 'store of another user: exit code' 4 $rc
    contains 'store of another user: named' "$err" "$dir/foreign"
    same 'store of another user: untouched' "" "$(ls -A "$dir/foreign")"
fi

# ---- no daemon can be started ----
MSCACHE_DAEMON=$dir/no-such-program warm "$src/photos" d "$pipeline" --path "$dir/other"
same 'no daemon: exit code' 3 $rc
contains 'no daemon: its program is named' "$err" "$dir/no-such-program"

# ---- broken images ----
copies 1
good=$n
printf 'not an image' >"$(dirname "$(find "$dir/train" -type f | head -n 1)")/broken.jpg"
warm "$dir/train" d "$pipeline" --json
same 'a broken image: exit code' 0 $rc
contains 'a broken image: named' "$err" broken.jpg
contains 'a broken image: counted' "$out" '"failed": 1'
same 'a broken image: the others are stored' "$good" "$(info num_samples --dataset d)"
same 'a broken image: known to the store' 1 "$(info bad --dataset d)"
mkdir -p "$dir/bad/class"
printf 'not an image' >"$dir/bad/class/a.jpg"
warm "$dir/bad" bad
same 'only broken images: exit code' 1 $rc
contains 'only broken images: named' "$err" a.jpg

# ---- names that are not UTF-8 ----
warm "$dir/train" $'\xff\xfe"x'
run list --json
contains 'a name that is not UTF-8 is escaped in JSON' "$out" '\\xff\\xfe\"x'

# ---- info of what is not there ----
refuses 'info of an unknown dataset' 1 'nosuch' info --dataset nosuch

# ---- a second daemon on one root ----
"$MSCACHE_DAEMON" --root "$root" --foreground >/dev/null 2>"$dir/second"
rc=$?
check 'a second daemon fails' test $rc -ne 0
contains 'a second daemon names the first' "$(cat "$dir/second")" "$(daemon_pid)"
run ping --json
same 'the first daemon goes on' 0 $rc
contains 'ping tells the process' "$out" "\"pid\": $(daemon_pid)"
pid=$(daemon_pid)
run stop
same 'stop: exit code' 0 $rc
check 'stop: the daemon is gone' await gone "$pid"
refuses 'ping after stop' 3 "$root" ping
check 'ping started no daemon' gone "$pid"
same 'ping started no other daemon' "$pid" "$(tr -cd 0-9 <"$root/lock")"
same 'the store is still there' "$good" "$(info num_samples --dataset d)"

# ---- a full disk ----
mkdir -p "$dir/small"
if mount -t tmpfs -o size=6M none "$dir/small" 2>/dev/null; then
    trap 'end_all 2>/dev/null; umount "$dir/small"; rm -rf "$dir"' EXIT
    "$MSCACHE_DAEMON" --root "$dir/small/store" --foreground --budget 1G --reserve 0 2>"$dir/log" &
    started+=($!)
    await test -S "$dir/small/store/mscached.sock"
    copies 3
    warm "$dir/train" d 'decode | resize(256) | center_crop(224)' --path "$dir/small/store"
    same 'full disk: exit code' 1 $rc
    contains 'full disk: the message says what to look at' "$err" 'disk'
    stored=$(info num_samples --dataset d --path "$dir/small/store")
    check "full disk: what fitted is stored ($stored of $n)" test "$stored" -gt 0 -a "$stored" -lt "$n"
    run verify --path "$dir/small/store"
    same 'full disk: what is stored is whole' 0 $rc
    kill "${started[0]}"
    await gone "${started[0]}"
else
    echo "full disk: not tried, tmpfs cannot be mounted here"
fi
finish
