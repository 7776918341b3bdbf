import { randomUUID } from "node:crypto"
import { access, chmod, mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"

import { Clock, Effect, Schema } from "effect"
import MailComposer from "nodemailer/lib/mail-composer"

import type { PlainRequestBody } from "../../domain/mail/plain-request.ts"
import { type Outbox, type OutboxEntry } from "../../ports/mail/simulated-mail.ts"
import { StoreUnavailable } from "../../ports/store-unavailable.ts"

type Box = PlainRequestBody["from"]

const box = ({ name, address }: Box) => ({ name: name ?? "", address })

/** The RFC 5322 message that a recipient would get: without Bcc. */
export const composeMessage = (
  body: PlainRequestBody,
  identity: { readonly messageId: string; readonly date: Date }
): Promise<Uint8Array> =>
  new MailComposer({
    from: box(body.from),
    to: body.to.map(box),
    cc: body.cc.map(box),
    replyTo: body.replyTo.map(box),
    subject: body.subject,
    text: body.text ?? undefined,
    html: body.html ?? undefined,
    headers: { ...body.headers },
    attachments: body.attachments.map((part) => ({
      filename: part.filename,
      content: Buffer.from(part.content, "base64"),
      contentType: part.contentType ?? undefined,
      cid: part.contentId ?? undefined,
      contentDisposition: part.contentId === null ? "attachment" : "inline"
    })),
    messageId: identity.messageId,
    date: identity.date,
    disableFileAccess: true,
    disableUrlAccess: true
  })
    .compile()
    .build()

const Sidecar = Schema.Struct({
  id: Schema.String,
  via: Schema.String,
  from: Schema.String,
  to: Schema.Array(Schema.String),
  cc: Schema.Array(Schema.String),
  bcc: Schema.Array(Schema.String),
  subject: Schema.String,
  at: Schema.String,
  messageId: Schema.optionalKey(Schema.String),
  tags: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  marks: Schema.optionalKey(
    Schema.Array(Schema.Literals(["delivered", "bounced", "complained", "suppressed"]))
  )
})
const decodeSidecar = Schema.decodeUnknownSync(Schema.fromJsonString(Sidecar))

const ID = /^[A-Za-z0-9_-]{1,100}$/

/** An id whose order is the order of time, so that the newest messages are found by name alone. */
export const outboxId = (now: number): string => `${now.toString(36).padStart(9, "0")}-${randomUUID()}`

/** Writes a file so that no partial one is ever seen: under another name first, then renamed. */
export const writeWhole = async (file: string, content: string | Uint8Array): Promise<void> => {
  const temporary = `${file}.${randomUUID()}.tmp`
  await writeFile(temporary, content, { mode: 0o600 })
  await rename(temporary, file)
}

/** The error of a failed operation on the folder. */
export const outboxUnavailable = (operation: string) => (cause: unknown) =>
  new StoreUnavailable({ operation, reason: String(cause), isRetryable: true, cause })

const attempt = <A>(operation: string, run: () => Promise<A>): Effect.Effect<A, StoreUnavailable> =>
  Effect.tryPromise({ try: run, catch: outboxUnavailable(operation) })

const absent = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && cause.code === "ENOENT"

/**
 * An outbox in a folder: `<id>.eml` is the message, `<id>.json` what is known of it. The message is written first, so that an
 * entry that is listed can be read; half-written entries of a killed process are never listed.
 */
export const makeOutbox = (folder: string): Effect.Effect<Outbox, StoreUnavailable> =>
  Effect.gen(function* () {
    yield* attempt("put", () => mkdir(folder, { recursive: true, mode: 0o700 }))
    // It may be there from before, open to all.
    yield* attempt("put", () => chmod(folder, 0o700))
    const known = new Map<string, OutboxEntry>()
    const fileOf = (id: string, kind: "eml" | "json") => join(folder, `${id}.${kind}`)

    const read = async (id: string): Promise<OutboxEntry> => {
      const cached = known.get(id)
      if (cached !== undefined) return cached
      const entry: OutboxEntry = decodeSidecar(await readFile(fileOf(id, "json"), "utf8"))
      known.set(id, entry)
      return entry
    }

    const put: Outbox["put"] = ({ raw, ...message }) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const id = message.id ?? outboxId(now)
        if (!ID.test(id))
          return yield* new StoreUnavailable({
            operation: "put",
            reason: `"${id}" is not an id`,
            isRetryable: false
          })
        const entry: OutboxEntry = {
          ...message,
          id,
          cc: message.cc ?? [],
          bcc: message.bcc ?? [],
          at: new Date(now).toISOString()
        }
        yield* attempt("put", async () => {
          await writeWhole(fileOf(id, "eml"), raw)
          await writeWhole(fileOf(id, "json"), JSON.stringify(entry))
        })
        return entry
      })

    const list: Outbox["list"] = (options) =>
      attempt("list", async () => {
        const ids = (await readdir(folder))
          .filter((name) => name.endsWith(".json"))
          .map((name) => name.slice(0, -".json".length))
          .sort()
          .reverse()
        const entries: Array<OutboxEntry> = []
        for (const id of ids.slice(0, options?.limit)) entries.push(await read(id))
        return entries
      })

    const get: Outbox["get"] = (id) =>
      attempt("get", async () => {
        if (!ID.test(id)) return undefined
        try {
          return await readFile(fileOf(id, "eml"))
        } catch (cause) {
          if (absent(cause)) return undefined
          throw cause
        }
      })

    const has: Outbox["has"] = (id) =>
      attempt("get", async () => {
        if (!ID.test(id)) return false
        try {
          await access(fileOf(id, "json"))
          return true
        } catch (cause) {
          if (absent(cause)) return false
          throw cause
        }
      })

    return { put, list, get, has }
  })
