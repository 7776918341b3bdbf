import { Effect, Option, Result } from "effect"
import { Argument, Command, Flag } from "effect/cli"

import * as PostgresCustomers from "../../adapters/postgres/accounts/customers.ts"
import { addressKey, parsePublicMailbox } from "../../domain/mail/address.ts"
import {
  type CreditMove,
  Customers,
  type CustomerRow,
  MAX_CUSTOMER_NAME,
  MAX_CUSTOMER_PAGE,
  MAX_GRANT,
  MAX_GRANT_NOTE,
  MAX_REFERENCE
} from "../../ports/accounts/customers.ts"
import type { StoreUnavailable } from "../../ports/store-unavailable.ts"
import { onDatabase } from "./installation.ts"
import { CommandFailed, print, Shell, telling } from "./shell.ts"
import { type Column, counted, layoutTable, visible } from "./table.ts"

const email = Argument.String("email").pipe(Argument.withDescription("The customer's address"))

const unavailable = (error: StoreUnavailable) =>
  Effect.logDebug("the customers do not answer", error).pipe(
    Effect.andThen(
      Effect.fail(new CommandFailed({ message: "The customers do not answer now. See: postlane doctor" }))
    )
  )

const onCustomers = <A, E, R>(use: (customers: Customers["Service"]) => Effect.Effect<A, E, R>) =>
  onDatabase(() => Effect.provide(Customers.use(use), PostgresCustomers.layer))

/** A public mailbox that was typed. */
export const mailboxOf = (text: string) => {
  const parsed = parsePublicMailbox(text.trim())
  return Result.isSuccess(parsed)
    ? Effect.succeed(parsed.success)
    : Effect.fail(new CommandFailed({ message: `${visible(text)}: ${parsed.failure}` }))
}

const keyOf = (text: string) => Effect.map(mailboxOf(text), addressKey)

/** The customer with this address and an open account. */
export const customerOf = Effect.fnUntraced(function* (customers: Customers["Service"], address: string) {
  const key = yield* keyOf(address)
  const found = yield* customers.find(key).pipe(Effect.catch(unavailable))
  if (found?.closedAt === null) return found
  return yield* new CommandFailed({
    message:
      found === undefined
        ? `There is no customer ${visible(key)}. Add one: postlane customers add ${visible(key)}`
        : `The account of ${visible(key)} is closed. Open it again: postlane customers add ${visible(key)}`
  })
})

/** What an account can spend, in words. */
const left = ({ creditsRemaining, freePagesLeft, heldCredits }: CustomerRow): string =>
  (creditsRemaining === null
    ? counted(freePagesLeft ?? 0, "free page")
    : counted(creditsRemaining, "credit")) + (heldCredits === 0 ? "" : `, ${heldCredits} set aside`)

const add = Command.make(
  "add",
  {
    email,
    name: Flag.String("name").pipe(
      Flag.withDescription("The name that mails and invitations show"),
      Flag.filter(
        (name) => name.trim() !== "" && name.length <= MAX_CUSTOMER_NAME,
        () => `must have 1 to ${MAX_CUSTOMER_NAME} characters`
      ),
      Flag.optional
    )
  },
  (input) =>
    telling(
      Effect.gen(function* () {
        const key = yield* keyOf(input.email)
        const { user } = yield* Shell
        const name = Option.getOrUndefined(Option.map(input.name, (text) => text.trim()))
        const { answer, customer } = yield* onCustomers((customers) =>
          Effect.gen(function* () {
            const added = yield* customers
              .add({ email: key, name, actor: `cli:${user}` })
              .pipe(Effect.catch(unavailable))
            return { answer: added, customer: yield* customerOf(customers, key) }
          })
        )
        const said = {
          added: "is a customer now",
          reopened: "is open again",
          exists: "is a customer already"
        }
        yield* print({
          json: { answer, customer },
          text: `${visible(key)} ${said[answer]}: ${left(customer)}.\nA token for machines: postlane token create --name … --right owner --customer ${visible(key)}`
        })
      })
    )
).pipe(
  Command.withDescription(
    "Register a customer, with 10 free pages. They can sign in by mail, mail documents in, and have tokens made for them."
  ),
  Command.withShortDescription("Register a customer"),
  Command.withExamples([
    { command: 'postlane customers add ann@example.com --name "Ann"', description: "Register a customer" }
  ])
)

/** What a command that moves credits is given. */
const move = {
  email,
  credits: Argument.Int("credits").pipe(
    Argument.withDescription(`How many, 1 to ${MAX_GRANT}`),
    Argument.filter(
      (count) => count >= 1 && count <= MAX_GRANT,
      () => `must be from 1 to ${MAX_GRANT}`
    )
  ),
  reference: Flag.String("reference").pipe(
    Flag.withDescription("What they are for, such as an invoice's number; given again, it changes nothing"),
    Flag.filter(
      (text) => text.trim() !== "" && text.length <= MAX_REFERENCE,
      () => `must have 1 to ${MAX_REFERENCE} characters`
    )
  ),
  note: Flag.String("note").pipe(
    Flag.withDescription("Why, for the audit log"),
    Flag.filter(
      (text) => text.length <= MAX_GRANT_NOTE,
      () => `must have ${MAX_GRANT_NOTE} characters at most`
    ),
    Flag.optional
  )
}

interface Move {
  readonly email: string
  readonly credits: number
  readonly reference: string
  readonly note: Option.Option<string>
}

/** An answer of the store in words: what was done, or why nothing was. */
type Told = { readonly done: string } | { readonly refused: string }

