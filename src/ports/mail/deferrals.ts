import { Context, Data, type Effect } from "effect"

/** The log does not say now how a deferral ended. */
export class DeferralsUnavailable extends Data.TaggedError("DeferralsUnavailable")<{
  readonly cause: unknown
}> {}

/**
 * The key under which a mail is asked for now. `new`: nothing under it was ever deferred. `deferred`: its retries are under
 * way. `sent`: a provider accepted it.
 */
export interface OpenKey {
  readonly key: string
  readonly state: "new" | "deferred" | "sent"
}

/**
 * How deferred sends ended, by the send log. A caller is answered `deferred` long before that end, and the relay repeats that
 * answer for as long as it remembers the key: whoever wants the mail to go out after all asks for it under the open key.
 */
export class Deferrals extends Context.Service<
  Deferrals,
  {
    /**
     * The key itself; where its deferral ended without a mail, `KEY/2`, then `KEY/3`, and so on. Derived from the log's rows
     * at every call, so that nobody has to note an end. A deferral of which nothing is known for 24 hours has failed: no
     * retry goes out after that.
     */
    readonly openKey: (key: string) => Effect.Effect<OpenKey, DeferralsUnavailable>
  }
>()("postlane/ports/Deferrals") {}
