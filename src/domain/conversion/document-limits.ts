/** Unpacked bytes of a Word document, all parts together: what is larger did not come from writing. */
export const MAX_UNPACKED_BYTES = 200 * 1024 * 1024

/** Parts of a Word document. */
export const MAX_PARTS = 2000

/** How many times larger than its file a document may unpack, from {@link RATIO_FROM} bytes on; real ones stay below 60. */
export const MAX_RATIO = 200

/** Below this the ratio says nothing. */
export const RATIO_FROM = 10 * 1024 * 1024

/** Most pixels of a picture. */
export const MAX_PIXELS = 100_000_000

/** Largest picture, bytes: it stands in its result. */
export const MAX_PICTURE_BYTES = 20 * 1024 * 1024

/** Whether an archive that says to unpack to `unpacked` bytes is one that is made to fill memories. */
export const isBomb = (unpacked: number, packed: number): boolean =>
  unpacked > MAX_UNPACKED_BYTES || (unpacked > RATIO_FROM && unpacked > packed * MAX_RATIO)
