import { Clock, Deferred, Effect, Result } from "effect"

import { NOTHING } from "../../../src/adapters/memory/delivery/alarm-board.ts"
import { makeDeferrals } from "../../../src/adapters/memory/mail/deferrals.ts"
import { IDEMPOTENCY_WINDOW_MS } from "../../../src/domain/mail/failover.ts"
import { dedupes } from "../../../src/domain/mail/provider.ts"
import { blockedAddresses, type Category } from "../../../src/domain/mail/suppression/policy.ts"
import { anyId } from "../../support/any-id.ts"
import { makeChance, runSeeded, type SimClock } from "../kernel.ts"
import type { Attempt } from "../mail/provider-model.ts"
import { queueingClient } from "../mail/queue.ts"
import type { SimProvider } from "../providers.ts"
import type { Limits, Run, RunOptions, SimulatedWorld } from "../world.ts"
import { BUGS } from "./bugs.ts"
import { missingEvents } from "./ledger.ts"
import { ALERT_INBOX, type DeliveryWorld, FAULTS, makeWorld } from "./setting.ts"

/** Long enough for every schedule, lease, notification and wait to run out once nothing fails any more. */
const CALM_MS = 4 * 60 * 60_000
const DAY_MS = 25 * 60 * 60_000

/** Somebody who wants a mail sent, and asks until it is. */
interface Ask {
  readonly key: string
  readonly category: Category
  readonly to: ReadonlyArray<string>
  readonly bcc: ReadonlyArray<string>
  /** What became of it, as the caller knows. */
  end: "sent" | "suppressed" | "rejected" | undefined
}

/** Whether a provider has taken a mail, and was asked later to send it to other recipients. */
const isTakenForOthers = (ofKey: ReadonlyArray<Attempt>): boolean => {
  const taken = ofKey.find(({ delivered }) => delivered)
  return (
    taken !== undefined &&
    ofKey.some(
      ({ recipients, startedAt }) =>
        startedAt > taken.startedAt && recipients.join() !== taken.recipients.join()
    )
  )
}

/**
 * Whether a copy may be out, so that nothing is sent again without evidence (S4): the provider without keys was asked, and the log
 * does not say that it refused, since it did not or since nobody could write it down (MAIL-43); or the same holds for the other one,
 * and the send ended there without a retry; or that one has taken the key for other recipients, before the suppressions changed, and
 * refuses it for a day (MAIL-56).
 */
const isDoubtful = ({ database, providers }: DeliveryWorld, key: string): boolean => {
  const rows = database.rows().filter(({ idempotencyKey }) => idempotencyKey === key)
  const unrefused = (provider: SimProvider) => {
    const asked = providers[provider].attempts.filter((one) => one.key === key)
    const refused = rows
      .flatMap(({ attempts }) => attempts)
      .filter((one) => one.provider === provider && one.outcome !== "ambiguous")
    return asked.length > refused.length
  }
  const endsInDoubt = rows.some(
    ({ errorKind, outcome }) => errorKind === "ambiguous" || outcome === "suppressed"
  )
  const ofKey = providers.provider_a.attempts.filter((one) => one.key === key)
  return unrefused("provider_b") || (endsInDoubt && unrefused("provider_a")) || isTakenForOthers(ofKey)
}

/** A caller as the product's own are (invites, outreach, bulk): asks under the open key until the mail is sent (R3). */
const caller = (world: DeliveryWorld, ask: Ask, roughMs: number) =>
  Effect.gen(function* () {
    const { chance, chronicle, processes } = world
    yield* Effect.sleep(chance.int(0, roughMs / 2))
    for (;;) {
      const process = chance.pick(processes.filter(({ dead }) => !dead))
      const open = yield* process.deferrals.openKey(ask.key)
      if (open.state === "sent") ask.end = "sent"
      if (open.state === "new") {
        if (open.key !== ask.key) chronicle.saw("asked again after a deferral that failed")
        const answer = yield* Effect.raceFirst(
          Effect.result(
            process.mailer.send({
              to: ask.to,
              bcc: ask.bcc,
              subject: `${ask.category} ${ask.key}`,
              text: "t",
              category: ask.category,
              source: "api:simulation",
              idempotencyKey: open.key
            })
          ),
          Effect.as(Deferred.await(process.died), undefined)
        )
        if (answer !== undefined && Result.isSuccess(answer)) {
          const { status } = answer.success
          chronicle.saw(`result ${status}`)
          chronicle.note(() => `the caller of ${ask.key} hears from ${process.id}: ${status}`)
          if (status === "sent" || status === "suppressed") ask.end = status
          if (answer.success.status === "failed" && answer.success.kind === "rejected") ask.end = "rejected"
        }
      }
      if (ask.end !== undefined) return
      yield* Effect.sleep(chance.int(60_000, 600_000))
    }
  })

