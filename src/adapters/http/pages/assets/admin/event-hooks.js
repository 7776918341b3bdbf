import { ask, explain } from "../api.js"
import { confirmed } from "../dialogs.js"
import { button, byId, el, say, show, warn } from "../dom.js"
import { count, mayWrite, NOTHING, showList, showProblem, tag, time } from "./list.js"

/**
 * @typedef {{
 *   readonly id: string, readonly url: string, readonly types: ReadonlyArray<string>, readonly enabled: boolean,
 *   readonly offBy: "person" | "itself" | "settings" | null, readonly fromSettings: boolean, readonly rotatingUntil: string | null,
 *   readonly failingSince: string | null, readonly receivedAt: string | null, readonly pending: number, readonly dead: number
 * }} Hook
 * @typedef {{
 *   readonly id: string, readonly messageId: string, readonly type: string, readonly state: "pending" | "delivered" | "dead",
 *   readonly tries: number, readonly nextAt: string | null, readonly triedAt: string | null, readonly answerStatus: number | null,
 *   readonly answer: string | null, readonly error: string | null, readonly body: string, readonly createdAt: string
 * }} Delivery
 */

const PATH = "/api/admin/event-hooks"

/** The hook with the deliveries that this page shows; null: the page shows the hooks. */
const shown = new URLSearchParams(location.search).get("hook")

/** @param {string} id */
const pathOf = (id) => `${PATH}/${encodeURIComponent(id)}`

/** Does something, reads the list again, and says what was done. @param {() => Promise<unknown>} act @param {string} done */
const change = async (act, done) => {
  try {
    await act()
    await read()
    say(done)
    byId("main", HTMLElement).focus()
  } catch (failure) {
    showProblem(failure)
  }
}

/** The only time that a secret is shown. @param {string} secret @param {string} note */
const showSecret = (secret, note) =>
  show(byId("secret", HTMLElement), `Signing secret, shown this once: ${secret} ${note}`)

/** @param {Hook} hook */
const rotate = async ({ id, url }) => {
  const sure = await confirmed({
    title: "Replace the signing secret?",
    text: `Events for ${url} are signed by both secrets for 24 hours: give the receiver the new one by then.`,
    yes: "Replace",
    no: "Keep it"
  })
  if (!sure) return
  await change(async () => {
    /** @type {{ readonly secret: string }} */
    const { secret } = await ask("POST", `${pathOf(id)}/rotate`)
    showSecret(secret, "– the old one signs, too, for 24 hours.")
  }, "The secret was replaced.")
}

/** @param {Hook} hook */
const remove = async ({ id, url }) => {
  const sure = await confirmed({
    title: "Remove this event hook?",
    text: `${url} gets no more events, and what was to be sent to it is deleted.`,
    yes: "Remove",
    no: "Keep it"
  })
  if (sure) await change(() => ask("DELETE", pathOf(id)), `${url} was removed.`)
}

/** @param {Hook} hook */
const redeliverAll = async ({ id, url }) => {
  const from = new Date(Date.now() - 30 * 86_400_000).toISOString()
  await change(
    () => ask("POST", `${pathOf(id)}/redeliver`, { from }),
    `What was not received is sent to ${url} now.`
  )
}

/** @param {Hook} hook */
const buttons = (hook) => {
  const about = hook.url
  /** @type {ReadonlyArray<readonly [string, boolean, () => unknown]>} */
  const all = [
    [
      "Test",
      hook.enabled,
      () => change(() => ask("POST", `${pathOf(hook.id)}/test`), "A test was sent: see its deliveries.")
    ],
    [
      hook.enabled ? "Pause" : "Resume",
      hook.offBy !== "settings",
      () =>
        change(
          () => ask("PATCH", pathOf(hook.id), { enabled: !hook.enabled }),
          `${hook.url} is ${hook.enabled ? "paused" : "on"}.`
        )
    ],
    [
      "Redeliver",
      (hook.dead > 0 || hook.failingSince !== null) && hook.offBy !== "itself",
      () => redeliverAll(hook)
    ],
    ["Replace secret", !hook.fromSettings, () => rotate(hook)],
    ["Remove", !hook.fromSettings, () => remove(hook)]
  ]
  return el(
    "div",
    { class: "buttons" },
    ...all.flatMap(([text, applies, press]) =>
      applies ? [button(text, { about, press: () => void press() })] : []
    )
  )
}

