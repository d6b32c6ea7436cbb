# shellcheck shell=bash disable=SC2034 # variables are for who sources this
# What the system tests share. Source it first: it makes a directory $dir with a store root $root of its own, and ends what the test started.
# A test prints "ok WHAT" lines, ends through `finish`, and skips with `skip REASON`.
set -u
build=${MSCACHE_BUILD:-$PWD} src=${MSCACHE_SRC:-$(cd "$(dirname "$0")/../.." && pwd)}
data=${MSCACHE_TEST_DATA:-$src/../shared/data}
export MSCACHE_DAEMON=${MSCACHE_DAEMON:-$build/mscached}
mscache=$build/mscache job=$build/tests/system/job
dir=$(mktemp -d "${TMPDIR:-/tmp}/mscache-test-XXXXXX")
root=$dir/store
export MSCACHE_PATH=$root
unset MSCACHE_SOCKET XDG_CACHE_HOME
status=0
started=()

# Process id of the daemon that owns a root, from its lock file; nothing when there is none.
daemon_pid() {
    local pid
    pid=$(tr -cd 0-9 <"${1:-$root}/lock" 2>/dev/null) || return 0
    [ -n "$pid" ] && [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = mscached ] && echo "$pid"
}

# Wait until a condition (a command) holds, for at most 30 s.
await() {
    local i
    for ((i = 0; i < 600; i++)); do
        "$@" && return 0
        sleep 0.05
    done
    return 1
}
gone() { ! kill -0 "$1" 2>/dev/null || [ "$(cut -d' ' -f3 "/proc/$1/stat" 2>/dev/null)" = Z ]; }

end_all() {
    local pid lock
    for pid in "${started[@]}"; do
        kill -CONT "$pid" 2>/dev/null
        kill -KILL "$pid" 2>/dev/null
    done
    for lock in "$dir"/*/lock "$dir"/*/*/lock; do
        [ -f "$lock" ] || continue
        pid=$(daemon_pid "${lock%/lock}")
        if [ -n "$pid" ]; then
            kill -CONT "$pid" 2>/dev/null
            kill -TERM "$pid" 2>/dev/null
            await gone "$pid" || kill -KILL "$pid"
        fi
    done
    rm -rf "$dir"
}
trap end_all EXIT

ok() { echo "ok $*"; }
not_ok() {
    echo "not ok $*"
    status=1
}
check() { # what, command ...
    local what=$1
    shift
    if "$@"; then ok "$what"; else not_ok "$what ($*)"; fi
}
same() { # what, expected, got
    if [ "$2" = "$3" ]; then ok "$1"; else
        not_ok "$1"
        printf '    expected: %s\n    got:      %s\n' "$2" "$3"
    fi
}
contains() { # what, text, part
    case $2 in *"$3"*) ok "$1" ;; *)
        not_ok "$1"
        printf '    expected: ... %s ...\n    got:      %s\n' "$3" "$2"
        ;;
    esac
}
skip() {
    echo "skipped: $*"
    exit 77
}
finish() { exit $status; }

# Fields of a job's lines: field NAME [epoch] < output
field() { awk -v name="$1" -v epoch="${2:-0}" '$1 == "epoch" && $2 == epoch { for (i = 3; i < NF; i += 2) if ($i == name) print $(i + 1) }'; }

# A number or text of `info --json`'s first cache: info NAME [options of info]
info() {
    local name=$1
    shift
    "$mscache" info --json "$@" | tr -d '\n' | sed -n "s/.*\"$name\": *\"\{0,1\}\([^,\"}]*\).*/\1/p" | tr -d ' '
}

# A dataset $dir/train of $n files: the bundled photographs so many times, each time in folders of their own.
copies() {
    local i class
    for class in animal object person space; do
        mkdir -p "$dir/train/$class"
        for ((i = 0; i < $1; i++)); do cp -r "$src/photos/$class" "$dir/train/$class/$i"; done
    done
    n=$(find "$dir/train" -type f | wc -l)
}
