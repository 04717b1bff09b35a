/* uts/kernel.c - the nodes of the tree; see uts.h.
 *
 * SPDX-License-Identifier: MIT */
#include "uts.h"
#include <math.h>

static uint32_t rotate(uint32_t x, int bits) {
  return x << bits | x >> (32 - bits);
}

/* SHA-1 (FIPS 180) of a message of less than 56 bytes: one block. */
static void sha1_short(const unsigned char *message, size_t length,
                       unsigned char *digest) {
  uint32_t w[16], h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  unsigned char block[64] = {0};
  memcpy(block, message, length);
  block[length] = 0x80;
  block[62] = (unsigned char)(length >> 5); /* the length in bits, up to two bytes */
  block[63] = (unsigned char)(length << 3);
  for (int i = 0; i < 16; i++)
    w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
           (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
  uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
/* One round. Instead of moving all five values on, the next round names them shifted. */
#define ROUND(a, b, c, d, e, mix, constant, i)                                           \
  if ((i) >= 16)                                                                         \
    w[(i) % 16] =                                                                        \
        rotate(w[((i)-3) % 16] ^ w[((i)-8) % 16] ^ w[((i)-14) % 16] ^ w[(i) % 16], 1);   \
  e += rotate(a, 5) + mix(b, c, d) + constant + w[(i) % 16];                             \
  b = rotate(b, 30);
#define FIVE(mix, constant, i)                                                           \
  ROUND(a, b, c, d, e, mix, constant, i)                                                 \
  ROUND(e, a, b, c, d, mix, constant, (i) + 1)                                           \
  ROUND(d, e, a, b, c, mix, constant, (i) + 2)                                           \
  ROUND(c, d, e, a, b, mix, constant, (i) + 3)                                           \
  ROUND(b, c, d, e, a, mix, constant, (i) + 4)
#define TWENTY(mix, constant, i)                                                         \
  FIVE(mix, constant, i)                                                                 \
  FIVE(mix, constant, (i) + 5)                                                           \
  FIVE(mix, constant, (i) + 10)                                                          \
  FIVE(mix, constant, (i) + 15)
#define CHOOSE(x, y, z)   ((z) ^ ((x) & ((y) ^ (z))))
#define PARITY(x, y, z)   ((x) ^ (y) ^ (z))
#define MAJORITY(x, y, z) (((x) & (y)) | ((z) & ((x) | (y))))
  TWENTY(CHOOSE, 0x5a827999u, 0)
  TWENTY(PARITY, 0x6ed9eba1u, 20)
  TWENTY(MAJORITY, 0x8f1bbcdcu, 40)
  TWENTY(PARITY, 0xca62c1d6u, 60)
  uint32_t sum[5] = {h[0] + a, h[1] + b, h[2] + c, h[3] + d, h[4] + e};
  for (int i = 0; i < 20; i++)
    digest[i] = (unsigned char)(sum[i / 4] >> (24 - 8 * (i % 4)));
}

static void put_number(unsigned char *bytes, uint32_t number) {
  for (int i = 0; i < 4; i++) bytes[i] = (unsigned char)(number >> (24 - 8 * i));
}

uts_node uts_root(int tree) {
  uts_node node = {{0}, 0, tree};
  unsigned char seed[20] = {0};
  put_number(seed + 16, tree == UTS_T3 ? 42 : 19);
  sha1_short(seed, sizeof seed, node.state);
  return node;
}

uts_node uts_child(const uts_node *node, int i) {
  uts_node child = {{0}, node->depth + 1, node->tree};
  unsigned char message[24];
  memcpy(message, node->state, 20);
  put_number(message + 20, (uint32_t)i);
  sha1_short(message, sizeof message, child.state);
  return child;
}

/* The node's own random number, in [0, 1). */
static double chance(const uts_node *node) {
  const unsigned char *s = node->state + 16;
  uint32_t bits =
      (uint32_t)s[0] << 24 | (uint32_t)s[1] << 16 | (uint32_t)s[2] << 8 | s[3];
  return (bits & 0x7fffffff) / 2147483648.0;
}

int uts_children(const uts_node *node) {
  if (node->tree == UTS_T3) {
    if (node->depth == 0) return 2000;
    return chance(node) < 0.124875 ? 8 : 0;
  }
  if (node->depth >= (node->tree == UTS_T1 ? 10 : 5)) return 0;
  double p = 1.0 / (1 + 4);
  int count = (int)floor(log(1 - chance(node)) / log(1 - p));
  return count < 100 ? count : 100;
}
