/* par/sort/radix/undefine.h - ends the parameters of the templates sort_scalar.h and
 * sort_in_place.h.
 *
 * SPDX-License-Identifier: MIT */
#undef WF_SORT
#undef WF_ELEM
#undef WF_KEY
#undef WF_KEY_OF
#undef WF_ENCODE
#undef WF_DECODE
#undef WF_LISTS_LEAF
