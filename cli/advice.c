#include "config.h"
#include "cli/advice.h"

#include <stddef.h>

#include "common/error.h"
#include "decoders/decode.h"

const char *advice_error(int error)
{
    switch (error) {
    case MSCACHE_EEMPTYFILE:
        return "A copy or download failed. Fetch the file again, or remove it.";
    case MSCACHE_ENOTIMAGE:
        return "Whatever its name says, this is no picture. Fetch the file again, or remove it.";
    case MSCACHE_EFORMAT:
        return "Convert it to JPEG or PNG; another name alone does not help.";
    case MSCACHE_EFEATURE:
        return "Save it anew as an ordinary JPEG or PNG, for instance with ImageMagick.";
    case MSCACHE_ETRUNCATED:
        return "Fetch the file again. Where its header is whole, decode(truncated=allow) takes what there is.";
    case MSCACHE_ECORRUPT:
        return "Its bytes were damaged on the disk or on the way. Compare it with where it came from, and fetch it again.";
    case MSCACHE_ETOOLARGE:
        return "If it is meant to be so large, raise the limit: decode(max_pixels=N). Nothing was allocated for it.";
    case MSCACHE_ERESOURCE:
        return "Such a file is made to cost time. If it is meant to be so, raise the limit: decode(max_scans=N).";
    case MSCACHE_ERANGE:
        return "The file is good, but an operator does not fit its size or its channels: change the pipeline, for instance "
               "with decode(mode=rgb) or a resize before it.";
    case MSCACHE_ENOENT:
        return "It was removed or renamed, or is a link to nothing.";
    case MSCACHE_EACCESS:
        return "The user that runs this may not read it, or not enter a folder above it: see its mode and owner.";
    case MSCACHE_ENOTREG:
        return "Only regular files are samples. Remove it from the folder of images.";
    case MSCACHE_ECHANGED:
        return "Somebody writes to it. Try again when that is done.";
    case MSCACHE_EIO:
        return "The disk or the network did not deliver it: see the kernel's messages (dmesg).";
    case MSCACHE_ELIMIT: case MSCACHE_ENOMEM:
        return "The machine has too little left; the file may be good. Try again with less else running.";
    default:
        return NULL;
    }
}

const char *advice_warning(unsigned warning)
{
    switch (warning) {
    case DECODE_WARN_TRUNCATED:
        return "The file ends early; what is missing is grey or black. Fetch it again.";
    case DECODE_WARN_CORRUPT_DATA:
        return "Some pixels are invented, because the data are damaged. Fetch the file again.";
    case DECODE_WARN_MISSING_EOI:
        return "Only the mark of the end is missing; all pixels are right.";
    case DECODE_WARN_EXTRANEOUS:
        return "There is rubbish between the parts of the file; the pixels are most likely right.";
    case DECODE_WARN_TRAILING_DATA:
        return "Something follows the image; all pixels are right.";
    case DECODE_WARN_MISSING_IEND:
        return "Only the chunk of the end is missing; all pixels are right.";
    case DECODE_WARN_BAD_EXIF:
        return "The Exif block is damaged: the orientation may be lost; the pixels are right.";
    case DECODE_WARN_BAD_ANCILLARY:
        return "A chunk that is not needed for the pixels is damaged; the pixels are right.";
    case DECODE_WARN_PALETTE_INDEX:
        return "Pixels have colours that the palette does not have; these are black.";
    default:
        return "The pixels are used as they are.";
    }
}
