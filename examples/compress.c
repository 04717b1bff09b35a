/* compress.c - a parallel gzip: reads blocks in order, compresses each on any thread, and
 * writes the results in order. Each block becomes a gzip member of its own, and a file of
 * several members is what `gzip -d` expects.
 *
 *     cc -O2 -D_GNU_SOURCE compress.c -o compress $(pkg-config --cflags --libs weft zlib)
 *     ./compress [-1 ... -9] <file >file.gz
 *     ./compress --test                  packs and unpacks texts of several sizes
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft.h>
#include <zlib.h>

enum { BLOCK = 128 * 1024, ROOM = BLOCK + BLOCK / 1000 + 1024 };

/* An item of the pipeline: one block, before and after. */
struct block {
  unsigned char in[BLOCK], out[ROOM];
  size_t in_size, out_size;
};

enum { CANNOT_READ = 1, CANNOT_WRITE, CANNOT_COMPRESS };
static const char *const REASONS[] = {"", "cannot read", "cannot write",
                                      "cannot compress"};

static int read_block(void *item, size_t number, void *ctx) {
  struct block *b = item;
  FILE *from = ctx;
  b->in_size = fread(b->in, 1, BLOCK, from);
  if (ferror(from)) return CANNOT_READ;
  /* An empty file is one empty member. */
  return b->in_size > 0 || number == 0 ? 0 : WEFT_END;
}

static int compress_block(void *item, size_t number, void *ctx) {
  struct block *b = item;
  z_stream z = {0};
  (void)number;
  if (deflateInit2(&z, *(const int *)ctx, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    return CANNOT_COMPRESS;
  z.next_in = b->in;
  z.avail_in = (unsigned)b->in_size;
  z.next_out = b->out;
  z.avail_out = ROOM;
  int status = deflate(&z, Z_FINISH);
  b->out_size = ROOM - z.avail_out;
  deflateEnd(&z);
  return status == Z_STREAM_END ? 0 : CANNOT_COMPRESS;
}

static int write_block(void *item, size_t number, void *ctx) {
  const struct block *b = item;
  (void)number;
  return fwrite(b->out, 1, b->out_size, ctx) == b->out_size ? 0 : CANNOT_WRITE;
}

static int compress_file(FILE *in, FILE *out, int level) {
  weft_stage stages[] = {{WEFT_STAGE_ORDERED_BLOCKING, read_block, in},
                         {WEFT_STAGE_PARALLEL, compress_block, &level},
                         {WEFT_STAGE_ORDERED_BLOCKING, write_block, out}};
  int error = weft_pipeline(sizeof(struct block), 0, stages, 3);
  return error != 0 || fflush(out) == 0 ? error : CANNOT_WRITE;
}

/* ---- self-test: compresses, decompresses with zlib, compares ---- */

static unsigned char *invent(size_t size) {
  unsigned char *text = malloc(size + 1);
  uint32_t random = 1;
  for (size_t i = 0; text != NULL && i < size; i++) {
    random = random * 1664525u + 1013904223u;
    text[i] = random >> 24 < 200 ? (unsigned char)"weft "[i % 5]
                                 : (unsigned char)(random >> 16);
  }
  return text;
}

static FILE *file_with(const void *bytes, size_t size) {
  FILE *file = tmpfile();
  if (file == NULL || fwrite(bytes, 1, size, file) != size) return NULL;
  rewind(file);
  return file;
}

/* Does the file unpack to these bytes? gzread goes on from member to member. */
static bool unpacks_to(FILE *packed, const unsigned char *bytes, size_t size) {
  unsigned char *unpacked = malloc(size + 1);
  rewind(packed);
  gzFile reader = gzdopen(dup(fileno(packed)), "rb");
  if (unpacked == NULL || reader == NULL) return false;
  int got = gzread(reader, unpacked, (unsigned)size + 1);
  bool same = got == (int)size && memcmp(unpacked, bytes, size) == 0;
  gzclose(reader);
  free(unpacked);
  return same;
}

static bool round_trip(size_t size) {
  unsigned char *text = invent(size);
  FILE *in = text != NULL ? file_with(text, size) : NULL, *out = tmpfile();
  bool right = in != NULL && out != NULL && compress_file(in, out, 6) == 0;
  long packed = right ? ftell(out) : 0;
  right = right && unpacks_to(out, text, size);
  printf("%9zu bytes, packed %9ld: %s\n", size, packed, right ? "ok" : "WRONG");
  if (in != NULL) fclose(in);
  if (out != NULL) fclose(out);
  free(text);
  return right;
}

static int self_test(void) {
  static const size_t sizes[] = {0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 5000000};
  bool right = true;
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
    right = round_trip(sizes[i]) && right;
  return right ? 0 : 1;
}

int main(int argc, char **argv) {
  int level = argc == 1 ? 6 : argv[1][0] == '-' ? atoi(argv[1] + 1) : 0;
  if (argc > 1 && strcmp(argv[1], "--test") == 0) return self_test();
  if (argc > 2 || level < 1 || level > 9) {
    fprintf(stderr, "usage: compress [-1 ... -9] <file >file.gz, or compress --test\n");
    return 2;
  }
  int error = compress_file(stdin, stdout, level);
  if (error != 0)
    fprintf(stderr, "compress: %s\n", error > 0 ? REASONS[error] : weft_strerror(error));
  return error != 0;
}
