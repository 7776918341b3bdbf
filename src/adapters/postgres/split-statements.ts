/** Comments, quoted texts and names, dollar-quoted bodies, the separator, and everything else. */
const TOKEN =
  /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$|;|[^;'"$\-/]+|[\s\S]/g

/**
 * The statements of an SQL file, without comments between them: the extended protocol takes one statement a call. Knows
 * no `E''` text with an escaped quote, no nested comment and no `begin atomic` body.
 */
export const splitStatements = (text: string): ReadonlyArray<string> => {
  const statements = [""]
  for (const [part] of text.matchAll(TOKEN)) {
    if (part === ";") statements.push("")
    else if (!part.startsWith("--") && !part.startsWith("/*")) statements[statements.length - 1] += part
  }
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== "")
}
