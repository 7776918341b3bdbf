import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Clock, Effect, Layer, Option, Redacted } from "effect"
import { Argument, Command, Flag } from "effect/cli"

import * as PostgresAccess from "../../adapters/postgres/accounts/access.ts"
import * as PostgresCustomers from "../../adapters/postgres/accounts/customers.ts"
import { Right } from "../../domain/accounts/principal.ts"
import { CustomerId } from "../../domain/ids.ts"
import { Category } from "../../domain/mail/suppression/policy.ts"
import { Access, type ListedToken } from "../../ports/accounts/access.ts"
import { Customers } from "../../ports/accounts/customers.ts"
import type { ListedSenderToken } from "../../ports/mail/sender-tokens.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { customerOf } from "./customers.ts"
import { onDatabase } from "./installation.ts"
import { boundTo, createSender, listSenders, revokeSender } from "./sender-tokens.ts"
import { CommandFailed, print, telling, Shell } from "./shell.ts"
import { type Column, layoutTable, visible } from "./table.ts"

const DAY_MS = 24 * 60 * 60 * 1000

const unavailable = (error: StoreUnavailable) =>
  Effect.logDebug("access does not answer", error).pipe(
    Effect.andThen(
      Effect.fail(new CommandFailed({ message: "The tokens do not answer now. See: postlane doctor" }))
    )
  )

const onAccess = <A, E, R>(use: (access: Access["Service"]) => Effect.Effect<A, E, R>) =>
  onDatabase(({ settings }) =>
    Effect.provide(
      Access.use(use),
      Layer.provide(PostgresAccess.layer({ embedded: settings.embedded }), NodeCrypto.layer)
    )
  )

/** The id of the customer that an option names by address or id. */
const customerIdOf = (named: string | undefined) => {
  if (named === undefined || !named.includes("@"))
    return Effect.succeed(named === undefined ? undefined : CustomerId.make(named))
  return Customers.use((customers) => Effect.map(customerOf(customers, named), ({ id }) => id)).pipe(
    Effect.provide(PostgresCustomers.layer)
  )
}

/** The right of programs that send; a token with it has no other. */
const SEND = "send"

const flags = {
  name: Flag.String("name").pipe(
    Flag.withDescription("Whose it is; audit rows and the source of its mails show this name"),
    Flag.optional
  ),
  right: Flag.Literals("right", [...Right.literals, SEND]).pipe(
    Flag.withDescription("What it may do; again for more. send: a program that sends, and nothing else"),
    Flag.atLeast(1)
  ),
  customer: Flag.String("customer").pipe(
    Flag.withDescription("The customer that it acts for, by address or id; owner needs one"),
    Flag.withMetavar("<email>"),
    Flag.optional
  ),
  days: Flag.Int("days").pipe(
    Flag.withDescription("How long it is good for, 1 to 3650 days (default: until it is revoked)"),
    Flag.filter(
      (days) => days >= 1 && days <= 3_650,
      () => "must be from 1 to 3650"
    ),
    Flag.optional
  ),
  category: Flag.Literals("category", Category.literals).pipe(
    Flag.withDescription("send: the categories that it may send, again for more; the first is the default"),
    Flag.atLeast(0)
  ),
  from: Flag.String("from").pipe(
    Flag.withDescription("send: an address that it may send from, user@domain or @domain; again for more"),
    Flag.atLeast(0)
  ),
  rate: Flag.Int("rate").pipe(Flag.withDescription("send: mails a minute"), Flag.optional)
}

type Given = Command.Command.Config.Infer<typeof flags>

/** A token of a program that sends: it is bound to other things than that of an admin or an owner. */
const createForProgram = ({ category, customer, days, from, name, rate, right }: Given) => {
  if (right.length > 1) return new CommandFailed({ message: "A token that may send has no other right" })
  if (Option.isSome(customer) || Option.isSome(days))
    return new CommandFailed({ message: "--customer and --days are not for tokens that send" })
  return createSender({
    name: Option.getOrElse(name, () => "sender"),
    categories: category,
    from,
    ratePerMinute: Option.getOrNull(rate)
  })
}

/** A token of an admin or an owner. */
const createForPerson = Effect.fnUntraced(function* (given: Given) {
  const { category, customer, days, from, name, rate } = given
  const rights = given.right.filter((right) => right !== SEND)
  if (category.length > 0 || from.length > 0 || Option.isSome(rate))
    return yield* new CommandFailed({ message: "--category, --from and --rate are for tokens that send" })
  if (Option.isNone(name)) return yield* new CommandFailed({ message: "--name is needed" })
  const now = yield* Clock.currentTimeMillis
  const expiresAt = Option.getOrUndefined(Option.map(days, (count) => now + count * DAY_MS))
  const made = yield* onAccess((access) =>
    Effect.flatMap(customerIdOf(Option.getOrUndefined(customer)), (customerId) =>
      access.createToken({ name: name.value, rights, customerId, expiresAt })
    ).pipe(
      Effect.catchTags({
        StoreUnavailable: unavailable,
        InvalidToken: ({ message }) => Effect.fail(new CommandFailed({ message }))
      })
    )
  )
  return { id: made.id, token: Redacted.value(made.token) }
})

