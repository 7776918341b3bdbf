import type { WantedType } from "../../../domain/delivery/event-hooks.ts"
import type { DeliveryRow, DeliveryState, HookAnswer, HookRow } from "../../../ports/delivery/event-hooks.ts"

export interface Hook {
  readonly id: string
  readonly createdAt: number
  url: string
  types: ReadonlyArray<WantedType>
  offBy: HookRow["offBy"]
  fromSettings: boolean
  secret: string
  old: { readonly secrets: ReadonlyArray<string>; readonly until: number } | undefined
  failingSince: number | undefined
  failedAt: number | undefined
  receivedAt: number | undefined
}

export interface HookDelivery {
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

export const iso = (at: number | undefined): string | null =>
  at === undefined || !Number.isFinite(at) ? null : new Date(at).toISOString()

export const deliveryRow = (one: HookDelivery): DeliveryRow => ({
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

/** The deliveries, by their id and by their hook. */
const makeDeliveries = () => {
  const deliveries = new Map<string, HookDelivery>()
  const byHook = new Map<string, Array<HookDelivery>>()
  const of = (hookId: string): ReadonlyArray<HookDelivery> => byHook.get(hookId) ?? []
  const put = (one: HookDelivery) => {
    deliveries.set(one.id, one)
    const all = byHook.get(one.hookId)
    if (all === undefined) byHook.set(one.hookId, [one])
    else all.push(one)
  }
  const drop = ({ hookId, id: gone }: HookDelivery) => {
    deliveries.delete(gone)
    byHook.set(
      hookId,
      of(hookId).filter((one) => one.id !== gone)
    )
  }
  return { deliveries, of, put, drop }
}

/** Hooks in memory, on Effect's `Clock`. Deliveries are in the order of their events. */
export const makeHookTables = () => {
  const hooks = new Map<string, Hook>()
  const { deliveries, drop, of, put } = makeDeliveries()
  let made = 0
  const id = () => `00000000-0000-4000-8000-${String((made += 1)).padStart(12, "0")}`
  const secret = () => `whsec_${Buffer.from(id()).toString("base64")}`

  const write = (hook: Hook, type: string, subject: string, body: string, now: number) => {
    const dies = hook.offBy === "itself"
    const delivery: HookDelivery = {
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
    put(delivery)
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

  return { hooks, deliveries, of, put, drop, write, row, add, secret }
}
export type HookTables = ReturnType<typeof makeHookTables>
