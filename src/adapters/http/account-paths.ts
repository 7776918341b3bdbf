/** Where replies of convert-by-email lead to, as long as the installation has no such pages of its own. */
export const ACCOUNT_PAGES = { register: "/register", credits: "/credits" } as const

/** Both are read only. */
export const ACCOUNT_PAGE_PATHS: ReadonlyArray<string> = Object.values(ACCOUNT_PAGES)
