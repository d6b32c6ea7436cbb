#include "config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "pipeline/caret.h"
#include "pipeline/parse.h"

static int parse(struct parsed *p, const char *text, char *err, size_t err_size)
{
    err[0] = 0;
    return parse_text(p, text, err, err_size);
}

static const struct op_value *value_of(const struct op_step *step, const char *name)
{
    for (int i = 0; step->op->params[i].name; i++)
        if (strcmp(step->op->params[i].name, name) == 0)
            return &step->arg[i];
    cr_assert_fail("%s has no parameter %s", step->op->name, name);
    return NULL;
}

Test(parse, parameters_come_by_place_by_name_and_from_the_table)
{
    struct parsed p;
    char err[512];

    cr_assert_eq(parse(&p, "decode(max_scans=7)|resize([4,5])|random_resized_crop(9,ratio=1:2.5)", err, sizeof err), 0,
                 "%s", err);
    cr_assert_eq(p.n, 3);
    cr_expect_eq(value_of(&p.step[0], "max_scans")->v[0], 7);
    cr_expect_eq(value_of(&p.step[0], "max_pixels")->v[0], 178956970);
    cr_expect_eq(value_of(&p.step[1], "size")->n, 2);
    cr_expect_eq(value_of(&p.step[1], "size")->v[1], 5);
    cr_expect_eq(value_of(&p.step[2], "size")->v[0], 9);
    cr_expect_eq(value_of(&p.step[2], "size")->v[1], 9);
    cr_expect_eq(value_of(&p.step[2], "scale")->v[0], 0.08);
    cr_expect_eq(value_of(&p.step[2], "ratio")->v[1], 2.5);
}

Test(parse, spaces_and_line_ends_are_free)
{
    struct parsed p;
    char err[512];

    cr_expect_eq(parse(&p, "\n decode\t(\r\n)\n|\nnormalize ( mean = [ 0.5 , .25,1e-1 ] , std\n=\n1 ) \n", err, sizeof err),
                 0, "%s", err);
    cr_expect_eq(value_of(&p.step[1], "mean")->v[1], 0.25);
    cr_expect_eq(value_of(&p.step[1], "mean")->v[2], 0.1);
    cr_expect_eq(value_of(&p.step[1], "std")->n, 1);
}

