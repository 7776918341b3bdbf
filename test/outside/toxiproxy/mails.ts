import { type Attacked, startAttacked } from "../../hostile/server.ts"
import { ADMIN_TOKEN, checked, statusOf, without } from "../installation.ts"
import type { Check } from "../reference.ts"
import { comes } from "../services.ts"

const SECRET = "outside-proxy-secret"
const CALLERS = 6
/** More than a claim's lease. */
const LEASE_SECONDS = 120
/** Statuses of mails that went out. */
const OUT: ReadonlySet<string | undefined> = new Set(["sent", "delivered"])

interface Answer {
  readonly ok?: unknown
  readonly status?: unknown
  readonly code?: unknown
}

interface Trouble {
  readonly settings: Readonly<Record<string, string>>
  /** Makes all of the trouble, and ends it. */
  readonly make: () => Promise<unknown>
  /** How many copies of a key's mail were accepted by anybody. */
  readonly copies: (server: Attacked, key: string) => Promise<number>
  /** A call takes longer, milliseconds, where the trouble was met. */
  readonly isFelt: (slowestMs: number, answers: ReadonlyArray<Answer | undefined>) => boolean
}

const send = ({ url }: Attacked, key: string): Promise<Answer | undefined> => {
  const mail = { subject: key, text: "t", category: "transactional", source: "api:outside" }
  return fetch(`${url}/internal/send-email`, {
    method: "POST",
    headers: { "x-proxy-secret": SECRET, "content-type": "application/json" },
    body: JSON.stringify({ ...mail, to: `${key}@x.test`, idempotencyKey: key }),
    signal: AbortSignal.timeout(30_000)
  }).then(
    (answer) => answer.json() as Promise<Answer>,
    () => undefined
  )
}

/** Sends while the network is in trouble, and what came of it: what callers were answered, what went out, what the log says. */
export const sendThrough = async ({
  copies: copiesOf,
  isFelt,
  make,
  settings
}: Trouble): Promise<ReadonlyArray<Check>> => {
  const server = await startAttacked({ ADMIN_TOKEN, PROXY_SHARED_SECRET: SECRET, ...settings })
  try {
    const answers = new Map<string, Array<Answer | undefined>>()
    let isOver = false
    let slowest = 0
    const caller = async (who: number) => {
      for (let n = 0; !isOver; n++) {
        const key = `key-${who}-${n}-x`
        const own: Array<Answer | undefined> = []
        answers.set(key, own)
        // As a caller does that was cut off; and once more, as one that forgot.
        for (let times = 0; times < 3; times++) {
          const began = performance.now()
          own.push(await send(server, key))
          slowest = Math.max(slowest, performance.now() - began)
        }
      }
    }
    const callers = Array.from({ length: CALLERS }, (_, who) => caller(who))
    await make()
    isOver = true
    await Promise.all(callers)
    await comes("the server is ready again", async () => (await fetch(`${server.url}/ready`)).ok)
    const keys = [...answers.keys()]
    const wrong: Record<"lost" | "doubled" | "untrue" | "stuck", Array<string>> = {
      lost: [],
      doubled: [],
      untrue: [],
      stuck: []
    }
    for (const key of keys) {
      // A call whose claim was stored and whose answer was lost holds its key until its lease is over.
      let last = await send(server, key)
      await comes(
        `${key} is free`,
        async () => {
          if (last?.code !== "IDEMPOTENCY_IN_PROGRESS") return true
          last = await send(server, key)
          return false
        },
        LEASE_SECONDS
      ).catch(() => undefined)
      if (last?.ok !== true) wrong.stuck.push(`${key} ${JSON.stringify([...answers.get(key)!, last])}`)
      await comes(`${key} is sent`, async () => (await copiesOf(server, key)) > 0, 120).catch(() =>
        wrong.lost.push(key)
      )
      // What waits for evidence is `deferred` until its retry.
      const status = await comes(
        `the log says so of ${key}`,
        async () => {
          const now = await statusOf(server, `${key}@x.test`)
          return now === undefined || OUT.has(now) ? { now } : undefined
        },
        120
      ).catch(() => ({ now: "never sent" }))
      if (status.now !== undefined && !OUT.has(status.now)) wrong.untrue.push(`${key} ${status.now}`)
      const copies = await copiesOf(server, key)
      if (copies > 1) wrong.doubled.push(`${key} ${copies} copies, ${JSON.stringify(answers.get(key))}`)
    }
    return [
      without(`each of ${keys.length} mails is accepted when the network is back`, wrong.stuck),
      without("each goes out", wrong.lost),
      without("none goes out twice", wrong.doubled),
      without("the log says of each that it went out", wrong.untrue),
      checked(
        "the network was in the way",
        isFelt(slowest, [...answers.values()].flat()),
        `the slowest call took ${slowest} ms`
      )
    ]
  } finally {
    await server.stop()
  }
}
