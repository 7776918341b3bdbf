import { Context, Data } from "effect"
import type { Effect } from "effect"

import type { MxRecord } from "../domain/doctor/dns-records.ts"

/** The resolver did not answer, or refused. `message` is for people. */
export class DnsFailure extends Data.TaggedError("DnsFailure")<{ readonly message: string }> {}

/** Looks names up. A name that does not exist has no records: an empty list, no failure. */
export class Dns extends Context.Service<
  Dns,
  {
    readonly cname: (name: string) => Effect.Effect<ReadonlyArray<string>, DnsFailure>
    readonly mx: (name: string) => Effect.Effect<ReadonlyArray<MxRecord>, DnsFailure>
    /** The strings of each record are joined. */
    readonly txt: (name: string) => Effect.Effect<ReadonlyArray<string>, DnsFailure>
  }
>()("postlane/ports/Dns") {}
