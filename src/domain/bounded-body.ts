/** Limit on the answer to a send, bytes: a message id, or an error of some lines. */
export const MAX_SEND_ANSWER = 64 * 1024

/** Limit on any other answer of a vendor, bytes: a page of a list, a token. */
export const MAX_ANSWER = 1024 * 1024

const UTF_8 = new TextDecoder()

/** A body is longer than its reader takes. */
export class BodyTooLong extends Error {
  override readonly name = "BodyTooLong"
  constructor(maxBytes: number) {
    super(`the answer cannot be read: it is longer than ${maxBytes} bytes`)
  }
}

/**
 * Collects the chunks of a body up to a bound (HTTP-15). A captive proxy or a wrong base URL may answer without an end: `add`
 * throws {@link BodyTooLong} at the chunk that passes the bound, which ends the caller's loop and so cancels the rest.
 */
export const boundedBody = (maxBytes: number) => {
  const chunks: Array<Uint8Array> = []
  let length = 0
  const bytes = (): Uint8Array => {
    const whole = new Uint8Array(length)
    let at = 0
    for (const chunk of chunks) {
      whole.set(chunk, at)
      at += chunk.length
    }
    return whole
  }
  return {
    add: (chunk: Uint8Array): void => {
      length += chunk.length
      if (length > maxBytes) throw new BodyTooLong(maxBytes)
      chunks.push(chunk)
    },
    bytes,
    /** As UTF-8. */
    text: (): string => UTF_8.decode(bytes())
  }
}
