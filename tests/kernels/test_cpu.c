#include <criterion/criterion.h>

#include "kernels/cpu.h"

Test(cpu, a_mask_names_levels_in_any_case)
{
    cr_assert_eq(cpu_mask("c"), 0u);
    cr_assert_eq(cpu_mask("C"), 0u);
    cr_assert_eq(cpu_mask("None"), 0u);
    cr_assert_eq(cpu_mask("avx2"), (unsigned)CPU_AVX2);
    cr_assert_eq(cpu_mask("AVX2"), (unsigned)CPU_AVX2);
    cr_assert_eq(cpu_mask("all"), ~0u);
}

Test(cpu, a_mask_may_be_a_number)
{
    cr_assert_eq(cpu_mask("0"), 0u);
    cr_assert_eq(cpu_mask("1"), 1u);
    cr_assert_eq(cpu_mask("0x10"), 16u);
    cr_assert_eq(cpu_mask("4294967295"), ~0u);
}

Test(cpu, what_is_no_mask_means_all)
{
    static const char *const texts[] = {"", "sse9", "1x", "avx2 ", "-", "4294967296", "99999999999999999999"};

    cr_assert_eq(cpu_mask(NULL), ~0u);
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        cr_assert_eq(cpu_mask(texts[i]), ~0u, "\"%s\"", texts[i]);
}

Test(cpu, flags_are_levels_that_are_known)
{
    cr_assert_eq(cpu_flags() & ~(unsigned)CPU_AVX2, 0u);
}
