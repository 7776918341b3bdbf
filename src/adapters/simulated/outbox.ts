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

/** What `read` gives; `undefined` where there is no such file. */
const unlessAbsent = async <A>(read: () => Promise<A>): Promise<A | undefined> => {
  try {
    return await read()
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined
    throw cause
  }
}

interface Folder {
  readonly path: string
  /** Entries that were read or written before. */
  readonly known: Map<string, OutboxEntry>
}

const fileOf = ({ path }: Folder, id: string, kind: "eml" | "json"): string => join(path, `${id}.${kind}`)

const readEntry = async (folder: Folder, id: string): Promise<OutboxEntry> => {
  const cached = folder.known.get(id)
  if (cached !== undefined) return cached
  const entry: OutboxEntry = decodeSidecar(await readFile(fileOf(folder, id, "json"), "utf8"))
  folder.known.set(id, entry)
  return entry
}

const put = Effect.fnUntraced(function* (
  folder: Folder,
  { raw, ...message }: Parameters<Outbox["put"]>[0]
): Effect.fn.Return<OutboxEntry, StoreUnavailable> {
  const now = yield* Clock.currentTimeMillis
  const id = message.id ?? outboxId(now)
  if (!ID.test(id)) {
    return yield* new StoreUnavailable({
      operation: "put",
      reason: `"${id}" is not an id`,
      isRetryable: false
    })
  }
  const entry: OutboxEntry = {
    ...message,
    id,
    cc: message.cc ?? [],
    bcc: message.bcc ?? [],
    at: new Date(now).toISOString()
  }
  yield* attempt("put", async () => {
    await writeWhole(fileOf(folder, id, "eml"), raw)
    await writeWhole(fileOf(folder, id, "json"), JSON.stringify(entry))
  })
  return entry
})

const list = async (folder: Folder, limit: number | undefined): Promise<ReadonlyArray<OutboxEntry>> => {
  const ids = (await readdir(folder.path))
    .filter((name) => name.endsWith(".json"))
    .map((name) => name.slice(0, -".json".length))
    .sort()
    .reverse()
  const entries: Array<OutboxEntry> = []
  for (const id of ids.slice(0, limit)) entries.push(await readEntry(folder, id))
  return entries
}

/**
 * An outbox in a folder: `<id>.eml` is the message, `<id>.json` what is known of it. The message is written first, so that an
 * entry that is listed can be read; half-written entries of a killed process are never listed.
 */
export const makeOutbox = Effect.fnUntraced(function* (
  path: string
): Effect.fn.Return<Outbox, StoreUnavailable> {
  yield* attempt("put", () => mkdir(path, { recursive: true, mode: 0o700 }))
  // It may be there from before, open to all.
  yield* attempt("put", () => chmod(path, 0o700))
  const folder: Folder = { path, known: new Map() }
  return {
    put: (message) => put(folder, message),
    list: (options) => attempt("list", () => list(folder, options?.limit)),
    get: (id) =>
      attempt("get", async () =>
        ID.test(id) ? unlessAbsent(() => readFile(fileOf(folder, id, "eml"))) : undefined
      ),
    has: (id) =>
      attempt("get", async () => {
        if (!ID.test(id)) return false
        const found = await unlessAbsent(() => access(fileOf(folder, id, "json")).then(() => true))
        return found ?? false
      })
  }
})