/** Callers who queue mail, may roll back, ask again and cancel. */
const queueMails = ({ queueing }: DeliveryWorld, seed: number, { size }: Limits, roughMs: number) => {
  const people = makeChance(seed + 13_000_003)
  return Effect.forEach(
    Array.from({ length: Math.ceil(size / 2) }, (_, n) => `queued-${n}`),
    (key) => {
      const mail = {
        to: `u${people.int(0, 4)}@x.test`,
        category: people.pick<Category>(["transactional", "auth", "notification", "marketing"])
      }
      return Effect.forkDetach(
        queueingClient({ chance: people, isMixed: false, mail, queueing }, key, roughMs)
      )
    },
    { discard: true }
  )
}

/** Kills, freezes and starts processes, and does what people do, while things go wrong. */
const nemesis = (world: DeliveryWorld, roughMs: number) =>
  Effect.gen(function* () {
    const { chance, chronicle, database, happens, measures, processes } = world
    const { note, saw } = chronicle
    const user = () => `u${chance.int(0, 4)}@x.test`
    for (let n = 0; n < 12; n++) {
      yield* Effect.sleep(chance.int(1_000, roughMs / 8))
      const process = chance.pick(processes.filter(({ dead }) => !dead))
      if (chance.bool(0.5)) {
        if (happens("kill")) {
          saw("SIGKILL")
          note(() => `${process.id} is killed`)
          yield* world.spawn
          process.dead = true
          yield* Deferred.succeed(process.died, undefined)
        }
      } else if (happens("freeze")) {
        saw("SIGSTOP")
        const millis = chance.int(1_000, 300_000)
        note(() => `${process.id} freezes for ${Math.round(millis / 1000)} s`)
        process.frozenUntil = (yield* Clock.currentTimeMillis) + millis
      }
      const email = user()
      switch (chance.int(0, 6)) {
        case 0:
          saw("suppressed by hand")
          database.suppress({ email, reason: "manual" })
          break
        case 1:
          if (database.unsuppress(email) > 0) saw("suppression removed")
          break
        case 2:
          saw("person erased")
          note(() => `${email} is erased`)
          yield* database.erase(email)
          if (world.queueing.isOn) yield* world.queueing.forget(email)
          break
        case 3:
          yield* world.sendByHand
          break
        case 4:
          measures.now = { ...NOTHING, failovers: 50 }
          break
        default:
          measures.now = NOTHING
      }
      yield* world.look
    }
    measures.now = NOTHING
  })

/** Whether automatic suppressions have a reason (P1): a permanent bounce or a complaint of that recipient, which nobody else can be. */
const unjustified = (world: DeliveryWorld): ReadonlyArray<string> =>
  world.ledger.everSuppressed.flatMap(({ email, reason }) => {
    const justified = world.mails.some(
      ({ events, provider, recipients }) =>
        (provider === "provider_b" || recipients.length === 1) &&
        events.some(
          (event) =>
            event.recipient === email &&
            (reason === "hard_bounce" ? event.permanent : event.name === "complained")
        )
    )
    return justified ? [] : [`P1: ${email} is suppressed (${reason}), and nothing says that it should be`]
  })