/** Moves credits of a customer, and says what came of it. */
const moved = <Answer extends string>(
  input: Move,
  act: (customers: Customers["Service"], asked: CreditMove) => Effect.Effect<Answer, StoreUnavailable>,
  tell: (answer: Answer) => Told
) =>
  telling(
    Effect.gen(function* () {
      const { user } = yield* Shell
      const { answer, customer } = yield* onCustomers((customers) =>
        Effect.gen(function* () {
          const { id } = yield* customerOf(customers, input.email)
          const answered = yield* act(customers, {
            customerId: id,
            credits: input.credits,
            reference: input.reference.trim(),
            note: Option.getOrUndefined(input.note),
            actor: `cli:${user}`
          }).pipe(Effect.catch(unavailable))
          return { answer: answered, customer: yield* customerOf(customers, input.email) }
        })
      )
      const whom = visible(customer.email)
      const told = tell(answer)
      if ("refused" in told) {
        return yield* new CommandFailed({ message: `${whom} ${told.refused}. Nothing was changed.` })
      }
      yield* print({ json: { answer, customer }, text: `${whom} ${told.done}: ${left(customer)}.` })
    })
  )

const credit = Command.make("credit", move, (input) =>
  moved(
    input,
    (customers, asked) => customers.grant(asked),
    (answer) => {
      switch (answer) {
        case "granted":
          return { done: `has ${input.credits} credits more` }
        case "repeated":
          return { done: "was given these credits before, under this reference; nothing was changed" }
        case "reference_taken":
          return {
            refused: `was given another number of credits under the reference ${visible(input.reference.trim())}`
          }
        case "too_many":
        case "not_found":
          return { refused: `cannot be given ${input.credits} credits more` }
      }
    }
  )
).pipe(
  Command.withDescription(
    "Give a customer credits, once for each reference: the same command again changes nothing. The customer is on the paid plan from then on; the audit log notes it."
  ),
  Command.withShortDescription("Give a customer credits, once for each reference"),
  Command.withExamples([
    {
      command: "postlane customers credit ann@example.com 100 --reference invoice-17",
      description: "Give 100 credits for an invoice"
    }
  ])
)

const debit = Command.make("debit", move, (input) =>
  moved(
    input,
    (customers, asked) => customers.debit(asked),
    (answer) => {
      switch (answer) {
        case "debited":
          return { done: `has ${input.credits} credits less` }
        case "repeated":
          return { done: "had these credits taken back before, under this reference; nothing was changed" }
        case "reference_taken":
          return {
            refused: `was given or debited another number of credits under the reference ${visible(input.reference.trim())}`
          }
        case "insufficient":
          return {
            refused: `does not have ${input.credits} credits left: the others are reserved for work under way`
          }
        case "not_found":
          return { refused: "has no open account" }
      }
    }
  )
).pipe(
  Command.withDescription(
    "Take credits back from a customer, once for each reference, as a refund of an invoice does: never below zero, and never what is set aside for work under way. The audit log notes it."
  ),
  Command.withShortDescription("Take credits back, once for each reference"),
  Command.withExamples([
    {
      command: "postlane customers debit ann@example.com 100 --reference refund-17",
      description: "Take 100 credits back for a refund"
    }
  ])
)

const COLUMNS: ReadonlyArray<Column<CustomerRow>> = [
  { title: "SINCE (UTC)", cell: ({ createdAt }) => createdAt.slice(0, 16).replace("T", " ") },
  { title: "ADDRESS", cell: (row) => row.email, flexible: true },
  { title: "NAME", cell: ({ name }) => name ?? "-", flexible: true },
  { title: "LEFT", cell: left },
  { title: "STATE", cell: ({ closedAt }) => (closedAt === null ? "open" : "closed") }
]

const list = Command.make(
  "list",
  {
    search: Flag.String("search").pipe(
      Flag.withDescription("Only where this is a part of the address or the name"),
      Flag.optional
    ),
    limit: Flag.Int("limit").pipe(
      Flag.withAlias("n"),
      Flag.withDescription(`Rows of a page, 1 to ${MAX_CUSTOMER_PAGE}`),
      Flag.filter(
        (limit) => limit >= 1 && limit <= MAX_CUSTOMER_PAGE,
        () => `must be from 1 to ${MAX_CUSTOMER_PAGE}`
      ),
      Flag.withDefault(50)
    ),
    cursor: Flag.String("cursor").pipe(Flag.withDescription("Go on where a page ended"), Flag.optional)
  },
  ({ cursor, limit, search }) =>
    telling(
      Effect.gen(function* () {
        const found = yield* onCustomers((customers) =>
          customers
            .page({
              search: Option.getOrUndefined(search),
              limit,
              cursor: Option.getOrUndefined(cursor)
            })
            .pipe(
              Effect.catchTags({
                StoreUnavailable: unavailable,
                InvalidCursor: () =>
                  Effect.fail(
                    new CommandFailed({
                      message: "unknown --cursor; use the one printed by the previous page"
                    })
                  )
              })
            )
        )
        const { nextCursor, rows } = found
        const table = layoutTable(COLUMNS, rows, (yield* Shell).columns)
        const lines = [...(table.heading === undefined ? [] : [table.heading]), ...rows.map(table.line)]
        yield* print({
          json: { customers: rows, nextCursor },
          text:
            rows.length === 0
              ? "No customers. Add one: postlane customers add <email>"
              : [...lines, ...(nextCursor === null ? [] : [`\nMore: --cursor ${nextCursor}`])].join("\n")
        })
      })
    )
).pipe(Command.withDescription("List customers with what they can spend now, newest first."))

/** `postlane customers`. */
export const customers = Command.make("customers").pipe(
  Command.withDescription("Register customers, list them, give them credits and take them back."),
  Command.withSubcommands([add, list, credit, debit])
)
