import { Effect, Layer, Stream } from "effect"
import { Digest, sha256 } from "effect/crypto/Digest"

import { isPdf } from "../../domain/conversion/file-signatures.ts"
import { HEAD_BYTES } from "../../domain/inbound/incoming-mail.ts"
import { MailReader, UnreadableMail } from "../../ports/inbound/mails.ts"
import { MailObjects, ObjectStoreError } from "../../ports/object-store.ts"
import { readHead } from "./read-head.ts"
import { readMail } from "./read-mail.ts"

/** Loads a raw mail into memory; its size is limited at intake. */
const rawOf = Effect.fnUntraced(function* (key: string, bytes: number) {
  const objects = yield* MailObjects
  const raw = new Uint8Array(bytes)
  const lost = (cause: unknown) => new ObjectStoreError({ reason: "unavailable", key, cause })
  let at = 0
  yield* Stream.runForEach(objects.get(key), (piece) =>
    Effect.sync(() => {
      if (at + piece.length <= raw.length) raw.set(piece, at)
      at += piece.length
    })
  ).pipe(Effect.mapError(lost))
  if (at !== raw.length) return yield* lost(new Error(`${at} of ${raw.length} bytes`))
  return raw
})

/**
 * Parses mails with postal-mime in this process, where there are no child processes (on the edge): their structure is bounded
 * before they are parsed. Elsewhere they are read by `process-mail-reader.ts`.
 */
export const layer: Layer.Layer<MailReader, never, Digest> = Layer.effect(
  MailReader,
  Effect.map(Digest, (digest) =>
    MailReader.of({
      readHead,
      read: Effect.fnUntraced(function* (key, bytes) {
        // The raw mail is released as soon as it is read: it is larger than its decoded parts.
        const [answer, rawSha256] = yield* Effect.flatMap(rawOf(key, bytes), (raw) =>
          Effect.all([Effect.promise(() => readMail(raw)), digest.digestHex(sha256, raw)])
        )
        if (answer.kind === "unreadable")
          return yield* new UnreadableMail({ message: answer.message, deadly: false })
        const parts = yield* Effect.forEach(answer.mail.parts, ({ content, ...names }) =>
          Effect.map(digest.digestHex(sha256, content), (hash) => ({
            ...names,
            bytes: content.length,
            head: content.slice(0, HEAD_BYTES),
            sha256: hash,
            pdf: isPdf(content) ? Stream.make(content) : undefined
          }))
        )
        return { mail: { ...answer.mail, parts }, rawSha256 }
      })
    })
  )
)
