import { writeFile } from "node:fs/promises"
import { join } from "node:path"

import { startAttacked } from "../../hostile/server.ts"
import { until } from "../../support/until.ts"
import { ADMIN_TOKEN, arrived, checked, senderToken } from "../installation.ts"
import type { Reference } from "../reference.ts"
import { type Ended, mavenClasspath, npmPackage, pip, run } from "../tools.ts"

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
    return run("curl", ["-sS", "-m", "120", `smtp://127.0.0.1:${mail.port}`, ...envelope, "-T", file])
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
      "120",
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
      `account default\nhost 127.0.0.1\nport ${mail.port}\nfrom ${FROM}\nauth plain\nuser any\npassword ${mail.token}\ntls off\ntimeout 120\n`,
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
with smtplib.SMTP("127.0.0.1", int(port), timeout=120) as server:
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
settings.configure(EMAIL_HOST="127.0.0.1", EMAIL_PORT=int(port), EMAIL_HOST_USER="any", EMAIL_HOST_PASSWORD=token, EMAIL_TIMEOUT=120)
from django.core.mail import EmailMultiAlternatives
mail = EmailMultiAlternatives(subject, "Hello.", sender, [to], headers={"Message-ID": message_id, "Date": "Sun, 29 Nov 2026 10:00:00 +0000"})
mail.attach_alternative("<p>Hello.</p>", "text/html")
sys.exit(0 if mail.send() == 1 else 1)
`,
    (cache) => pip(cache, DJANGO, "python3")
  )
}

const NODEMAILER = "nodemailer@7.0.10"

const NODEMAILER_SCRIPT = `import { createRequire } from "node:module"
const { createTransport } = createRequire(process.argv[2])("nodemailer")
const [port, token, subject, messageId, from, to] = process.argv.slice(3)
const transport = createTransport({ host: "127.0.0.1", port: Number(port), auth: { user: "any", pass: token } })
await transport.sendMail({ from, to, subject, messageId, date: new Date("2026-11-29T10:00:00Z"), text: "Hello." })
transport.close()
`

const nodemailer: Client = {
  name: "nodemailer",
  version: NODEMAILER.split("@")[1] ?? "",
  needs: ["npm"],
  install: async ({ cache }) => void (await npmPackage(cache, NODEMAILER)),
  send: async ({ messageId, port, subject, token, work }, cache) => {
    const file = join(work, "send.mjs")
    await writeFile(file, NODEMAILER_SCRIPT)
    const home = `${await npmPackage(cache, NODEMAILER)}/`
    return run(process.execPath, [file, home, String(port), token, subject, messageId, FROM, TO])
  }
}

const JAKARTA = "org.eclipse.angus:angus-mail:2.0.3"

const JAKARTA_PROGRAM = `import jakarta.mail.*;
import jakarta.mail.internet.*;
import java.util.*;

public class Send {
  public static void main(String[] args) throws Exception {
    var settings = new Properties();
    settings.put("mail.smtp.host", "127.0.0.1");
    settings.put("mail.smtp.port", args[0]);
    settings.put("mail.smtp.auth", "true");
    settings.put("mail.smtp.timeout", "120000");
    var mail = new MimeMessage(Session.getInstance(settings)) {
      @Override protected void updateMessageID() throws MessagingException { setHeader("Message-ID", args[3]); }
    };
    mail.setFrom(args[4]);
    mail.setRecipients(Message.RecipientType.TO, args[5]);
    mail.setSubject(args[2]);
    mail.setSentDate(new Date(1796000000000L));
    mail.setText("Hello.");
    Transport.send(mail, "any", args[1]);
  }
}
`

const jakartaMail: Client = {
  name: "jakarta-mail",
  version: JAKARTA.split(":")[2] ?? "",
  needs: ["java", "mvn"],
  install: async ({ cache }) => void (await mavenClasspath(cache, [JAKARTA])),
  send: async ({ messageId, port, subject, token, work }, cache) => {
    const file = join(work, "Send.java")
    await writeFile(file, JAKARTA_PROGRAM)
    const classpath = await mavenClasspath(cache, [JAKARTA])
    return run("java", ["-cp", classpath, file, String(port), token, subject, messageId, FROM, TO])
  }
}

/** Hands the same mail over twice, and once with a token that is wrong. */
const trial =
  ({ name, send }: Client): Reference["run"] =>
  async ({ cache, work }) => {
    const server = await startAttacked({ ADMIN_TOKEN })
    try {
      const port = await until("submission listens", async () => {
        const said = /SMTP submission listens on [^:"]+:(\d+)/.exec(server.lines.join("\n"))?.[1]
        return said === undefined ? undefined : Number(said)
      })
      const token = await senderToken(server, { name: `by ${name}` })
      const subject = `Sent by ${name}`
      const mail = { port, token, subject, messageId: `<one@${name}.test>`, work }
      const copies = async () => (await arrived(server, subject)).length
      const said = ({ stderr, stdout }: Ended) => `${stdout}\n${stderr}`.trim().slice(-1_000)
      const first = await send(mail, cache)
      await until("the mail is there", async () => ((await copies()) > 0 ? true : undefined))
      const again = await send(mail, cache)
      const other = await send({ ...mail, subject: `${subject}, wrongly`, token: "pl_send_wrong" }, cache)
      return [
        checked("it hands a mail over", first.code === 0, said(first)),
        checked("it hands it over again, as after a lost answer", again.code === 0, said(again)),
        checked("it notices that its token is wrong", other.code !== 0, said(other)),
        checked("one mail left", (await copies()) === 1, `${await copies()} mails`)
      ]
    } finally {
      await server.stop()
    }
  }

/** Programs that mail by SMTP submission, with a sender token (FRONT-3 to FRONT-7). */
export const smtpClients: ReadonlyArray<Reference> = [
  curl,
  swaks,
  msmtp,
  smtplib,
  django,
  nodemailer,
  jakartaMail
].map((client): Reference => ({
  name: client.name,
  version: client.version,
  checks: "SMTP submission: a mail handed over twice leaves once, and a wrong token is an error",
  needs: client.needs,
  install: client.install ?? (async () => {}),
  run: trial(client)
}))