/* The caret stands below `^` of the text, which is taken out before parsing; the message holds `say`. */
static const struct {
    const char *text;
    int code;
    const char *say;
} bad[] = {
    { "^", MSCACHE_ESYNTAX, "empty" },
    { "  ^", MSCACHE_ESYNTAX, "empty" },
    { "decode | ^resise(2)", MSCACHE_ESYNTAX, "unknown operator 'resise'; did you mean 'resize'?" },
    { "decode | ^RandomHorizontalFlip", MSCACHE_ESYNTAX, "did you mean 'random_horizontal_flip'?" },
    { "decode | ^centre_crop(2)", MSCACHE_ESYNTAX, "did you mean 'center_crop'?" },
    { "decode | ^xyzzy(2)", MSCACHE_ESYNTAX, "'mscache ops' lists them" },
    { "decode |^", MSCACHE_ESYNTAX, "expected an operator's name, not the end of the text" },
    { "^| decode", MSCACHE_ESYNTAX, "expected an operator's name, not '|'" },
    { "decode ^resize(2)", MSCACHE_ESYNTAX, "expected '|' and the next operator, not 'r'" },
    { "decode^)", MSCACHE_ESYNTAX, "not ')'" },
    { "decode | resize(256^", MSCACHE_ESYNTAX, "expected ',' or ')', not the end" },
    { "decode | resize(256^;3)", MSCACHE_ESYNTAX, "expected ',' or ')', not ';'" },
    { "decode | resize([1,2^)", MSCACHE_ESYNTAX, "expected ',' or ']'" },
    { "decode | resize([1,2,^3])", MSCACHE_ESYNTAX, "resize: 'size' takes at most 2 numbers" },
    { "decode | center_crop([1^])", MSCACHE_ESYNTAX, "center_crop: 'size' takes at least 2 numbers" },
    { "decode | ^resize()", MSCACHE_ESYNTAX, "resize needs 'size'" },
    { "decode | ^normalize(0.5)", MSCACHE_ESYNTAX, "normalize needs 'std'" },
    { "decode | ^resize", MSCACHE_ESYNTAX, "resize needs 'size'" },
    { "decode | resize(^0)", MSCACHE_ERANGE, "resize: 'size' is 0, but must be from 1 to 1000000" },
    { "decode | resize([3,^-4])", MSCACHE_ERANGE, "is -4, but must be from 1 to 1000000" },
    { "decode | resize(^1e999)", MSCACHE_ERANGE, "is too large, but must be" },
    { "decode | resize(^1.5)", MSCACHE_ESYNTAX, "resize: 'size' takes a whole number" },
    { "decode | resize(^1.5.3)", MSCACHE_ESYNTAX, "'1.5.3' is not a number" },
    { "decode | resize(^+)", MSCACHE_ESYNTAX, "'+' is not a number" },
    { "decode | resize(1^x10)", MSCACHE_ESYNTAX, "expected ',' or ')', not 'x'" },
    { "decode | resize(^nan)", MSCACHE_ESYNTAX, "takes a whole number" },
    { "decode | resize([^)", MSCACHE_ESYNTAX, "takes a whole number" },
    { "decode | resize(1, ^2)", MSCACHE_ESYNTAX, "resize: 'interpolation' is one of: nearest, nearest_exact, bilinear, bicubic, box, hamming, lanczos" },
    { "decode | resize(1, ^bilinaer)", MSCACHE_ESYNTAX, "cannot be 'bilinaer'; did you mean 'bilinear'?" },
    { "decode | resize(^siz=1)", MSCACHE_ESYNTAX, "resize has no parameter 'siz'; did you mean 'size'?" },
    { "decode | resize(1, ^antialias=1)", MSCACHE_ESYNTAX, "write resize(size, interpolation=bilinear, max_size=none)" },
    { "decode | resize(1, ^size=1)", MSCACHE_ESYNTAX, "resize: 'size' is given twice" },
    { "decode | resize(size=1, ^bilinear)", MSCACHE_ESYNTAX, "cannot follow one with a name" },
    { "decode | center_crop(1, ^2)", MSCACHE_ESYNTAX, "takes no more values; write center_crop(size)" },
    { "decode | cache(^variants=3)", MSCACHE_ESYNTAX, "cache has no parameter 'variants': it takes none" },
    { "decode | random_horizontal_flip(^1.01)", MSCACHE_ERANGE, "must be from 0 to 1" },
    { "decode | random_resized_crop(1, scale=^1)", MSCACHE_ESYNTAX, "'scale' takes a range low:high" },
    { "decode | random_resized_crop(1, scale=^1:0.5)", MSCACHE_ERANGE, "from low to high" },
    { "decode | random_resized_crop(1, scale=0:^2)", MSCACHE_ERANGE, "is 2, but must be from 0 to 1" },
    { "decode | to(^float64)", MSCACHE_ESYNTAX, "did you mean 'float" },
    { "decode | to(float32, ^nchw)", MSCACHE_ESYNTAX, "did you mean 'chw'?" },
    { "decode | normalize(1, ^0)", MSCACHE_ERANGE, "normalize: 'std' is 0" },
    { "decode | ^\x01", MSCACHE_ESYNTAX, "not byte 0x01" },
    { "decode | ^\xC3\xA9", MSCACHE_ESYNTAX, "not byte 0xC3" },
    { "decode |\n  ^resise(1)\n| cache", MSCACHE_ESYNTAX, "did you mean 'resize'?" },
};

/* The text without its mark, and the mark's column in its line. */
static int unmark(const char *marked, char *text)
{
    const char *mark = strchr(marked, '^'), *line = mark;

    while (line > marked && line[-1] != '\n')
        line--;
    memcpy(text, marked, (size_t)(mark - marked));
    strcpy(text + (mark - marked), mark + 1);
    return (int)(mark - line);
}

