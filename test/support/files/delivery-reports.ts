/** One recipient of a report. */
interface ReportedTo {
  readonly recipient: string
  readonly action?: string
  readonly status?: string
  /** ORCPT as the relay repeats it. */
  readonly original?: string
  readonly diagnostic?: string
  readonly at?: string
}

interface ReportParts {
  readonly recipients: ReadonlyArray<ReportedTo>
  readonly envelopeId?: string
  /** Header of the returned mail. */
  readonly returned?: string
  readonly type?: string
}

/** The text of `message/delivery-status`, as Postfix writes it. */
export const deliveryStatus = ({ envelopeId, recipients }: ReportParts): string =>
  [
    [
      "Reporting-MTA: dns; relay.test",
      ...(envelopeId === undefined ? [] : [`Original-Envelope-Id: ${envelopeId}`])
    ],
    ...recipients.map(
      ({
        action = "failed",
        at,
        diagnostic = "smtp; 550 5.1.1 no such user",
        original,
        recipient,
        status = "5.1.1"
      }) => [
        `Final-Recipient: rfc822; ${recipient}`,
        ...(original === undefined ? [] : [`Original-Recipient: rfc822;${original}`]),
        `Action: ${action}`,
        `Status: ${status}`,
        `Diagnostic-Code: ${diagnostic}`,
        ...(at === undefined ? [] : [`Last-Attempt-Date: ${at}`])
      ]
    )
  ]
    .map((lines) => lines.map((line) => `${line}\r\n`).join(""))
    .join("\r\n")

/** A whole report (RFC 3464), as Postfix writes it. */
export const deliveryReport = (parts: ReportParts): string => {
  const part = (type: string, body: string) => `--b1\r\nContent-Type: ${type}\r\n\r\n${body}\r\n`
  return [
    "From: MAILER-DAEMON@relay.test\r\nTo: bounce@in.test\r\nSubject: Undelivered Mail Returned to Sender\r\nAuto-Submitted: auto-replied\r\n",
    `MIME-Version: 1.0\r\nContent-Type: ${parts.type ?? 'multipart/report; report-type=delivery-status; boundary="b1"'}\r\n\r\n`,
    part(
      "text/plain; charset=us-ascii",
      "I'm sorry to have to inform you that your message could not be delivered."
    ),
    part("message/delivery-status", deliveryStatus(parts)),
    part("text/rfc822-headers", parts.returned ?? "Subject: Hello\r\n"),
    "--b1--\r\n"
  ].join("")
}
