import { type AdminScreen, pathTo, SCREEN_NAMES } from "../../src/domain/pages.ts"
import { numbered } from "./files/pdf-samples.ts"

/** What pages are about. */
interface Subjects {
  /** A mail that bounced: its row of the log, and its copy in the outbox. */
  readonly mail: string
  readonly message: string
  readonly document: string
  readonly customer: string
}

type PathOf = (subjects: Subjects) => string
type Pages = Readonly<Record<string, PathOf>>

const screen = (name: AdminScreen, query: Readonly<Record<string, string>> = {}): PathOf => {
  const path = pathTo.adminScreen(name, query)
  return () => path
}

/**
 * Every page of an installation, and of each the states that an address alone leads to, by who may see it. Tests walk it, the command for
 * other browsers, and the script that takes pictures.
 */
export const EVERY_PAGE = {
  anybody: {
    "sign-in": () => pathTo.signIn(),
    "sign-in-ended": () => pathTo.signIn({ reason: "ended" }),
    "sign-in-refused": () => pathTo.magicLink("unknown"),
    register: () => pathTo.register,
    credits: () => pathTo.credits,
    lost: () => "/nothing-here",
    "invite-gone": () => pathTo.invite("unknown"),
    "shared-gone": () => pathTo.shared("unknown"),
    "customer-mail-gone": () => pathTo.customerMail("unknown"),
    "unsubscribe-gone": () => pathTo.unsubscribe("unknown"),
    outbox: () => pathTo.outbox,
    "outbox-nothing": () => `${pathTo.outbox}?q=nobody`,
    "outbox-mail": ({ message }) => pathTo.outboxMail(message),
    "outbox-mail-text": ({ message }) => `${pathTo.outboxMail(message)}?as=text`,
    "outbox-mail-headers": ({ message }) => `${pathTo.outboxMail(message)}?as=headers`,
    "outbox-mail-gone": () => pathTo.outboxMail("none"),
    templates: () => pathTo.ownMails,
    components: () => pathTo.kitchenSink
  },
  owner: {
    dashboard: () => pathTo.dashboard,
    document: ({ document }) => pathTo.conversion(document),
    "document-gone": () => pathTo.conversion("00000000-0000-7000-8000-000000000000")
  },
  admin: {
    overview: () => pathTo.admin,
    "overview-month": () => `${pathTo.admin}?days=30`,
    ...Object.fromEntries(SCREEN_NAMES.map((name) => [name, screen(name)])),
    "log-nothing": screen("email-log", { search: "nobody" }),
    "log-filters": screen("email-log", { status: "bounced", key: "k", provider: "provider_a" }),
    "log-next": screen("email-log", { until: "2020-01-01" }),
    mail: ({ mail }) => pathTo.mail(mail),
    "mail-gone": () => pathTo.mail("00000000-0000-7000-8000-000000000000"),
    customer: ({ customer }) => pathTo.customer(customer),
    "admin-document": ({ document }) => pathTo.document(document)
  }
} as const satisfies Readonly<Record<"anybody" | "owner" | "admin", Pages>>

/** A page's name and its path. */
export const pagesOf = (
  who: keyof typeof EVERY_PAGE,
  subjects: Subjects
): ReadonlyArray<readonly [string, string]> =>
  Object.entries<PathOf>(EVERY_PAGE[who]).map(([name, pathOf]) => [name, pathOf(subjects)])

/** Gives an installation what its pages are about: mails of which one bounced, and a document that is to be converted. */
export const fillInstallation = async (
  url: string,
  { admin, bounces, owner, secret }: { readonly [name in "admin" | "owner" | "secret" | "bounces"]: string }
): Promise<Subjects> => {
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-proxy-secret": secret, ...headers },
      body: JSON.stringify(body)
    })
  const get = async <A>(path: string, headers: Record<string, string>) =>
    (await (await fetch(`${url}${path}`, { headers })).json()) as A
  for (const to of ["ann@example.com", bounces, "ben@example.com"])
    await post("/internal/send-email", {
      to,
      subject: `Your receipt, ${to}`,
      html: "<h1>Thank you</h1><p>For your order.</p>",
      text: "Thank you for your order.",
      category: "transactional",
      source: "api:shop"
    })
  const { messages } = await get<{
    readonly messages: ReadonlyArray<{ readonly id: string; readonly to: ReadonlyArray<string> }>
  }>("/dev/outbox", { accept: "application/json" })
  const message = messages.find(({ to }) => to.includes(bounces))?.id ?? ""
  await post(`/dev/outbox/${message}/events`, { type: "bounced" })
  const form = new FormData()
  form.set("file", new Blob([new Uint8Array(numbered(2))]), "Report.pdf")
  const asOwner = { authorization: `Bearer ${owner}` }
  const uploaded = await fetch(`${url}/api/v1/files`, { method: "POST", headers: asOwner, body: form })
  const { file } = (await uploaded.json()) as { readonly file: { readonly id: string } }
  await post(`/api/v1/files/${file.id}/convert`, {}, asOwner)
  const asAdmin = { authorization: `Bearer ${admin}` }
  type Rows = { readonly rows: ReadonlyArray<{ readonly id: string }> }
  const mails = await get<Rows>(`/api/admin/email-log?recipient=${bounces}`, asAdmin)
  const customers = await get<Rows>("/api/admin/customers", asAdmin)
  return {
    mail: mails.rows[0]?.id ?? "",
    message,
    document: file.id,
    customer: customers.rows[0]?.id ?? ""
  }
}
