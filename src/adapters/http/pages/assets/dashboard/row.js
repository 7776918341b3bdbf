import { el, time } from "../dom.js"
import { priceIn } from "./funds.js"
import { Layout } from "./layout.js"
import { offersOf, pageOf } from "./offers.js"
import { kindOf, pages, size, stateOf } from "./state.js"

/** @import { File as FileView, FlyerJob, WaitsFor } from "#api" */
/** @import { Progress } from "./state.js" */

/**
 * What can be done with a file.
 * @typedef {"standard" | "highFidelity" | "layout"} Way
 * @typedef {{
 *   readonly convert: (row: Row, way: Way) => Promise<void>, readonly cancel: (row: Row) => Promise<void>,
 *   readonly processNow: (row: Row) => Promise<void>, readonly share: (row: Row) => Promise<void>,
 *   readonly remove: (row: Row) => Promise<void>, readonly reflow: (row: Row, job: FlyerJob) => Promise<void>,
 *   readonly stop: (row: Row, job: FlyerJob) => Promise<void>, readonly why: (row: Row) => Promise<WaitsFor | undefined>
 * }} Commands
 */

/**
 * Whether its conversion cannot be cancelled any more: it is done in one go, or its result is being put together.
 * @param {FileView} file @param {Progress | undefined} live
 */
const cannotStop = ({ status }, live) => status === "processing" || live?.status === "assembling"

/** A conversion that has stood still for so long says what it waits for, milliseconds; then it is asked again, ever less often. */
const STILL_AFTER = 15_000
const ASKED_EVERY_MOST = 120_000

/** The moods of the states. @type {Readonly<Record<string, string>>} */
const MOODS = { done: "good", failed: "bad", waiting: "wait" }

/** One file in the list. Its elements are kept while only their text changes, so that the focus is not lost. */
export class Row {
  /** @type {FileView} */
  file
  /** @type {Progress | undefined} */
  live = undefined
  /** The kind of its state. @type {string} */
  kind = ""
  /** The buttons shown, as one text: when it changes, they are made again. */
  #offers = ""
  /** The focus waits on the title for the next buttons. */
  #parked = false
  /** The way that is chosen for the file. @type {Way} */
  way = "standard"
  /** How far it was, and what is to be said unless it moves on. */
  #reached = ""
  #still = false
  /** @type {WaitsFor | undefined} */
  #waits = undefined
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #waiting = undefined

  /** @param {FileView} file @param {Commands} commands */
  constructor(file, commands) {
    this.file = file
    this.commands = commands
    this.choice = el("input", { type: "checkbox", class: "choice", "aria-label": `Select ${file.name}` })
    this.title = el(
      "h3",
      { class: "name", tabindex: -1 },
      el("a", { href: pageOf(file), title: file.name }, file.name)
    )
    this.badge = el("span", { class: "kind", "aria-hidden": "true" }, kindOf(file.name).toUpperCase())
    this.facts = el("p", { class: "facts" })
    this.status = el("p", { class: "tag" })
    this.more = el("p", { class: "help" })
    this.bar = el("progress", { "aria-label": `Progress of ${file.name}` })
    this.problem = el("p", { class: "problem" })
    this.note = el("p", { class: "done" })
    this.layout = new Layout(this, {
      stop: (job) => commands.stop(this, job),
      moved: () => this.draw()
    })
    this.actions = el("div", { class: "buttons" })
    this.said = el("div", { class: "said" }, this.more, this.problem, this.note, this.layout.element)
    this.element = el(
      "li",
      { "data-file": file.id },
      this.choice,
      this.badge,
      el("div", { class: "what" }, this.title, this.facts),
      el("div", { class: "at" }, this.status, this.bar),
      this.actions,
      this.said
    )
    this.report({})
    this.update(file)
  }

  /** Shows a refusal of the API, or a success; the next call replaces it. @param {{ problem?: string, note?: string }} message */
  report({ note, problem }) {
    this.problem.textContent = problem ?? ""
    this.problem.hidden = problem === undefined
    this.note.textContent = note ?? ""
    this.note.hidden = note === undefined
  }

