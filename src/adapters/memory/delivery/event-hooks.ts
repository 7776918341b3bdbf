import { Clock, Context, Effect, Layer, Redacted } from "effect"

import {
  RETRY_DELAYS_SECONDS,
  ROTATION_HOURS,
  SILENT_DAYS,
  type WantedType,
  wants
} from "../../../domain/delivery/event-hooks.ts"
import {
  type ClaimRequest,
  type DeliveryRow,
  type DeliveryState,
  EventHooks,
  type HookAnswer,
  type HookRow,
  isReceipt
} from "../../../ports/delivery/event-hooks.ts"

const DAY_MS = 86_400_000

interface Hook {
  readonly id: string
  readonly createdAt: number
  url: string
  types: ReadonlyArray<WantedType>
  offBy: HookRow["offBy"]
  fromSettings: boolean
  secret: string
  old: { readonly secret: string; readonly until: number } | undefined
  failingSince: number | undefined
  failedAt: number | undefined
  receivedAt: number | undefined
}

interface Delivery {
  readonly id: string
  readonly hookId: string
  readonly messageId: string
  readonly type: string
  readonly subject: string
  readonly body: string
  readonly createdAt: number
  state: DeliveryState
  tries: number
  again: boolean
  dueAt: number
  lease: string | undefined
  triedAt: number | undefined
  endedAt: number | undefined
  answer: HookAnswer | undefined
}

const iso = (at: number | undefined): string | null =>
  at === undefined || !Number.isFinite(at) ? null : new Date(at).toISOString()

const deliveryRow = (one: Delivery): DeliveryRow => ({
  id: one.id,
  messageId: one.messageId,
  type: one.type,
  state: one.state,
  tries: one.tries,
  nextAt: one.state === "pending" ? iso(one.dueAt) : null,
  triedAt: iso(one.triedAt),
  endedAt: iso(one.endedAt),
  answerStatus: one.answer?.status ?? null,
  answer: one.answer?.answer ?? null,
  error: one.answer?.error ?? null,
  body: one.body,
  createdAt: new Date(one.createdAt).toISOString()
})

/** Hooks in memory, on Effect's `Clock`. Deliveries are in the order of their events. */
const makeTables = () => {
  const hooks = new Map<string, Hook>()
  const deliveries = new Map<string, Delivery>()
  let made = 0
  const id = () => `00000000-0000-4000-8000-${String((made += 1)).padStart(12, "0")}`
  const secret = () => `whsec_${Buffer.from(id()).toString("base64")}`
  const of = (hookId: string) => [...deliveries.values()].filter((one) => one.hookId === hookId)

  const write = (hook: Hook, type: string, subject: string, body: string, now: number) => {
    const dies = hook.offBy === "itself"
    const delivery: Delivery = {
      id: id(),
      hookId: hook.id,
      messageId: `msg_${made}`,
      type,
      subject,
      body,
      createdAt: now,
      state: dies ? "dead" : "pending",
      tries: 0,
      again: false,
      dueAt: now,
      lease: undefined,
      triedAt: undefined,
      endedAt: dies ? now : undefined,
      answer: undefined
    }
    deliveries.set(delivery.id, delivery)
    return delivery
  }

  const row = (hook: Hook, now: number): HookRow => ({
    id: hook.id,
    url: hook.url,
    types: hook.types,
    enabled: hook.offBy === null,
    offBy: hook.offBy,
    fromSettings: hook.fromSettings,
    rotatingUntil: hook.old !== undefined && hook.old.until > now ? iso(hook.old.until) : null,
    failingSince: iso(hook.failingSince),
    receivedAt: iso(hook.receivedAt),
    createdAt: new Date(hook.createdAt).toISOString(),
    pending: of(hook.id).filter(({ state }) => state === "pending").length,
    dead: of(hook.id).filter(({ state }) => state === "dead").length
  })

  const add = (
    hook: Pick<Hook, "fromSettings" | "offBy" | "old" | "secret" | "types" | "url">,
    now: number
  ) => {
    const added: Hook = {
      ...hook,
      id: id(),
      createdAt: now,
      failingSince: undefined,
      failedAt: undefined,
      receivedAt: undefined
    }
    hooks.set(added.id, added)
    return added
  }

  return { hooks, deliveries, of, write, row, add, secret }
}
type Tables = ReturnType<typeof makeTables>

