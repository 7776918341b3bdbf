import { Option, Schema } from "effect"

import { DeferredSend } from "./deferred-send.ts"
import { MAX_DEFERRED_BYTES } from "./retry-schedule.ts"

const encode = Schema.encodeSync(Schema.toCodecJson(DeferredSend))
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.toCodecJson(DeferredSend)))

/** The JSON text that a queue keeps of a message, or none where it is over {@link MAX_DEFERRED_BYTES} of UTF-8. */
export const encodeDeferredSend = (message: DeferredSend): Option.Option<string> => {
  const body = JSON.stringify(encode(message))
  // A UTF-16 unit is at least one byte of UTF-8: 25 MB of attachments need no second copy to be refused.
  if (body.length > MAX_DEFERRED_BYTES) return Option.none()
  return new TextEncoder().encode(body).length > MAX_DEFERRED_BYTES ? Option.none() : Option.some(body)
}

/** The message that a queue gave back, or none where it cannot be read. */
export const decodeDeferredSend = (body: string): Option.Option<DeferredSend> => decode(body)
