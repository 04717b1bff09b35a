/* os/os_sync_wait_on_address.h - of macOS, as far as the library uses it; for the check
 * of syntax alone.
 *
 * SPDX-License-Identifier: MIT */
#pragma once
#include <os/clock.h>
#include <stddef.h>
#include <stdint.h>
#define OS_SYNC_SINCE                                                                    \
  __attribute__((availability(macos, introduced = 14.4)))                                \
  __attribute__((availability(ios, introduced = 17.4)))
typedef enum : uint32_t {
  OS_SYNC_WAIT_ON_ADDRESS_NONE = 0
} os_sync_wait_on_address_flags_t;
typedef enum : uint32_t {
  OS_SYNC_WAKE_BY_ADDRESS_NONE = 0
} os_sync_wake_by_address_flags_t;
OS_SYNC_SINCE int os_sync_wait_on_address(void *address, uint64_t value, size_t size,
                                          os_sync_wait_on_address_flags_t flags);
OS_SYNC_SINCE int
os_sync_wait_on_address_with_timeout(void *address, uint64_t value, size_t size,
                                     os_sync_wait_on_address_flags_t flags,
                                     os_clockid_t clock, uint64_t timeout_ns);
OS_SYNC_SINCE int os_sync_wake_by_address_any(void *address, size_t size,
                                              os_sync_wake_by_address_flags_t flags);
OS_SYNC_SINCE int os_sync_wake_by_address_all(void *address, size_t size,
                                              os_sync_wake_by_address_flags_t flags);
