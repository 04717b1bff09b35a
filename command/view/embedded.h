/* view/embedded.h - the files of the timeline page, and the table of recorded machines,
 * as arrays that embed.cmake makes from them.
 *
 * SPDX-License-Identifier: MIT */
#ifndef COMMAND_VIEW_EMBEDDED_H
#define COMMAND_VIEW_EMBEDDED_H

#include <stddef.h>

extern const unsigned char view_page[], view_style[], view_script[], machines_table[];
extern const size_t view_page_length, view_style_length, view_script_length,
    machines_table_length;

#endif
