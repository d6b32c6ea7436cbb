#include <criterion/criterion.h>

#include "kernels/cpu.h"

Test(cpu, a_mask_names_levels_in_any_case)
{
    cr_assert_eq(cpu_mask("c"), 0u);
    cr_assert_eq(cpu_mask("C"), 0u);
    cr_assert_eq(cpu_mask("None"), 0u);
    cr_assert_eq(cpu_mask("avx2"), (unsigned)CPU_AVX2);
    cr_assert_eq(cpu_mask("AVX2"), (unsigned)CPU_AVX2);
    cr_assert_eq(cpu_mask("avx512"), (unsigned)(CPU_AVX2 | CPU_AVX512));
    cr_assert_eq(cpu_mask("Neon"), (unsigned)CPU_NEON);
    cr_assert_eq(cpu_mask("all"), ~0u);
}

Test(cpu, every_level_is_a_mask_and_adds_to_those_of_its_kind)
{
    unsigned seen = 0;

    for (const struct cpu_level *level = cpu_levels; level->name; level++) {
        cr_assert_eq(cpu_mask(level->name), level->flags, "%s", level->name);
        cr_assert_neq(level->flags & ~seen, 0u, "%s", level->name);
        seen |= level->flags;
    }
    cr_assert_eq(seen, (unsigned)(CPU_AVX2 | CPU_AVX512 | CPU_NEON));
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
    unsigned known = 0;

    for (const struct cpu_level *level = cpu_levels; level->name; level++)
        known |= level->flags;
    cr_assert_eq(cpu_flags() & ~known, 0u);
    cr_assert(!(cpu_flags() & CPU_AVX512) || (cpu_flags() & CPU_AVX2), "AVX-512 includes AVX2");
}