const create = Command.make("create", flags, (given) =>
  telling(
    Effect.gen(function* () {
      const made = yield* given.right.includes(SEND) ? createForProgram(given) : createForPerson(given)
      yield* print({
        json: made,
        text: `${made.token}\n\nIt is shown this once and stored nowhere. Its id, to revoke it: ${made.id}`
      })
    })
  )
).pipe(
  Command.withDescription("Make a bearer token and print it, this once."),
  Command.withExamples([
    {
      command: "postlane token create --name grafana --right admin:read --days 90",
      description: "One that only reads"
    },
    {
      command: "postlane token create --name ci --right owner --customer ann@example.com",
      description: "One that converts a customer's documents"
    },
    {
      command: "postlane token create --right send --name wordpress --from @example.com --rate 60",
      description: "One for a program that sends mail, by SMTP or by HTTP"
    }
  ])
)

const isoOf = (at: number | undefined): string | null =>
  at === undefined ? null : new Date(at).toISOString()

const shown = ({ createdAt, customerId, expiresAt, id, lastUsedAt, name, rights }: ListedToken) => ({
  id,
  name,
  rights: rights as ReadonlyArray<string>,
  bound: "",
  customerId: customerId ?? null,
  createdAt: isoOf(createdAt),
  lastUsedAt: isoOf(lastUsedAt),
  expiresAt: isoOf(expiresAt)
})
const shownSender = (token: ListedSenderToken) => ({
  id: token.id,
  name: token.name,
  rights: [SEND],
  bound: boundTo(token),
  customerId: null,
  createdAt: isoOf(token.createdAt),
  lastUsedAt: isoOf(token.lastUsedAt),
  expiresAt: null
})
type Shown = ReturnType<typeof shown>

const minute = (iso: string | null): string => (iso === null ? "never" : iso.slice(0, 16).replace("T", " "))

const COLUMNS: ReadonlyArray<Column<Shown>> = [
  { title: "ID", cell: ({ id }) => id },
  { title: "NAME", cell: ({ name }) => name, flexible: true },
  { title: "RIGHTS", cell: ({ rights }) => rights.join(" ") },
  { title: "CREATED (UTC)", cell: ({ createdAt }) => minute(createdAt) },
  { title: "LAST USED", cell: ({ lastUsedAt }) => minute(lastUsedAt) },
  { title: "EXPIRES", cell: ({ expiresAt }) => minute(expiresAt) },
  { title: "BOUND TO", cell: ({ bound }) => bound || "-", flexible: true },
  { title: "CUSTOMER", cell: ({ customerId }) => customerId ?? "-", flexible: true }
]

const list = Command.make("list", {}, () =>
  telling(
    Effect.gen(function* () {
      const tokens = yield* onAccess((access) =>
        access.listTokens.pipe(Effect.catchTag("StoreUnavailable", unavailable))
      )
      const rows = [...tokens.map(shown), ...(yield* listSenders).map(shownSender)]
      const table = layoutTable(COLUMNS, rows, (yield* Shell).columns)
      yield* print({
        json: { tokens: rows },
        text:
          rows.length === 0
            ? "No tokens. Make one: postlane token create"
            : [...(table.heading === undefined ? [] : [table.heading]), ...rows.map(table.line)].join("\n")
      })
    })
  )
).pipe(
  Command.withDescription(
    "List the tokens that are in force, newest first, those of programs that send last; never their text."
  )
)

const revoke = Command.make(
  "revoke",
  {
    id: Argument.String("id").pipe(Argument.withDescription("Id of the token, as create and list print it"))
  },
  ({ id }) =>
    telling(
      Effect.gen(function* () {
        const revoked =
          (yield* onAccess((access) =>
            access.revokeToken(id).pipe(Effect.catchTag("StoreUnavailable", unavailable))
          )) || (yield* revokeSender(id))
        yield* print({
          json: { id, revoked },
          text: revoked ? `${id} is revoked, and the sessions that it began with it.` : "",
          problem: revoked ? undefined : `No token of the id ${visible(id)} is in force.`
        })
      })
    )
).pipe(Command.withDescription("Revoke a token: it stops working at once, in every process."))

/** `postlane token`. */
export const token = Command.make("token").pipe(
  Command.withDescription(
    "Make, list and revoke the bearer tokens of admins, of owners and of programs that send."
  ),
  Command.withSubcommands([create, list, revoke])
)
