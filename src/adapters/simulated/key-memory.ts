import { createHash, randomUUID } from "node:crypto"
import { chmod, link, mkdir, readFile, unlink, writeFile } from "node:fs/promises"
import { join } from "node:path"

import { Schema } from "effect"

import type { ProviderRequest } from "../../domain/mail/deferred-send.ts"
import { IDEMPOTENCY_WINDOW_MS } from "../../domain/mail/failover.ts"
import { canonicalBody } from "../../domain/mail/plain-request.ts"

const Memory = Schema.Struct({
  payloadHash: Schema.String,
  /** The provider's id of the message. */
  messageId: Schema.String,
  /** Its id in the outbox. */
  outboxId: Schema.String,
  /** Milliseconds since the epoch. */
  at: Schema.Number
})
/** What is remembered of a key: its payload's hash, and the ids of its one message. */
export type KeyMemory = typeof Memory.Type

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Memory))

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

/** Hash of a request's payload. */
export const payloadHash = (request: ProviderRequest): string => sha256(canonicalBody(request))

export const hasCode = (cause: unknown, code: string): boolean =>
  cause instanceof Error && "code" in cause && cause.code === code

/** Creates the file with its whole content, or fails with EEXIST: linking a finished file is both atomic and exclusive. */
const createExclusively = async (file: string, content: string): Promise<boolean> => {
  const temporary = `${file}.${randomUUID()}.tmp`
  await writeFile(temporary, content, { mode: 0o600 })
  try {
    await link(temporary, file)
    return true
  } catch (cause) {
    if (hasCode(cause, "EEXIST")) return false
    throw cause
  } finally {
    await unlink(temporary)
  }
}

const readMemory = async (file: string): Promise<KeyMemory | undefined> => {
  try {
    return decode(await readFile(file, "utf8"))
  } catch (cause) {
    if (hasCode(cause, "ENOENT")) return undefined
    throw cause
  }
}

/**
 * Remembers keys for 24 hours in a folder that several processes share. `claim` returns what was remembered first: by this call
 * (`mine`), or by an earlier one. An expired key is remembered again under the next number, so that one of two processes that find
 * it expired wins.
 */
export const makeKeyMemories = async (folder: string) => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  // It may be there from before, open to all.
  await chmod(folder, 0o700)
  return {
    claim: async (
      key: string,
      wanted: KeyMemory
    ): Promise<{ readonly mine: boolean; readonly memory: KeyMemory }> => {
      const name = sha256(key)
      for (let generation = 0; ;) {
        const file = join(folder, `${name}-${generation}`)
        const found = await readMemory(file)
        if (found === undefined) {
          if (await createExclusively(file, JSON.stringify(wanted))) return { mine: true, memory: wanted }
        } else if (wanted.at - found.at < IDEMPOTENCY_WINDOW_MS) {
          return { mine: false, memory: found }
        } else generation++
      }
    }
  }
}
