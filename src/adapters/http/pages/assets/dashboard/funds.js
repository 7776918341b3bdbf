import { ask, Refused } from "../api.js"
import { byId } from "../dom.js"

/** @import { Account } from "#api" */

/** @param {number} amount */
const count = (amount) => amount.toLocaleString("en-GB")

/** @param {Account["account"]} account @param {string} lifetime The free plan's pages in all. */
const wordsOf = ({ creditsRemaining, freePagesLeft, heldCredits }, lifetime) => {
  const left =
    creditsRemaining === null
      ? `${count(freePagesLeft ?? 0)} of ${lifetime} free pages left`
      : `${count(creditsRemaining)} ${creditsRemaining === 1 ? "credit" : "credits"}`
  return heldCredits === 0 ? left : `${left}, ${count(heldCredits)} set aside for work under way`
}

/** Whether the account spends pages of the free plan, as far as is known. */
let free = false

/** A price in the unit that the account pays with. @param {number} amount */
export const priceIn = (amount) =>
  `${count(amount)} ${free ? "free page" : "credit"}${amount === 1 ? "" : "s"}`

/** The newest reading; the result of an older one is dropped. */
let reading = 0

/** Shows what is left on the account. Where the API refuses, nothing is shown: the old value may be wrong by now. */
export const showFunds = async () => {
  reading += 1
  const mine = reading
  const place = byId("funds", HTMLElement)
  try {
    /** @type {Account} */
    const { account } = await ask("GET", "/api/v1/account")
    if (mine !== reading) return
    free = account.creditsRemaining === null
    byId("funds-left", HTMLElement).textContent = wordsOf(account, place.dataset["freePages"] ?? "")
    place.hidden = false
  } catch (failure) {
    if (!(failure instanceof Refused)) throw failure
    if (mine === reading) place.hidden = true
  }
}
