import { Context, type Effect } from "effect"

import type { IdentityFacts } from "../../domain/doctor/provider-b.ts"
import type { DnsRecord } from "../../domain/doctor/sender-records.ts"

/** What the providers of an installation ask for under its sender domain. */
export interface AskedRecords {
  readonly records: ReadonlyArray<DnsRecord>
  /** What could not be found out, and why. */
  readonly notes: ReadonlyArray<string>
  /** Of `provider_b`, where it is used: what its verdicts are judged by; `undefined` where it does not answer. */
  readonly providerB: { readonly identity: IdentityFacts | undefined } | undefined
}

/** Asks the providers which DNS records they want. It never fails: what they do not say is a note. */
export class SenderRecords extends Context.Service<
  SenderRecords,
  {
    /** `SENDER_DOMAIN`, in lower case. */
    readonly domain: string
    readonly region: string
    readonly asked: Effect.Effect<AskedRecords>
  }
>()("postlane/ports/SenderRecords") {}
