import type { DeliveryEvent } from "./delivery-event.ts"

/** What a provider's notice says: an event to record, or nothing that the log wants. */
export type IncomingEvent =
  | { readonly _tag: "Event"; readonly event: DeliveryEvent }
  | {
      readonly _tag: "Ignored"
      readonly reason: string
      /** True where the notice should have been an event: the sender is told. */
      readonly warn: boolean
    }

export const recordable = (event: DeliveryEvent): IncomingEvent => ({ _tag: "Event", event })

export const ignored = (reason: string): IncomingEvent => ({ _tag: "Ignored", reason, warn: false })

export const ignoredWithWarning = (reason: string): IncomingEvent => ({ _tag: "Ignored", reason, warn: true })