const claim = ({ hooks, of }: Tables, { busy, each, lease, leaseMs, limit }: ClaimRequest, now: number) =>
  [...hooks.values()]
    .filter(({ offBy }) => offBy === null)
    .flatMap((hook) => {
      const all = of(hook.id)
      const places = (hook.failingSince === undefined ? each : 1) - (busy.get(hook.id) ?? 0)
      return all
        .filter(
          (one, index) =>
            one.state === "pending" &&
            one.dueAt <= now &&
            (one.again ||
              !all
                .slice(0, index)
                .some(
                  (before) => before.state === "pending" && !before.again && before.subject === one.subject
                ))
        )
        .slice(0, Math.max(0, places))
        .map((one) => ({ hook, one }))
    })
    .slice(0, limit)
    .map(({ hook, one }) => {
      one.lease = lease
      one.dueAt = now + leaseMs
      one.tries += 1
      one.triedAt = now
      const { body, hookId, id, messageId, tries } = one
      const secrets = [
        hook.secret,
        ...(hook.old !== undefined && hook.old.until > now ? [hook.old.secret] : [])
      ]
      return {
        id,
        hookId,
        messageId,
        body,
        tries,
        url: hook.url,
        secrets: secrets.map((text) => Redacted.make(text))
      }
    })

const end = ({ deliveries, hooks }: Tables, id: string, lease: string, answer: HookAnswer, now: number) => {
  const one = deliveries.get(id)
  const hook = one && hooks.get(one.hookId)
  if (one === undefined || hook === undefined || one.state === "delivered") return
  if (isReceipt(answer)) {
    one.state = "delivered"
    one.endedAt = now
    hook.failingSince = undefined
    hook.receivedAt = now
  } else {
    if (one.state !== "pending" || one.lease !== lease) return
    const delay = RETRY_DELAYS_SECONDS[one.tries - 1]
    if (delay === undefined) {
      one.state = "dead"
      one.endedAt = now
    } else one.dueAt = now + delay * 1000
    hook.failingSince ??= now
    hook.failedAt = now
  }
  one.lease = undefined
  one.answer = answer
}

const tend = ({ deliveries, hooks, of }: Tables, now: number) => {
  const silent = [...hooks.values()].filter(
    ({ failedAt = 0, failingSince = now, offBy }) =>
      offBy === null && failingSince <= now - SILENT_DAYS * DAY_MS && failedAt > now - DAY_MS
  )
  for (const hook of silent) {
    hook.offBy = "itself"
    for (const one of of(hook.id).filter(({ state }) => state === "pending")) {
      one.state = "dead"
      one.endedAt = now
    }
  }
  for (const { endedAt = now, id } of deliveries.values())
    if (endedAt < now - 30 * DAY_MS) deliveries.delete(id)
  return silent.map(({ id }) => id)
}

const redeliver = (
  { hooks, of }: Tables,
  hookId: string,
  now: number,
  isMeant: (one: Delivery) => boolean
) => {
  if (hooks.get(hookId)?.offBy === "itself") return 0
  const meant = of(hookId).filter((one) => one.state !== "pending" && isMeant(one))
  for (const one of meant) {
    one.again ||= one.triedAt !== undefined
    one.state = "pending"
    one.tries = 0
    one.dueAt = now
    one.endedAt = undefined
  }
  return meant.length
}

/** Writes an event, as what it is about does in its own transaction. */
export class HookEvents extends Context.Service<
  HookEvents,
  { readonly tell: (type: string, subject: string) => Effect.Effect<void> }
>()("postlane/adapters/memory/HookEvents") {}

