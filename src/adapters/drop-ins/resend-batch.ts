import { createHash } from "node:crypto"

import { MAX_KEY_LENGTH } from "../../domain/mail/message.ts"
import type { Read } from "./resend-request.ts"

/** Most mails of one batch, as with Resend. */
export const MAX_BATCH = 100

/** Limit on the length of a batch's key; a longer one is hashed in the keys of its mails. */
const MAX_BATCH_KEY = MAX_KEY_LENGTH - 4

/** A batch that was read, and the keys that mails under its key may have; undefined where it has none. */
interface ReadBatch {
  readonly reads: ReadonlyArray<Read>
  readonly keys: ReadonlyArray<string> | undefined
}

/**
 * Reads a batch. The key of each mail is the batch's key with a number: the same batch and key give the same keys again. Refused mails get no
 * number, so that any two batches under a key share their first mail's key.
 */
export const readBatch = <A>(
  mails: ReadonlyArray<A>,
  key: string | undefined,
  read: (mail: A, key: string | undefined) => Read
): ReadBatch => {
  if (key === undefined) return { reads: mails.map((mail) => read(mail, undefined)), keys: undefined }
  const begin = key.length > MAX_BATCH_KEY ? createHash("sha256").update(key).digest("hex") : key
  const keys = Array.from({ length: MAX_BATCH }, (_, at) => `${begin}/${at}`)
  let taken = 0
  const reads = mails.map((mail) => {
    const one = read(mail, keys[taken])
    if (!("refused" in one)) taken += 1
    return one
  })
  return { reads, keys }
}
