/**
 * Bytes from the start of a file within which `%PDF-` may begin: PDF readers have always allowed this (PDF 1.7 reference,
 * implementation note 13).
 */
const PDF_WITHIN = 1024

const latin1 = (text: string): ReadonlyArray<number> => Array.from(text, (sign) => sign.charCodeAt(0))

const PDF = latin1("%PDF-")

/** True when the signature's bytes are found at an offset. */
export const startsWith = (bytes: Uint8Array, signature: ReadonlyArray<number>, at = 0): boolean =>
  signature.every((byte, index) => bytes[at + index] === byte)

/** Signatures of other kinds of files: the bytes, the kind's name, and the offset when it is not 0. */
const SIGNATURES: ReadonlyArray<readonly [signature: ReadonlyArray<number>, kind: string, at?: number]> = [
  [latin1("PK\u0003\u0004"), "an archive"],
  [latin1("PK\u0005\u0006"), "an archive"],
  [latin1("PK\u0007\u0008"), "an archive"],
  [[0x78, 0x9f, 0x3e, 0x22], "an Outlook file (winmail.dat)"],
  [[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1], "an Office document"],
  [[0x89, 0x50, 0x4e, 0x47], "a picture"],
  [[0xff, 0xd8, 0xff], "a picture"],
  [latin1("GIF8"), "a picture"],
  [[0x49, 0x49, 0x2a, 0x00], "a picture"],
  [[0x4d, 0x4d, 0x00, 0x2a], "a picture"],
  [latin1("BM"), "a picture"],
  [latin1("{\\rtf"), "an RTF document"],
  [latin1("Rar!"), "an archive"],
  [[0x37, 0x7a, 0xbc, 0xaf], "an archive"],
  [[0x1f, 0x8b], "an archive"],
  [[0x28, 0xb5, 0x2f, 0xfd], "an archive"],
  [[0x04, 0x22, 0x4d, 0x18], "an archive"],
  [latin1("MSCF"), "an archive"],
  [latin1("!<arch>\n"), "an archive"],
  [latin1("07070"), "an archive"],
  [latin1("-lh"), "an archive", 2],
  [latin1("ustar"), "an archive", 257]
]

/** What a file is by the bytes that it begins with, in words that follow "it is"; undefined for a PDF and what is not known here. */
export const signedKind = (head: Uint8Array): string | undefined =>
  SIGNATURES.find(([signature, , at]) => startsWith(head, signature, at))?.[1]

/**
 * Whether the bytes are a PDF, by content. A file with another signature that contains a PDF – `winmail.dat`, an archive that does
 * not compress – does not count: it may contain several.
 */
export const isPdf = (bytes: Uint8Array): boolean => {
  if (startsWith(bytes, PDF)) return true
  if (signedKind(bytes) !== undefined) return false
  const end = Math.min(bytes.length - PDF.length, PDF_WITHIN)
  for (let at = 1; at <= end; at++) if (startsWith(bytes, PDF, at)) return true
  return false
}