const makeServices = (tables: Tables) => {
  const { add, deliveries, hooks, of, row, secret, write } = tables
  const atNow = <A>(f: (now: number) => A) => Effect.map(Clock.currentTimeMillis, f)
  const service = EventHooks.of({
    page: ({ limit }) =>
      atNow((now) => ({
        rows: [...hooks.values()]
          .toReversed()
          .slice(0, limit)
          .map((hook) => row(hook, now)),
        nextCursor: null
      })),
    find: (id) =>
      atNow((now) => {
        const hook = hooks.get(id)
        return hook && row(hook, now)
      }),
    add: ({ enabled, types, url }) =>
      atNow((now) => {
        const hook = add(
          {
            url,
            types,
            offBy: enabled ? null : "person",
            fromSettings: false,
            secret: secret(),
            old: undefined
          },
          now
        )
        return { id: hook.id, secret: hook.secret }
      }),
    change: (id, { enabled, types, url }) =>
      Effect.sync(() => {
        const hook = hooks.get(id)
        if (hook === undefined) return false
        if (!hook.fromSettings) {
          hook.url = url ?? hook.url
          hook.types = types ?? hook.types
        }
        if (enabled === true && hook.offBy !== null) {
          hook.offBy = null
          hook.failingSince = undefined
        }
        if (enabled === false) hook.offBy ??= "person"
        return true
      }),
    remove: (id) =>
      Effect.sync(() => {
        if (hooks.get(id)?.fromSettings !== false) return false
        for (const one of of(id)) deliveries.delete(one.id)
        return hooks.delete(id)
      }),
    rotate: (id) =>
      atNow((now) => {
        const hook = hooks.get(id)
        if (hook === undefined || hook.fromSettings) return undefined
        hook.old = { secret: hook.secret, until: now + ROTATION_HOURS * 3_600_000 }
        return (hook.secret = secret())
      }),
    test: (id) =>
      atNow((now) => {
        const hook = hooks.get(id)
        return hook?.offBy !== null
          ? undefined
          : write(hook, "test", `test:${now}`, '{"type":"test","data":{}}', now).id
      }),
    deliveries: ({ hookId, limit, state }) =>
      Effect.sync(() => ({
        rows: of(hookId)
          .filter((one) => state === undefined || one.state === state)
          .toReversed()
          .slice(0, limit)
          .map(deliveryRow),
        nextCursor: null
      })),
    redeliver: (id) =>
      atNow((now) => redeliver(tables, deliveries.get(id)?.hookId ?? "", now, (one) => one.id === id) > 0),
    redeliverFrom: (hookId, from) =>
      atNow((now) =>
        redeliver(tables, hookId, now, (one) => one.state === "dead" && one.createdAt >= Date.parse(from))
      ),
    adopt: (settings) =>
      atNow((now) => {
        const known = [...hooks.values()].find(({ fromSettings }) => fromSettings)
        if (settings === undefined) {
          if (known !== undefined) known.offBy ??= "settings"
          return
        }
        const [own = "", older] = settings.secrets.map((one) => Redacted.value(one))
        const old = older === undefined ? undefined : { secret: older, until: Number.POSITIVE_INFINITY }
        if (known === undefined) {
          add({ url: settings.url, types: ["*"], offBy: null, fromSettings: true, secret: own, old }, now)
          return
        }
        known.url = settings.url
        known.secret = own
        known.old = old
        if (known.offBy === "settings") known.offBy = null
      }),
    claim: (request) => atNow((now) => claim(tables, request, now)),
    end: (id, lease, answer) => atNow((now) => end(tables, id, lease, answer, now)),
    tend: atNow((now) => tend(tables, now)),
    health: (windowMinutes) =>
      atNow((now) => {
        const all = [...deliveries.values()]
        const due = all
          .filter(({ lease, state }) => state === "pending" && lease === undefined)
          .map(({ dueAt }) => now - dueAt)
        return {
          off: [...hooks.values()].filter(({ offBy }) => offBy === "itself").length,
          pending: all.filter(({ state }) => state === "pending").length,
          dead: all.filter(
            ({ endedAt = 0, state, triedAt }) =>
              state === "dead" && triedAt !== undefined && endedAt > now - windowMinutes * 60_000
          ).length,
          oldestSeconds: Math.max(0, ...due) / 1000
        }
      })
  })
  const tell: HookEvents["Service"]["tell"] = (type, subject) =>
    atNow((now) => {
      for (const hook of hooks.values()) {
        if ((hook.offBy === null || hook.offBy === "itself") && wants(hook.types, type)) {
          write(hook, type, subject, JSON.stringify({ type, timestamp: iso(now), data: {} }), now)
        }
      }
    })
  return Context.make(EventHooks, service).pipe(Context.add(HookEvents, HookEvents.of({ tell })))
}

/** Event hooks in memory, and who writes their events. */
export const layer: Layer.Layer<EventHooks | HookEvents> = Layer.effectContext(
  Effect.sync(() => makeServices(makeTables()))
)
