import { button, el, hidden, time } from "../dom.js"
import { FILE_ENDINGS } from "../words.js"
import { Layout } from "./layout.js"
import { madeText, pages, size, stateOf } from "./state.js"

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

/** The file extensions that a badge shows. */
const KINDS = new Set(FILE_ENDINGS)

/** @param {string} name */
const kindOf = (name) => {
  const ending = name.slice(name.lastIndexOf(".") + 1).toLowerCase()
  return KINDS.has(ending) ? ending : "file"
}

/** Whether a layout can be kept, judging by the name: the API judges by the content. @param {string} name */
export const hasLayout = (name) => ["pdf", "file"].includes(kindOf(name))

/** @param {string} name */
const resultName = (name) => {
  const dot = name.lastIndexOf(".")
  return `${dot === -1 || kindOf(name) === "file" ? name : name.slice(0, dot)}.html`
}

/**
 * Whether its conversion cannot be cancelled any more: it is done in one go, or its result is being put together.
 * @param {FileView} file @param {Progress | undefined} live
 */
const cannotStop = ({ status }, live) => status === "processing" || live?.status === "assembling"

/** A conversion that has stood still for so long says what it waits for, milliseconds; then it is asked again, ever less often. */
const STILL_AFTER = 15_000
const ASKED_EVERY_MOST = 120_000

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
  /** @type {Way} */
  #way = "standard"
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
    this.title = el("h3", { tabindex: -1 }, file.name)
    this.badge = el("span", { class: "badge", "aria-hidden": "true" }, kindOf(file.name).toUpperCase())
    this.facts = el("p", { class: "facts" })
    this.made = el("p", { class: "facts" })
    this.status = el("p", { class: "state" })
    this.more = el("p", { class: "help" })
    this.bar = el("progress", { "aria-label": `Progress of ${file.name}` })
    this.problem = el("p", { class: "problem" })
    this.note = el("p", { class: "done" })
    this.layout = new Layout(this, {
      reflow: (job) => commands.reflow(this, job),
      stop: (job) => commands.stop(this, job)
    })
    this.actions = el("div", { class: "buttons" })
    this.element = el(
      "li",
      { "data-file": file.id },
      el("span", { class: "mark" }, this.choice, this.badge),
      el(
        "div",
        { class: "what" },
        this.title,
        this.facts,
        this.made,
        this.status,
        this.more,
        this.bar,
        this.problem,
        this.note,
        this.layout.element
      ),
      this.actions
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

  /** The way that is chosen for the file. */
  get way() {
    return this.#way
  }

  focusConvert() {
    const convert = this.actions.querySelector('[data-does="convert"]')
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
    const state = stateOf(file, this.live, this.#still, this.#waits)
    this.facts.replaceChildren(
      `${file.pages > 0 ? `${pages(file.pages)} · ` : ""}${size(file.sizeBytes)} · `,
      time(file.createdAt)
    )
    const { made } = file
    this.made.hidden = made === null
    if (made !== null) this.made.replaceChildren(`Result ${madeText(made)} · `, time(made.at))
    this.kind = state.kind
    this.element.dataset["state"] = state.kind
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
    const offers = `${able}${file.hasResult ? " result" : ""}`
    if (offers !== this.#offers) this.#offer(offers)
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

  /** @param {string} offers */
  #offer(offers) {
    const before = document.activeElement
    const held = before !== null && (this.actions.contains(before) || (this.#parked && before === this.title))
    const was = before instanceof HTMLElement ? before.dataset["does"] : undefined
    this.#offers = offers
    this.actions.replaceChildren(...this.#made(offers))
    if (!held) return
    const same = was === undefined ? null : this.actions.querySelector(`[data-does="${was}"]`)
    // Never on to Delete: who was about to cancel would throw the file away.
    const next = same ?? this.actions.querySelector('a, button:not([data-does="delete"])') ?? this.title
    this.#parked = next === this.title
    if (next instanceof HTMLElement) next.focus()
  }

  /** @param {string} offers @returns {ReadonlyArray<Node>} */
  #made(offers) {
    const { name } = this.file
    const { commands } = this
    /** @param {string} does @param {string} text @param {string} about @param {() => void} press @param {string} [kind] */
    const act = (does, text, about, press, kind) => {
      const made = button(text, { about, press, ...(kind === undefined ? {} : { kind }) })
      made.dataset["does"] = does
      return made
    }
    const remove = act("delete", "Delete", name, () => void commands.remove(this), "quiet")
    const cancel = act("cancel", "Cancel", `the conversion of ${name}`, () => void commands.cancel(this))
    const convert = () => void commands.convert(this, this.#way)
    const result = this.file.hasResult
      ? [
          this.#link("Open result", ` of ${name}`, {}, "button primary"),
          ...(this.file.pages > 0 && kindOf(name) === "pdf" ? [this.#pagesLink()] : []),
          this.#link("Download", ` the result of ${name}`, { download: resultName(name) }, "button"),
          act("share", "Share", `the result of ${name}`, () => void commands.share(this))
        ]
      : []
    switch (offers) {
      case "convert":
        return [this.#ways(), act("convert", "Convert", name, convert, "primary"), remove]
      case "convert result":
        return [
          ...result,
          el("span", { class: "again" }, this.#ways(), act("convert", "Convert again", name, convert)),
          remove
        ]
      case "waiting":
      case "waiting result":
        return [
          act("now", "Process now", name, () => void commands.processNow(this), "primary"),
          cancel,
          ...result,
          remove
        ]
      case "finishing":
      case "finishing result":
        return [...result, remove]
      default:
        return [cancel, ...result, remove]
    }
  }

  /** @param {string} text @param {string} about @param {Readonly<Record<string, string>>} more @param {string} kind */
  #link(text, about, more, kind) {
    const href = `/api/v1/files/${encodeURIComponent(this.file.id)}/result`
    return el("a", { href, class: kind, "data-does": text, ...more }, text, hidden(about))
  }

  /** To the page that shows the original next to its result. */
  #pagesLink() {
    const href = `/dashboard/files/${encodeURIComponent(this.file.id)}`
    return el(
      "a",
      { href, class: "button", "data-does": "pages" },
      "Compare",
      hidden(` ${this.file.name} with its result, page by page`)
    )
  }

  /** The choice of the way to convert, which the row keeps. */
  #ways() {
    const { name } = this.file
    /** @type {ReadonlyArray<readonly [Way, string]>} */
    const all = [
      ["standard", "Standard"],
      ["highFidelity", "High fidelity"],
      ["layout", "Keep the layout"]
    ]
    const ways = hasLayout(name) ? all : all.slice(0, 2)
    const choice = el(
      "select",
      { "aria-label": `Mode of ${name}`, "data-does": "way" },
      ...ways.map(([value, text]) => el("option", { value }, text))
    )
    choice.value = this.#way
    choice.addEventListener("change", () => {
      this.#way = ways.find(([value]) => value === choice.value)?.[0] ?? "standard"
    })
    return choice
  }
}