  /** Marks the row's buttons as waiting for an answer. @param {boolean} busy */
  busy(busy) {
    for (const one of this.actions.querySelectorAll("button")) {
      if (busy) one.setAttribute("aria-disabled", "true")
      else one.removeAttribute("aria-disabled")
    }
  }

  focusConvert() {
    const convert =
      this.actions.querySelector('[data-does="convert"]') ?? this.actions.querySelector('[data-does="more"]')
    if (convert instanceof HTMLElement) convert.focus()
    else this.title.focus()
  }

  /** @param {FileView} file */
  update(file) {
    this.file = file
    if (file.status !== "processing" && file.status !== "chunked_processing") this.live = undefined
    this.draw()
  }

  /** @param {Progress} live */
  moved(live) {
    this.live = live
    this.draw()
  }

  draw() {
    const { file } = this
    this.#watch()
    const state = this.#state()
    this.facts.replaceChildren(
      `${file.pages > 0 ? `${pages(file.pages)} · ` : ""}${size(file.sizeBytes)} · `,
      time(file.createdAt)
    )
    this.kind = state.kind
    this.element.dataset["state"] = state.kind
    this.status.className = `tag ${MOODS[state.kind] ?? ""}`
    if (this.status.textContent !== state.text) this.status.textContent = state.text
    this.more.textContent = state.more ?? ""
    this.more.hidden = state.more === undefined
    this.bar.hidden = state.progress === undefined
    if (state.progress !== undefined) {
      this.bar.max = Math.max(1, state.progress.total)
      this.bar.value = state.progress.done
    }
    const able =
      state.kind === "working" && cannotStop(file, this.live)
        ? "finishing"
        : state.kind === "waiting" || state.kind === "working"
          ? state.kind
          : "convert"
    const { free, kept } = this.layout
    const offers = [able, file.hasResult, priceIn(file.price), kept?.id, free?.id].join(" ")
    if (offers !== this.#offers) this.#offer(offers, able)
  }

  /** The state, where the result that keeps the layout counts, too. @returns {import("./state.js").State} */
  #state() {
    const state = stateOf(this.file, this.live, this.#still, this.#waits)
    return state.kind === "ready" && this.layout.kept !== undefined
      ? { ...state, kind: "done", text: "Layout kept" }
      : state
  }

  /** Notices whether the conversion has stalled. */
  #watch() {
    const { kind, progress, text } = stateOf(this.file, this.live)
    const reached = `${kind} ${text} ${progress?.done}`
    if (reached === this.#reached) return
    this.#reached = reached
    this.#still = false
    this.#waits = undefined
    clearTimeout(this.#waiting)
    if (kind === "working" || kind === "waiting") this.#later(STILL_AFTER)
  }

  /** Says after a while that the conversion has stalled, and why. @param {number} delay */
  #later(delay) {
    const reached = this.#reached
    this.#waiting = setTimeout(async () => {
      this.#still = true
      this.draw()
      const waits = await this.commands.why(this)
      if (reached !== this.#reached) return
      this.#waits = waits
      this.draw()
      this.#later(Math.min(2 * delay, ASKED_EVERY_MOST))
    }, delay)
  }

  /** @param {string} offers @param {Parameters<typeof offersOf>[1]} able */
  #offer(offers, able) {
    const before = document.activeElement
    const held = before !== null && (this.actions.contains(before) || (this.#parked && before === this.title))
    const was = before instanceof HTMLElement ? before.dataset["does"] : undefined
    const isOpen = this.actions.querySelector("details[open]") !== null
    this.#offers = offers
    this.actions.replaceChildren(...offersOf(this, able))
    this.actions.querySelector("details")?.toggleAttribute("open", isOpen)
    if (!held) return
    const same = was === undefined ? null : this.actions.querySelector(`[data-does="${was}"]`)
    // Never on to “…”, which has Delete: who was about to cancel would throw the file away.
    const next = same ?? this.actions.querySelector(":scope > a, :scope > button") ?? this.title
    this.#parked = next === this.title
    if (next instanceof HTMLElement) next.focus()
  }
}
