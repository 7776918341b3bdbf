const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
const PADDING = "=".charCodeAt(0)

/** The first and the second character of each twelve bits: half as many steps as character by character. */
const FIRST = Uint8Array.from({ length: 4096 }, (_, bits) => ALPHABET.charCodeAt(bits >> 6))
const SECOND = Uint8Array.from({ length: 4096 }, (_, bits) => ALPHABET.charCodeAt(bits & 63))

/** Characters that so many bytes take as base64. */
export const base64Length = (bytes: number): number => Math.ceil(bytes / 3) * 4

/**
 * Writes bytes as base64 (RFC 4648, padded) where they belong, without a string of it in between: page PDFs are nearly all of a
 * batch record. `target` has room for {@link base64Length} from `at` on.
 */
export const writeBase64 = (bytes: Uint8Array, target: Uint8Array, at: number): void => {
  const whole = bytes.length - (bytes.length % 3)
  let to = at
  for (let from = 0; from < whole; from += 3) {
    const bits = ((bytes[from] ?? 0) << 16) | ((bytes[from + 1] ?? 0) << 8) | (bytes[from + 2] ?? 0)
    const [high, low] = [bits >> 12, bits & 4095]
    target[to] = FIRST[high] ?? 0
    target[to + 1] = SECOND[high] ?? 0
    target[to + 2] = FIRST[low] ?? 0
    target[to + 3] = SECOND[low] ?? 0
    to += 4
  }
  const rest = bytes.length - whole
  if (rest === 0) return
  const bits = ((bytes[whole] ?? 0) << 16) | ((bytes[whole + 1] ?? 0) << 8)
  target[to] = FIRST[bits >> 12] ?? 0
  target[to + 1] = SECOND[bits >> 12] ?? 0
  target[to + 2] = rest === 2 ? (FIRST[bits & 4095] ?? 0) : PADDING
  target[to + 3] = PADDING
}
