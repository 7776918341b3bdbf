import { ask, explain } from "../api.js"
import { sayAway } from "../away.js"
import { confirmed } from "../dialogs.js"
import { button, byId, el, moment, say, show, warn } from "../dom.js"
import { PROVIDER_NAMES } from "../words.js"
import { count, fillRows, fillTable, filterShown, mayWrite, NOTHING, tag, time } from "./list.js"

/** @import { EmailQueue } from "#api" */
/** @import { Column } from "./list.js" */
/** @typedef {EmailQueue["categories"][number]} Waiting */
/** @typedef {EmailQueue["pace"][number]} Pace */
/** @typedef {EmailQueue["upcoming"][number]} Upcoming */

const PATH = "/api/admin/email-queue"

/** How often a visible page asks again, milliseconds. */
const EVERY = 3000

const query = filterShown(["category"])

/** A button that keeps the focus when its table is redrawn. @param {string} id @param {HTMLButtonElement} made */
const named = (id, made) => {
  made.id = id
  return made
}

/** Does something, and shows what came of it at once. @param {() => Promise<string>} what */
const act = async (what) => {
  try {
    const text = await what()
    show(byId("problem", HTMLElement), undefined)
    await read()
    say(text)
  } catch (failure) {
    const text = explain(failure)
    await read()
    show(byId("problem", HTMLElement), text)
    warn(text)
  }
}

/** @param {boolean} paused @param {Waiting["category"]} [category] */
const turn = (paused, category) =>
  act(async () => {
    await ask(
      "POST",
      `${PATH}/${paused ? "pause" : "resume"}`,
      category === undefined ? undefined : { category }
    )
    return `${category ?? "The queue"} is ${paused ? "paused" : "resumed"}.`
  })

/** @param {Upcoming} mail */
const cancel = async ({ queueId, subject, to }) => {
  const sure = await confirmed({
    title: "Cancel this mail?",
    text: `“${subject}” to ${to.join(", ")} is not sent then.`,
    yes: "Cancel the mail",
    no: "Let it wait"
  })
  if (!sure) return
  await act(async () => {
    await ask("POST", `${PATH}/${encodeURIComponent(queueId)}/cancel`)
    return `“${subject}” is cancelled.`
  })
}

