import { el, hidden } from "./dom.js"

/** @param {HTMLDetailsElement} menu @param {boolean} focus */
const close = (menu, focus) => {
  if (!menu.open) return
  menu.open = false
  if (focus) menu.querySelector("summary")?.focus()
}

/** What can be pressed in a menu. @param {HTMLElement} menu @returns {ReadonlyArray<HTMLElement>} */
const itemsOf = (menu) =>
  [...menu.querySelectorAll("div > a, div > button")].filter((one) => one instanceof HTMLElement)

/** Moves the focus to the next or the previous item; the ends meet. @param {HTMLDetailsElement} menu @param {1 | -1} step */
const go = (menu, step) => {
  menu.open = true
  const items = itemsOf(menu)
  const at = items.findIndex((one) => one === document.activeElement)
  const first = step === 1 ? 0 : items.length - 1
  items[at === -1 ? first : (at + step + items.length) % items.length]?.focus()
}

/**
 * More actions behind “…”, as `more` of ui.ts makes them: Enter opens them, the arrows go from one to the next, Escape closes them. What was
 * chosen closes them first, so that a dialog that it opens gives the focus back to “…”.
 * @param {string} about
 * @param {ReadonlyArray<Node>} items
 */
export const menuOf = (about, items) => {
  const summary = el(
    "summary",
    { "data-does": "more" },
    el("span", { "aria-hidden": "true" }, "…"),
    hidden(`More for ${about}`)
  )
  const menu = el("details", { class: "more", name: "more" }, summary, el("div", {}, ...items))
  menu.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && menu.open) close(menu, true)
    else if (event.key === "ArrowDown") go(menu, 1)
    else if (event.key === "ArrowUp") go(menu, -1)
    else return
    event.preventDefault()
  })
  menu.addEventListener(
    "click",
    ({ target }) => {
      if (target instanceof Element && target.closest("a, button") !== null) close(menu, true)
    },
    { capture: true }
  )
  menu.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget instanceof Node && !menu.contains(relatedTarget)) close(menu, false)
  })
  return menu
}

document.addEventListener("pointerdown", ({ target }) => {
  for (const menu of document.querySelectorAll("details.more[open]"))
    if (menu instanceof HTMLDetailsElement && target instanceof Node && !menu.contains(target))
      close(menu, false)
})
