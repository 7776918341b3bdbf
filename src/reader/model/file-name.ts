/** Longest name of a file, characters. */
const MAX_NAME = 200

/** Replaces an empty file name. */
const NAMELESS = "document"

/**
 * A file's name to store: the last part of a path, without control characters and bidirectional overrides, in composed
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
