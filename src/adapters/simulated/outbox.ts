import { randomUUID } from "node:crypto"
import { watch } from "node:fs"
import { access, chmod, mkdir, readdir, readFile, rename, unlink, writeFile } from "node:fs/promises"
import { join } from "node:path"

import { Cause, Clock, Effect, Queue, Schema, Stream } from "effect"

import { formattedKey } from "../../domain/mail/address.ts"
import { IDEMPOTENCY_WINDOW_MS } from "../../domain/mail/failover.ts"
import { meetsAll, parseOutboxSearch } from "../../domain/mail/outbox-search.ts"
import {
  MAX_SEARCHED,
  type Outbox,
  type OutboxEntry,
  type OutboxFilter,
  type OutboxPage,
  SimulatedEventType
} from "../../ports/mail/simulated-mail.ts"
import { StoreUnavailable } from "../../ports/store-unavailable.ts"

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
  key: Schema.optionalKey(Schema.String),
  category: Schema.optionalKey(Schema.String),
  source: Schema.optionalKey(Schema.String),
  bytes: Schema.optionalKey(Schema.Number),
  files: Schema.optionalKey(Schema.Number),
  tags: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  configurationSet: Schema.optionalKey(Schema.String),
  marks: Schema.optionalKey(Schema.Array(SimulatedEventType)),
  text: Schema.optionalKey(Schema.String)
})
const decodeSidecar = Schema.decodeUnknownSync(Schema.fromJsonString(Sidecar))

const ID = /^[A-Za-z0-9_-]{1,100}$/

/** An id that sorts by time, so that the newest messages are found by name alone. */
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

/**
 * What is in the folder of a message: the message, what is known of it, and notes, which are empty files, so that several
 * processes can add them without a lock. `gone` stays after the message.
 */
const KINDS = ["eml", "json", "read", "gone", ...SimulatedEventType.literals] as const
type Kind = (typeof KINDS)[number]

interface Folder {
  readonly path: string
  /** Entries that were read before, without their notes. */
  readonly known: Map<string, OutboxEntry>
}

const fileOf = ({ path }: Folder, id: string, kind: Kind): string => join(path, `${id}.${kind}`)

/** Every message's kinds of files, by id. */
const scan = async ({ known, path }: Folder): Promise<ReadonlyMap<string, ReadonlySet<Kind>>> => {
  const found = new Map<string, Set<Kind>>()
  for (const name of await readdir(path)) {
    const dot = name.indexOf(".")
    const kind = KINDS.find((one) => one === name.slice(dot + 1))
    if (kind === undefined) continue
    const id = name.slice(0, dot)
    const kinds = found.get(id)
    if (kinds === undefined) found.set(id, new Set([kind]))
    else kinds.add(kind)
  }
  for (const id of known.keys()) if (found.get(id)?.has("json") !== true) known.delete(id)
  return found
}

/** Undefined where it was removed meanwhile. */
const readEntry = async (folder: Folder, id: string): Promise<OutboxEntry | undefined> => {
  const cached = folder.known.get(id)
  if (cached !== undefined) return cached
  const json = await unlessAbsent(() => readFile(fileOf(folder, id, "json"), "utf8"))
  if (json === undefined) return undefined
  const entry: OutboxEntry = decodeSidecar(json)
  folder.known.set(id, entry)
  return entry
}

const withNotes = (entry: OutboxEntry, kinds: ReadonlySet<Kind>): OutboxEntry => {
  const marks = SimulatedEventType.literals.filter((type) => kinds.has(type))
  return {
    ...entry,
    ...(marks.length === 0 ? {} : { marks: [...new Set([...(entry.marks ?? []), ...marks])] }),
    ...(kinds.has("read") ? { read: true } : {})
  }
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
    bytes: Buffer.byteLength(raw),
    at: new Date(now).toISOString()
  }
  yield* attempt("put", async () => {
    await writeWhole(fileOf(folder, id, "eml"), raw)
    await writeWhole(fileOf(folder, id, "json"), JSON.stringify(entry))
  })
  return entry
})

/** Whether a message is one of those that are looked for. */
const matcher = ({ address, search = "" }: OutboxFilter): ((entry: OutboxEntry) => boolean) => {
  const { terms } = parseOutboxSearch(search)
  return (entry) => {
    const { bcc, cc, from, to } = entry
    return (
      (address === undefined || [from, ...to, ...cc, ...bcc].some((box) => formattedKey(box) === address)) &&
      meetsAll(entry, terms)
    )
  }
}

const isBetween = (id: string, { after, before }: OutboxFilter): boolean =>
  (before === undefined || id < before) && (after === undefined || id > after)

