/* forms.h - the table of all calls. forms.c makes a function of each line.
 *
 *   FORM(name, task, dims, tiled, sizes, ids, dynamic)
 *
 * name     pthreadpool_parallelize_<name>
 * task     pthreadpool_task_<task>_t, the type of its function
 * dims     how many dimensions the grid has
 * tiled    how many of them, the last ones, are cut into tiles
 * sizes    dims + tiled: the number of ranges and tiles, and of arguments made of them
 * ids      what the function gets before those: NONE, THREAD, UARCH, or both: BOTH
 * dynamic  1 if one call of the function may get several tiles
 *
 * SPDX-License-Identifier: MIT */
/* clang-format off */
FORM(1d,                                         1d,                                        1, 0, 1, NONE,   0)
FORM(1d_with_thread,                             1d_with_thread,                            1, 0, 1, THREAD, 0)
FORM(1d_with_uarch,                              1d_with_id,                                1, 0, 1, UARCH,  0)
FORM(1d_tile_1d,                                 1d_tile_1d,                                1, 1, 2, NONE,   0)
FORM(1d_tile_1d_dynamic,                         1d_tile_1d_dynamic,                        1, 1, 2, NONE,   1)
FORM(1d_tile_1d_dynamic_with_thread,             1d_tile_1d_dynamic_with_id,                1, 1, 2, THREAD, 1)
FORM(1d_tile_1d_dynamic_with_uarch_with_thread,  1d_tile_1d_dynamic_with_id_with_thread,    1, 1, 2, BOTH,   1)

FORM(2d,                                         2d,                                        2, 0, 2, NONE,   0)
FORM(2d_with_thread,                             2d_with_thread,                            2, 0, 2, THREAD, 0)
FORM(2d_tile_1d,                                 2d_tile_1d,                                2, 1, 3, NONE,   0)
FORM(2d_tile_1d_with_uarch,                      2d_tile_1d_with_id,                        2, 1, 3, UARCH,  0)
FORM(2d_tile_1d_with_uarch_with_thread,          2d_tile_1d_with_id_with_thread,            2, 1, 3, BOTH,   0)
FORM(2d_tile_1d_dynamic,                         2d_tile_1d_dynamic,                        2, 1, 3, NONE,   1)
FORM(2d_tile_1d_dynamic_with_thread,             2d_tile_1d_dynamic_with_id,                2, 1, 3, THREAD, 1)
FORM(2d_tile_1d_dynamic_with_uarch_with_thread,  2d_tile_1d_dynamic_with_id_with_thread,    2, 1, 3, BOTH,   1)
FORM(2d_tile_2d,                                 2d_tile_2d,                                2, 2, 4, NONE,   0)
FORM(2d_tile_2d_with_uarch,                      2d_tile_2d_with_id,                        2, 2, 4, UARCH,  0)
FORM(2d_tile_2d_dynamic,                         2d_tile_2d_dynamic,                        2, 2, 4, NONE,   1)
FORM(2d_tile_2d_dynamic_with_uarch,              2d_tile_2d_dynamic_with_id,                2, 2, 4, UARCH,  1)
FORM(2d_tile_2d_dynamic_with_thread,             2d_tile_2d_dynamic_with_id,                2, 2, 4, THREAD, 1)

FORM(3d,                                         3d,                                        3, 0, 3, NONE,   0)
FORM(3d_tile_1d,                                 3d_tile_1d,                                3, 1, 4, NONE,   0)
FORM(3d_tile_1d_with_thread,                     3d_tile_1d_with_thread,                    3, 1, 4, THREAD, 0)
FORM(3d_tile_1d_with_uarch,                      3d_tile_1d_with_id,                        3, 1, 4, UARCH,  0)
FORM(3d_tile_1d_with_uarch_with_thread,          3d_tile_1d_with_id_with_thread,            3, 1, 4, BOTH,   0)
FORM(3d_tile_1d_dynamic,                         3d_tile_1d_dynamic,                        3, 1, 4, NONE,   1)
FORM(3d_tile_1d_dynamic_with_thread,             3d_tile_1d_dynamic_with_id,                3, 1, 4, THREAD, 1)
FORM(3d_tile_1d_dynamic_with_uarch_with_thread,  3d_tile_1d_dynamic_with_id_with_thread,    3, 1, 4, BOTH,   1)
FORM(3d_tile_2d,                                 3d_tile_2d,                                3, 2, 5, NONE,   0)
FORM(3d_tile_2d_with_uarch,                      3d_tile_2d_with_id,                        3, 2, 5, UARCH,  0)
FORM(3d_tile_2d_dynamic,                         3d_tile_2d_dynamic,                        3, 2, 5, NONE,   1)
FORM(3d_tile_2d_dynamic_with_uarch,              3d_tile_2d_dynamic_with_id,                3, 2, 5, UARCH,  1)
FORM(3d_tile_2d_dynamic_with_thread,             3d_tile_2d_dynamic_with_id,                3, 2, 5, THREAD, 1)

FORM(4d,                                         4d,                                        4, 0, 4, NONE,   0)
FORM(4d_tile_1d,                                 4d_tile_1d,                                4, 1, 5, NONE,   0)
FORM(4d_tile_2d,                                 4d_tile_2d,                                4, 2, 6, NONE,   0)
FORM(4d_tile_2d_with_uarch,                      4d_tile_2d_with_id,                        4, 2, 6, UARCH,  0)
FORM(4d_tile_2d_dynamic,                         4d_tile_2d_dynamic,                        4, 2, 6, NONE,   1)
FORM(4d_tile_2d_dynamic_with_uarch,              4d_tile_2d_dynamic_with_id,                4, 2, 6, UARCH,  1)

FORM(5d,                                         5d,                                        5, 0, 5, NONE,   0)
FORM(5d_tile_1d,                                 5d_tile_1d,                                5, 1, 6, NONE,   0)
FORM(5d_tile_2d,                                 5d_tile_2d,                                5, 2, 7, NONE,   0)

FORM(6d,                                         6d,                                        6, 0, 6, NONE,   0)
FORM(6d_tile_1d,                                 6d_tile_1d,                                6, 1, 7, NONE,   0)
FORM(6d_tile_2d,                                 6d_tile_2d,                                6, 2, 8, NONE,   0)
/* clang-format on */