/** Alerts: each failure at least once (A1), exactly once where nothing went wrong; never about the inbox by mail (A2). */
const wrongAlerts = (world: DeliveryWorld): ReadonlyArray<string> => {
  const { chronicle, ledger } = world
  const rows = new Map(world.database.rows().map((row) => [row.id, row]))
  const mails = ledger.sent.filter(({ key }) => key.startsWith("api:email-alert/"))
  const calmRun = ![
    "SIGKILL",
    "SIGSTOP",
    "chat lost",
    "queue begins Claimed",
    "queue moves to deferred",
    "queue moves to sent",
    "queue moves to suppressed",
    "receiver answers 500",
    "receiver lost",
    "record event lost",
    "confirm alert lost",
    "release alert lost",
    "claim alert lost"
  ].some((fault) => chronicle.seen.has(fault))
  const slow = [...chronicle.seen.keys()].some((what) => what.endsWith(" lost"))
  const found: Array<string> = []
  for (const sendId of ledger.dueAlerts) {
    const posted = ledger.posts.filter((text) => text.includes(`Send id: ${sendId}`)).length
    const mailed = mails.filter(({ key }) => key.split("/")[1] === sendId).length
    if (posted + mailed === 0 && !ledger.droppedAlerts.has(sendId))
      found.push(`A1: nobody was alerted that ${sendId} failed`)
    const claims = ledger.alertClaims.get(sendId) ?? 0
    if (posted > claims)
      found.push(`A1: ${posted} posts about ${sendId}, whose alert was claimed ${claims} times`)
    if (calmRun && !slow && posted > 1)
      found.push(`A1: ${posted} posts about ${sendId}, and nothing went wrong`)
  }
  for (const { key } of mails) {
    const row = rows.get(anyId(key.split("/")[1] ?? ""))
    if (row !== undefined && [...row.to, ...row.others].includes(ALERT_INBOX))
      found.push(`A2: an alert about the alert inbox went there by mail`)
  }
  for (const text of ledger.posts) {
    const sendId = /Send id: (\S+)/.exec(text)?.[1]
    if (sendId !== undefined && !ledger.dueAlerts.has(sendId))
      found.push(`A1: an alert about ${sendId}, which did not fail`)
  }
  for (const { keyPrefix, text } of ledger.dueNotices)
    if (!ledger.posts.includes(text) && !ledger.sent.some(({ key }) => key.startsWith(keyPrefix)))
      found.push(`A1: the notice ${keyPrefix} of an alarm never went out`)
  return found
}

/** Q1 to Q5. */
const queueViolations = ({ providers, queueing }: DeliveryWorld): ReadonlyArray<string> => {
  const attempts = [...providers.provider_a.attempts, ...providers.provider_b.attempts]
  return [...queueing.violations(attempts), ...queueing.paceViolations(attempts), ...queueing.disorder]
}

const check = (world: DeliveryWorld, asks: ReadonlyArray<Ask>) =>
  Effect.gen(function* () {
    const { database, ledger, mails, processes } = world
    const found = [
      ...ledger.violations,
      ...unjustified(world),
      ...missingEvents(database, mails),
      ...wrongAlerts(world),
      ...(yield* world.hooks.violations),
      ...queueViolations(world)
    ]
    const process = processes.at(-1)
    for (const { category, end, key, to } of asks) {
      const state = (yield* process!.deferrals.openKey(key)).state
      const accepted = ledger.sent.some((attempt) => attempt.key === key || attempt.key.startsWith(`${key}/`))
      if ((end === "sent" || state === "sent") && !accepted)
        found.push(`S5: ${key} counts as sent, and no provider accepted it`)
      const blocked = blockedAddresses({ category }, database.suppressions())
      if (end === undefined && !to.every((email) => blocked.has(email)))
        found.push(`R3: nobody knows what became of ${key}: its deferral is ${state}`)
    }
    const ofKeys = Map.groupBy(
      ledger.sent.filter(({ provider }) => dedupes(provider)),
      ({ key }) => key
    )
    for (const [key, all] of ofKeys) {
      // A key stands for one mail for 24 hours (MAIL-41, MAIL-44): a caller who asks later has another one sent.
      const isSecond = ({ startedAt }: Attempt, n: number) =>
        n > 0 && startedAt - all[n - 1]!.startedAt < IDEMPOTENCY_WINDOW_MS
      if (all.some(isSecond)) found.push(`S1: ${all.length} copies of ${key}`)
    }
    if ((yield* world.broker.pending).length > 0) found.push("D1: the queue is not empty")
    return found
  })

