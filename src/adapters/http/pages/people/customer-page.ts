import { Effect } from "effect"

import type { StoredFile } from "../../../../domain/conversion/file.ts"
import { CustomerId } from "../../../../domain/ids.ts"
import { pathTo } from "../../../../domain/pages.ts"
import { Access, type ListedSession, type ListedToken } from "../../../../ports/accounts/access.ts"
import {
  type AccountFunds,
  Accounts,
  type FundsHold,
  type FundsMove
} from "../../../../ports/accounts/accounts.ts"
import { ConversionStore } from "../../../../ports/conversion/conversion-store.ts"
import { isUuid } from "../../server/endpoint.ts"
import { type Html, html } from "../html.ts"
import {
  type Columns,
  empty,
  figures,
  moment,
  moodOf,
  NOTHING,
  number,
  pageHead,
  table,
  tag,
  words
} from "../ui.ts"

/** Most rows of a table of the page. */
const MOST = 50

const back = html`<a href="${pathTo.adminScreen("customers")}">Customers</a>`

const noCustomer = {
  title: "No such customer",
  main: html`<h1>There is no such customer</h1>
<p>Or the account is closed. ${back}</p>`,
  status: 404
}

const away = {
  title: "Not available",
  main: html`<h1>Customers cannot be read now</h1>
<p>Reload the page in a minute. ${back}</p>`,
  status: 503
}

const counted = (count: number, one: string) => `${number(count)} ${one}${count === 1 ? "" : "s"}`

const amount = ({ credits, freePages }: FundsMove | FundsHold) =>
  freePages > 0 ? counted(freePages, "free page") : counted(credits, "credit")

const WORK = { conversion: "Conversion", layout: "Layout kept", mail: "Mailed document" } as const
const KINDS = { charge: "Charge", grant: "Credits given", debit: "Credits taken back" } as const

const about = ({ name, work }: FundsMove | FundsHold) =>
  work === null ? NOTHING : `${WORK[work]}${name === null ? "" : ` of ${name}`}`

const iso = (at: number) => moment(new Date(at).toISOString())

const FILES: Columns<StoredFile> = [
  ["Document", ({ id, name }) => html`<a href="${pathTo.document(id)}">${name}</a>`],
  [
    "Status",
    ({ status }) => tag(words(status), moodOf(status === "chunked_processing" ? "processing" : status))
  ],
  ["Pages", ({ pages }) => number(pages)],
  ["Uploaded", ({ createdAt }) => moment(createdAt)]
]

const LEDGER: Columns<FundsMove> = [
  ["What", ({ kind }) => KINDS[kind]],
  ["For", about],
  ["Amount", (move) => `${move.kind === "grant" ? "+" : "−"}${amount(move)}`],
  ["When", ({ createdAt }) => moment(createdAt)]
]

const HOLDS: Columns<FundsHold> = [
  ["For", about],
  ["Set aside", amount],
  ["Since", ({ createdAt }) => moment(createdAt)]
]

const TOKENS: Columns<ListedToken> = [
  ["Token", ({ name }) => name],
  ["Made", ({ createdAt }) => iso(createdAt)],
  ["Last used", ({ lastUsedAt }) => (lastUsedAt === undefined ? "never" : iso(lastUsedAt))],
  ["Ends", ({ expiresAt }) => (expiresAt === undefined ? NOTHING : iso(expiresAt))]
]

const SESSIONS: Columns<ListedSession> = [
  ["Signed in", ({ by }) => (by === "mail" ? "by a mailed link" : "with a token")],
  ["As", ({ actor }) => actor],
  ["Since", ({ createdAt }) => iso(createdAt)],
  ["Until", ({ expiresAt }) => iso(expiresAt)]
]

/** A section with a table, or with a word in its place. */
const section = <R>(
  id: string,
  title: string,
  columns: Columns<R>,
  rows: ReadonlyArray<R>,
  none: string
): Html =>
  html`<section><h2>${title}</h2>
${rows.length === 0 ? empty(html`<p>${none}</p>`) : table({ id, caption: `${title}, ${rows.length >= MOST ? `the newest ${MOST}` : "newest first"}` }, columns, rows)}</section>`

/** What the page is made of. */
interface Customer {
  readonly account: AccountFunds
  readonly files: ReadonlyArray<StoredFile>
  readonly moves: ReadonlyArray<FundsMove>
  readonly holds: ReadonlyArray<FundsHold>
  readonly tokens: ReadonlyArray<ListedToken>
  readonly sessions: ReadonlyArray<ListedSession>
}

const customerMain = ({
  account,
  files,
  holds,
  moves,
  sessions,
  tokens
}: Customer): Html => html`<p>${back}</p>
${pageHead(account.email, {
  facts: html`${account.name === null ? undefined : `${account.name} · `}${account.planType === "paid" ? "Paid plan" : "Free plan"}`,
  actions: html`<a class="button" href="${pathTo.adminScreen("email-log", { recipient: account.email })}">Mails to them</a><a class="button" href="${pathTo.adminScreen("tokens", { customer: account.id })}">Make a token</a>`
})}
${figures([
  {
    name: "Left",
    value:
      account.creditsRemaining === null
        ? counted(account.freePagesLeft ?? 0, "free page")
        : counted(account.creditsRemaining, "credit")
  },
  { name: "Set aside", value: number(account.heldCredits) },
  { name: "Documents", value: files.length >= MOST ? `${MOST} or more` : number(files.length) },
  { name: "Signed in", value: counted(sessions.length, "session") }
])}
${section("files", "Documents", FILES, files, "No documents.")}
${holds.length === 0 ? undefined : section("holds", "Set aside for work under way", HOLDS, holds, "")}
${section("ledger", "Ledger", LEDGER, moves, "Nothing was charged, given or taken back yet.")}
${section("tokens", "Tokens", TOKENS, tokens, "No token acts for this customer.")}
${section("sessions", "Signed in", SESSIONS, sessions, "Nowhere now.")}`

/** Makes the page of one customer for admins. Complete without a script. */
export const makeCustomerPages = Effect.gen(function* () {
  const accounts = yield* Accounts
  const store = yield* ConversionStore
  const access = yield* Access
  return Effect.fnUntraced(
    function* (text: string) {
      if (!isUuid(text)) return noCustomer
      const id = CustomerId.make(text)
      const account = yield* accounts.funds(id)
      if (account === undefined) return noCustomer
      const first = { limit: MOST, cursor: undefined }
      const [{ files }, { rows: moves }, holds, tokens, sessions] = yield* Effect.all(
        [
          store.files(id, first),
          accounts.moves(id, first),
          accounts.holds(id),
          access.tokensOf(id),
          access.sessionsOf(id)
        ],
        { concurrency: "unbounded" }
      )
      return {
        title: account.email,
        main: customerMain({ account, files, moves, holds, tokens, sessions })
      }
    },
    Effect.catch((error) => Effect.as(Effect.logWarning("a customer's page cannot be made", error), away))
  )
})
