import { offline, refusalOf } from "./api.js"

/**
 * A page as the server writes it now. A document that is received so runs nothing, and needs no markup from strings.
 * @param {string} [path] This page, where none is named.
 * @returns {Promise<Document>}
 */
export const fresh = (path = location.href) =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open("GET", path)
    request.responseType = "document"
    request.addEventListener("load", () => {
      const page = request.responseXML
      if (request.status === 200 && page !== null) resolve(page)
      else reject(refusalOf(request.status, ""))
    })
    request.addEventListener("error", () => reject(offline()))
    request.send()
  })
