import { moment } from "../dom.js"

// What the server wrote in UTC, in the reader's zone.
for (const time of document.querySelectorAll("main time"))
  time.textContent = moment(time.getAttribute("datetime") ?? "")
