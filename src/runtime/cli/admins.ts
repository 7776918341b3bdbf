import { Effect, Layer } from "effect"
import { Argument, Command, Flag } from "effect/cli"

import * as MailTemplates from "../../adapters/mail-templates/mail-templates.ts"
import * as PostgresAdmins from "../../adapters/postgres/accounts/admins.ts"
import * as Deferrals from "../../adapters/postgres/mail/deferrals.ts"
import * as AdminInvitations from "../../application/accounts/admin-invitations.ts"
import { AdminRight } from "../../domain/accounts/principal.ts"
import { addressKey, addressOf, writtenKey } from "../../domain/mail/address.ts"
import { pathTo } from "../../domain/pages.ts"
import { type AdminRow, Admins } from "../../ports/accounts/access.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { mailboxOf } from "./customers.ts"
import { onDatabase } from "./installation.ts"
import { mailerOf } from "./send.ts"
import { CommandFailed, print, Shell, telling } from "./shell.ts"
import { type Column, layoutTable, visible } from "./table.ts"

const email = Argument.String("email").pipe(Argument.withDescription("The admin's address"))

const unavailable = (error: StoreUnavailable) =>
  Effect.logDebug("the admins do not answer", error).pipe(
    Effect.andThen(
      Effect.fail(new CommandFailed({ message: "The admins do not answer now. See: postlane doctor" }))
    )
  )

const COLUMNS: ReadonlyArray<Column<AdminRow>> = [
  {
    title: "SINCE (UTC)",
    cell: ({ createdAt }) => new Date(createdAt).toISOString().slice(0, 16).replace("T", " ")
  },
  { title: "ADDRESS", cell: (row) => row.email, flexible: true },
  { title: "RIGHT", cell: ({ rights }) => rights.join(", ") },
  { title: "INVITED BY", cell: ({ invitedBy }) => invitedBy, flexible: true }
]

const list = Command.make("list", {}, () =>
  telling(
    Effect.gen(function* () {
      const rows = yield* onDatabase(() =>
        Admins.use((stored) => stored.list.pipe(Effect.catch(unavailable))).pipe(
          Effect.provide(PostgresAdmins.layer)
        )
      )
      const table = layoutTable(COLUMNS, rows, (yield* Shell).columns)
      yield* print({
        json: { admins: rows.map((row) => ({ ...row, createdAt: new Date(row.createdAt).toISOString() })) },
        text:
          rows.length === 0
            ? "Nobody signs in as an admin by mail. Invite one: postlane admins invite <email>"
            : [...(table.heading === undefined ? [] : [table.heading]), ...rows.map(table.line)].join("\n")
      })
    })
  )
).pipe(Command.withDescription("List the people who may sign in as admins by mail, by address."))

const SAID = {
  invited: "may sign in as an admin now",
  changed: "has another right now; their sessions have ended",
  exists: "may sign in as an admin already"
}

const invite = Command.make(
  "invite",
  {
    email,
    right: Flag.Literals("right", AdminRight.literals).pipe(
      Flag.withDescription("admin, or admin:read for one who only looks"),
      Flag.withDefault("admin" as const)
    )
  },
  (input) =>
    telling(
      Effect.gen(function* () {
        const mailbox = yield* mailboxOf(input.email)
        const { user } = yield* Shell
        const { baseUrl, outcome } = yield* onDatabase((here) => {
          const { baseUrl: url } = here.settings.http
          const invitations = AdminInvitations.layer({ baseUrl: url }).pipe(
            Layer.provide([PostgresAdmins.layer, Deferrals.layer, MailTemplates.layer, mailerOf(here)])
          )
          return AdminInvitations.AdminInvitations.use((one) =>
            one.invite({
              email: addressKey(mailbox),
              to: addressOf(mailbox),
              right: input.right,
              actor: `cli:${user}`
            })
          ).pipe(
            Effect.map((invited) => ({ baseUrl: url, outcome: invited })),
            Effect.catch(unavailable),
            Effect.provide(invitations)
          )
        })
        const signIn = `${baseUrl}${pathTo.signIn({ reason: "admin" })}`
        yield* print({
          json: { ...outcome, signIn },
          text: `${visible(addressKey(mailbox))} ${SAID[outcome.answer]}, at ${signIn}`,
          problem: outcome.inviteSent
            ? undefined
            : "The mail to them did not go out: inform them yourself, or run this again. What is wrong: postlane doctor"
        })
      })
    )
).pipe(
  Command.withDescription(
    "Let somebody sign in as an admin by mail, and mail them that they may. The mail holds no secret. Another right for one who is there ends their sessions. The audit log notes it."
  ),
  Command.withShortDescription("Let somebody sign in as an admin"),
  Command.withExamples([
    { command: "postlane admins invite ann@example.com", description: "Invite the first admin" },
    {
      command: "postlane admins invite bob@example.com --right admin:read",
      description: "One who only looks"
    }
  ])
)

const remove = Command.make("remove", { email }, (input) =>
  telling(
    Effect.gen(function* () {
      const { user } = yield* Shell
      const key = writtenKey(input.email)
      const removed = yield* onDatabase(() =>
        Admins.use((stored) =>
          stored.remove({ email: key, actor: `cli:${user}` }).pipe(Effect.catch(unavailable))
        ).pipe(Effect.provide(PostgresAdmins.layer))
      )
      yield* print({
        json: { email: key, removed },
        text: removed ? `${visible(key)} is no admin any more; their sessions have ended.` : "",
        problem: removed ? undefined : `Nobody of the address ${visible(key)} signs in as an admin.`
      })
    })
  )
).pipe(Command.withDescription("Remove an admin: their sessions end at once. The audit log notes it."))

/** `postlane admins`. */
export const admins = Command.make("admins").pipe(
  Command.withDescription("List the people who sign in as admins by mail, invite and remove them."),
  Command.withSubcommands([list, invite, remove])
)
