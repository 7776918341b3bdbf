/** The oldest Node that everything here runs on: `engines` in package.json says the same. */
const OLDEST = [22, 19]

/** What to say to a Node that is too old; undefined for any other. Written for the oldest there are, like its only caller. */
export const nodeTooOld = (version: string): string | undefined => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)
    ? undefined
    : `Postlane needs Node ${OLDEST.join(".")} or newer, and this is ${version}: https://nodejs.org has a newer one.`
}
