import { Clock, Context, Effect, Layer, Redacted } from "effect"

import {
  RETRY_DELAYS_SECONDS,
  ROTATION_HOURS,
  SILENT_DAYS,
  wants
} from "../../../domain/delivery/event-hooks.ts"
import {
  type ClaimRequest,
  EventHooks,
  type HookAnswer,
  isReceipt
} from "../../../ports/delivery/event-hooks.ts"
import {
  deliveryRow,
  type Hook,
  type HookDelivery,
  type HookTables,
  iso,
  makeHookTables
} from "./hook-tables.ts"

const DAY_MS = 86_400_000

/** What a claim gives now: of one subject one after the other, and no more of a hook than it has places. */
export const claimable = (
  { hooks, of }: HookTables,
  { busy, each, limit, spare = 0 }: Pick<ClaimRequest, "busy" | "each" | "limit" | "spare">,
  now: number
) => {
  const isScarce = limit <= spare
  const placesOf = ({ failingSince }: Hook) => {
    if (failingSince === undefined) return isScarce ? 1 : each
    return isScarce ? 0 : 1
  }
  return [...hooks.values()]
    .filter(({ offBy }) => offBy === null)
    .flatMap((hook) => {
      const places = placesOf(hook) - (busy.get(hook.id) ?? 0)
      /** Subjects with an event before, which these wait for. */
      const waitedFor = new Set<string>()
      return of(hook.id)
        .filter((one) => {
          if (one.state !== "pending") return false
          const isNext = one.again || !waitedFor.has(one.subject)
          if (!one.again) waitedFor.add(one.subject)
          return isNext && one.dueAt <= now
        })
        .slice(0, Math.max(0, places))
        .map((one) => ({ hook, one }))
    })
    .slice(0, isScarce ? limit : limit - spare)
}

/** The secrets that were replaced, and still sign. */
const oldSecrets = ({ old }: Pick<Hook, "old">, now: number): ReadonlyArray<string> =>
  old !== undefined && old.until > now ? old.secrets : []

export const claim = (tables: HookTables, request: ClaimRequest, now: number) => {
  const { lease, leaseMs } = request
  return claimable(tables, request, now).map(({ hook, one }) => {
    one.lease = lease
    one.dueAt = now + leaseMs
    one.tries += 1
    one.triedAt = now
    const { body, hookId, id, messageId, tries } = one
    const secrets = [hook.secret, ...oldSecrets(hook, now)]
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
}

export const end = (
  { deliveries, hooks }: HookTables,
  id: string,
  lease: string,
  answer: HookAnswer,
  now: number
) => {
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

const tend = ({ deliveries, drop, hooks, of }: HookTables, now: number) => {
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
  for (const one of deliveries.values()) if ((one.endedAt ?? now) < now - 30 * DAY_MS) drop(one)
  return silent.map(({ id }) => id)
}

export const redeliver = (
  { hooks, of }: HookTables,
  hookId: string,
  now: number,
  isMeant: (one: HookDelivery) => boolean
) => {
  if (hooks.get(hookId)?.offBy === "itself") return 0
  const waits = (one: HookDelivery) => one.tries > 0 && one.lease === undefined
  const meant = of(hookId).filter((one) => (one.state !== "pending" || waits(one)) && isMeant(one))
  for (const one of meant) {
    if (one.state !== "pending") {
      one.again ||= one.triedAt !== undefined
      one.state = "pending"
      one.tries = 0
      one.endedAt = undefined
    }
    one.dueAt = now
  }
  return meant.length
}

/** Writes an event, as what it is about does in its own transaction. */
export class HookEvents extends Context.Service<
  HookEvents,
  { readonly tell: (type: string, subject: string) => Effect.Effect<void> }
>()("postlane/adapters/memory/HookEvents") {}

const atNow = <A>(f: (now: number) => A) => Effect.map(Clock.currentTimeMillis, f)

/** What changes no hook but its secrets, and the hook of the settings. */
const desk = (
  tables: HookTables
): Pick<
  EventHooks["Service"],
  "adopt" | "find" | "page" | "redeliver" | "redeliverFrom" | "rotate" | "test"
> => {
  const { add, deliveries, hooks, row, secret, write } = tables
  return {
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
    rotate: (id) =>
      atNow((now) => {
        const hook = hooks.get(id)
        if (hook === undefined || hook.fromSettings) return undefined
        const secrets = [hook.secret, ...oldSecrets(hook, now)].slice(0, 3)
        hook.old = { secrets, until: now + ROTATION_HOURS * 3_600_000 }
        return (hook.secret = secret())
      }),
    test: (id) =>
      atNow((now) => {
        const hook = hooks.get(id)
        return hook?.offBy !== null
          ? undefined
          : write(hook, "test", `test:${now}`, '{"type":"test","data":{}}', now).id
      }),
    redeliver: (id) =>
      atNow((now) => redeliver(tables, deliveries.get(id)?.hookId ?? "", now, (one) => one.id === id) > 0),
    redeliverFrom: (hookId, from) =>
      atNow((now) =>
        redeliver(
          tables,
          hookId,
          now,
          (one) => one.state !== "delivered" && one.createdAt >= Date.parse(from)
        )
      ),
    adopt: (settings) =>
      atNow((now) => {
        const known = [...hooks.values()].find(({ fromSettings }) => fromSettings)
        if (settings === undefined) {
          if (known !== undefined) known.offBy ??= "settings"
          return
        }
        const [own = "", older] = settings.secrets.map((one) => Redacted.value(one))
        const old = older === undefined ? undefined : { secrets: [older], until: Number.POSITIVE_INFINITY }
        if (known === undefined) {
          add({ url: settings.url, types: ["*"], offBy: null, fromSettings: true, secret: own, old }, now)
          return
        }
        known.url = settings.url
        known.secret = own
        known.old = old
        if (known.offBy === "settings") known.offBy = null
      })
  }
}

/** Event hooks on these tables, and who writes their events. */
export const makeEventHooks = (tables: HookTables) => {
  const { add, drop, hooks, of, secret, write } = tables
  const service = EventHooks.of({
    ...desk(tables),
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
        for (const one of of(id)) drop(one)
        return hooks.delete(id)
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
    claim: (request) => atNow((now) => claim(tables, request, now)),
    end: (id, lease, answer) => atNow((now) => end(tables, id, lease, answer, now)),
    tend: atNow((now) => tend(tables, now))
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
  Effect.sync(() => makeEventHooks(makeHookTables()))
)
