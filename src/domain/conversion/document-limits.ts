/** Most unpacked bytes of a Word document, all parts together: nobody writes a larger one. */
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

/** Longest name of a file, characters. */
const MAX_NAME = 200

/** The name of a file whose name is empty. */
const NAMELESS = "document"

/**
 * A file's name as it is stored: the last part of a path, without control characters and bidirectional overrides, in composed
 * form, at most 200 characters with its extension kept.
 */
export const cleanFileName = (name: string): string => {
  const last = name.toWellFormed().normalize("NFC").split(/[/\\]/).at(-1) ?? ""
  const clean = last
    .replaceAll(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "")
    .replaceAll(/\s+/g, " ")
    .trim()
  if (/^\.*$/.test(clean)) return NAMELESS
  const letters = Array.from(clean)
  if (letters.length <= MAX_NAME) return clean
  const ending = /\.[^.]{1,8}$/.exec(clean)?.[0] ?? ""
  return letters.slice(0, MAX_NAME - ending.length).join("") + ending
}
