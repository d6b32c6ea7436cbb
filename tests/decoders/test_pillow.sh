#!/bin/sh
# Modes, turning by Exif and cut files against Pillow, on the bundled photographs and on images that Pillow writes, and on the odd
# images and photographs of the test data where they are there.
set -u
python=${MSCACHE_TEST_PYTHON:-/usr/bin/python3}
if ! "$python" -c 'import PIL, numpy' 2>/dev/null; then
    echo "skipped: $python has no Pillow (apt-get install python3-pil python3-numpy)"
    exit 77
fi
if [ -n "${MSCACHE_TEST_FEW:-}" ]; then
    echo "skipped: pixels are compared with those of Pillow by builds that are not slow"
    exit 77
fi
exec "$python" "$MSCACHE_SRC/tests/decoders/pillow_check.py" "$MSCACHE_BUILD/tests/decoders/decode_raw" "$MSCACHE_SRC/photos" \
    "${MSCACHE_TEST_DATA:-$MSCACHE_SRC/../shared/data}"
