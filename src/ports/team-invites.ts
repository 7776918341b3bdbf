import { Context, Data } from "effect"
import type { Effect, Redacted } from "effect"

/** Invitations cannot be read or written now. */
export class TeamInvitesUnavailable extends Data.TaggedError("TeamInvitesUnavailable")<{
  readonly cause: unknown
}> {}

/** An invitation, and what is to be done about its mail. */
export type InviteTodo =
  /** The caller sends the mail, and nobody else does until it says how that went. */
  | {
      readonly todo: "Send"
      readonly inviteId: string
      readonly token: Redacted.Redacted
      /** The name or the address of whose team it is. */
      readonly inviter: string
      /** ISO 8601. */
      readonly expiresAt: string
      /** The idempotency key of this sending: the end of a deferral is found by it. */
      readonly mailKey: string
    }
  /** Its mail went out before or its retry is queued, and the link in it still works. */
  | { readonly todo: "Sent"; readonly inviteId: string }
  /** Another call is sending it. */
  | { readonly todo: "Busy"; readonly inviteId: string }

/** Invitations into a customer's team (`team_invites`): one open one an address. Only a hash of the token is stored. */
export class TeamInvites extends Context.Service<
  TeamInvites,
  {
    /** Makes the invitation, or finds the open one; `undefined` where the customer is gone. `email` is the key of an address. */
    readonly begin: (invite: {
      readonly customerId: string
      readonly email: string
    }) => Effect.Effect<InviteTodo | undefined, TeamInvitesUnavailable>
    /** Says how the mail of that token went. */
    readonly end: (token: Redacted.Redacted, sent: boolean) => Effect.Effect<void, TeamInvitesUnavailable>
    /** Accepts, once; `undefined` for a token that is unknown, used or too old. */
    readonly accept: (
      token: string
    ) => Effect.Effect<
      { readonly inviteId: string; readonly inviter: string } | undefined,
      TeamInvitesUnavailable
    >
  }
>()("postlane/ports/TeamInvites") {}
