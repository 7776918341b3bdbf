/** The answer of a send: a message id, or an error of some lines. Bytes. */
export const MAX_SEND_ANSWER = 64 * 1024

/** Any other answer of a vendor: a page of a list, a token. Bytes. */
export const MAX_ANSWER = 1024 * 1024

/** A body is longer than whoever reads it takes. */
export class BodyTooLong extends Error {
  override readonly name = "BodyTooLong"
  constructor(maxBytes: number) {
    super(`the answer cannot be read: it is longer than ${maxBytes} bytes`)
  }
}

/**
 * The bytes of a body, or {@link BodyTooLong}. Reading ends with the chunk that passes the bound, and the rest is cancelled:
 * a captive proxy or a wrong base URL may answer without an end (HTTP-15).
 */
export const boundedBytes = async (
  body: AsyncIterable<Uint8Array> | null,
  maxBytes: number
): Promise<Uint8Array> => {
  const chunks: Array<Uint8Array> = []
  let length = 0
  for await (const chunk of body ?? []) {
    length += chunk.length
    if (length > maxBytes) throw new BodyTooLong(maxBytes)
    chunks.push(chunk)
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

/** {@link boundedBytes} as UTF-8 text. */
export const boundedText = async (
  body: AsyncIterable<Uint8Array> | null,
  maxBytes: number
): Promise<string> => new TextDecoder().decode(await boundedBytes(body, maxBytes))
