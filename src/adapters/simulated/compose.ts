import MailComposer from "nodemailer/lib/mail-composer"

import type { PlainRequestBody } from "../../domain/mail/plain-request.ts"

type Box = PlainRequestBody["from"]

const box = ({ name, address }: Box) => ({ name: name ?? "", address })

/** The RFC 5322 message that a recipient would get: without Bcc. */
export const composeMessage = (
  body: PlainRequestBody,
  identity: { readonly messageId: string; readonly date: Date }
): Promise<Uint8Array> =>
  new MailComposer({
    from: box(body.from),
    to: body.to.map(box),
    cc: body.cc.map(box),
    replyTo: body.replyTo.map(box),
    subject: body.subject,
    text: body.text ?? undefined,
    html: body.html ?? undefined,
    headers: { ...body.headers },
    attachments: body.attachments.map((part) => ({
      filename: part.filename,
      content: Buffer.from(part.content, "base64"),
      contentType: part.contentType ?? undefined,
      cid: part.contentId ?? undefined,
      contentDisposition: part.contentId === null ? "attachment" : "inline"
    })),
    messageId: identity.messageId,
    date: identity.date,
    disableFileAccess: true,
    disableUrlAccess: true
  })
    .compile()
    .build()
