import { Context, type Effect, type Redacted } from "effect"

import type { WantedType } from "../../domain/delivery/event-hooks.ts"
import type { InvalidCursor } from "../cursor.ts"
import type { StoreUnavailable } from "../store-unavailable.ts"

/** Most rows of one page. */
export const MAX_HOOK_PAGE = 200

export const HOOK_OFF_BY = ["person", "itself", "settings"] as const
export const DELIVERY_STATES = ["pending", "delivered", "dead"] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** A hook as admins see it: without its secrets. Times are ISO 8601. */
export interface HookRow {
  readonly id: string
  readonly url: string
  readonly types: ReadonlyArray<WantedType>
  readonly enabled: boolean
  /** Null while it is on. `itself`: after days without a receipt; `settings`: `EVENT_HOOK_URL` names it no more. */
  readonly offBy: (typeof HOOK_OFF_BY)[number] | null
  /** True for the hook of `EVENT_HOOK_URL`, whose address, types and secrets are changed there. */
  readonly fromSettings: boolean
  /** Until when the secret before this one signs, too; null where none does, or the settings hold two. */
  readonly rotatingUntil: string | null
  /** The first failed try since the last receipt. */
  readonly failingSince: string | null
  readonly receivedAt: string | null
  readonly createdAt: string
  /** Events that are to be sent, and that are dead; counted to 10,000. */
  readonly pending: number
  readonly dead: number
}

/** An event and what became of it at one hook. */
export interface DeliveryRow {
  readonly id: string
  /** `webhook-id`. */
  readonly messageId: string
  readonly type: string
  readonly state: DeliveryState
  readonly tries: number
  /** When it is tried next; null once it has ended. */
  readonly nextAt: string | null
  readonly triedAt: string | null
  readonly endedAt: string | null
  /** The last answer: its status and the beginning of its body, or why there was none. */
  readonly answerStatus: number | null
  readonly answer: string | null
  readonly error: string | null
  /** The JSON that is sent. */
  readonly body: string
  readonly createdAt: string
}

/** What an admin asks of a new hook. */
interface NewHook {
  readonly url: string
  readonly types: ReadonlyArray<WantedType>
  readonly enabled: boolean
}

/** An event that is to be sent now, under a lease. */
export interface ClaimedDelivery {
  readonly id: string
  readonly hookId: string
  readonly messageId: string
  readonly body: string
  /** This one included. */
  readonly tries: number
  readonly url: string
  /** Each signs. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
}

/** How a try ended; a status of 2xx is the receipt. */
export interface HookAnswer {
  readonly status: number | undefined
  /** The beginning of its body. */
  readonly answer: string | undefined
  readonly error: string | undefined
}

/** What is asked of a claim. */
export interface ClaimRequest {
  readonly lease: string
  readonly leaseMs: number
  readonly limit: number
  /** Tries at once of one hook, and what the caller tries already of each. */
  readonly each: number
  readonly busy: ReadonlyMap<string, number>
  /** The last places of the limit, which are for hooks that answer, one each. */
  readonly spare?: number | undefined
}

type Answer<A, E = never> = Effect.Effect<A, StoreUnavailable | E>

/**
 * Event hooks and their deliveries. Events are written by what they are about, in its own transaction. Of one subject they are claimed one
 * after the other, each once the one before it was received or is dead; several processes share the claims.
 */
export class EventHooks extends Context.Service<
  EventHooks,
  {
    /** Newest first. */
    readonly page: (filter: {
      readonly limit: number
      readonly cursor: string | undefined
    }) => Answer<{ readonly rows: ReadonlyArray<HookRow>; readonly nextCursor: string | null }, InvalidCursor>
    readonly find: (id: string) => Answer<HookRow | undefined>
    /** The hook's id, and its secret, which nothing else returns. */
    readonly add: (hook: NewHook) => Answer<{ readonly id: string; readonly secret: string }>
    /** Of the settings' hook only `enabled` changes. Switched on, it starts without failures. False: there is no such hook. */
    readonly change: (id: string, change: Partial<NewHook>) => Answer<boolean>
    /** With its deliveries. The settings' hook stays. */
    readonly remove: (id: string) => Answer<boolean>
    /** The new secret; undefined where there is no such hook, or it is the settings'. */
    readonly rotate: (id: string) => Answer<string | undefined>
    /** The delivery's id; undefined where there is no such hook, or it is off. */
    readonly test: (id: string) => Answer<string | undefined>
    /** Of one hook, newest first. */
    readonly deliveries: (filter: {
      readonly hookId: string
      readonly state: DeliveryState | undefined
      readonly limit: number
      readonly cursor: string | undefined
    }) => Answer<
      { readonly rows: ReadonlyArray<DeliveryRow>; readonly nextCursor: string | null },
      InvalidCursor
    >
    /** Sends an event now that has ended, or waits for its next try; false where no event is in that state, or its hook is off by itself. */
    readonly redeliver: (deliveryId: string) => Answer<boolean>
    /** Sends a hook's events since then, ISO 8601, that are dead or wait for their next try; how many. */
    readonly redeliverFrom: (hookId: string, from: string) => Answer<number>
    /** Makes the hook of the settings what they say; undefined: there is none. */
    readonly adopt: (
      settings: { readonly url: string; readonly secrets: ReadonlyArray<Redacted.Redacted> } | undefined
    ) => Answer<void>
    readonly claim: (request: ClaimRequest) => Answer<ReadonlyArray<ClaimedDelivery>>
    /** Notes how a try ended. A receipt counts also after its lease. */
    readonly end: (id: string, lease: string, answer: HookAnswer) => Answer<void>
    /** Switches off what was silent for too long, and deletes what is old; the hooks that it switched off. */
    readonly tend: Answer<ReadonlyArray<string>>
  }
>()("postlane/ports/EventHooks") {}

/** Posts events to their receivers. */
export class HookSender extends Context.Service<
  HookSender,
  {
    /** One try, signed by each secret: never fails, and ends within the time that a receiver has. */
    readonly post: (
      delivery: Pick<ClaimedDelivery, "body" | "messageId" | "secrets" | "url">
    ) => Effect.Effect<HookAnswer>
  }
>()("postlane/ports/HookSender") {}

/** Whether the receiver has the event. */
export const isReceipt = ({ status }: HookAnswer): boolean =>
  status !== undefined && status >= 200 && status < 300
