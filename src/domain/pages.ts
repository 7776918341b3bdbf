/** The admin screens, by their name in the address, with their titles, in the order of the navigation. */
export const ADMIN_SCREENS = {
  jobs: "Jobs",
  "email-log": "Email log",
  queue: "Send queue",
  suppressions: "Suppressions",
  incoming: "Incoming mails",
  "dead-letters": "Dead letters",
  customers: "Customers",
  admins: "Admins",
  tokens: "Tokens",
  messages: "Messages",
  "sender-domain": "Sender domain",
  "event-hooks": "Event hooks",
  notifications: "Notifications",
  statistics: "Statistics",
  costs: "Costs",
  audit: "Audit"
} as const
export type AdminScreen = keyof typeof ADMIN_SCREENS

export const SCREEN_NAMES = Object.keys(ADMIN_SCREENS) as ReadonlyArray<AdminScreen>

/** What the navigation has under one heading. */
const SCREEN_GROUPS = {
  jobs: "Documents",
  "email-log": "Mail",
  queue: "Mail",
  suppressions: "Mail",
  incoming: "Documents",
  "dead-letters": "Mail",
  customers: "People",
  admins: "People",
  tokens: "People",
  messages: "People",
  "sender-domain": "Installation",
  "event-hooks": "Installation",
  notifications: "Installation",
  statistics: "Mail",
  costs: "Documents",
  audit: "Installation"
} as const satisfies Readonly<Record<AdminScreen, string>>

/** The screens by the headings of the navigation, in its order. */
export const screensByGroup = (): ReadonlyArray<
  readonly [group: string, names: ReadonlyArray<AdminScreen>]
> =>
  (["Mail", "Documents", "People", "Installation"] as const).map((group) => [
    group,
    SCREEN_NAMES.filter((name) => SCREEN_GROUPS[name] === group)
  ])

type Query = Readonly<Record<string, string>>

const withQuery = (path: `/${string}`, query: Query): `/${string}` =>
  Object.keys(query).length === 0 ? path : `${path}?${new URLSearchParams(query).toString()}`

/** Where the pages are: pages, mails and alerts link through this, so that a page that moves takes its links along. */
export const pathTo = {
  start: "/",
  docs: "/docs",
  dashboard: "/dashboard",
  conversion: (fileId: string) => `/dashboard/files/${encodeURIComponent(fileId)}`,
  admin: "/admin",
  adminScreen: (screen: AdminScreen, query: Query = {}) => withQuery(`/admin/${screen}`, query),
  document: (fileId: string) => `/admin/jobs/documents/${encodeURIComponent(fileId)}`,
  customer: (id: string) => `/admin/customers/${encodeURIComponent(id)}`,
  mail: (id: string) => `/admin/email-log/${encodeURIComponent(id)}`,
  outbox: "/dev",
  outboxMail: (id: string) => `/dev/messages/${encodeURIComponent(id)}`,
  /** The mail as it was sent, for download. */
  outboxSource: (id: string) => `/dev/outbox/${encodeURIComponent(id)}?download=yes`,
  ownMails: "/dev/templates",
  ownMail: (kind: string) => `/dev/templates/${encodeURIComponent(kind)}`,
  /** Each component of the pages in each of its states. */
  kitchenSink: "/dev/kitchen-sink",
  signIn: (query: { readonly reason?: "ended" | "admin"; readonly next?: string } = {}) =>
    withQuery("/sign-in", query),
  /** What a mailed link opens; `next` is the page to show then. */
  magicLink: (token: string, next?: string) =>
    withQuery("/auth/magic", next === undefined ? { token } : { token, next }),
  invite: (token: string) => `/invites/${token}`,
  shared: (token: string) => `/shared/${token}`,
  customerMail: (token: string) => `/customer-mail/${token}`,
  unsubscribe: (token: string) => `/unsubscribe/${token}`,
  mailResult: (token: string) => `/convert-email/results/${token}`,
  /** How to register, and how to get credits, unless the installation has pages of its own. */
  register: "/register",
  credits: "/credits"
} as const
