import { ask } from "../api.js"
import { ago, byId, copyText, el, hidden, keepTimes, say, show } from "../dom.js"
import { PROVIDER_NAMES } from "../words.js"
import { fillTable, showProblem, tag } from "./list.js"

/** @import { SenderDomain } from "#api" */
/** @import { Column } from "./list.js" */
/** @typedef {SenderDomain["records"][number]} Row */

const PATH = "/api/admin/sender-domain"

/** @type {Readonly<Record<Row["state"], readonly [string, "good" | "bad" | "wait" | ""]>>} */
const STATES = {
  published: ["published", "good"],
  different: ["differs", "bad"],
  missing: ["missing", "bad"],
  unknown: ["not known", "wait"]
}

/** @type {Readonly<Record<Row["purpose"], string>>} */
const PURPOSES = {
  dkim: "DKIM: signs the mail",
  spf: "SPF: who may send it",
  dmarc: "DMARC: what receivers do with mail that fails both",
  "return path": "Return path: where bounces go",
  other: "Asked for by the provider"
}

/** A name as people know it. @param {string} text */
const named = (text) =>
  Object.entries(PROVIDER_NAMES).reduce(
    (said, [id, name]) => said.replace(new RegExp(`^${id}:`, "u"), `${name}:`),
    text
  )

/** A text with a button that copies it. @param {string} text @param {string} what */
const copied = (text, what) => {
  const press = el("button", { type: "button", class: "small" }, "Copy", hidden(` ${what}`))
  press.addEventListener("click", () => void copyText(text, `The ${what}`))
  return el("div", { class: "copied" }, el("code", {}, text), press)
}

/** @type {ReadonlyArray<Column<Row>>} */
const columns = [
  {
    head: "State",
    cell: ({ found, state }) => {
      const [word, mood] = STATES[state]
      return found === null
        ? tag(word, mood)
        : el(
            "div",
            {},
            tag(word, mood),
            el("p", { class: "help" }, state === "different" ? `There is: ${found}` : found)
          )
    }
  },
  {
    head: "For",
    cell: ({ provider, purpose }) =>
      el(
        "div",
        {},
        PURPOSES[purpose],
        el("p", { class: "help" }, provider === null ? "All mail" : (PROVIDER_NAMES[provider] ?? provider))
      )
  },
  {
    head: "Type",
    kind: "short",
    cell: ({ priority, type }) => (priority === null ? type : `${type}, priority ${priority}`)
  },
  { head: "Name", kind: "free", cell: ({ name, type }) => copied(name, `name of ${type} ${name}`) },
  { head: "Value", kind: "free", cell: ({ name, type, value }) => copied(value, `value of ${type} ${name}`) }
]

/** @param {ReadonlyArray<Row>} records @returns {readonly ["done" | "problem" | "notice", string]} */
const summaryOf = (records) => {
  if (records.length === 0) return ["notice", "Nothing has to be published now."]
  const bad = records.filter(({ state }) => state === "missing" || state === "different").length
  const unknown = records.filter(({ state }) => state === "unknown").length
  if (bad > 0)
    return [
      "problem",
      `${bad} of ${records.length} ${records.length === 1 ? "record is" : "records are"} not as asked for.`
    ]
  if (unknown > 0) return ["notice", `${unknown} of ${records.length} could not be looked up.`]
  return [
    "done",
    records.length === 1 ? "The record is published." : `All ${records.length} records are published.`
  ]
}

/** @param {string} id @param {ReadonlyArray<Node | string>} items */
const fillList = (id, items) => {
  byId(id, HTMLElement).replaceChildren(...items.map((item) => el("li", {}, item)))
  byId(`${id}-box`, HTMLElement).hidden = items.length === 0
}

/** @param {SenderDomain} found */
const draw = ({ advice, domain, lookedAt, notes, records }) => {
  byId("domain", HTMLElement).textContent = domain
  byId("looked", HTMLElement).replaceChildren("Looked up ", ago(lookedAt), ".")
  const [mood, words] = summaryOf(records)
  const summary = byId("summary", HTMLElement)
  summary.className = mood
  show(summary, words)
  fillTable(columns, records, "No provider that sends for real asks for a record.")
  fillList(
    "advice",
    advice.map(({ do: remedy, what, why }) =>
      el("div", {}, el("strong", {}, named(what)), el("p", {}, `${why}. To do: ${remedy}.`))
    )
  )
  fillList("notes", notes.map(named))
  return words
}

/** @param {boolean} fresh */
const read = async (fresh) => {
  try {
    const words = draw(await ask("GET", fresh ? `${PATH}?fresh=yes` : PATH))
    show(byId("problem", HTMLElement), undefined)
    if (fresh) say(words)
  } catch (failure) {
    showProblem(failure)
  }
}

const again = byId("again", HTMLButtonElement)
again.addEventListener("click", () => {
  if (again.getAttribute("aria-disabled") === "true") return
  again.setAttribute("aria-disabled", "true")
  void read(true).finally(() => again.removeAttribute("aria-disabled"))
})
keepTimes()
void read(false).finally(() => {
  again.hidden = false
})
