import { writeFile } from "node:fs/promises"
import { join } from "node:path"

import { startAttacked } from "../../hostile/server.ts"
import { until } from "../../support/until.ts"
import type { Check, Reference } from "../reference.ts"
import { type Ended, pip, run } from "../tools.ts"

const ADMIN = { authorization: "Bearer outside-admin-token", "content-type": "application/json" }
const FROM = "noreply@postlane.test"
const TO = "reader@x.test"

/** A mail as a client is asked to hand it over. */
interface Handed {
  readonly port: number
  readonly token: string
  readonly subject: string
  readonly messageId: string
  readonly work: string
}

interface Client {
  readonly name: string
  readonly version: string
  readonly needs: ReadonlyArray<string>
  readonly install?: Reference["install"]
  readonly send: (mail: Handed, cache: string) => Promise<Ended>
}

const raw = ({ messageId, subject }: Handed): string =>
  `From: ${FROM}\r\nTo: ${TO}\r\nSubject: ${subject}\r\nMessage-ID: ${messageId}\r\n\r\nHello.\r\n..dot\r\n`

const curl: Client = {
  name: "curl",
  version: "as installed",
  needs: ["curl"],
  send: async (mail) => {
    const file = join(mail.work, "mail.eml")
    await writeFile(file, raw(mail))
    const envelope = ["--mail-from", FROM, "--mail-rcpt", TO, "--user", `any:${mail.token}`]
    return run("curl", ["-sS", "-m", "30", `smtp://127.0.0.1:${mail.port}`, ...envelope, "-T", file])
  }
}

const swaks: Client = {
  name: "swaks",
  version: "as installed",
  needs: ["swaks"],
  send: ({ messageId, port, subject, token }) =>
    run("swaks", [
      "--server",
      `127.0.0.1:${port}`,
      "--from",
      FROM,
      "--to",
      TO,
      "--timeout",
      "30",
      "--auth",
      "LOGIN",
      "--auth-user",
      "any",
      "--auth-password",
      token,
      "--header",
      `Subject: ${subject}`,
      "--header",
      `Message-Id: ${messageId}`,
      "--header",
      "Date: Sun, 29 Nov 2026 10:00:00 +0000"
    ])
}

const msmtp: Client = {
  name: "msmtp",
  version: "as installed",
  needs: ["msmtp", "sh"],
  send: async (mail) => {
    const [file, settings] = [join(mail.work, "mail.eml"), join(mail.work, "msmtprc")]
    await writeFile(file, raw(mail).replaceAll("\r\n", "\n"))
    await writeFile(
      settings,
      `account default\nhost 127.0.0.1\nport ${mail.port}\nfrom ${FROM}\nauth plain\nuser any\npassword ${mail.token}\ntls off\ntimeout 30\n`,
      { mode: 0o600 }
    )
    return run("sh", ["-c", `exec msmtp -C "$1" "$2" < "$3"`, "sh", settings, TO, file])
  }
}

const python =
  (name: string, script: string, program: (cache: string) => Promise<string>): Client["send"] =>
  async ({ messageId, port, subject, token, work }, cache) => {
    const file = join(work, `${name}.py`)
    await writeFile(file, script)
    return run(await program(cache), [file, String(port), token, subject, messageId, FROM, TO])
  }

const smtplib: Client = {
  name: "smtplib",
  version: "as installed",
  needs: ["python3"],
  send: python(
    "send_by_smtplib",
    `import smtplib, sys
from email.message import EmailMessage
_, port, token, subject, message_id, sender, to = sys.argv
mail = EmailMessage()
mail["From"], mail["To"], mail["Subject"], mail["Message-ID"] = sender, to, subject, message_id
mail.set_content("Hello.")
with smtplib.SMTP("127.0.0.1", int(port), timeout=30) as server:
    server.login("any", token)
    server.send_message(mail)
`,
    async () => "python3"
  )
}

const DJANGO = "django==4.2.16"

const django: Client = {
  name: "django",
  version: DJANGO.split("==")[1] ?? "",
  needs: ["python3"],
  install: async ({ cache }) => void (await pip(cache, DJANGO, "python3")),
  send: python(
    "send_by_django",
    `import sys
from django.conf import settings
_, port, token, subject, message_id, sender, to = sys.argv
settings.configure(EMAIL_HOST="127.0.0.1", EMAIL_PORT=int(port), EMAIL_HOST_USER="any", EMAIL_HOST_PASSWORD=token, EMAIL_TIMEOUT=30)
from django.core.mail import EmailMultiAlternatives
mail = EmailMultiAlternatives(subject, "Hello.", sender, [to], headers={"Message-ID": message_id, "Date": "Sun, 29 Nov 2026 10:00:00 +0000"})
mail.attach_alternative("<p>Hello.</p>", "text/html")
sys.exit(0 if mail.send() == 1 else 1)
`,
    (cache) => pip(cache, DJANGO, "python3")
  )
}

/** Hands the same mail over twice, and once with a token that is wrong. */
const trial =
  ({ name, send }: Client): Reference["run"] =>
  async ({ cache, work }) => {
    const server = await startAttacked({ ADMIN_TOKEN: "outside-admin-token" })
    try {
      const port = await until("submission listens", async () => {
        const said = /SMTP submission listens on [^:"]+:(\d+)/.exec(server.lines.join("\n"))?.[1]
        return said === undefined ? undefined : Number(said)
      })
      const made = await fetch(`${server.url}/api/admin/sender-tokens`, {
        method: "POST",
        headers: ADMIN,
        body: JSON.stringify({ name: `by ${name}` })
      })
      const { token } = (await made.json()) as { readonly token: string }
      const subject = `Sent by ${name}`
      const mail = { port, token, subject, messageId: `<one@${name}.test>`, work }
      const arrived = async () => {
        const answer = await fetch(`${server.url}/dev/outbox?q=${encodeURIComponent(subject)}`, {
          headers: { accept: "application/json" }
        })
        const { messages } = (await answer.json()) as { readonly messages: ReadonlyArray<unknown> }
        return messages.length
      }
      const check = (what: string, holds: boolean, detail = ""): Check => ({
        name: what,
        outcome: holds ? "held" : "failed",
        detail
      })
      const said = ({ stderr, stdout }: Ended) => `${stdout}\n${stderr}`.trim().slice(-1_000)
      const first = await send(mail, cache)
      await until("the mail is there", async () => ((await arrived()) > 0 ? true : undefined))
      const again = await send(mail, cache)
      const other = await send({ ...mail, subject: `${subject}, wrongly`, token: "pl_send_wrong" }, cache)
      return [
        check("it hands a mail over", first.code === 0, said(first)),
        check("it hands it over again, as after a lost answer", again.code === 0, said(again)),
        check("it notices that its token is wrong", other.code !== 0, said(other)),
        check("one mail left", (await arrived()) === 1, `${await arrived()} mails`)
      ]
    } finally {
      await server.stop()
    }
  }

/** Programs that mail by SMTP submission, with a sender token (FRONT-3 to FRONT-7). */
export const smtpClients: ReadonlyArray<Reference> = [curl, swaks, msmtp, smtplib, django].map(
  (client): Reference => ({
    name: client.name,
    version: client.version,
    checks: "SMTP submission: a mail handed over twice leaves once, and a wrong token is an error",
    needs: client.needs,
    install: client.install ?? (async () => {}),
    run: trial(client)
  })
)
