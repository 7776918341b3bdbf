import { chmod, mkdir, readdir, unlink, writeFile } from "node:fs/promises"
import { join } from "node:path"

import { Clock, Effect } from "effect"

import { type MailProvider, ProviderFailure } from "../../ports/mail/mail-provider.ts"
import { hasCode } from "./key-memory.ts"

/** Requests that Resend takes within a second, unless an account has more. */
const RATE = 2
const SECOND_MS = 1_000

/** Counts requests in a folder that several processes share: a file for each that is taken within a second. */
export const makeVendorLimit = async (folder: string) => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  // It may be there from before, open to all.
  await chmod(folder, 0o700)

  const isMine = async (name: string): Promise<boolean> => {
    try {
      await writeFile(join(folder, name), "", { flag: "wx", mode: 0o600 })
      return true
    } catch (cause) {
      if (hasCode(cause, "EEXIST")) return false
      throw cause
    }
  }

  /** What is counted of earlier seconds; another process may remove it, too. */
  const forget = async (second: number): Promise<void> => {
    for (const name of await readdir(folder)) {
      if (Number.parseInt(name, 10) >= second - 1) continue
      await unlink(join(folder, name)).catch((cause: unknown) => {
        if (!hasCode(cause, "ENOENT")) throw cause
      })
    }
  }

  return {
    /** Whether one more request is taken at this time, milliseconds. */
    take: async (at: number): Promise<boolean> => {
      const second = Math.floor(at / SECOND_MS)
      for (let place = 0; place < RATE; place += 1) {
        if (!(await isMine(`${second}-${place}`))) continue
        if (place === 0) await forget(second)
        return true
      }
      return false
    }
  }
}

/** A simulated provider that keeps Resend's limit, and says so as Resend does: with each answer, and with 429 above it. */
export const limited = (
  provider: MailProvider,
  limit: Awaited<ReturnType<typeof makeVendorLimit>>
): MailProvider => {
  const refusal = (message: string, code: string | undefined, holdMs: number) =>
    new ProviderFailure({
      provider: provider.provider,
      kind: "unavailable",
      message: `simulated ${provider.provider}: ${message}`,
      code,
      pace: { ratePerSecond: RATE, holdMs, retryAfterMs: holdMs }
    })
  return {
    ...provider,
    send: Effect.fnUntraced(function* (request) {
      const now = yield* Clock.currentTimeMillis
      const isTaken = yield* Effect.tryPromise({
        try: () => limit.take(now),
        catch: (cause) => refusal(`the request cannot be counted: ${String(cause)}`, undefined, SECOND_MS)
      })
      if (!isTaken) {
        return yield* refusal(
          `too many requests: it takes ${RATE} a second`,
          "rate_limit_exceeded",
          SECOND_MS
        )
      }
      const accepted = yield* provider.send(request)
      return { ...accepted, pace: { ratePerSecond: RATE } }
    })
  }
}
