import { Effect, Fiber } from "effect"

import { servePeer } from "../process.ts"
import type { Targets } from "../senders/sender.ts"
import { openServerMail } from "./postlane-queue.ts"
import { MAIL, newMails } from "./queued-mail.ts"

/** A sender of the queue, which can queue a mail itself: tells when that was committed, milliseconds since the epoch. */
const [targets = "{}"] = process.argv.slice(2)
const server = await openServerMail(JSON.parse(targets) as Targets, 32)
const sending = Effect.runFork(server.sender.run)

/** Since the epoch, milliseconds, in finer steps than the clock's. */
const now = () => performance.timeOrigin + performance.now()

servePeer({}, async () => {
  const [mail] = newMails(1)
  await Effect.runPromise(server.enqueue.one({ ...MAIL, ...mail }))
  return { key: mail?.idempotencyKey, at: now() }
})

process.once("SIGTERM", () => {
  void Effect.runPromise(Fiber.interrupt(sending))
    .then(server.close)
    .then(() => process.exit(0))
})