const find = async (folder: Folder, filter: OutboxFilter): Promise<OutboxPage> => {
  const { address, after, limit = Number.POSITIVE_INFINITY, search } = filter
  const isFiltered = address !== undefined || search !== undefined
  const matches = matcher(filter)
  const all = [...(await scan(folder))].filter(([, kinds]) => kinds.has("json"))
  const files = all
    .filter(([id]) => isBetween(id, filter))
    .sort(([one], [other]) => (one < other ? 1 : -1) * (after === undefined ? 1 : -1))
  const entries: Array<OutboxEntry> = []
  const most = isFiltered ? Math.min(MAX_SEARCHED, files.length) : files.length
  let looked = 0
  for (; looked < most && entries.length < limit; looked += 1) {
    const [id, kinds] = files[looked]!
    const entry = await readEntry(folder, id)
    if (entry !== undefined && matches(entry)) entries.push(withNotes(entry, kinds))
  }
  const lookedUntil = looked > 0 && looked < files.length ? files[looked - 1]![0] : undefined
  return {
    entries: after === undefined ? entries : entries.reverse(),
    lookedUntil,
    looked,
    total: all.length
  }
}

const note = (folder: Folder, id: string, kind: Kind): Promise<void> =>
  writeFile(fileOf(folder, id, kind), "", { mode: 0o600 })

const isThere = async (folder: Folder, id: string, kind: Kind): Promise<boolean> => {
  if (!ID.test(id)) return false
  const found = await unlessAbsent(() => access(fileOf(folder, id, kind)).then(() => true))
  return found ?? false
}

/** Removes a message. Its existence is recorded first, so that a repeated key does not deliver it again. */
const remove = async (folder: Folder, id: string, kinds: ReadonlySet<Kind>): Promise<void> => {
  await note(folder, id, "gone")
  // Its entry first: what is listed can be read.
  for (const kind of ["json", "eml", ...kinds] as const) {
    if (kind !== "gone") await unlessAbsent(() => unlink(fileOf(folder, id, kind)))
  }
}

const clear = async (folder: Folder, newest: string, now: number): Promise<number> => {
  const forgotten = outboxId(now - IDEMPOTENCY_WINDOW_MS)
  let removed = 0
  for (const [id, kinds] of await scan(folder)) {
    if (kinds.has("json") && id <= newest) {
      await remove(folder, id, kinds)
      removed += 1
    } else if (kinds.has("gone") && id < forgotten) {
      await unlessAbsent(() => unlink(fileOf(folder, id, "gone")))
    }
  }
  return removed
}

/** Changes of the folder; the system joins some of them. */
const changes = ({ path }: Folder): Stream.Stream<void, StoreUnavailable> =>
  Stream.callback<void, StoreUnavailable>(
    (queue) =>
      Effect.acquireRelease(
        Effect.try({
          try: () =>
            watch(path, () => void Queue.offerUnsafe(queue, undefined)).on("error", (cause) =>
              Queue.failCauseUnsafe(queue, Cause.fail(outboxUnavailable("watch")(cause)))
            ),
          catch: outboxUnavailable("watch")
        }),
        (watcher) => Effect.sync(() => watcher.close())
      ),
    { bufferSize: 1, strategy: "sliding" }
  )

/**
 * An outbox in a folder: `<id>.eml` is the message, `<id>.json` what is known of it. The message is written first, so that an
 * entry that is listed can be read; half-written entries of a killed process are never listed. Empty files are notes on it.
 */
export const makeOutbox = Effect.fnUntraced(function* (
  path: string
): Effect.fn.Return<Outbox, StoreUnavailable> {
  yield* attempt("put", () => mkdir(path, { recursive: true, mode: 0o700 }))
  // It may be there from before, open to all.
  yield* attempt("put", () => chmod(path, 0o700))
  const folder: Folder = { path, known: new Map() }
  const scanned = async (id: string) => {
    const kinds = (await scan(folder)).get(id)
    return kinds?.has("json") === true ? kinds : undefined
  }
  return {
    put: (message) => put(folder, message),
    list: (filter = {}) => attempt("list", async () => (await find(folder, filter)).entries),
    page: (filter) => attempt("list", () => find(folder, filter)),
    entry: (id) =>
      attempt("get", async () => {
        const kinds = await scanned(id)
        const entry = kinds && (await readEntry(folder, id))
        return entry && withNotes(entry, kinds)
      }),
    get: (id) =>
      attempt("get", async () =>
        ID.test(id) ? unlessAbsent(() => readFile(fileOf(folder, id, "eml"))) : undefined
      ),
    has: (id) =>
      attempt("get", async () => (await isThere(folder, id, "json")) || isThere(folder, id, "gone")),
    mark: (id, mark) =>
      attempt("put", async () => {
        if (await isThere(folder, id, "json")) await note(folder, id, mark)
      }),
    remove: (id) =>
      attempt("remove", async () => {
        const kinds = await scanned(id)
        if (kinds !== undefined) await remove(folder, id, kinds)
        return kinds !== undefined
      }),
    clear: (newest) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => attempt("remove", () => clear(folder, newest, now))),
    changes: changes(folder)
  }
})
