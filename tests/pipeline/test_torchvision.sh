#!/bin/sh
# Operators on the bundled photographs and on small images equal torchvision with the Pillow backend byte for byte, at each CPU
# level. Arguments: operators to check, else all.
set -u
python=${MSCACHE_TEST_PYTHON:-/usr/bin/python3}
if ! "$python" -c 'import torchvision, PIL, numpy' 2>/dev/null; then
    echo "skipped: $python has no torchvision (apt-get install python3-torchvision)"
    exit 77
fi
exec "$python" "$MSCACHE_SRC/tests/pipeline/torchvision_check.py" "$MSCACHE_BUILD/tests/pipeline/run_plan" \
    "$MSCACHE_BUILD/mscache" "$MSCACHE_SRC/photos" "$@"