/** One run of the delivery side under faults, from a seed. */
const simulate = (seed: number, options: RunOptions): Promise<Run> =>
  runSeeded(
    seed,
    Effect.fnUntraced(function* (clock: SimClock) {
      const world = makeWorld(seed, options, clock)
      const { chance, chronicle } = world
      const roughMs = options.limits.roughMinutes * 60_000
      yield* world.spawn
      yield* world.spawn
      const asks = Array.from({ length: options.limits.size }, (_, n): Ask => {
        const users = ["u0@x.test", "u1@x.test", "u2@x.test", "u3@x.test"]
        const first = chance.int(0, 4)
        return {
          key: `order-${n}`,
          category: chance.pick<Category>(["transactional", "auth", "notification", "marketing"]),
          to: [users[first]!],
          bcc: chance.bool(0.3) ? [users[(first + 1) % 4]!] : [],
          end: undefined
        }
      })
      for (const ask of asks) yield* Effect.forkDetach(caller(world, ask, roughMs))
      if (world.queueing.isOn) yield* queueMails(world, seed, options.limits, roughMs)
      yield* Effect.forkDetach(nemesis(world, roughMs))
      yield* Effect.sleep(roughMs)
      world.calm.now = true
      for (const old of world.processes.filter(({ dead }) => !dead)) {
        old.dead = true
        yield* Deferred.succeed(old.died, undefined)
      }
      yield* world.spawn
      yield* world.spawn
      yield* Effect.sleep(CALM_MS)
      // Callers have asked again for hours, and nothing failed: what can be sent now is sent, but for what is in doubt.
      const open = makeDeferrals(world.database)
      const refused: Array<string> = []
      for (const { end, key } of asks) {
        const next = yield* open.openKey(key)
        if (end === undefined && next.state === "new" && next.key !== key && !isDoubtful(world, next.key))
          refused.push(`R3: the deferral of ${key} has failed, and asking again sends nothing`)
      }
      // A deferral whose end nobody could record has failed after a day, when no retry goes out any more (D1).
      if (asks.some(({ end }) => end === undefined)) {
        chronicle.saw("a deferral without an end")
        yield* Effect.sleep(DAY_MS)
      }
      const violations = [...refused, ...(yield* check(world, asks))]
      for (const { at, name, recipient } of world.mails.flatMap(({ events }) => events))
        chronicle.noteAt(at, () => `${name} happens to a mail for ${recipient}`)
      for (const { key, outcome, process, provider, startedAt } of [
        ...world.providers.provider_a.attempts,
        ...world.providers.provider_b.attempts
      ]) {
        chronicle.saw(`attempt ${outcome}`)
        chronicle.noteAt(startedAt, () => `${process} asks ${provider} to send ${key}: ${outcome}`)
      }
      const trace = [...world.providers.provider_a.attempts, ...world.providers.provider_b.attempts]
        .map(({ key, outcome, process, startedAt }) => `${startedAt} ${process} ${key} ${outcome}`)
        .join("\n")
      return {
        seed,
        violations,
        seen: chronicle.seen,
        trace: `${trace}\n${world.ledger.posts.length}`,
        story: chronicle.story()
      }
    })
  )

/**
 * What happens to mail after it was accepted: notifications, the poll, alerts and their sweep, alarms, suppressions, people
 * who are erased, deferrals that end in their callers' state, event hooks; also to mail of the send queue. Invariants E1, A1, A2, P1, S1,
 * S7, L2, R3, D1, O1, O2, Q1 to Q5.
 */
export const deliveryWorld: SimulatedWorld = {
  name: "delivery",
  full: { size: 8, roughMinutes: 60, faults: FAULTS },
  bugs: BUGS,
  mustHappen: [
    "SIGKILL",
    "SIGSTOP",
    "asked again after a deferral that failed",
    "attempt ambiguous",
    "cancel finds cancelled",
    "chat lost",
    "claim alert lost",
    "confirm alert lost",
    "fate bounced",
    "fate complained",
    "hook claim lost",
    "hook end lost",
    "mail sent by hand",
    "notification before its row",
    "notification lost on the way",
    "notification never comes",
    "person erased",
    "poll's look-up lost",
    "receiver answers 500",
    "receiver lost",
    "record event lost",
    "release alert lost",
    "result deferred",
    "result failed",
    "result sent",
    "result suppressed",
    "suppressed by hand",
    "suppression removed"
  ],
  simulate
}
