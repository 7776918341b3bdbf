/** The paths of the pages, each read only: the method table tells them to whoever asks with another method. */
export const PAGE_PATHS: ReadonlyArray<string> = [
  "/",
  "/sign-in",
  "/dashboard",
  "/admin",
  "/admin/:screen",
  "/assets/:version/:name"
]
