/* par/sort/radix/lists_undefine.h - ends the parameters of the template
 * sort_lists_body.h.
 *
 * SPDX-License-Identifier: MIT */
#undef LISTS
#undef LISTS_KEY
#undef LISTS_LANES
#undef LISTS_ADD
#undef LISTS_SIGNS
#undef LISTS_MIN
#undef LISTS_MAX
#undef LISTS_LOWEST
#undef LISTS_HIGHEST
#undef LISTS_PICK
#undef LISTS_ALL
#undef LISTS_LOAD
#undef LISTS_STORE
#undef LISTS_EACH_ROW
