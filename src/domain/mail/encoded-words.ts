import * as Base64 from "effect/encoding/Base64"

/** RFC 2047: an encoded word is at most 75 characters; without its frame that leaves 60 of base64, 45 bytes. */
const MAX_WORD_BYTES = 45

const utf8 = new TextEncoder()

const word = (text: string): string => `=?UTF-8?B?${Base64.encode(text)}?=`

/** Whether a header can hold the text unencoded. */
export const isPrintableAscii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)

/**
 * The text as encoded words (RFC 2047), which are written with white space between each two that a reader drops: UTF-8, base64,
 * each word at most 75 characters and of whole code points.
 */
export const encodedWords = (text: string): ReadonlyArray<string> => {
  const words: Array<string> = []
  let chunk = ""
  let bytes = 0
  for (const char of text) {
    const size = utf8.encode(char).length
    if (bytes + size > MAX_WORD_BYTES) {
      words.push(word(chunk))
      chunk = ""
      bytes = 0
    }
    chunk += char
    bytes += size
  }
  return [...words, word(chunk)]
}
