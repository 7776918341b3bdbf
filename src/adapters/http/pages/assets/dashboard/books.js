import { ask, explain } from "../api.js"
import { button, byId, el, say, show, time } from "../dom.js"

/** @import { FileShare, FundsHold, FundsMove, Operations } from "#api" */

/** @param {FundsHold | FundsMove} amount */
const inWords = ({ credits, freePages }) => {
  const [count, unit] = freePages > 0 ? [freePages, "free page"] : [credits, "credit"]
  return `${count.toLocaleString("en-GB")} ${unit}${count === 1 ? "" : "s"}`
}

/** @type {Readonly<Record<"conversion" | "layout" | "mail", string>>} */
const WORK = { conversion: "Conversion", layout: "Layout kept", mail: "Mailed document" }

/** What it was for. @param {FundsHold | FundsMove} amount */
const about = ({ name, work }) => (work === null ? "" : `${WORK[work]}${name === null ? "" : ` of ${name}`}`)

/** @type {Readonly<Record<FundsMove["kind"], string>>} */
const KINDS = { charge: "", grant: "Credits added", debit: "Credits taken back" }

/** @param {string} what @param {string} amount @param {string} at */
const row = (what, amount, at) =>
  el("li", {}, el("h3", {}, what), el("p", {}, amount), el("p", { class: "facts" }, time(at)))

/** @param {FundsMove} move */
const moveRow = (move) =>
  row(
    move.kind === "charge" ? about(move) : KINDS[move.kind],
    `${move.kind === "grant" ? "+" : "−"}${inWords(move)}`,
    move.createdAt
  )

/** @param {FundsHold} hold */
const holdRow = (hold) => row(about(hold), `${inWords(hold)} set aside`, hold.createdAt)

/** @param {string | undefined} cursor */
const readCharges = async (cursor) => {
  const more = cursor === undefined ? "" : `?cursor=${encodeURIComponent(cursor)}`
  /** @type {Operations["account.listCharges"]["success"]} */
  const { holds, nextCursor, rows } = await ask("GET", `/api/v1/account/charges${more}`)
  const body = byId("charges", HTMLElement)
  if (cursor === undefined) body.replaceChildren(...holds.map(holdRow))
  body.append(...rows.map(moveRow))
  body.hidden = body.childElementCount === 0
  byId("no-charges", HTMLElement).hidden = body.childElementCount > 0
  const next = byId("more-charges", HTMLElement)
  const press = button("Show older", {
    press: () => {
      void listed("charges-problem", async () => {
        await readCharges(nextCursor ?? undefined)
        say("Older charges are shown.")
      })
    }
  })
  next.replaceChildren(...(nextCursor === null ? [] : [press]))
}

/** @param {FileShare} share */
const shareRow = ({ email, expiresAt, fileId, fileName, sharedAt }) => {
  const path = `/api/v1/files/${encodeURIComponent(fileId)}/shares/${encodeURIComponent(email)}`
  const stop = button("Stop", {
    about: `sharing ${fileName} with ${email}`,
    kind: "quiet",
    press: () => {
      void listed("shares-problem", async () => {
        await ask("DELETE", path)
        await readShares()
        say(`${email} cannot open the result of ${fileName} any more.`)
        byId("shares-summary", HTMLElement).focus()
      })
    }
  })
  return el(
    "li",
    {},
    el("h3", {}, fileName),
    el("p", {}, email),
    el("p", { class: "facts" }, "Since ", time(sharedAt), ", until ", time(expiresAt)),
    el("p", {}, stop)
  )
}

const readShares = async () => {
  /** @type {Operations["sharing.listAllShares"]["success"]} */
  const { shares } = await ask("GET", "/api/v1/shares")
  const list = byId("shares", HTMLElement)
  list.replaceChildren(...shares.map(shareRow))
  list.hidden = shares.length === 0
  byId("no-shares", HTMLElement).hidden = shares.length > 0
}

const readTokens = async () => {
  /** @type {Operations["account.listOwnTokens"]["success"]} */
  const { tokens } = await ask("GET", "/api/v1/account/tokens")
  const list = byId("tokens", HTMLElement)
  list.replaceChildren(
    ...tokens.map(({ createdAt, expiresAt, lastUsedAt, name }) =>
      el(
        "li",
        {},
        el("h3", {}, name),
        el("p", {}, ...(lastUsedAt === null ? ["Never used"] : ["Last used ", time(lastUsedAt)])),
        el(
          "p",
          { class: "facts" },
          "Made ",
          time(createdAt),
          ...(expiresAt === null ? [] : [", until ", time(expiresAt)])
        )
      )
    )
  )
  list.hidden = tokens.length === 0
  byId("no-tokens", HTMLElement).hidden = tokens.length > 0
}

/** Reads a list; a refusal is shown next to it. @param {string} problem @param {() => Promise<void>} read */
const listed = async (problem, read) => {
  show(byId(problem, HTMLElement), undefined)
  try {
    await read()
  } catch (failure) {
    show(byId(problem, HTMLElement), explain(failure))
  }
}

/** Has the lists read whenever they are opened. */
export const startBooks = () => {
  const charges = byId("charges-book", HTMLDetailsElement)
  charges.addEventListener("toggle", () => {
    if (charges.open) void listed("charges-problem", () => readCharges(undefined))
  })
  const tokens = byId("tokens-book", HTMLDetailsElement)
  tokens.addEventListener("toggle", () => {
    if (tokens.open) void listed("tokens-problem", readTokens)
  })
  const shares = byId("shares-book", HTMLDetailsElement)
  shares.addEventListener("toggle", () => {
    if (shares.open) void listed("shares-problem", readShares)
  })
}