/** @param {number} ms */
const span = (ms) => {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`
}

/** @type {ReadonlyArray<Column<Waiting>>} */
const categoryColumns = [
  { head: "Category", cell: ({ category }) => category },
  { head: "Due", kind: "number", cell: ({ queued }) => count(queued) },
  { head: "Later", kind: "number", cell: ({ later }) => count(later) },
  { head: "Being sent", kind: "number", cell: ({ sending }) => count(sending) },
  { head: "To be retried", kind: "number", cell: ({ deferred }) => count(deferred) },
  {
    head: "Oldest due",
    kind: "short",
    cell: ({ oldestDueAt }) =>
      oldestDueAt === null ? NOTHING : `${span(Date.now() - Date.parse(oldestDueAt))} ago`
  },
  { head: "State", cell: ({ paused }) => (paused ? tag("paused", "wait") : tag("sending")) }
]

/** @type {ReadonlyArray<Column<Pace>>} */
const paceColumns = [
  { head: "Provider", cell: ({ provider }) => PROVIDER_NAMES[provider] ?? provider },
  {
    head: "Requests a second",
    kind: "number",
    cell: ({ ratePerSecond }) => (ratePerSecond === 0 ? "no limit" : count(ratePerSecond))
  },
  {
    head: "Held back",
    cell: ({ heldUntil }) =>
      heldUntil === null
        ? NOTHING
        : el("span", {}, tag("held", "wait"), ` it takes nothing before ${moment(heldUntil)}`)
  }
]

/** @param {Upcoming} mail */
const next = ({ nextAttemptAt, state }) => (state === "sending" ? tag("being sent") : time(nextAttemptAt))

/** @type {ReadonlyArray<Column<Upcoming>>} */
const upcomingColumns = [
  { head: "Subject", kind: "free", cell: ({ subject }) => subject },
  { head: "To", cell: ({ to }) => el("div", {}, ...to.map((address) => el("p", {}, address))) },
  { head: "Category", kind: "short", cell: ({ category }) => category },
  { head: "Send at", kind: "short", cell: ({ sendAt }) => time(sendAt) },
  { head: "Next attempt", kind: "short", cell: next },
  { head: "Attempts", kind: "number", cell: ({ attempts }) => count(attempts) },
  { head: "Last error", cell: ({ error }) => error ?? NOTHING }
]

/** @param {EmailQueue} queue */
const ofCategory = ({ paused }) =>
  /** @type {Column<Waiting>} */ ({
    head: "Change",
    cell: ({ category }) => {
      const isPaused = paused.some(({ scope }) => scope === category)
      return named(
        `turn-${category}`,
        button(isPaused ? "Resume" : "Pause", {
          about: category,
          press: () => void turn(!isPaused, category)
        })
      )
    }
  })

/** @type {Column<Upcoming>} */
const cancelling = {
  head: "Change",
  cell: (mail) =>
    mail.state === "queued"
      ? named(
          `cancel-${mail.queueId}`,
          button("Cancel", { about: mail.subject, press: () => void cancel(mail) })
        )
      : NOTHING
}

/** The state of the whole queue. @param {EmailQueue} queue */
const drawWhole = ({ categories, paused }) => {
  const all = paused.find(({ scope }) => scope === "*")
  const waiting = categories.reduce((sum, { deferred, later, queued }) => sum + queued + later + deferred, 0)
  byId("whole", HTMLElement).hidden = false
  byId("whole-state", HTMLElement).replaceChildren(
    all === undefined ? tag("sending", "good") : tag("paused", "wait"),
    all === undefined ? "" : ` by ${all.actor} since ${moment(all.pausedAt)}.`,
    ` ${count(waiting)} ${waiting === 1 ? "mail waits" : "mails wait"}.`
  )
  if (!mayWrite()) return
  byId("whole-change", HTMLElement).replaceChildren(
    named(
      "turn-all",
      button(all === undefined ? "Pause all" : "Resume all", { press: () => void turn(all === undefined) })
    )
  )
}

/** Writes the tables; what had the focus keeps it, or gives it to its table. @param {EmailQueue} queue */
const draw = (queue) => {
  const focused = document.activeElement
  const within = focused?.closest("[role=region], .above")
  const id = focused?.id ?? ""
  drawWhole(queue)
  fillRows(
    "categories",
    mayWrite() ? [...categoryColumns, ofCategory(queue)] : categoryColumns,
    queue.categories
  )
  fillRows("pace", paceColumns, queue.pace)
  fillTable(
    mayWrite() ? [...upcomingColumns, cancelling] : upcomingColumns,
    queue.upcoming,
    query.size === 0 ? "Nothing waits." : "Nothing of this category waits."
  )
  if (focused === null || focused === document.body || focused.isConnected) return
  const again =
    document.getElementById(id) ?? (within instanceof HTMLElement && !within.hidden ? within : null)
  ;(again ?? byId("main", HTMLElement)).focus()
}

/** What is shown, as it came. */
let shown = ""
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer

/** Reads the queue, and schedules the next reading. An open question is about what is shown, which waits for its answer. */
const read = async () => {
  clearTimeout(timer)
  try {
    /** @type {EmailQueue} */
    const queue = await ask("GET", `${PATH}?${query}`)
    sayAway(byId("stale", HTMLElement))
    // The age of the oldest grows by itself.
    const now = JSON.stringify([queue, queue.oldestDueAt === null ? "" : Math.floor(Date.now() / 1000)])
    if (now !== shown && document.querySelector("dialog[open]") === null) {
      shown = now
      draw(queue)
    }
  } catch (failure) {
    byId("loading", HTMLElement).hidden = true
    sayAway(byId("stale", HTMLElement), failure)
  }
  clearTimeout(timer)
  if (!document.hidden) timer = setTimeout(read, EVERY)
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) void read()
})
void read()
