import { el, say } from "../dom.js"

/** @typedef {{ readonly impact: string, readonly help: string, readonly url: string, readonly count: number, readonly samples: ReadonlyArray<string> }} Violation */

/** How long a check may take, milliseconds. */
const PATIENCE = 20_000

/** @param {unknown} value @param {number} most */
const text = (value, most) => (typeof value === "string" ? value.slice(0, most) : "")

/** @param {unknown} value @returns {value is Record<string, unknown>} */
const isRecord = (value) => typeof value === "object" && value !== null

/** @param {unknown} value @param {number} most @returns {ReadonlyArray<unknown>} */
const list = (value, most) => (Array.isArray(value) ? value.slice(0, most) : [])

/** What the frame reports; only text is taken from it. @param {unknown} data @returns {ReadonlyArray<Violation> | undefined} */
const violationsIn = (data) => {
  if (!isRecord(data) || !Array.isArray(data["violations"])) return undefined
  return list(data["violations"], 100)
    .filter(isRecord)
    .map((one) => ({
      impact: text(one["impact"], 20),
      help: text(one["help"], 300),
      url: text(one["url"], 300),
      count: Number(one["count"]),
      samples: list(one["samples"], 3).map((sample) => text(sample, 300))
    }))
}

/** Has the mail checked in a separate frame. @param {string} path @returns {Promise<ReadonlyArray<Violation> | undefined>} */
const run = (path) =>
  new Promise((resolve) => {
    const frame = el("iframe", {
      class: "offstage",
      sandbox: "allow-scripts",
      title: "The mail that is checked",
      "aria-hidden": true,
      tabindex: -1
    })
    /** @param {ReadonlyArray<Violation> | undefined} result */
    const end = (result) => {
      clearTimeout(alarm)
      window.removeEventListener("message", hear)
      frame.remove()
      resolve(result)
    }
    /** @param {MessageEvent} message */
    const hear = (message) => {
      if (message.source === frame.contentWindow) end(violationsIn(message.data))
    }
    const alarm = setTimeout(() => end(undefined), PATIENCE)
    window.addEventListener("message", hear)
    frame.src = path
    document.body.append(frame)
  })

/** @param {Violation} violation */
const item = ({ count, help, impact, samples, url }) =>
  el(
    "li",
    {},
    el(
      "p",
      {},
      `${help} – ${impact}, ${count === 1 ? "1 place" : `${count} places`}. `,
      url.startsWith("https://")
        ? el("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, `About “${help}”`)
        : undefined
    ),
    ...samples.map((sample) => el("pre", {}, sample))
  )

/** @param {HTMLButtonElement} button @param {HTMLElement} place */
export const checkAccessibility = async (button, place) => {
  button.setAttribute("aria-disabled", "true")
  place.replaceChildren(el("p", {}, "Checking…"))
  const violations = await run(button.dataset["frame"] ?? "")
  button.removeAttribute("aria-disabled")
  const words =
    violations === undefined
      ? "It could not be checked."
      : violations.length === 0
        ? "axe finds nothing to mend."
        : `axe finds ${violations.length} ${violations.length === 1 ? "problem" : "problems"}.`
  place.replaceChildren(
    el("p", { class: violations?.length === 0 ? "done" : "problem" }, words),
    el("ul", { class: "violations" }, ...(violations ?? []).map(item))
  )
  say(words)
}
