/* SPDX-License-Identifier: MIT */
/** Choose an instance of a kernel by numbers that are known at run time. */
#ifndef NB_CUDA_CONSTANTS_CUH
#define NB_CUDA_CONSTANTS_CUH

#include <type_traits>

/** A number that is one of VALUES; any other number counts as the last of them. */
template <int... VALUES> struct one_of {
    int value;
};

template <class F> static auto with_constants(F f)
{
    return f();
}

/** Returns f(constants ...): the numbers as std::integral_constant, so that f can use them
 * as arguments of templates. All calls of f return one type. */
template <class F, int FIRST, int... OTHERS, class... REST>
static auto with_constants(F f, one_of<FIRST, OTHERS...> number, REST... rest)
{
    if constexpr (sizeof...(OTHERS) > 0)
        if (number.value != FIRST)
            return with_constants(f, one_of<OTHERS...>{number.value}, rest...);
    return with_constants(
        [&](auto... more) { return f(std::integral_constant<int, FIRST>(), more...); },
        rest...);
}

#endif