/** @param {Hook} hook */
const state = ({ failingSince, offBy }) => {
  if (offBy === "itself") return tag("off: no receipt for five days", "bad")
  if (offBy === "settings") return tag("off: EVENT_HOOK_URL is unset")
  if (offBy === "person") return tag("paused")
  return failingSince === null
    ? tag("on", "good")
    : el("span", {}, tag("failing", "wait"), " since ", time(failingSince))
}

/** @type {ReadonlyArray<import("./list.js").Column<Hook>>} */
const hookColumns = [
  {
    head: "Address",
    kind: "free",
    cell: ({ fromSettings, id, url }) =>
      el(
        "span",
        {},
        el("a", { href: `?hook=${encodeURIComponent(id)}` }, url),
        fromSettings ? " (from the settings)" : ""
      )
  },
  {
    head: "Events",
    kind: "free",
    cell: ({ types }) => types.map((type) => (type === "*" ? "all" : type)).join(", ")
  },
  { head: "State", cell: state },
  {
    head: "Last receipt",
    kind: "short",
    cell: ({ receivedAt }) => (receivedAt === null ? NOTHING : time(receivedAt))
  },
  { head: "To be sent", kind: "number", cell: ({ pending }) => count(pending) },
  { head: "Dead", kind: "number", cell: ({ dead }) => count(dead) }
]

const MOODS = /** @type {const} */ ({ pending: "wait", delivered: "good", dead: "bad" })

/** @param {Delivery} delivery */
const answerOf = ({ answer, answerStatus, error }) => {
  const text = [answerStatus === null ? "" : String(answerStatus), error ?? "", answer ?? ""].filter(
    (part) => part !== ""
  )
  return text.length === 0 ? NOTHING : text.join(" – ")
}

/** @type {ReadonlyArray<import("./list.js").Column<Delivery>>} */
const deliveryColumns = [
  { head: "Event", cell: ({ type }) => type },
  { head: "Queued at", kind: "short", cell: ({ createdAt }) => time(createdAt) },
  { head: "State", cell: ({ state: is }) => tag(is, MOODS[is]) },
  { head: "Tries", kind: "number", cell: ({ tries }) => count(tries) },
  { head: "Next try", kind: "short", cell: ({ nextAt }) => (nextAt === null ? NOTHING : time(nextAt)) },
  { head: "Last answer", kind: "free", cell: answerOf },
  {
    head: "Body",
    kind: "free",
    cell: ({ body, messageId }) => el("details", {}, el("summary", {}, messageId), el("pre", {}, body))
  }
]
/** @type {import("./list.js").Column<Delivery>} */
const again = {
  head: "Change",
  cell: (row) =>
    row.state === "pending" && row.tries === 0
      ? NOTHING
      : button("Redeliver", {
          about: row.messageId,
          press: () =>
            void change(
              () => ask("POST", `${PATH}/deliveries/${encodeURIComponent(row.id)}/redeliver`),
              "The event is sent now."
            )
        })
}

const showHooks = () =>
  showList({
    path: PATH,
    names: [],
    none: "No event hooks yet.",
    columns: mayWrite() ? [...hookColumns, { head: "Change", cell: buttons }] : hookColumns
  })

/** @param {string} id */
const showDeliveries = (id) => {
  byId("caption", HTMLElement).textContent = "Events of this hook, newest first"
  byId("about", HTMLElement).replaceChildren(el("a", { href: location.pathname }, "All event hooks"))
  return showList({
    path: `${pathOf(id)}/deliveries`,
    names: ["state"],
    place: ["hook"],
    none: "No events yet.",
    columns: mayWrite() ? [...deliveryColumns, again] : deliveryColumns
  })
}

const read = shown === null ? showHooks() : showDeliveries(shown)

const add = async () => {
  const url = byId("add-url", HTMLInputElement)
  const problem = byId("add-problem", HTMLElement)
  try {
    /** @type {{ readonly secret: string }} */
    const { secret } = await ask("POST", PATH, {
      url: url.value.trim(),
      types: [byId("add-types", HTMLSelectElement).value]
    })
    show(problem, undefined)
    await read()
    showSecret(secret, "– give it to the receiver.")
    say(`${url.value.trim()} gets events now. Its signing secret is below the form.`)
    byId("add", HTMLFormElement).reset()
  } catch (failure) {
    const text = explain(failure)
    show(problem, text)
    warn(text)
  }
}

const form = byId("add", HTMLFormElement)
form.hidden = !mayWrite() || shown !== null
form.addEventListener("submit", (event) => {
  event.preventDefault()
  void add()
})
