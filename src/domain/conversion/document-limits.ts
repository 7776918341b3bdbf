/** Unpacked bytes of a Word document, all parts together: what is larger did not come from writing. */
const MAX_UNPACKED_BYTES = 200 * 1024 * 1024

/** Parts of a Word document. */
export const MAX_PARTS = 2000

/** How many times larger than its file a document may unpack, from {@link RATIO_FROM} bytes on; real ones stay below 60. */
const MAX_RATIO = 200

/** Below this the ratio says nothing. */
const RATIO_FROM = 10 * 1024 * 1024

/** Most pixels of a picture. */
export const MAX_PIXELS = 100_000_000

/** Largest picture, bytes: it stands in its result. */
export const MAX_PICTURE_BYTES = 20 * 1024 * 1024

/** Whether an archive that says to unpack to `unpacked` bytes is one that is made to fill memories. */
export const isBomb = (unpacked: number, packed: number): boolean =>
  unpacked > MAX_UNPACKED_BYTES || (unpacked > RATIO_FROM && unpacked > packed * MAX_RATIO)

/** Longest name of a file, characters. */
const MAX_NAME = 200

/** What stands where a name is empty. */
const NAMELESS = "document"

/**
 * A file's name as it is kept: the last part of a path, without characters that steer (controls, bidirectional overrides), in
 * composed form, not longer than 200 characters with its ending kept.
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
