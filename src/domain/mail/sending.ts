import type { SendDetails } from "./deferred-send.ts"
import type { FailureKind } from "./failure-kind.ts"
import type { Message } from "./message.ts"
import type { Provider } from "./provider.ts"
import type { SendResult } from "./send-result.ts"

/** A send under way: what never changes from its look-up to its row. */
export interface Sending {
  readonly message: Message
  readonly details: SendDetails
  readonly rowId: string
  readonly wireKey: { readonly key: string; readonly keyHash: string }
  /** Who settles the claim; absent where the key was made here. */
  readonly owner: string | undefined
  /** Whether the store answered that the claim is ours. */
  readonly holdsClaim: boolean
  /** By the monotonic clock, nanoseconds. */
  readonly startedAt: bigint
  readonly firstAttemptAt: number
  /** The only provider that may see the key, since an earlier attempt on it was ambiguous. */
  readonly sticky: Provider | undefined
  readonly suppressedRecipients: ReadonlyArray<string>
}

/** How a send ended, before it is written down. */
export type Ending =
  | {
      readonly _tag: "Sent"
      readonly provider: Provider
      readonly messageId: string
      readonly failedOver: boolean
    }
  | { readonly _tag: "Deferred"; readonly provider: Provider; readonly failedOver: boolean }
  | { readonly _tag: "Suppressed"; readonly error: string }
  | {
      readonly _tag: "Failed"
      readonly provider: Provider | null
      readonly kind: FailureKind
      readonly error: string
      readonly failedOver: boolean
    }

/** The result of a send that ended so. */
export const resultOf = (
  ending: Ending,
  common: Pick<SendResult, "sendId" | "failedOver" | "idempotencyKey" | "suppressedRecipients">
): SendResult => {
  switch (ending._tag) {
    case "Sent":
      return {
        ok: true,
        status: "sent",
        provider: ending.provider,
        providerMessageId: ending.messageId,
        ...common
      }
    case "Deferred":
      return { ok: true, status: "deferred", provider: ending.provider, providerMessageId: null, ...common }
    case "Suppressed":
      return {
        ok: false,
        status: "suppressed",
        error: ending.error,
        provider: null,
        providerMessageId: null,
        ...common
      }
    case "Failed":
      return {
        ok: false,
        status: "failed",
        error: ending.error,
        kind: ending.kind,
        provider: ending.provider,
        providerMessageId: null,
        ...common
      }
  }
}
