/** Limit on unpacked bytes of a Word document, all parts together: larger than any real document. */
const MAX_UNPACKED_BYTES = 200 * 1024 * 1024

/** Most parts of a Word document. */
export const MAX_PARTS = 2000

/** Highest ratio of unpacked to packed size, from {@link RATIO_FROM} bytes on; real ones stay below 60. */
const MAX_RATIO = 200

/** Below this size the ratio is not checked. */
const RATIO_FROM = 10 * 1024 * 1024

/** Most pixels of a picture. */
export const MAX_PIXELS = 100_000_000

/** Largest picture, bytes: it is embedded in its result. */
export const MAX_PICTURE_BYTES = 20 * 1024 * 1024

/** Whether an archive that claims to unpack to `unpacked` bytes is a decompression bomb. */
export const isBomb = (unpacked: number, packed: number): boolean =>
  unpacked > MAX_UNPACKED_BYTES || (unpacked > RATIO_FROM && unpacked > packed * MAX_RATIO)
