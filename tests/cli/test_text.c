#include "config.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "cli/progress.h"
#include "cli/say.h"
#include "cli/table.h"
#include "cli/wrap.h"
#include "common/error.h"

static char *printed(const struct table *t)
{
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    table_print(t, f);
    fclose(f);
    return text;
}

Test(table, columns_are_as_wide_as_their_widest_cell)
{
    struct table *t = table_new(3, 1 << 1);
    char *text;

    table_row(t, (const char *const[]){ "NAME", "N", "LAST" });
    table_row(t, (const char *const[]){ "a", "1000", "x" });
    text = printed(t);
    cr_assert_str_eq(text, "NAME     N  LAST\na     1000  x\n");
    free(text);
    table_free(t);
}

Test(table, characters_are_counted_not_bytes)
{
    struct table *t = table_new(2, 0);
    char *text;

    cr_assert_eq(table_width("blümchen"), 8);
    table_row(t, (const char *const[]){ "ü", "x" });
    table_row(t, (const char *const[]){ "ab", "x" });
    text = printed(t);
    cr_assert_str_eq(text, "ü   x\nab  x\n");
    free(text);
    table_free(t);
}

Test(table, many_rows_are_all_printed)
{
    struct table *t = table_new(1, 0);
    char *text;

    for (int i = 0; i < 1000; i++)
        table_row(t, (const char *const[]){ "x" });
    text = printed(t);
    cr_assert_eq(strlen(text), 2000);
    free(text);
    table_free(t);
}

Test(progress, the_line_fits_the_terminal_at_every_width)
{
    for (int width = 1; width < 300; width++)
        for (uint64_t done = 0; done <= 200; done += 50) {
            char text[400];

            progress_line(text, sizeof text, width, "flowers", done, 200, 2);
            cr_assert_leq(strlen(text), (size_t)width, "width %d: %s", width, text);
        }
}

Test(progress, the_line_says_percentage_rate_and_remaining_time)
{
    char text[400];

    progress_line(text, sizeof text, 70, "flowers", 50, 200, 2);
    cr_assert(strstr(text, "flowers [") && strstr(text, " 25 %") && strstr(text, "25 samples/s") &&
                  strstr(text, "ETA 6 s"),
              "%s", text);
    cr_assert(strstr(text, "#.") != NULL, "%s", text);
}

Test(progress, nothing_to_do_is_all_done)
{
    char text[400];

    cr_assert(strstr(progress_line(text, sizeof text, 70, "x", 0, 0, 0), "100 %"), "%s", text);
}

Test(say, names_that_are_not_utf8_give_valid_json)
{
    json_t *name = say_name("a\xff\n\"b\\"), *text = say_text("bad \xc3 byte");

    cr_assert_str_eq(json_string_value(name), "a\\xff\\n\"b\\\\");
    cr_assert_str_eq(json_string_value(text), "bad \\xc3 byte");
    json_decref(name);
    json_decref(text);
}

Test(say, messages_in_utf8_stay_as_they_are)
{
    json_t *text = say_text("line\nwith ü");

    cr_assert_str_eq(json_string_value(text), "line\nwith ü");
    json_decref(text);
}

Test(say, errors_have_the_exit_codes_of_the_manual)
{
    cr_assert_eq(say_code(0), 0);
    cr_assert_eq(say_code(MSCACHE_EIO), 1);
    cr_assert_eq(say_code(MSCACHE_EINUSE), 1);
    cr_assert_eq(say_code(MSCACHE_ENOENT), 1);
    cr_assert_eq(say_code(MSCACHE_ESYNTAX), 2);
    cr_assert_eq(say_code(MSCACHE_ERANGE), 2);
    cr_assert_eq(say_code(MSCACHE_ENODAEMON), 3);
    cr_assert_eq(say_code(MSCACHE_EACCESS), 4);
    cr_assert_eq(say_code(MSCACHE_EOWNER), 4);
    cr_assert_eq(say_code(MSCACHE_EDAMAGED), 5);
}

static char *wrapped(int at, const char *text)
{
    char *out;
    size_t n;
    FILE *f = open_memstream(&out, &n);

    wrap_print(f, at, text);
    fclose(f);
    return out;
}

Test(wrap, lines_end_at_spaces_and_are_indented)
{
    char *text = wrapped(70, "one two three"), want[200];

    snprintf(want, sizeof want, "one two\n%70sthree\n", "");
    cr_assert_str_eq(text, want);
    free(text);
}

Test(wrap, a_word_that_is_too_long_stands_for_itself)
{
    char *text = wrapped(76, "a longer b"), want[300];

    snprintf(want, sizeof want, "a\n%76slonger\n%76sb\n", "", "");
    cr_assert_str_eq(text, want);
    free(text);
}

Test(wrap, an_empty_text_ends_the_line)
{
    char *text = wrapped(10, "");

    cr_assert_str_eq(text, "\n");
    free(text);
}
