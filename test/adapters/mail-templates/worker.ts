import { renderMail } from "../../../src/adapters/mail-templates/mail-templates.ts"
import type { MailTemplate } from "../../../src/domain/mail/templates/template.ts"

/** A worker that writes the mails that it is posted. */
export default {
  fetch: async (request: Request): Promise<Response> =>
    Response.json(((await request.json()) as ReadonlyArray<MailTemplate>).map(renderMail))
}