Test(parse, each_error_has_its_message_and_the_caret_under_the_offending_character)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct parsed p;
        char text[256], err[1024], *line;
        int column, code;

        column = unmark(bad[i].text, text);
        code = parse(&p, text, err, sizeof err);
        cr_expect_eq(code, bad[i].code, "%s: code %d", bad[i].text, code);
        cr_expect(strstr(err, bad[i].say) && strstr(err, bad[i].say) < strchr(err, '\n'), "%s: %s", bad[i].text, err);
        line = strrchr(err, '\n');
        cr_expect_eq((int)strlen(line + 1), column + 1, "%s:\n%s", bad[i].text, err);
        cr_expect_eq(line[column + 1], '^');
    }
}

Test(parse, a_long_line_is_shown_around_the_caret)
{
    char text[600], err[1024], *line, *caret;
    struct parsed p;

    strcpy(text, "decode");
    for (int i = 0; i < 20; i++)
        strcat(text, " | cache");
    strcat(text, " | resise(1)");
    for (int i = 0; i < 20; i++)
        strcat(text, " | cache");
    cr_assert_eq(parse(&p, text, err, sizeof err), MSCACHE_ESYNTAX);
    line = strchr(err, '\n') + 1;
    caret = strrchr(err, '\n') + 1;
    cr_expect_eq(strncmp(line, "...", 3), 0, "%s", err);
    cr_expect_eq(strncmp(caret - 4, "...", 3), 0, "%s", err);
    cr_expect_eq(strncmp(line + strlen(caret) - 1, "resise", 6), 0, "%s", err);
    cr_expect_lt(caret - line, 120);
}

Test(parse, a_caret_counts_characters_and_not_bytes)
{
    char err[256];

    caret_write(err, sizeof err, "a\tb\xC3\xA9\x01\xFFz", 7, "here");
    cr_expect_str_eq(err, "here\na b\xC3\xA9??z\n      ^");
}

Test(parse, a_message_is_cut_to_its_buffer)
{
    struct parsed p;
    char err[8] = "1234567";

    cr_expect_eq(parse_text(&p, "decode | nothing", err, 5), MSCACHE_ESYNTAX);
    cr_expect_str_eq(err, "unkn");
    cr_expect_eq(err[5], '6');
    cr_expect_eq(parse_text(&p, "decode | nothing", NULL, 0), MSCACHE_ESYNTAX);
}

Test(parse, length_and_number_of_operators_are_bounded)
{
    static char text[PARSE_TEXT_MAX + 100];
    struct parsed p;
    char err[1024];

    memset(text, ' ', PARSE_TEXT_MAX + 1);
    memcpy(text, "decode", 6);
    cr_expect_eq(parse(&p, text, err, sizeof err), MSCACHE_ERANGE);
    cr_expect(strstr(err, "longer than"));
    text[PARSE_TEXT_MAX] = 0;
    cr_expect_eq(parse(&p, text, err, sizeof err), 0);
    strcpy(text, "decode");
    for (int i = 1; i < PARSE_STEPS_MAX; i++)
        strcat(text, "|cache");
    cr_expect_eq(parse(&p, text, err, sizeof err), 0);
    strcat(text, "|cache");
    cr_expect_eq(parse(&p, text, err, sizeof err), MSCACHE_ERANGE);
    cr_expect(strstr(err, "at most 64 operators"));
}

/* Bytes from everywhere, and texts that are nearly right: nothing but an answer may come of them. */
Test(parse, any_bytes_are_survived)
{
    static const char model[] = "decode(max_scans=7) | resize([4,5]) | cache | random_resized_crop(9, ratio=1:2.5) | "
                                "normalize([0.5,1,2], 1e-2) | to(float16, chw)";
    unsigned seed = 12345;
    int good = 0, refused = 0;

    for (int i = 0; i < 50000; i++) {
        char text[sizeof model], err[700];
        struct parsed p;

        memcpy(text, model, sizeof model);
        for (int changes = i % 5; changes >= 0; changes--) {
            seed = seed * 1664525u + 1013904223u;
            text[(seed >> 8) % (sizeof model - 1)] =
                seed & 1 ? model[(seed >> 20) % (sizeof model - 1)] : (char)(seed >> 24);
        }
        err[0] = 0;
        if (parse_text(&p, text, err, sizeof err) == 0) {
            good++;
        } else {
            refused++;
            cr_assert(strstr(err, "\n") && err[strlen(err) - 1] == '^', "%s", err);
        }
    }
    cr_expect_gt(good, 100);
    cr_expect_gt(refused, 40000);
}
