import { Effect } from "effect"

import { makeStoryReader } from "../../../domain/delivery/mail-story.ts"
import { isUuid } from "../server/endpoint.ts"
import { mailPage } from "./mail-page.ts"

const noMail = {
  title: "No such mail",
  main: `<h1>There is no such mail</h1>
<p>The log has no row of this id. <a href="/admin/email-log">Go to the email log</a></p>`,
  status: 404
}

const away = {
  title: "Not available",
  main: `<h1>The send log does not answer now</h1>
<p>Reload the page in a minute. <a href="/admin/email-log">Go to the email log</a></p>`,
  status: 503
}

/** Makes the page of the mail that the row of an id is part of. */
export const makeMailPages = Effect.gen(function* () {
  const read = yield* makeStoryReader
  return Effect.fnUntraced(
    function* (id: string) {
      const found = isUuid(id) ? yield* read(id) : undefined
      return found === undefined ? noMail : { ...mailPage(found.story, found.known), script: "admin/mail.js" }
    },
    Effect.catch((error) => Effect.as(Effect.logWarning("a mail's page cannot be made", error), away))
  )
})
