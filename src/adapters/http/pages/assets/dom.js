/** What goes into an element: text as text, never as markup. @typedef {Node | string | undefined} Child */

/**
 * The element of the page with this id and kind.
 * @template {HTMLElement} E
 * @param {string} id
 * @param {new () => E} kind
 * @returns {E}
 */
export const byId = (id, kind) => {
  const found = document.getElementById(id)
  if (found instanceof kind) return found
  throw new Error(`the page has no ${kind.name} #${id}`)
}

/**
 * Makes an element. An attribute that is `undefined` or false is left out.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Readonly<Record<string, string | number | boolean | undefined>>} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export const el = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : String(value))
  }
  made.append(...children.filter((child) => child !== undefined))
  return made
}

/**
 * A button. `about` is what it is about, for those who hear it without seeing its row.
 * @param {string} text
 * @param {{ readonly about?: string, readonly kind?: string, readonly press: () => void }} options
 */
export const button = (text, { about, kind, press }) => {
  const made = el(
    "button",
    { type: "button", class: kind },
    text,
    about === undefined ? undefined : hidden(` ${about}`)
  )
  made.addEventListener("click", () => {
    if (made.getAttribute("aria-disabled") !== "true") press()
  })
  return made
}

/** Text for screen readers alone. @param {string} text */
export const hidden = (text) => el("span", { class: "hidden" }, text)

/** Shows text in an element, or hides the element. @param {HTMLElement} place @param {string | undefined} text */
export const show = (place, text) => {
  place.textContent = text ?? ""
  place.hidden = text === undefined
}

/** What each live region is about to say. @type {Map<string, Array<string>>} */
const next = new Map()

/** @param {string} region @param {string} text */
const announce = (region, text) => {
  const also = next.get(region)
  if (also !== undefined) {
    also.push(text)
    return
  }
  const texts = [text]
  next.set(region, texts)
  const place = byId(region, HTMLElement)
  place.textContent = ""
  // Only a change is read out, so that the text is cleared first; announcements of the same moment are joined.
  setTimeout(() => {
    next.delete(region)
    place.textContent = texts.join(" ")
  }, 60)
}

/** Has something read out when the reader is idle. @param {string} text */
export const say = (text) => announce("polite", text)

/** Has something read out at once. @param {string} text */
export const warn = (text) => announce("urgent", text)

/** Copies a text, and says what came of it. @param {string} text @param {string} what */
export const copyText = async (text, what) => {
  try {
    await navigator.clipboard.writeText(text)
    say(`${what} is copied.`)
  } catch {
    warn("The browser does not let this page copy: select the text and copy it.")
  }
}

/** Shown in place of a missing value. */
export const NOTHING = "–"

const MOMENT = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" })

/** A time in the reader's zone, with seconds. @param {string} iso */
export const moment = (iso) => MOMENT.format(new Date(iso))

/** As HTML takes it: no smaller part of a second than a thousandth. @param {string} iso */
const machineReadable = (iso) => new Date(iso).toISOString()

/** @param {string | null} iso */
export const time = (iso) =>
  iso === null ? NOTHING : el("time", { datetime: machineReadable(iso) }, moment(iso))

const RELATIVE = new Intl.RelativeTimeFormat("en-GB", { numeric: "auto", style: "short" })
const DAY = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" })

/** How long ago it was, or in how long it is; a day where that is more than a week. @param {string} iso @param {number} [now] */
export const relative = (iso, now = Date.now()) => {
  const seconds = Math.round((Date.parse(iso) - now) / 1000)
  const size = Math.abs(seconds)
  if (size < 5) return "now"
  if (size < 60) return RELATIVE.format(seconds, "second")
  if (size < 3600) return RELATIVE.format(Math.trunc(seconds / 60), "minute")
  if (size < 86_400) return RELATIVE.format(Math.trunc(seconds / 3600), "hour")
  return size < 7 * 86_400 ? RELATIVE.format(Math.trunc(seconds / 86_400), "day") : DAY.format(new Date(iso))
}

/** A time of a list: relative, with the absolute one as its title. @param {string} iso */
export const ago = (iso) =>
  el("time", { datetime: machineReadable(iso), title: moment(iso), "data-ago": true }, relative(iso))

/** Keeps the relative times of the page true. */
export const keepTimes = () =>
  setInterval(() => {
    for (const one of document.querySelectorAll("time[data-ago]"))
      one.textContent = relative(one.getAttribute("datetime") ?? "")
  }, 10_000)

/** The reader's zone, which a list says once. */
export const zone = () => Intl.DateTimeFormat().resolvedOptions().timeZone
